"""What goes in and out over HTTP, as OpenAPI shows it. Conversions from our values; no rules."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from phoneworld.program.bundle import Bundle
from phoneworld.program.program import EvidenceKind
from phoneworld.serve.sessions import LoggedStep, Session
from phoneworld.sim.phone import Step
from phoneworld.ui.action import Space, action_to_json
from phoneworld.ui.gestures import Input, KeyDown, NavigationButton, Pasted, Pointer, Wheel
from phoneworld.ui.node import Hierarchy, Node, Path


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorOut(BaseModel):
    """Every error: its kind, what is wrong, and what mends it."""

    error: str = Field(examples=["UnknownSession"])
    message: str
    hint: str = ""


class CreateIn(_Body):
    """A new phone. Without bundles it has the first one served."""

    bundles: list[str] | None = Field(None, max_length=32, description="Names of bundles; the first is in front.")
    seed: int = Field(0, ge=0, lt=2**63)
    start: str | None = Field(None, description="A named start of the first bundle; default: its first.")


class ResetIn(_Body):
    """Back to the start; what is left out stays as it was."""

    seed: int | None = Field(None, ge=0, lt=2**63)
    start: str | None = None


class StepIn(_Body):
    """One action, as `phoneworld.ui.action` writes it."""

    action: dict[str, Any] = Field(examples=[{"kind": "tap", "x": 540, "y": 1200}, {"kind": "type", "text": "milk"}])
    space: Space = Field("pixel", description="In which space coordinates are; a `space` in the action wins.")


class SnapshotIn(_Body):
    name: str | None = Field(None, description="Made up where it is left out.")


class RestoreIn(_Body):
    snapshot: str


class PointerIn(_Body):
    """A finger from down to up: [x, y, milliseconds] each, in pixels of the screen."""

    kind: Literal["pointer"]
    points: list[tuple[float, float, float]] = Field(min_length=1, max_length=2000)


class WheelIn(_Body):
    kind: Literal["wheel"]
    x: float
    y: float
    dx: float = 0
    dy: float = 0


class KeyIn(_Body):
    """A key by its DOM name."""

    kind: Literal["key"]
    key: str = Field(max_length=40)


class TextIn(_Body):
    kind: Literal["text"]
    text: str = Field(max_length=10_000)


class ButtonIn(_Body):
    kind: Literal["button"]
    name: Literal["back", "home", "recents"]


class InputIn(_Body):
    """Raw input, as the phone's page reports it."""

    input: PointerIn | WheelIn | KeyIn | TextIn | ButtonIn = Field(discriminator="kind")

    def to_input(self) -> Input:
        match self.input:
            case PointerIn(points=points):
                return Pointer(tuple(points))
            case WheelIn(x=x, y=y, dx=dx, dy=dy):
                return Wheel(x, y, dx, dy)
            case KeyIn(key=key):
                return KeyDown(key)
            case TextIn(text=text):
                return Pasted(text)
            case ButtonIn(name=name):
                return NavigationButton(name)


class BundleOut(BaseModel):
    """One app that is served. `rules` counts its rules by evidence."""

    name: str
    package: str
    label: str
    width: int
    height: int
    density: int
    screens: int
    layouts: int
    starts: list[str]
    rules: dict[str, int]
    has_report: bool


class StepOut(BaseModel):
    """What one action did. `changed`: the state is another one, be it on the screen or not. An invalid one changed nothing, and `message` says why."""

    number: int
    action: dict[str, Any]
    changed: bool
    valid: bool
    evidence: EvidenceKind
    message: str
    rules: list[str]
    screen: str
    version: int


class SessionOut(BaseModel):
    """Where a phone is. `version` grows with every change."""

    id: str
    bundles: list[str]
    seed: int
    start: str | None
    version: int
    steps: int
    screen: str
    package: str
    activity: str
    keyboard: bool
    rotation: int
    clock_ms: int | None
    width: int
    height: int
    density: int
    snapshots: list[str]
    starts: list[str]
    idle_s: float


class SnapshotOut(BaseModel):
    snapshot: str


class ScreenOut(BaseModel):
    """The screen as HTML, for the phone's page."""

    version: int
    html: str
    width: int
    height: int
    step: StepOut | None = None


def bundle_out(name: str, bundle: Bundle) -> BundleOut:
    program = bundle.program
    rules: dict[str, int] = {"recorded": 0, "inferred": 0, "assumed": 0}
    for rule in program.rules:
        rules[rule.evidence.kind] = rules.get(rule.evidence.kind, 0) + 1
    return BundleOut(
        name=name, package=program.package, label=program.label or program.package,
        width=program.device.size.width, height=program.device.size.height, density=program.device.density,
        screens=len(program.screens), layouts=sum(len(s.layouts) for s in program.screens.values()),
        starts=list(program.starts), rules=rules, has_report=(bundle.path / "report.html").is_file(),
    )  # fmt: skip


def session_out(session: Session, idle_s: float = 0.0) -> SessionOut:
    with session.lock:
        view = session.view()
        return SessionOut(
            id=session.id, bundles=list(session.home.names), seed=session.seed, start=session.start, version=session.version,
            steps=session.count, screen=session.screen(), package=view.state.package, activity=view.state.activity,
            keyboard=view.state.keyboard or view.keyboard, rotation=view.state.rotation, clock_ms=view.state.clock_ms,
            width=view.size.width, height=view.size.height, density=view.density, snapshots=list(session.snapshots),
            starts=list(session.home.bundles[0].program.starts), idle_s=round(idle_s, 3),
        )  # fmt: skip


def step_out(session: Session, logged: LoggedStep) -> StepOut:
    step: Step = logged.step
    return StepOut(
        number=logged.number, action=action_to_json(logged.action), changed=step.changed, valid=step.valid,
        evidence=step.evidence, message=step.message, rules=list(step.rules), screen=logged.screen, version=session.version,
    )  # fmt: skip


def tree_json(tree: Hierarchy) -> dict[str, Any]:
    """The tree as nested JSON: attributes that differ from their default, bounds as [left, top, right, bottom], its path."""
    return {"rotation": tree.rotation, "windows": [_node_json(w, (i,)) for i, w in enumerate(tree.windows)]}


_FLAGS = ("checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long_clickable", "password", "selected")


def _node_json(node: Node, path: Path) -> dict[str, Any]:
    b = node.bounds
    out: dict[str, Any] = {
        "path": ".".join(map(str, path)), "class": node.class_name, "bounds": [b.left, b.top, b.right, b.bottom],
    }  # fmt: skip
    for name in ("text", "resource_id", "package", "content_desc", "hint"):
        if value := getattr(node, name):
            out[name] = value
    for name in _FLAGS:
        if getattr(node, name):
            out[name] = True
    if not node.enabled:
        out["enabled"] = False
    if not node.visible:
        out["visible"] = False
    if node.children:
        out["children"] = [_node_json(child, (*path, i)) for i, child in enumerate(node.children)]
    return out
