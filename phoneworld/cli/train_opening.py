"""What the verbs of `phoneworld train` open: the apps of folders, the real app behind an environment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from phoneworld.cli.files import need_bundle, need_phone
from phoneworld.cli.terminal import Terminal
from phoneworld.env.extras import need
from phoneworld.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from phoneworld.train.places import RealPhone, TrainedApp

progress_console = Terminal(stderr=True)


def need_torch() -> None:
    """Raises MissingDependency without torch."""
    need("torch", "train")


def progress_bar() -> Progress:
    """A bar on a terminal, nothing elsewhere."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal
    )


def opened_apps(apps: Sequence[Path], hold_out: float, validation: float = 0.0) -> list[TrainedApp]:
    """The apps of these folders. Raises FileFormatError."""
    from phoneworld.train.places import TrainedApp

    opened: list[TrainedApp] = []
    for app in apps:
        if not (app / "bundle").is_dir() or not (app / "tasks").is_dir():
            raise FileFormatError(f"{app} is no folder with `bundle` and `tasks` in it", hint="`phoneworld tasks generate APP` makes tasks for a mock")
        need_bundle(app / "bundle")
        opened.append(TrainedApp.of(app / "bundle", app / "tasks", hold_out, validation))
    return opened


def real_phone(apps: Sequence[TrainedApp], device: str, transfer: Path | None, storage: Path | None, *, trained: bool = True) -> RealPhone:
    """The real app behind an environment, with the tasks that hold there: of those that are trained, or of all."""
    from phoneworld.env.observation import ObservationSpec
    from phoneworld.evaluate.real_phone import RealPhone as Opened
    from phoneworld.tasks.file import load_storage
    from phoneworld.train.places import PAY, RealPhone, lengths

    if len(apps) != 1:
        raise OptionError("one phone shows one app here, and several are named", hint="name one app with --device")
    if transfer is None:
        raise OptionError("which tasks hold on the real app is not known", hint="`phoneworld tasks transfer APP --device … --json > FILE`, then --transfer FILE")
    need_phone(device)
    (app,) = apps
    holding = _holding(transfer)
    phone = Opened(device, app.bundle, app.tasks, load_storage(storage) if storage is not None else "", ObservationSpec(text=False), rewards=PAY)
    return RealPhone(phone, lengths(t for t in (app.trained if trained else app.tasks) if t.id in holding))


def _holding(file: Path) -> frozenset[str]:
    """The tasks that held on the real app. Raises FileFormatError."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return frozenset(one["task"] for one in told["tasks"] if one["aimed"]["success"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise FileFormatError(f"{file} does not say which tasks hold: {type(e).__name__}", hint="`phoneworld tasks transfer APP --device … --json` prints it") from None
