"""Writes the dataset of GRPO: a row a group, which says on which phone, with which task and seed it is played.

    python examples/ms_swift/rows.py apps/notes -o data/notes-grpo.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

from phoneworld.tasks.file import load_tasks


def main() -> None:
    """Writes the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("app", type=Path, help="a folder with `bundle` and `tasks`")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="only tasks whose id has this in it")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--dialect", default="qwen3")
    told = parser.parse_args()
    tasks = [task.id for task in load_tasks(told.app) if told.only in task.id]
    if not tasks:
        raise SystemExit(f"{told.app} has no task with {told.only!r} in its id: leave --only out")
    dice = Random(0)
    place = {"name": "phoneworld", "bundle": str((told.app / "bundle").resolve()), "tasks": str((told.app / "tasks").resolve()), "dialect": told.dialect}
    told.out.parent.mkdir(parents=True, exist_ok=True)
    with told.out.open("w", encoding="utf-8") as file:
        for _ in range(told.rows):
            row = {
                "messages": [{"role": "user", "content": "Use the phone."}],  # replaced by what the phone shows
                "env_config": {**place, "task": dice.choice(tasks), "seed": dice.randrange(100_000)},
            }
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
