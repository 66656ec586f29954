"""Which tasks of an app hold on the real one, and how that stores things: tried once, kept in a file, and used while mock and tasks are the same.

A task holds where the oracle's way, done on the real app, succeeds by the task's own checker or by what the app has stored: where only the screens
look alike, a policy that goes another way could not be judged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from phoneworld.env.observation import ObservationSpec
from phoneworld.episodes.replay import mock_digest
from phoneworld.errors import FileFormatError
from phoneworld.evaluate.real_phone import RealPhone
from phoneworld.graph.file import write_atomically
from phoneworld.study.plan import AppPlan, tasks_digest
from phoneworld.tasks.file import load_tasks
from phoneworld.tasks.stored import StorageMap, from_json, to_json
from phoneworld.tasks.task import Task
from phoneworld.transfer.run import Transfer

FORMAT = "phoneworld-holding/1"


@dataclass(frozen=True, slots=True)
class Holding:
    """What was found out of an app."""

    app: str
    tasks: tuple[str, ...]
    tried: int
    why: dict[str, int]
    storage: StorageMap


def listed(app: AppPlan, most: int | None) -> tuple[Task, ...]:
    """The tasks of an app, or so many of them, in the order of their files. Raises FileFormatError."""
    tasks = _loaded(str(app.app))
    if (other := next((t.id for t in tasks if t.app != app.name), None)) is not None:
        raise FileFormatError(f"{app.app} has the task {other}, which is called after another app", hint=f"a task of it is called {app.name}/…")
    return tasks[:most]


@lru_cache
def _loaded(app: str) -> tuple[Task, ...]:
    """Read once: task files do not change while a study is conducted (it would say so when it goes on)."""
    return load_tasks(app)


def find_out(app: AppPlan, device: str, most: int | None, tell: Callable[[int], None]) -> dict[str, Any]:
    """Tries all tasks on the real app; what comes of it, as JSON. `tell` hears of each."""
    tasks = listed(app, most)
    env = RealPhone(device, str(app.app / "bundle"), tasks, observe=ObservationSpec(text=False))()
    try:
        assert env.book is not None
        transfer = Transfer(env, env.book.phone, tasks)
        told = []
        for task in tasks:
            told.append(transfer.one(task))
            tell(1)
        storage = transfer.storage()
        told = [transfer.again(one, storage) for one in told]
    finally:
        env.close()
    return {"format": FORMAT, "app": app.name, **_of(app, most), "storage": to_json(storage), "tasks": [one.to_json() for one in told]}


def is_of(file: Path, app: AppPlan, most: int | None) -> bool:
    """True where a file tells of this mock and these tasks."""
    if not file.exists():
        return False
    told = _read(file)
    return {name: told.get(name) for name in ("mock", "task_files", "most")} == _of(app, most)


def keep(told: dict[str, Any], file: Path) -> None:
    """Writes what was found out, whole or not at all. Raises WriteError."""
    write_atomically(file, (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode())


def holding(file: Path) -> Holding:
    """What a file tells. Raises FileFormatError."""
    told = _read(file)
    try:
        good = tuple(one["task"] for one in told["tasks"] if one["aimed"]["success"] and one["aimed"]["by"] in ("checker", "storage"))
        why: dict[str, int] = {}
        for one in told["tasks"]:
            if one["task"] not in good:
                kind = "told by screens alone" if one["aimed"]["success"] else one["aimed"]["kind"] or "cannot be told"
                why[kind] = why.get(kind, 0) + 1
        return Holding(told["app"], good, len(told["tasks"]), why, from_json(told["storage"]))
    except (KeyError, TypeError) as e:
        raise FileFormatError(f"{file} does not say which tasks hold: {e}", hint="delete it: it will be found out again") from None


def _of(app: AppPlan, most: int | None) -> dict[str, Any]:
    return {"mock": mock_digest([app.app / "bundle"]), "task_files": tasks_digest(app.app), "most": most}


def _read(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise FileFormatError(f"cannot read {file}: {e}", hint="delete it: it will be found out again") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise FileFormatError(f"{file} is not of the format {FORMAT}", hint="delete it: it will be found out again")
    return told
