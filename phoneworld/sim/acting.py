"""What an action does to an app, whichever way its screen is drawn: rules first, then what Android does by itself, then nothing.

`on_layout.py` and `on_template.py` say where focus, words and checks are kept; the order of belief is here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

from phoneworld.program.program import EvidenceKind, Program, TriggerKind, weakest
from phoneworld.sim.evaluate import NO_ROW, Row
from phoneworld.sim.state import AppState
from phoneworld.sim.surface import Surface
from phoneworld.ui import system
from phoneworld.ui.action import (
    Clear,
    DoubleTap,
    Drag,
    LongPress,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Gesture, Node

AppAction = Tap | DoubleTap | LongPress | Swipe | Drag | Pinch | TypeText | Clear | PressKey | Wait
BULLET = "•"


class Reaction(NamedTuple):
    """What an action did to one app. `left` is True where the app gave way to the launcher."""

    app: AppState
    evidence: EvidenceKind
    message: str = ""
    rule: str = ""
    settle_ms: int = 0
    left: bool = False


class World(Protocol):
    """What acting asks of the app's model."""

    @property
    def program(self) -> Program: ...

    def fire(
        self,
        app: AppState,
        kind: TriggerKind,
        node: str = "",
        argument: str | None = None,
        typed: str = "",
        acted: Row = NO_ROW,
        about: str | None = None,
    ) -> Reaction | None: ...

    def acting(self, app: AppState) -> Acting: ...

    def back(self, app: AppState) -> AppState | None: ...

    def off_path(self, app: AppState) -> AppState: ...

    def same_rows(self, rows: tuple[Row, ...]) -> tuple[Row, ...]: ...

    def scrolls(self, rule: str) -> bool: ...


