"""Templates drawn: a screen's slots and rows for the values of variables and tables, placed, and ready to be touched.

A drawing depends on what its template reads and on nothing else; `AppModel` keeps the last ones by just that.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from phoneworld.program.expr import TRUE, Value, names_in, tables_in
from phoneworld.program.program import Layout, Screen
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID, Drawn, Part, Rows, Slot, SlotAttribute, scroll
from phoneworld.sim.arrange import Arranged, arrange, arrange_scrolled
from phoneworld.sim.compiled import Function, Tables, Variables, compiled
from phoneworld.sim.evaluate import NO_ROW, Row, as_text
from phoneworld.sim.looks import Guards, Looks, with_focus_of
from phoneworld.sim.nodes import NAMES, node_of, values_of
from phoneworld.sim.surface import Surface
from phoneworld.sim.view import View, above
from phoneworld.ui import system
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path

_TEXT, _HINT, _FOCUSED = (NAMES.index(name) for name in ("text", "hint", "focused"))
_WORDS: frozenset[SlotAttribute] = frozenset(("text", "content_desc", "hint", "resource_id"))
_DRAWINGS_KEPT, _ROWS_KEPT, _SLOTS_KEPT = 512, 2048, 256
_FURTHEST = 10**9


class Drawing(Surface):
    """A drawn screen. Immutable once made."""

    def __init__(
        self, model: TemplateModel, windows: tuple[Drawn, ...], variables: Variables, tables: Tables, holding: tuple[Layout, ...]
    ) -> None:
        self.model = model
        template = model.template
        self.focus = _name(variables.get(FOCUS))
        self.keyboard = bool(variables.get(KEYBOARD))
        self.windows = windows if self.focus is None else tuple(_with_focus(w, self.focus) for w in windows)
        self._arranged: Arranged | None = None
        self._asked: dict[str, tuple[Path, Drawn] | None] = {}
        wanted = _pixels(variables.get(model.scroll)) if model.scroll else 0
        look = model.held(holding) or model.look(self.windows, holding, keyboard=self.keyboard, scroll=wanted)
        if look is None:
            self._arranged = model.placed(self.windows, keyboard=self.keyboard, scroll=wanted)
            if self._arranged.scroll != wanted:
                look = model.look(self.windows, holding, keyboard=self.keyboard, scroll=self._arranged.scroll)
        self.look = look
        if look is not None:
            tree = with_focus_of(look.hierarchy, self.windows)
            self.scroll = look.scroll
        elif self._arranged is not None:
            tree = Hierarchy(self._arranged.windows, template.rotation)
            self.scroll = self._arranged.scroll
        super().__init__(tree, template.size)
        self._state = (variables, tables, holding)

    @property
    def most(self) -> int:
        """How far its content can move up, in pixels; never less than it has."""
        if self._arranged is None:
            self._arranged = self.model.placed(self.windows, keyboard=self.keyboard, scroll=self.scroll)
        return max(self._arranged.most, self.scroll)

    @cached_property
    def _looks(self) -> tuple[object, ...]:
        """What tells it from other drawings, on whatever phone."""
        model, (variables, tables, holding) = self.model, self._state
        values = [(n, variables.get(n)) for n in model.variables if n != model.scroll]
        return (model.name, self.scroll, values, [(n, tables.get(n)) for n in model.tables], [layout.id for layout in holding])

    @cached_property
    def _drawn(self) -> dict[Path, Drawn]:
        found: dict[Path, Drawn] = {}
        stack: list[tuple[Path, Drawn]] = [((i,), w) for i, w in enumerate(self.windows)]
        while stack:
            path, drawn = stack.pop()
            found[path] = drawn
            stack.extend(((*path, i), child) for i, child in enumerate(drawn.children))
        return found

    @cached_property
    def keys(self) -> Mapping[Path, str]:
        """The name of every node: `Drawn.name`."""
        return {path: drawn.name for path, drawn in self._drawn.items()}

    @cached_property
    def paths(self) -> dict[str, Path]:
        """Where each name is; the first in document order where two are equal."""
        found: dict[str, Path] = {}
        for path, name in sorted(self.keys.items()):
            found.setdefault(name, path)
        return found

    def name(self, path: Path) -> str:
        return self._at(path).name

    def _at(self, path: Path) -> Drawn:
        drawn = self.windows[path[0]]
        for i in path[1:]:
            drawn = drawn.children[i]
        return drawn

    def _found(self, name: str) -> tuple[Path, Drawn] | None:
        """As `paths`, without making names for all: a step asks for a few."""
        if name not in self._asked:
            path = _find(self.windows, name)
            self._asked[name] = None if path is None else (path, self._at(path))
        return self._asked[name]

    def node(self, key: str) -> Node | None:
        """The node with this name, or None where the drawing has none."""
        found = self._found(key)
        return None if found is None else self.hierarchy.at(found[0])

    def drawn(self, name: str) -> Drawn | None:
        """The slot and the row behind a name."""
        found = self._found(name)
        return None if found is None else found[1]

    def siblings(self, name: str) -> tuple[str, ...]:
        """The names of the widgets that have the same parent as this one, itself among them."""
        path = self.paths[name]
        around = self._at(path[:-1]).children if len(path) > 1 else self.windows
        return tuple(d.name for d in around)

    def hit(self, gesture: Gesture, x: int, y: int) -> tuple[str, str | None, int | None] | None:
        """What a gesture at a pixel lands on: slot key, key of the slot that takes the gesture, id of the row of that widget."""
        touched = self.touch(gesture, x, y)
        if touched is None:
            return None
        name, target = touched
        at = self.drawn(name)
        takes = self.drawn(target) if target is not None else None
        acted = takes or at
        return at.key if at else name, takes.key if takes else None, acted.row if acted else None

    @cached_property
    def view(self) -> View:
        """What the phone shows of it, with the recorded picture of the same screen under it where one fits."""
        template, density = self.model.template, self.model.density
        layout = self.look or self.model.picture(keyboard=self.keyboard, scroll=self.scroll)
        recorded = layout.hierarchy if layout else None
        if layout and self.keyboard and not layout.state.keyboard:
            recorded = above(layout.hierarchy, system.keyboard_bounds(layout.size, density).top)
        return View(
            hierarchy=self.hierarchy,
            size=template.size,
            density=density,
            state=replace(template.state, keyboard=self.keyboard, clock_ms=None),
            key=hashlib.sha256(repr(self._looks).encode("utf-8", "backslashreplace")).hexdigest()[:24],
            recorded=recorded,
            screenshot=layout.screenshot if layout else None,
            keyboard=self.keyboard and not (layout is not None and layout.state.keyboard),
        )


class TemplateModel:
    """The template of a screen made ready to be drawn. Immutable but for what it remembers of rows drawn before."""

    def __init__(self, screen: Screen, density: int, package: str) -> None:
        assert screen.template is not None
        self.screen = screen
        self.density = density
        self.template = screen.template
        self.name = f"{package}/{screen.id}/{hashlib.sha256(repr(screen.template).encode('utf-8', 'backslashreplace')).hexdigest()}"
        self.slots: dict[str, Slot] = {}
        self.table_of: dict[str, str | None] = {}
        for slot, table in self.template.slots():
            self.slots[slot.key] = slot
            self.table_of[slot.key] = table
        reads = [_reads(w) for w in self.template.windows]
        self.scroll = scroll(screen.id) if self.template.scrolling else ""
        """The variable of how far it is scrolled; "" where nothing scrolls."""
        self._looks = Looks(screen.layouts, self.template, density)
        self._guards = Guards((*(layout for layout in screen.layouts if layout.slots), *self._looks.ambiguous))
        shown = frozenset((FOCUS, KEYBOARD, *([self.scroll] if self.scroll else [])))
        self.variables: tuple[str, ...] = tuple(sorted(shown.union(*(v for v, _ in reads))))
        self.tables: tuple[str, ...] = tuple(sorted(frozenset[str]().union(*(t for _, t in reads))))
        self._windows = tuple(_Slot(w) for w in self.template.windows)
        self._drawings: OrderedDict[tuple[object, ...], tuple[Drawing, object]] = OrderedDict()

    def drawing(self, variables: Variables, tables: Tables) -> Drawing:
        """The screen for these values. One and the same for all states that differ in nothing that is drawn."""
        # Values and their types (for 1 is True); tables by identity, for they never change.
        values = [*map(variables.get, self.variables)]
        holding = self._guards.holding(variables, tables)
        key = (id(holding), *values, *map(type, values), *map(id, map(tables.get, self.tables)))
        known = self._drawings.get(key)
        if known is not None:
            self._drawings.move_to_end(key)
            return known[0]
        layout = self.held(holding)
        if layout is not None:
            windows = self._as_recorded(layout)
        else:
            drawn = [w.draw(variables, tables, NO_ROW, NO_ROW, None) for w in self._windows]
            windows = tuple([w for w in drawn if w is not None])
        drawing = Drawing(self, windows, variables, tables, holding)
        # The tables are kept too, so that no other can come by the id of one.
        self._drawings[key] = (drawing, tables)
        if len(self._drawings) > _DRAWINGS_KEPT:
            self._drawings.popitem(last=False)
        return drawing

    @staticmethod
    def held(holding: tuple[Layout, ...]) -> Layout | None:
        """The layout that is shown as it was recorded, of those whose guards hold."""
        return next((layout for layout in holding if layout.slots), None)

    def _as_recorded(self, layout: Layout) -> tuple[Drawn, ...]:
        """A layout as if it were drawn: its nodes under the names of slots and rows."""
        slots = iter(layout.slots)

        def one(node: Node) -> Drawn:
            key, row = next(slots)
            children = tuple([one(child) for child in node.children])
            return Drawn(key, replace(node, children=()), row, children)

        return tuple([one(window) for window in layout.hierarchy.windows])

    def look(self, windows: tuple[Drawn, ...], holding: tuple[Layout, ...], *, keyboard: bool, scroll: int) -> Layout | None:
        """The recorded layout that shows just this, scrolled as far, or None."""
        return self._looks.find(windows, holding, keyboard=keyboard, scroll=scroll)

    def placed(self, windows: tuple[Drawn, ...], *, keyboard: bool, scroll: int) -> Arranged:
        """The drawn widgets as one tree a window, with bounds; scrolled as far as there is content."""
        template = self.template
        if template.scrolling is None:
            nodes = arrange(windows, template.placement, template.size, keyboard=keyboard, density=self.density)
            return Arranged(nodes, 0, 0)
        rest = template.scrolling.rest
        return arrange_scrolled(
            windows, template.placement, template.size, keyboard=keyboard, density=self.density, scroll=scroll, rest=rest
        )

    def picture(self, *, keyboard: bool, scroll: int) -> Layout | None:
        """The layout whose picture can lie under a drawing, scrolled most alike; one with the keyboard in it only where that is up."""
        shot = [lay for lay in self.screen.layouts if lay.screenshot and lay.size == self.template.size]
        shot.sort(key=lambda lay: abs(lay.scroll - scroll))
        same = next((lay for lay in shot if lay.state.keyboard == keyboard), None)
        return same or next((lay for lay in shot if not lay.state.keyboard), None)


class _Slot:
    """A slot made ready."""

    __slots__ = ("_known", "attributes", "children", "key", "node", "static", "values", "when")

    def __init__(self, slot: Slot) -> None:
        self.static: Drawn | None = None
        self._known: dict[tuple[object, ...], Drawn] = {}
        self.key = slot.key
        # The variable `focus` says what has the focus, not the capture the slot was first seen in.
        self.node = replace(slot.node, focused=False, children=())
        self.values: tuple[object, ...] = values_of(self.node)
        self.when = None if slot.when == TRUE else compiled(slot.when)
        self.attributes: tuple[tuple[int, bool, Function], ...] = tuple(
            (NAMES.index(name), name in _WORDS, compiled(value)) for name, value in slot.attributes
        )
        self.children: tuple[_Slot | _Rows, ...] = tuple(_ready(child) for child in slot.children)
        fixed = self.when is None and not self.attributes and all(isinstance(c, _Slot) and c.static for c in self.children)
        if fixed:
            self.static = Drawn(self.key, self.node, None, tuple(c.static for c in self.children if isinstance(c, _Slot) and c.static))

    def draw(self, v: Variables, t: Tables, row: Row, acted: Row, row_id: int | None) -> Drawn | None:
        if self.static is not None and row is NO_ROW:
            return self.static
        if self.when is not None and not self.when(v, t, "", row, acted):
            return None
        children: list[Drawn] = []
        for child in self.children:
            if isinstance(child, _Slot):
                drawn = child.draw(v, t, row, acted, row_id)
                if drawn is not None:
                    children.append(drawn)
            else:
                child.draw(v, t, row, acted, children)
        node, values = self.node, list[object]()
        shown: tuple[object, ...] = ()
        if self.attributes:
            values = list(self.values)
            for at, words, function in self.attributes:
                value = function(v, t, "", row, acted)
                if not words:
                    values[at] = bool(value)
                elif at != _HINT or value is not None:
                    values[at] = as_text(value)
                else:
                    values[at] = None
            if not values[_TEXT] and node.is_editable and node.hint and node.text == node.hint:
                values[_TEXT] = node.hint  # older Android reports the hint as the text of an empty field
            shown = tuple([values[at] for at, _, _ in self.attributes])
        # The same again where it shows the same: what is arranged and compared is found by what it is, not by what it holds.
        key = (row_id, shown, *map(id, children))
        known = self._known.get(key)
        if known is not None:
            return known
        if self.attributes:
            node = node_of(values)
        if len(self._known) >= _SLOTS_KEPT:
            self._known.clear()
        drawn = self._known[key] = Drawn(self.key, node, row_id, tuple(children))
        return drawn


class _Rows:
    """The rows of a table made ready. A row is drawn again only where its cells, or what else it reads, have changed."""

    __slots__ = ("_known", "row", "table", "tables", "variables", "where")

    def __init__(self, rows: Rows) -> None:
        self.table = rows.table
        self.where = None if rows.where == TRUE else compiled(rows.where)
        self.row = _Slot(rows.row)
        variables, tables = _reads(rows.row)
        self.variables = tuple(sorted(variables))
        self.tables = tuple(sorted(tables))
        self._known: dict[tuple[object, ...], tuple[Drawn | None, tuple[object, ...]]] = {}

    def draw(self, v: Variables, t: Tables, outer: Row, around: Row, into: list[Drawn]) -> None:
        values = [v.get(name) for name in self.variables]
        seen = [t.get(name) for name in self.tables]
        rest = (id(outer), *values, *map(type, values), *map(id, seen))
        for row in t.get(self.table, ()):
            if self.where is not None and not self.where(v, t, "", row, outer):
                continue
            key = (id(row), *rest)
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= _ROWS_KEPT:
                    self._known.clear()
                row_id = row.get(ROW_ID)
                drawn = self.row.draw(v, t, row, outer, row_id if isinstance(row_id, int) else None)
                # What the key names by identity is kept with it, so that no other thing can come by the same id.
                known = self._known[key] = (drawn, (row, outer, seen))
            if known[0] is not None:
                into.append(known[0])


def _ready(part: Part) -> _Slot | _Rows:
    return _Slot(part) if isinstance(part, Slot) else _Rows(part)


def _parts(part: Part) -> Iterator[Part]:
    stack: list[Part] = [part]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(part.children if isinstance(part, Slot) else (part.row,))


def _reads(part: Part) -> tuple[frozenset[str], frozenset[str]]:
    """The variables and the tables that a part of a template reads."""
    variables: set[str] = set()
    tables: set[str] = set()
    for inner in _parts(part):
        if isinstance(inner, Rows):
            tables.add(inner.table)
            exprs = [inner.where]
        else:
            exprs = [inner.when, *(value for _, value in inner.attributes)]
        for expr in exprs:
            variables |= names_in(expr)
            tables |= tables_in(expr)
    return frozenset(variables), frozenset(tables)


def _with_focus(drawn: Drawn, name: str) -> Drawn:
    """The same with the widget of this name focused, where there is one."""
    if name.startswith(drawn.key) and drawn.name == name:
        values = list(values_of(drawn.node))
        values[_FOCUSED] = True
        return Drawn(drawn.key, node_of(values), drawn.row, drawn.children)
    for i, child in enumerate(drawn.children):
        found = _with_focus(child, name)
        if found is not child:
            return Drawn(drawn.key, drawn.node, drawn.row, (*drawn.children[:i], found, *drawn.children[i + 1 :]))
    return drawn


def _find(windows: tuple[Drawn, ...], name: str) -> Path | None:
    """The first widget of this name in document order."""
    for i, drawn in enumerate(windows):
        if name.startswith(drawn.key) and drawn.name == name:
            return (i,)
        if drawn.children:
            below = _find(drawn.children, name)
            if below is not None:
                return (i, *below)
    return None


def _pixels(value: Value) -> int:
    """A scroll position; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _FURTHEST:
        return 0
    return int(value)


def _name(value: Value) -> str | None:
    return value if isinstance(value, str) else None
