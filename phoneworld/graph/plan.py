"""Questions: what to record next, each with the way there. Written by `phoneworld build`, answered by `phoneworld record --ask`.

A question says why it is asked, on which widget of which screen, from which recorded start it is reached, what is to be done and
what reveals the outcome. A plan is all questions of a recording with sketches of its screens; `app.questions.json` is a plan on
the disk, `dumps` and `loads` are pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from phoneworld.errors import ActionError, FileFormatError, NewerFormat
from phoneworld.graph.situation import Scene, Sketch
from phoneworld.ui.action import (
    Action,
    Clear,
    DoubleTap,
    Drag,
    LongPress,
    Pinch,
    Swipe,
    Tap,
    TypeText,
    action_from_json,
    action_to_json,
)
from phoneworld.ui.node import Path

FORMAT: Literal["phoneworld.questions"] = "phoneworld.questions"
VERSION = 1

Kind = Literal["untried", "seldom", "circumstance", "row", "exception", "ambiguous", "back", "text", "return"]
"""Why a question is asked: never done; done once; never done like this; what a row shows
when it is opened; the rules do not explain what was seen; one action had
several outcomes; where Back leads; what blank or known text does; what is left after the app was closed."""


@dataclass(frozen=True, slots=True)
class Target:
    """A widget by what lasts: its mark, and where several have it the number of it in document order, or its words."""

    mark: str
    nth: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One action. Where it has a target its place is found anew; `screen` is the screen it is expected on ("": any). Where
    `is_fresh`, the text is one that was never typed before, and that of the action an example.
    """

    action: Action
    target: Target | None = None
    screen: str = ""
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """A recorded trace, and the steps of it that lead to where the question is asked."""

    trace: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `deed` is what it is about (see `situation.deed_of`), `given` the circumstances in which it is asked; `gain` is
    how much it would settle: how often a user at random does this, times how likely its outcome is not known.
    """

    id: str
    kind: Kind
    why: str
    screen: str
    deed: str
    target: Target | None
    given: frozenset[str]
    start: Start
    act: tuple[Step, ...]
    reveal: tuple[Step, ...] = ()
    gain: float = 0.0

    @property
    def cost(self) -> int:
        """How many actions it takes from the start."""
        return len(self.start.steps) + len(self.act) + len(self.reveal)


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions of a recording, the ones that settle most per action first."""

    package: str
    screens: tuple[Sketch, ...]
    questions: tuple[Question, ...]

    def sketch(self, screen: str) -> Sketch | None:
        return next((s for s in self.screens if s.id == screen), None)


def target_of(scene: Scene, path: Path) -> Target:
    """How a widget is found again."""
    name = scene.mark(path)
    alike = scene.alike(name)
    return Target(name, alike.index(path) if path in alike else 0, scene.capture.hierarchy.at(path).label if len(alike) > 1 else "")


def find_target(scene: Scene, target: Target) -> Path | None:
    """The widget of a target: of those with its mark the one with its number, if it has its words, else the one that has them."""
    tree, alike = scene.capture.hierarchy, scene.alike(target.mark)
    numbered = alike[target.nth] if target.nth < len(alike) else None
    if target.words and not (numbered is not None and tree.at(numbered).label == target.words):
        named = [p for p in alike if tree.at(p).label == target.words]
        if len(named) == 1:
            return named[0]
    return numbered


def aimed(action: Action, x: int, y: int) -> Action:
    """The same action at another place; one without a place stays as it is."""
    match action:
        case Tap() | DoubleTap() | LongPress() | Pinch():
            return replace(action, x=x, y=y)
        case Swipe() | Drag():
            return replace(action, x=x, y=y, x2=x + action.x2 - action.x, y2=y + action.y2 - action.y)
        case TypeText() | Clear() if action.x is not None:
            return replace(action, x=x, y=y)
        case _:
            return action


# ---- the file


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _TargetModel(_Model):
    mark: str
    nth: int = 0
    words: str = ""


class _StepModel(_Model):
    action: dict[str, Any]
    on: _TargetModel | None = None
    screen: str = ""
    fresh: bool = False


class _StartModel(_Model):
    trace: str
    steps: list[_StepModel] = []


