"""Writes the parquet that verl reads: demonstrations for SFT, or episodes to be played for GRPO.

    python examples/verl/rows.py sft data/notes -o data/notes-sft.parquet       # of `phoneworld export --form messages --see text -o data/notes`
    python examples/verl/rows.py grpo apps/notes -o data/notes-grpo.parquet
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

from phoneworld.tasks.file import load_tasks


def demonstrations(folder: Path) -> list[dict[str, Any]]:
    """The conversations of an export without pictures."""
    found = [json.loads(line) for line in (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    if any(row.get("images") for row in found):
        raise SystemExit(f"{folder} has pictures, and this recipe is for a model that reads words: export with --see text")
    return [{"messages": row["messages"]} for row in found]


def episodes(app: Path, only: str, n: int, dialect: str) -> list[dict[str, Any]]:
    """So many episodes to begin; a group is of one row, so one task and one seed."""
    tasks = [task.id for task in load_tasks(app) if only in task.id]
    if not tasks:
        raise SystemExit(f"{app} has no task with {only!r} in its id: leave --only out")
    dice, place = Random(0), {"bundle": str((app / "bundle").resolve()), "tasks": str((app / "tasks").resolve()), "dialect": dialect}
    return [
        {
            "prompt": [{"role": "user", "content": "Use the phone."}],  # replaced by what the phone shows
            "agent_name": "phoneworld", "data_source": "phoneworld", "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {**place, "index": i, "task": dice.choice(tasks), "seed": dice.randrange(100_000)},
        }
        for i in range(n)
    ]  # fmt: skip


def main() -> None:
    """Writes the rows."""
    import pandas

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sft", "grpo"))
    parser.add_argument("source", type=Path, help="an export's folder, or an app's folder with `bundle` and `tasks`")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="only tasks whose id has this in it")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--dialect", default="qwen3")
    told = parser.parse_args()
    rows = demonstrations(told.source) if told.what == "sft" else episodes(told.source, told.only, told.rows, told.dialect)
    told.out.parent.mkdir(parents=True, exist_ok=True)
    pandas.DataFrame(rows).to_parquet(told.out)


if __name__ == "__main__":
    main()
