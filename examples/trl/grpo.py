"""GRPO of a language model that uses the phone by tools, with TRL; on the mock, and so much of it on the real app as is said.

    python examples/trl/grpo.py --model runs/sft --app apps/notes --out runs/grpo
    python examples/trl/grpo.py --model runs/sft --app apps/notes --real emulator-5554 --real-fraction 0.5 --out runs/mixed

Each row of the dataset has the column `environment`, by which TRL chooses where it is played.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

from models import opened

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.rollout import Phones
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.serve.doors.trl import TrlPhones
from phoneworld.tasks.file import load_storage, load_tasks

SAY = "You use a phone by the tools you have. Do what is asked, then call finish; where a question is asked, call answer."


def rows(tasks: list[str], n: int, real_fraction: float) -> list[dict[str, Any]]:
    """So many episodes to begin; every group is of one row, so one task, one seed, one place."""
    dice = Random(0)
    return [
        {
            "prompt": [{"role": "user", "content": SAY}], "task": dice.choice(tasks), "seed": dice.randrange(100_000),
            "environment": "real" if round((i + 1) * real_fraction) > round(i * real_fraction) else "mock",
        }
        for i in range(n)
    ]  # fmt: skip


def reward(environments: list[Any], **columns: Any) -> list[float | None]:
    """What each episode was paid; None, which TRL leaves out, where there is no score."""
    return [phone.get_reward() for phone in environments]


def main() -> None:
    """Trains, and writes the model."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny", help="a name on the hub, a folder, or tiny")
    parser.add_argument("--app", type=Path, required=True, help="a folder with `bundle` and `tasks`")
    parser.add_argument("--only", default="", help="only tasks whose id has this in it")
    parser.add_argument("--real", default="", help="the real app: an adb serial")
    parser.add_argument("--storage", type=Path, help="how it stores things, of `phoneworld tasks transfer --storage`")
    parser.add_argument("--real-fraction", type=float, default=0.0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--steps", type=int, default=-1, help="updates; -1: once through all rows")
    parser.add_argument("--members", type=int, default=8, help="episodes in a group")
    parser.add_argument("--tokens", type=int, default=2048, help="of a whole episode")
    parser.add_argument("--cpu", action="store_true", help="without a GPU")
    told = parser.parse_args()
    if bool(told.real) != (told.real_fraction > 0):
        raise SystemExit("--real and --real-fraction belong together")
    bundle, listed = str(told.app / "bundle"), load_tasks(told.app)
    places = {"mock": TrlPhones(Phones(bundle, tasks=listed))}
    if told.real:
        places["real"] = TrlPhones(RealPhone(told.real, bundle, listed, load_storage(told.storage) if told.storage else "", ObservationSpec()))
    tasks = [task.id for task in listed if told.only in task.id]
    model, tokenizer = opened(told.model)
    args = GRPOConfig(
        output_dir=str(told.out), max_steps=told.steps, per_device_train_batch_size=told.members, num_generations=told.members, max_completion_length=told.tokens,
        use_cpu=told.cpu, bf16=not told.cpu, gradient_checkpointing=not told.cpu, report_to=[], save_strategy="no", logging_steps=1, shuffle_dataset=False,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model, processing_class=tokenizer, train_dataset=Dataset.from_list(rows(tasks, told.rows, told.real_fraction)), reward_funcs=reward,
        environment_factory=places, args=args,
    )  # fmt: skip
    trainer.train()
    trainer.save_model(str(told.out))
    print(json.dumps({"steps": trainer.state.global_step, "rewards": [log["reward"] for log in trainer.state.log_history if "reward" in log]}))


if __name__ == "__main__":
    main()
