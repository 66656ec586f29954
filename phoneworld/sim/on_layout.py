"""Acting on a recorded layout: what changed since is kept as edits of its widgets, by node key."""

from __future__ import annotations

from collections.abc import Mapping

from immutables import Map

from phoneworld.program.effect import NodeAttribute
from phoneworld.program.expr import Value
from phoneworld.program.program import TriggerKind
from phoneworld.sim.acting import Acting, Reaction, World
from phoneworld.sim.evaluate import Scope, WidgetCount, as_text, evaluate
from phoneworld.sim.screenful import Screenful
from phoneworld.sim.state import AppState, NodeEdit
from phoneworld.ui.node import Node


class OnLayout(Acting):
    """An app that shows a layout."""

    __slots__ = ("screenful",)

    def __init__(self, world: World, app: AppState, screenful: Screenful) -> None:
        super().__init__(world, app, screenful)
        self.screenful = screenful

    def focus(self) -> str | None:
        return self.app.focus if self.app.focus is not None else self.screenful.focus

    def keyboard(self) -> bool:
        return keyboard_shown(self.app, self.screenful)

    def fire(self, kind: TriggerKind, name: str = "", argument: str | None = None, typed: str = "") -> Reaction | None:
        return self.world.fire(self.app, kind, name, argument, typed)

    def key_widget(self) -> str | None:
        return self.screenful.focus

    def held(self, name: str, node: Node) -> str:
        shown = self._value(name, node, "text")
        return node.value if shown == node.text else as_text(shown)

    def focused(self, name: str) -> AppState:
        return self.app._replace(focus=name)

    def filled(self, name: str, node: Node, shown: str) -> AppState | None:
        return self.app._replace(edits=self.app.edits.set((self.app.screen, name, "text"), (node.text, shown)))

    def toggled(self, name: str, node: Node) -> AppState | None:
        app, screenful = self.app, self.screenful
        now = bool(self._value(name, node, "checked"))
        edits: Map[NodeEdit, tuple[Value, Value]] = app.edits
        if "RadioButton" in node.class_name:
            path = screenful.paths[name]
            for i, sibling in enumerate(screenful.layout.hierarchy.at(path[:-1]).children if len(path) > 1 else ()):
                if sibling.checkable and "RadioButton" in sibling.class_name:
                    edits = edits.set((app.screen, screenful.keys[(*path[:-1], i)], "checked"), (sibling.checked, False))
            return app._replace(edits=edits.set((app.screen, name, "checked"), (node.checked, True)))
        return app._replace(edits=edits.set((app.screen, name, "checked"), (node.checked, not now)))

    def on_keyboard(self, key: str) -> Reaction | None:
        if key == "back" and self._moved():
            return self.assumed(self.app._replace(focus=None), "Back hides the keyboard")
        return None

    def ruled(self, key: str) -> bool:
        return key == "home" or not self._moved()

    def _moved(self) -> bool:
        """True where the focus is not where the recording had it, so that what was recorded for keys says nothing."""
        return self.app.focus is not None and self.app.focus != self.screenful.focus

    def _value(self, key: str, node: Node, attribute: NodeAttribute) -> Value:
        """What one attribute of one widget shows."""
        said: Value = getattr(node, attribute)
        over, edited = self.app.edits.get((self.app.screen, key, attribute), (None, None))
        if over == said and edited is not None:
            return edited
        if (key, attribute) not in self.screenful.bound:
            return said
        return shown_edits(self.app, self.screenful).get((key, attribute), said)


def keyboard_shown(app: AppState, screenful: Screenful) -> bool:
    """True where the soft keyboard is up: as recorded with the layout, or because a field was focused since."""
    return screenful.layout.state.keyboard or app.focus is not None


def shown_edits(app: AppState, screenful: Screenful) -> dict[tuple[str, str], Value]:
    """What widgets of this layout show instead of what the layout says, by node key and attribute."""
    shown: dict[tuple[str, str], Value] = {}
    if app.edits:
        for (screen, key, attribute), (over, value) in app.edits.items():
            if screen == app.screen:
                changed = screenful.node(key)
                if changed is not None and getattr(changed, attribute) == over and value != over:
                    shown[(key, attribute)] = value
    for (key, attribute), expr in screenful.bound.items():
        if (key, attribute) not in shown:
            value = evaluate(expr, Scope(app.variables, app.tables, widgets=_counting(screenful, shown)))
            if value != getattr(screenful.node(key), attribute):
                shown[(key, attribute)] = value
    return shown


def _counting(screenful: Screenful, shown: Mapping[tuple[str, str], Value]) -> WidgetCount:
    def count(below: str, checked: bool | None) -> int:
        states = (bool(shown.get((key, "checked"), said)) for key, said in screenful.checkables(below))
        return sum(1 for state in states if checked is None or state == checked)

    return count