class Acting(ABC):
    """One app as it stands, to be acted on once. Cheap to make."""

    __slots__ = ("app", "surface", "world")

    def __init__(self, world: World, app: AppState, surface: Surface) -> None:
        self.world = world
        self.app = app
        self.surface = surface

    # Where things are kept

    @abstractmethod
    def focus(self) -> str | None:
        """The name of the field that has the focus."""

    @abstractmethod
    def keyboard(self) -> bool:
        """True where the soft keyboard is up."""

    @abstractmethod
    def fire(self, kind: TriggerKind, name: str = "", argument: str | None = None, typed: str = "") -> Reaction | None:
        """The reaction of the first rule for this widget whose guard holds, or None."""

    @abstractmethod
    def key_widget(self) -> str | None:
        """The name of the widget that keys such as Enter are for."""

    @abstractmethod
    def held(self, name: str, node: Node) -> str:
        """What a field holds."""

    @abstractmethod
    def focused(self, name: str) -> AppState:
        """The app with the focus on a field, the keyboard up."""

    @abstractmethod
    def filled(self, name: str, node: Node, shown: str) -> AppState | None:
        """The app with a field that shows this; None where nothing keeps it."""

    @abstractmethod
    def toggled(self, name: str, node: Node) -> AppState | None:
        """The app with a widget checked that was not, or the other way round; None where nothing keeps it."""

    @abstractmethod
    def on_keyboard(self, key: str) -> Reaction | None:
        """What a key does to the soft keyboard alone, before any rule is asked; None where it does nothing to it."""

    def scrolled(self, fired: Reaction | None, target: str, dy: int) -> Reaction | None:
        """What a finger moved up or down over what scrolls does beside what a rule says; None where nothing is known to move."""
        return None

    def ruled(self, key: str) -> bool:
        """True where the rules for a key are to be asked."""
        return True

    # Acting

    def react(self, action: AppAction) -> Reaction:
        """Does one action. Every action has a reaction; none raises for a point on the screen."""
        match action:
            case Tap(x, y) | DoubleTap(x, y) | LongPress(x, y):
                if self.keyboard():
                    size, density = self.surface.size, self.world.program.device.density
                    if system.keyboard_bounds(size, density).contains(Point(x, y)):
                        return self._soft_key(system.key_at(size, density, Point(x, y)))
                if isinstance(action, Tap):
                    return self._tap(x, y)
                return self._touch("double_tap" if isinstance(action, DoubleTap) else "long_press", x, y)
            case Swipe(x, y, x2, y2):
                return self._swipe(x, y, x2 - x, y2 - y)
            case Drag(x, y):
                return self._touch("drag", x, y)
            case Pinch(x, y, scale):
                return self._touch("pinch_out" if scale > 1 else "pinch_in", x, y)
            case TypeText(text, x, y, mode):
                return self._type(text, x, y, append=mode == "append")
            case Clear(x, y):
                return self._type("", x, y, append=False)
            case PressKey(key):
                return self._key(key)
            case Wait():
                return self.fire("wait") or self.nothing("nothing happened meanwhile")

    def nothing(self, message: str) -> Reaction:
        """The app as it is, for Android would do nothing either."""
        return Reaction(self.app, departed(self.app, "assumed"), message)

    def assumed(self, app: AppState, message: str) -> Reaction:
        return Reaction(app if app.departed else app._replace(departed=True), "assumed", message)

    def unrecorded(self, message: str) -> Reaction:
        return Reaction(self.app, "unrecorded", message)

    def _tap(self, x: int, y: int) -> Reaction:
        touched = self.surface.touch("tap", x, y)
        key, target = touched if touched else ("", None)
        fired = self.fire("tap", target or key)
        if fired:
            return fired
        node = self.surface.node(target) if target else None
        if target is None or node is None:
            return self.nothing("nothing there takes a tap")
        if node.is_editable:
            if self.focus() == target and self.keyboard():
                return Reaction(self.app, "assumed", "the field has the focus already")
            return self.assumed(self.focused(target), "the field takes the focus")
        if node.checkable:
            toggled = self.toggled(target, node)
            if toggled is None:
                return self.unrecorded("what keeps this widget's check was not recorded")
            return self.assumed(toggled, "the widget is toggled")
        box = self.surface.box_in(target)
        if box is not None and (inner := self.surface.node(box)) is not None:
            # A row around one box and nothing else to touch is the box's label.
            fired = self.fire("tap", box)
            if fired:
                return fired._replace(evidence=weakest(fired.evidence, "assumed"))
            toggled = self.toggled(box, inner)
            if toggled is not None:
                return self.assumed(toggled, "the box of the row is toggled")
        return self.unrecorded("what a tap does here was not recorded")

    def _touch(self, kind: TriggerKind, x: int, y: int) -> Reaction:
        gesture: Gesture = "long_press" if kind == "long_press" else "tap"
        touched = self.surface.touch(gesture, x, y)
        key, target = touched if touched else ("", None)
        fired = self.fire(kind, target or key)
        if fired:
            return fired
        if target is None:
            return self.nothing(f"nothing there takes a {kind.replace('_', ' ')}")
        return self.unrecorded(f"what a {kind.replace('_', ' ')} does here was not recorded")

    def _swipe(self, x: int, y: int, dx: int, dy: int) -> Reaction:
        if dx == 0 and dy == 0:
            return self._touch("long_press", x, y)
        touched = self.surface.touch("scroll", x, y)
        key, target = touched if touched else ("", None)
        # What scrolls goes another way for another swipe, so such rules are for one way of the finger.
        fired = self.fire(swipe_kind(dx, dy), target or key, str(dy))
        if target is not None and abs(dy) >= abs(dx):
            fired = self.scrolled(fired, target, dy) or fired
        if fired:
            return fired
        if target is None:
            return self.nothing("nothing there scrolls")
        return self.unrecorded("what lies in that direction was not recorded")

    # Typing

    def _type(self, text: str, x: int | None, y: int | None, *, append: bool) -> Reaction:
        if x is not None and y is not None:
            touched = self.surface.touch("type", x, y)
            field = touched[1] if touched else None
            node = self.surface.node(field) if field else None
            if field and node is not None:
                shown = _shown(node, self.held(field, node) + text if append else text)
                fired = self.fire("type", field, shown, typed=shown)
                if fired:
                    return fired
            tapped = self._tap(x, y)
            typed = self.world.acting(tapped.app)._type(text, None, None, append=append)
            return typed._replace(evidence=weakest(tapped.evidence, typed.evidence), settle_ms=tapped.settle_ms + typed.settle_ms)
        focused, held = self.focus(), self.field_value()
        if focused is None or held is None:
            return self.nothing("no field has the focus")
        return self._fill(focused, held + text if append else text)

    def field_value(self) -> str | None:
        """What the focused field holds, or None where no field has the focus."""
        key = self.focus()
        node = self.surface.node(key) if key else None
        return None if key is None or node is None else self.held(key, node)

    def _fill(self, key: str, value: str) -> Reaction:
        node = self.surface.node(key)
        if node is None:
            return self.unrecorded("the field is gone")
        shown = _shown(node, value)
        fired = self.fire("type", key, shown, typed=shown)
        if fired:
            return fired
        filled = self.filled(key, node, shown)
        if filled is None:
            return self.unrecorded("what keeps the words of this field was not recorded")
        return self.assumed(filled, "the field holds what was typed")

    def _soft_key(self, key: str | None) -> Reaction:
        match key:
            case None:
                return self.nothing("between two keys")
            case "hide":
                return self._key("back")
            case "backspace" | "enter":
                return self._key(key)
            case _ if len(key) == 1:
                return self._type(key, None, None, append=True)
            case _:
                return self.nothing(f"the {key} key changes the keyboard only")

    def _key(self, key: str) -> Reaction:
        if key in ("backspace", "delete"):
            fired = self.fire("key", key_node(key, self.key_widget()), key)
            if fired:
                return fired
            value, field = self.field_value(), self.focus()
            if value is None or field is None or not value:
                return self.nothing("no text to delete")
            return self._fill(field, value[:-1] if key == "backspace" else value)
        reacted = self.on_keyboard(key)
        if reacted:
            return reacted
        fired = self.fire("key", key_node(key, self.key_widget()), key) if self.ruled(key) else None
        if fired:
            return fired
        if key == "back":
            before = self.world.back(self.app)
            if before is None:
                return self.nothing("Back at the root leaves the app")._replace(left=True)
            return Reaction(before, "assumed", "Back goes to the screen before")
        if key == "home":
            return self.nothing("Home shows the launcher")._replace(left=True)
        if key == "enter" and self.focus() is None:
            return self.nothing("no field has the focus")
        return self.unrecorded(f"what the {key} key does here was not recorded")


def departed(app: AppState, kind: EvidenceKind) -> EvidenceKind:
    """A rule seen on the recorded path is no longer `recorded` once the phone has left that path."""
    return "inferred" if app.departed and kind == "recorded" else kind


def _shown(node: Node, value: str) -> str:
    return BULLET * len(value) if node.password else value


def swipe_kind(dx: int, dy: int) -> TriggerKind:
    """The direction a finger moved in, by its longer axis."""
    if abs(dx) > abs(dy):
        return "swipe_right" if dx > 0 else "swipe_left"
    return "swipe_down" if dy > 0 else "swipe_up"


def key_node(key: str, focus: str | None) -> str:
    """The widget a key press is for: the focused field where the key acts on it, else none."""
    return focus or "" if key in ("enter", "search", "tab") else ""
