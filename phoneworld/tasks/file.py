"""Task files and storage maps on disk, and checkers of plug-ins. The only file of this room that touches the disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from phoneworld.errors import FileFormatError, TaskError
from phoneworld.graph.file import write_atomically
from phoneworld.tasks.checker import CustomCheck
from phoneworld.tasks.stored import StorageMap, from_json, to_json
from phoneworld.tasks.task import Task
from phoneworld.tasks.task_yaml import dumps, loads

GROUP = "phoneworld.checkers"


def load_tasks(place: str | Path) -> tuple[Task, ...]:
    """The tasks of a file, or of all `*.yaml` files of a folder (of an app's: of its `tasks` folder), in the order of their names.

    Raises FileFormatError where one cannot be read, with file and line, or where two tasks have one id.
    """
    path = Path(place)
    if path.is_dir():
        folder = path / "tasks" if (path / "tasks").is_dir() else path
        files = sorted(folder.glob("*.yaml"))
        if not files:
            raise FileFormatError(f"no task file (*.yaml) is in {folder}", hint="write one, or `phoneworld tasks generate`")
    else:
        files = [path]
    tasks: dict[str, Task] = {}
    for file in files:
        for task in loads(_read(file), str(file)):
            if task.id in tasks:
                raise FileFormatError(f"{file}: there is a task {task.id} in another file of this folder", hint="give one of them another name")
            tasks[task.id] = task
    return tuple(tasks.values())


def save_tasks(tasks: Iterable[Task], file: str | Path, *, head: str = "") -> None:
    """Writes a task file, making its folder; `head` are lines of comment. Raises WriteError where it cannot."""
    write_atomically(Path(file), (head + dumps(tasks)).encode())


def load_storage(file: str | Path) -> StorageMap:
    """How an app stores things, as `phoneworld tasks transfer --storage` found it out. Raises FileFormatError."""
    try:
        data = json.loads(_read(Path(file)))
    except ValueError as e:
        raise FileFormatError(f"{file} is no JSON: {e}", hint="name a file that `phoneworld tasks transfer --storage` wrote") from None
    return from_json(data)


def save_storage(storage: StorageMap, file: str | Path) -> None:
    """Writes that file. Raises WriteError where it cannot."""
    write_atomically(Path(file), (json.dumps(to_json(storage), ensure_ascii=False, indent=1) + "\n").encode())


def plugged_in() -> Mapping[str, CustomCheck]:
    """The checkers of all installed plug-ins, by name. Raises TaskError for one that cannot be loaded."""
    found: dict[str, CustomCheck] = {}
    for point in entry_points(group=GROUP):
        try:
            found[point.name] = point.load()
        except (ImportError, AttributeError) as e:
            raise TaskError(f"the checker {point.name} ({point.value}) cannot be loaded: {e}", hint="reinstall the plug-in that brings it") from None
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as e:
        raise FileFormatError(f"cannot read {file}: {e.strerror or e}", hint="name a task file, or the folder of an app") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{file} is not UTF-8 text", hint="save it as UTF-8") from None