class _QuestionModel(_Model):
    id: str
    kind: Kind
    why: str
    screen: str
    deed: str
    on: _TargetModel | None = None
    given: list[str] = []
    start: _StartModel
    act: list[_StepModel]
    reveal: list[_StepModel] = []
    gain: float = 0.0


class _ScreenModel(_Model):
    id: str
    name: str
    package: str
    always: list[str]
    rows: list[str] = []
    cells: list[str] = []


class _PlanModel(_Model):
    format: Literal["phoneworld.questions"]
    version: Annotated[int, Field(ge=1, le=VERSION)]
    package: str
    screens: list[_ScreenModel]
    questions: list[_QuestionModel]


def dumps(plan: Plan) -> bytes:
    """The bytes of `app.questions.json`; equal plans give equal bytes."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "package": plan.package,
        "screens": [
            {"id": s.id, "name": s.name, "package": s.package, "always": sorted(s.always), "rows": sorted(s.rows), "cells": sorted(s.cells)}
            for s in plan.screens
        ],
        "questions": [
            {
                "id": q.id,
                "kind": q.kind,
                "why": q.why,
                "screen": q.screen,
                "deed": q.deed,
                "on": _target_json(q.target),
                "given": sorted(q.given),
                "start": {"trace": q.start.trace, "steps": [_step_json(s) for s in q.start.steps]},
                "act": [_step_json(s) for s in q.act],
                "reveal": [_step_json(s) for s in q.reveal],
                "gain": round(q.gain, 4),
            }
            for q in plan.questions
        ],
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def loads(content: bytes, *, where: str = "app.questions.json") -> Plan:
    """The plan in these bytes. Raises NewerFormat for a later version, FileFormatError for anything that is no whole plan."""
    hint = "`phoneworld build app.graph.json` writes one beside the bundle"
    try:
        obj = orjson.loads(content)
    except orjson.JSONDecodeError as e:
        raise FileFormatError(f"{where} is not JSON: {e}", hint=hint) from None
    if not isinstance(obj, dict) or obj.get("format") != FORMAT:
        found = obj.get("format") if isinstance(obj, dict) else type(obj).__name__
        raise FileFormatError(f'{where}: expected a JSON object with "format": "{FORMAT}", found {found!r}', hint=hint)
    if isinstance(obj.get("version"), int) and obj["version"] > VERSION:
        raise NewerFormat(f"{where} has version {obj['version']}, this PhoneWorld reads up to {VERSION}", hint="update phoneworld")
    try:
        model = _PlanModel.model_validate(obj)
        known = {s.id for s in model.screens}
        questions = tuple(
            Question(
                q.id, q.kind, q.why, q.screen, q.deed, _target(q.on), frozenset(q.given), Start(q.start.trace, _steps(q.start.steps)),
                _steps(q.act), _steps(q.reveal), q.gain,
            )
            for q in model.questions
        )  # fmt: skip
    except ValidationError as e:
        first = e.errors()[0]
        raise FileFormatError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}", hint=hint) from None
    except ActionError as e:
        raise FileFormatError(f"{where}: {e.message}", hint=e.hint or hint) from None
    for q in questions:
        for name in (q.screen, *(s.screen for s in (*q.start.steps, *q.act, *q.reveal) if s.screen)):
            if name not in known:
                raise FileFormatError(f"{where}: question {q.id} is on screen {name!r}, which the file does not describe", hint=hint)
    screens = tuple(Sketch(s.id, s.name, s.package, frozenset(s.always), frozenset(s.rows), frozenset(s.cells)) for s in model.screens)
    return Plan(model.package, screens, questions)


def _target_json(target: Target | None) -> dict[str, Any] | None:
    return None if target is None else {"mark": target.mark, "nth": target.nth, "words": target.words}


def _step_json(step: Step) -> dict[str, Any]:
    return {"action": action_to_json(step.action), "on": _target_json(step.target), "screen": step.screen, "fresh": step.is_fresh}


def _target(model: _TargetModel | None) -> Target | None:
    return None if model is None else Target(model.mark, model.nth, model.words)


def _steps(models: list[_StepModel]) -> tuple[Step, ...]:
    return tuple(Step(action_from_json(m.action), _target(m.on), m.screen, m.fresh) for m in models)

