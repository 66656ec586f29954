"""The closed union of actions a user or agent can do, with JSON both ways. Knows no device.

Inside the product every coordinate is a pixel of the screen, half-open: 0..width-1. JSON at the edges may state another
`space`: `unit` (0.0..1.0 of the screen) or `thousand` (0..1000 of it); converting needs the screen's size.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from math import isfinite
from typing import Any, Literal, TypeAlias, assert_never, get_args

from phoneworld.errors import ActionError
from phoneworld.ui.geometry import Point, Size

Key = Literal[
    "back", "home", "recents", "enter", "backspace", "delete", "tab", "escape", "search", "menu", "space",
    "up", "down", "left", "right", "move_home", "move_end", "volume_up", "volume_down", "power", "wake", "sleep",
]  # fmt: skip
Space = Literal["pixel", "unit", "thousand"]
Status = Literal["success", "failure", "infeasible"]
TypeMode = Literal["append", "replace"]


@dataclass(frozen=True, slots=True)
class Tap:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class DoubleTap:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class LongPress:
    x: int
    y: int
    duration_ms: int = 800


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger moved from (x, y) to (x2, y2), then lifted."""

    x: int
    y: int
    x2: int
    y2: int
    duration_ms: int = 300


@dataclass(frozen=True, slots=True)
class Drag:
    """A long press at (x, y), then a move to (x2, y2)."""

    x: int
    y: int
    x2: int
    y2: int
    duration_ms: int = 1000


@dataclass(frozen=True, slots=True)
class Pinch:
    """Two fingers around (x, y): `scale` above 1 spreads them, below 1 closes them."""

    x: int
    y: int
    scale: float
    duration_ms: int = 400


@dataclass(frozen=True, slots=True)
class TypeText:
    """Text typed into the field at (x, y), or into what has the focus where x and y are None."""

    text: str
    x: int | None = None
    y: int | None = None
    mode: TypeMode = "append"


@dataclass(frozen=True, slots=True)
class Clear:
    """Empties the field at (x, y), or what has the focus."""

    x: int | None = None
    y: int | None = None


@dataclass(frozen=True, slots=True)
class PressKey:
    key: Key


@dataclass(frozen=True, slots=True)
class OpenApp:
    """Starts an app, or brings it to the front. `url` opens a deep link in it."""

    package: str
    activity: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class CloseApp:
    """Stops an app; what it has stored stays."""

    package: str


@dataclass(frozen=True, slots=True)
class Wait:
    duration_ms: int = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """Tells the user an answer to the instruction; changes nothing on the phone."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks the user something; changes nothing on the phone."""

    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    status: Status = "success"


Action: TypeAlias = (
    Tap | DoubleTap | LongPress | Swipe | Drag | Pinch | TypeText | Clear | PressKey | OpenApp | CloseApp | Wait
    | Answer | Ask | Finish
)  # fmt: skip

KINDS: dict[str, type[Any]] = {
    "tap": Tap, "double_tap": DoubleTap, "long_press": LongPress, "swipe": Swipe, "drag": Drag, "pinch": Pinch,
    "type": TypeText, "clear": Clear, "press_key": PressKey, "open_app": OpenApp, "close_app": CloseApp, "wait": Wait,
    "answer": Answer, "ask": Ask, "finish": Finish,
}  # fmt: skip
_NAMES = {cls: name for name, cls in KINDS.items()}
_X_FIELDS, _Y_FIELDS = ("x", "x2"), ("y", "y2")


def kind_of(action: Action) -> str:
    """The name of an action's kind, as in its JSON."""
    return _NAMES[type(action)]


def points_of(action: Action) -> tuple[Point, ...]:
    """The pixels an action touches, in order; empty where it touches none."""
    match action:
        case Tap(x, y) | DoubleTap(x, y) | LongPress(x, y) | Pinch(x, y):
            return (Point(x, y),)
        case Swipe(x, y, x2, y2) | Drag(x, y, x2, y2):
            return (Point(x, y), Point(x2, y2))
        case TypeText(_, x, y) | Clear(x, y):
            return () if x is None or y is None else (Point(x, y),)
        case PressKey() | OpenApp() | CloseApp() | Wait() | Answer() | Ask() | Finish():
            return ()
        case _:
            assert_never(action)


def check_on_screen(action: Action, size: Size) -> None:
    """Raises ActionError where the action touches a pixel outside a screen of this size."""
    for point in points_of(action):
        if not size.contains(point):
            raise ActionError(
                f"{kind_of(action)} at ({point.x}, {point.y}) is outside the screen",
                hint=f"use 0..{size.width - 1} for x and 0..{size.height - 1} for y",
            )


