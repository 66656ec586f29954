"""Supervised training of a language model on demonstrations that `phoneworld export` wrote, with TRL.

    phoneworld export apps/notes --form messages --see text -o data/notes
    python examples/trl/sft.py --model Qwen/Qwen3-0.6B --data data/notes --out runs/sft
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from models import opened


def rows(folder: Path) -> list[dict[str, Any]]:
    """The conversations of an export without pictures."""
    found = [json.loads(line) for line in (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    if any(row.get("images") for row in found):
        raise SystemExit(f"{folder} has pictures, and this model reads words: export with --see text")
    return [{"messages": row["messages"]} for row in found]


def main() -> None:
    """Trains, and writes the model."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny", help="a name on the hub, a folder, or tiny")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=-1, help="gradient steps; -1: three epochs")
    parser.add_argument("--cpu", action="store_true", help="without a GPU")
    told = parser.parse_args()
    model, tokenizer = opened(told.model)
    args = SFTConfig(
        output_dir=str(told.out), max_steps=told.steps, num_train_epochs=3, per_device_train_batch_size=1 if told.cpu else 8, max_length=None, use_cpu=told.cpu,
        bf16=not told.cpu, gradient_checkpointing=not told.cpu, report_to=[], save_strategy="no", logging_steps=1,
    )  # fmt: skip
    trainer = SFTTrainer(model=model, processing_class=tokenizer, train_dataset=Dataset.from_list(rows(told.data)), args=args)
    trainer.train()
    trainer.save_model(str(told.out))
    print(json.dumps({"steps": trainer.state.global_step, "losses": [log["loss"] for log in trainer.state.log_history if "loss" in log]}))


if __name__ == "__main__":
    main()
