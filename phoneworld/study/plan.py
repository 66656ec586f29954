"""What a study is to do, as a YAML file: which apps, which of them are never trained on, which arms, how many steps. Plays nothing.

    format: phoneworld-study/1
    trained:                                  # folders with `bundle` and `tasks`; where the real app is
    - {app: apps/notes, page: webapps/notes, fidelity: 0.8}
    unseen:
    - {app: apps/shop, device: "web:http://127.0.0.1:8000"}
    sizes:
      small: {seeds: 5, arms: {real: {real_fraction: 1, real_steps: 600}, mock: {steps: 600}}}

Paths are meant from the folder of the file. The first arm is the one that the others are held against.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from phoneworld.errors import FileFormatError, OptionError
from phoneworld.train.sources import Mixing

FORMAT = "phoneworld-study/1"
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AppPlan(_Strict):
    """An app: its folder, and the real one, as a folder of pages that the study serves itself or as `web:URL` or an adb serial.

    `fidelity` is how true its mock is, as measured elsewhere: the share of steps that change the screen in which it did what the app did.
    """

    app: Path
    page: Path | None = None
    device: str = ""
    fidelity: Share | None = None

    @property
    def name(self) -> str:
        """The name of its folder, and of its tasks."""
        return self.app.name

    @model_validator(mode="after")
    def _one_of_both(self) -> AppPlan:
        if (self.page is None) == (not self.device):
            raise ValueError(f"{self.app}: either `page` or `device` says where the real app is")
        return self


class Arm(_Strict):
    """One way to train: which share of the groups is real, and how many steps a run may take, real ones and all.

    A share that changes, such as "0.8:0.2", is that of the first update and of the last, so `updates` says how many there are.
    """

    real_fraction: Share | str = 0.0
    real_steps: Number | None = None
    steps: Number | None = None
    updates: Number | None = None

    @property
    def mixing(self) -> Mixing:
        """The share, at every update."""
        return Mixing.of(str(self.real_fraction))

    @model_validator(mode="after")
    def _ends(self) -> Arm:
        try:
            mixing = self.mixing
        except OptionError as e:
            raise ValueError(e.message) from None
        if mixing.first != mixing.last and self.updates is None:
            raise ValueError(f"a share that changes ({self.real_fraction}) needs `updates`")
        if self.steps is None and (self.real_steps is None or mixing == Mixing()):
            raise ValueError("an arm ends by `real_steps`, by `steps`, or by both; without real groups by `steps`")
        return self


class Sft(_Strict):
    """How the policy that all runs begin with is trained on demonstrations: of each task at so many seeds on the mock, and on the real app."""

    seeds: Number = 2
    real_seeds: Annotated[int, Field(ge=0, le=1000)] = 1
    epochs: Number = 12
    rate: Annotated[float, Field(gt=0, le=1)] = 1e-3
    entropy: Annotated[float, Field(ge=0, le=1)] = 0.05


class Rl(_Strict):
    """How each run goes on from there."""

    groups: Number = 4
    members: Annotated[int, Field(ge=2, le=10_000)] = 4
    rate: Annotated[float, Field(gt=0, le=1)] = 1e-4
    entropy: Annotated[float, Field(ge=0, le=1)] = 0.002
    validate_every: Number = 4


class Scored(_Strict):
    """At most how many tasks of each kind each run is scored on, each at one seed. Which tasks, the run's seed decides, the same for every arm."""

    trained: Annotated[int, Field(ge=0, le=10_000)] = 10
    held_out: Annotated[int, Field(ge=0, le=10_000)] = 30
    unseen: Annotated[int, Field(ge=0, le=10_000)] = 20


class Size(_Strict):
    """How much of it is done. `workers` are processes, each with `pages` phones side by side."""

    arms: Annotated[dict[Name, Arm], Field(min_length=1)]
    seeds: Number = 5
    tasks: Number | None = None
    workers: Annotated[int, Field(ge=1, le=64)] = 2
    pages: Annotated[int, Field(ge=1, le=64)] = 2
    scored: Scored = Scored()


class Plan(_Strict):
    """A study."""

    format: str
    trained: Annotated[tuple[AppPlan, ...], Field(min_length=1)]
    unseen: tuple[AppPlan, ...] = ()
    sizes: dict[Name, Size]
    hold_out: Share = 0.25
    validation: Share = 0.1
    sft: Sft = Sft()
    rl: Rl = Rl()
    holding: Path | None = None
    """A folder in which it is kept which tasks hold on the real apps; what is missing there, or of other mocks or tasks, is found out."""

    @property
    def apps(self) -> tuple[AppPlan, ...]:
        """All apps."""
        return self.trained + self.unseen

    @model_validator(mode="after")
    def _told_apart(self) -> Plan:
        names = [a.name for a in self.apps]
        if len(set(names)) < len(names):
            raise ValueError("two apps have the same name")
        if self.format != FORMAT:
            raise ValueError(f"the format is {self.format!r}, this PhoneWorld reads {FORMAT}")
        return self

    def size(self, name: str) -> Size:
        """A size by its name. Raises OptionError."""
        if name not in self.sizes:
            raise OptionError(f"the plan has no size {name!r}", hint=f"--size {' or '.join(self.sizes)}")
        return self.sizes[name]


def read_plan(file: Path) -> Plan:
    """The plan in a file, with paths as seen from here. Raises FileFormatError that says what and where."""
    try:
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        plan = Plan.model_validate(told)
    except OSError as e:
        raise FileFormatError(f"cannot read {file}: {e.strerror or e}", hint="name a plan, such as examples/study/plan.yaml") from None
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        raise FileFormatError(f"{file} is no YAML: {str(e).splitlines()[0]}", hint="examples/study/plan.yaml shows what a plan is") from None
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the plan"
        raise FileFormatError(f"{file}: {where}: {first['msg']}", hint="examples/study/plan.yaml shows what a plan is") from None
    here = file.parent

    def seen(app: AppPlan) -> AppPlan:
        moved = app.model_copy(update={"app": here / app.app, "page": None if app.page is None else here / app.page})
        for folder in (moved.app / "bundle", moved.app / "tasks", *([moved.page] if moved.page else [])):
            if not folder.is_dir():
                raise FileFormatError(f"{file}: there is no folder {folder}", hint="paths are meant from the folder of the plan")
        return moved

    return plan.model_copy(
        update={
            "trained": tuple(map(seen, plan.trained)), "unseen": tuple(map(seen, plan.unseen)),
            "holding": None if plan.holding is None else here / plan.holding,
        }
    )  # fmt: skip


def tasks_digest(folder: Path) -> str:
    """SHA-256 of the task files of an app."""
    return sha256(b"\0".join(file.read_bytes() for file in sorted((folder / "tasks").glob("*.yaml")))).hexdigest()
