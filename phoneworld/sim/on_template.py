"""Acting on a drawn template: what changes is kept in the variables and rows that the widgets show. All of it is `assumed`."""

from __future__ import annotations

from phoneworld.program.expr import Blank, Case, Column, Const, Equal, Expr, Not, Value, Var
from phoneworld.program.program import EvidenceKind, TriggerKind, weakest
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID, Drawn
from phoneworld.sim.acting import Acting, Reaction, World, departed
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.evaluate import NO_ROW, Row
from phoneworld.sim.state import AppState
from phoneworld.ui.node import Node


class OnTemplate(Acting):
    """An app that shows a drawing."""

    __slots__ = ("drawing",)

    def __init__(self, world: World, app: AppState, drawing: Drawing) -> None:
        super().__init__(world, app, drawing)
        self.drawing = drawing

    def focus(self) -> str | None:
        name = self.drawing.focus
        return name if name is not None and self.drawing.node(name) is not None else None

    def keyboard(self) -> bool:
        return self.drawing.keyboard

    def fire(self, kind: TriggerKind, name: str = "", argument: str | None = None, typed: str = "") -> Reaction | None:
        return self._fire(kind, name, argument, typed)

    def _fire(self, kind: TriggerKind, name: str, argument: str | None, typed: str, about: str | None = None) -> Reaction | None:
        drawn = self.drawing.drawn(name) if name else None
        if drawn is None:
            return self.world.fire(self.app, kind, name, argument, typed, about=about)
        return self.world.fire(self.app, kind, drawn.key, argument, typed, self._row(drawn), about)

    def key_widget(self) -> str | None:
        return self.focus()

    def held(self, name: str, node: Node) -> str:
        return node.value

    def focused(self, name: str) -> AppState:
        return self.app._replace(variables=self.app.variables.set(FOCUS, name).set(KEYBOARD, True))

    def filled(self, name: str, node: Node, shown: str) -> AppState | None:
        return self._kept(self.app, name, "text", shown)

    def toggled(self, name: str, node: Node) -> AppState | None:
        if "RadioButton" not in node.class_name:
            return self._kept(self.app, name, "checked", not node.checked)
        app = self.app
        for sibling in self.drawing.siblings(name):
            other = self.drawing.node(sibling)
            if sibling != name and other is not None and other.checked and "RadioButton" in other.class_name:
                app = self._kept(app, sibling, "checked", False) or app
        return self._kept(app, name, "checked", True)

    def on_keyboard(self, key: str) -> Reaction | None:
        if key != "back" or not self.drawing.keyboard:
            return None
        # The keyboard gets Back before the app does, so only a rule that knows of the keyboard can know better.
        fired = self._fire("key", "", key, "", about=KEYBOARD)
        return fired or self.assumed(self.app._replace(variables=self.app.variables.set(KEYBOARD, False)), "Back hides the keyboard")

    def assumed(self, app: AppState, message: str) -> Reaction:
        return super().assumed(self.world.off_path(app), message)

    def scrolled(self, fired: Reaction | None, target: str, dy: int) -> Reaction | None:
        drawing, drawn = self.drawing, self.drawing.drawn(target)
        scrolling = drawing.model.template.scrolling
        if scrolling is None or drawn is None or drawn.key != scrolling.slot:
            return None
        if fired is not None and (fired.app.screen != self.app.screen or self.world.scrolls(fired.rule)):
            return None
        moved = round(max(0, abs(dy) - scrolling.slop) * scrolling.ratio)
        to = min(drawing.scroll + moved, drawing.most) if dy < 0 else max(drawing.scroll - moved, 0)
        evidence: EvidenceKind = "inferred" if scrolling.cases else "assumed"
        if to == drawing.scroll:
            return fired or Reaction(self.app, departed(self.app, evidence), "the content does not move any further")
        before = self.assumed(self.app, "") if fired is None else fired
        app = before.app._replace(variables=before.app.variables.set(drawing.model.scroll, to))
        if fired is not None:
            return fired._replace(app=app, evidence=weakest(fired.evidence, evidence))
        return Reaction(app, evidence, "the content follows the finger")

    def _row(self, drawn: Drawn) -> Row:
        table = self.drawing.model.table_of[drawn.key]
        if table is None or drawn.row is None:
            return NO_ROW
        return next((row for row in self.app.tables.get(table, ()) if row.get(ROW_ID) == drawn.row), NO_ROW)

    def _kept(self, app: AppState, name: str, attribute: str, value: Value) -> AppState | None:
        """The app in which a widget's attribute is this; None where what the widget shows is no variable and no cell."""
        drawn = self.drawing.drawn(name)
        if drawn is None:
            return None
        expr = next((e for a, e in self.drawing.model.slots[drawn.key].attributes if a == attribute), None)
        kept = _keeper(expr, value)
        match kept:
            case (Var(variable), held):
                return app._replace(variables=app.variables.set(variable, held))
            case (Column(column), held):
                table = self.drawing.model.table_of[drawn.key]
                if table is None or drawn.row is None or column == ROW_ID:
                    return None
                rows = tuple({**r, column: held} if r.get(ROW_ID) == drawn.row else r for r in app.tables.get(table, ()))
                return app._replace(tables=app.tables.set(table, self.world.same_rows(rows)))
            case _:
                return None


def _keeper(expr: Expr | None, value: Value) -> tuple[Expr, Value] | None:
    """The variable or column that must hold something for an expression to have a value, and what it must hold."""
    match expr:
        case Var() | Column():
            return expr, value
        case Not(of) if isinstance(value, bool):
            return _keeper(of, not value)
        case Equal(of, Const(chosen)) if value is True:
            return _keeper(of, chosen)
        case Case(Blank(of), Const(), otherwise) if of == otherwise:
            return _keeper(of, value)
        case _:
            return None