def action_to_json(action: Action, *, space: Space = "pixel", size: Size | None = None) -> dict[str, Any]:
    """One JSON object: `kind` and the fields that differ from their default, coordinates in `space`.

    `size` is needed for any space but pixels. A pixel is written as its middle, so that it comes back as itself.
    """
    out: dict[str, Any] = {"kind": kind_of(action)}
    for field in fields(action):
        value = getattr(action, field.name)
        if value != field.default:
            out[field.name] = value
    if space != "pixel":
        out["space"] = space
        scale = _scale(space)
        for name in _X_FIELDS + _Y_FIELDS:
            if out.get(name) is not None:
                out[name] = (out[name] + 0.5) / _extent(name, size) * scale
    return out


def action_from_json(obj: Any, *, size: Size | None = None, space: Space = "pixel") -> Action:
    """Reads one action. A `space` in the object wins over the argument.

    Raises ActionError for an unknown kind, a missing, surplus or ill-typed field, a value outside its space, or a point
    outside the screen where `size` is given.
    """
    if not isinstance(obj, dict):
        raise ActionError(f"an action is a JSON object, found {type(obj).__name__}", hint='for example {"kind": "tap", "x": 1, "y": 2}')
    given = dict(obj)
    kind = given.pop("kind", None)
    space = given.pop("space", space)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ActionError(f"unknown action kind {kind!r}", hint="one of " + ", ".join(KINDS))
    if space not in get_args(Space):
        raise ActionError(f"unknown coordinate space {space!r}", hint="one of " + ", ".join(get_args(Space)))
    cls = KINDS[kind]
    known = {field.name: field for field in fields(cls)}
    if surplus := sorted(str(name) for name in given if name not in known):
        raise ActionError(f"{kind} has no field {', '.join(surplus)}", hint="its fields are " + (", ".join(known) or "none"))
    for name in _X_FIELDS + _Y_FIELDS:
        if name in known and name in given and not (given[name] is None and known[name].default is None):
            given[name] = _to_pixel(kind, name, given[name], space, size)
    if missing := [name for name, field in known.items() if name not in given and field.default is MISSING]:
        raise ActionError(f"{kind} lacks {', '.join(missing)}", hint="its fields are " + ", ".join(known))
    action: Action = cls(**given)
    _check_types(kind, action)
    if size is not None:
        check_on_screen(action, size)
    return action


def _scale(space: Space) -> int:
    return 1 if space == "unit" else 1000


def _extent(name: str, size: Size | None) -> int:
    if size is None:
        raise ActionError("coordinates that are not pixels need the size of the screen", hint="pass size=Size(width, height)")
    return size.width if name in _X_FIELDS else size.height


def _to_pixel(kind: str, name: str, value: Any, space: Space, size: Size | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not isfinite(value)):
        raise ActionError(f"{kind}.{name} must be a number, found {value!r}")
    if space == "pixel":
        if value != int(value):
            raise ActionError(f"{kind}.{name} is {value}: pixels are whole numbers", hint="state the space: unit or thousand")
        return int(value)
    scale, extent = _scale(space), _extent(name, size)
    if not 0 <= value <= scale:
        raise ActionError(f"{kind}.{name} is {value}, outside 0..{scale}", hint=f"in space {space!r} coordinates run from 0 to {scale}")
    return min(extent - 1, int(value / scale * extent))


def _check_types(kind: str, action: Action) -> None:
    def need(name: str, ok: bool, what: str) -> None:
        if not ok:
            raise ActionError(f"{kind}.{name} must be {what}, found {getattr(action, name)!r}")

    for field in fields(action):
        value = getattr(action, field.name)
        match field.name:
            case "duration_ms":
                need(field.name, isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 600_000, "0..600000 ms")
            case "text" | "package" | "activity" | "url":
                need(field.name, isinstance(value, str), "text")
            case "scale":
                need(field.name, isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 100, "above 0, up to 100")
            case "key":
                need(field.name, value in get_args(Key), "one of " + ", ".join(get_args(Key)))
            case "status":
                need(field.name, value in get_args(Status), "one of " + ", ".join(get_args(Status)))
            case "mode":
                need(field.name, value in get_args(TypeMode), "append or replace")
    if isinstance(action, TypeText | Clear) and (action.x is None) != (action.y is None):
        raise ActionError(f"{kind} has only one of x and y", hint="give both, or none to use what has the focus")
