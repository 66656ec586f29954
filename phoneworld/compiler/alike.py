"""What was never touched acts like its like: one day's events as those of the day before, one option of a dialog as another.

Siblings of one make are twins: of one class and one id but for its numbers, or options with names of their own in one list. What
was learned of a slot in one of them is told of the slot at the same place in another, with what is the twin's own (its words, its
values, its rows) in the place of the model's. What leads from named options to different places is nothing that they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from phoneworld.compiler.derive import Derived
from phoneworld.compiler.history import History
from phoneworld.compiler.learned import BELOW, TOUCHES, ActionClass, Learned, RowEffects
from phoneworld.compiler.rewrite import rewritten
from phoneworld.compiler.siblings import kind_of
from phoneworld.compiler.template import Part
from phoneworld.program.expr import Acted, Cell, Column, Const, Count, Expr, Sum, Var, walk
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID


def with_alike(history: History, derived: Derived, learned: Mapping[ActionClass, Learned]) -> dict[ActionClass, Learned]:
    """What was learned, and what follows from it for slots that were never touched but have twins that were."""
    found = dict(learned)
    touches: dict[str, dict[str, list[Learned]]] = {}
    for of, what in learned.items():
        if of.kind in TOUCHES and of.argument is None:
            touches.setdefault(of.screen, {}).setdefault(of.slot, []).append(what)
    for screen, known in touches.items():
        for group in (group for window in history.patterns[screen].windows for group in _groups(window)):
            models = [part for part in group if any(p.key in known for p in part.walk())]
            for mine in group if models else ():
                of_slot: dict[ActionClass, list[tuple[_Twin, Learned]]] = {}
                for twin in (_Twin.of(screen, model, mine) for model in models if model is not mine):
                    for slot, model_slot in twin.model.items():
                        for what in known.get(model_slot, ()):
                            of_slot.setdefault(replace(what.of, slot=slot), []).append((twin, what))
                for part in mine.walk() if of_slot else ():
                    for kind in TOUCHES:
                        of = ActionClass(screen, kind, part.key)
                        if of in found or of not in of_slot or part.node.is_editable:
                            continue
                        told = _borrowed(of, of_slot[of])
                        if told is not None and (sound := _sound(told, history, derived)) is not None:
                            found[of] = sound
    return found


def _groups(part: Part) -> Iterator[list[Part]]:
    """The twins below a part, outermost first."""
    by_kind: dict[object, list[Part]] = {}
    for child in part.children:
        if child.table is None:
            by_kind.setdefault((kind_of(child.node), _shape(child)), []).append(child)
    named: dict[object, list[Part]] = {}
    for alone in (parts[0] for parts in by_kind.values() if len(parts) == 1):
        if alone.node.resource_id and not alone.node.is_editable:
            named.setdefault((alone.node.class_name, alone.node.checkable, _shape(alone)), []).append(alone)
    yield from (parts for parts in (*by_kind.values(), *named.values()) if len(parts) > 1)
    for child in part.children:
        yield from _groups(child)


def _shape(part: Part) -> frozenset[object]:
    return frozenset(kind_of(child.node) for child in part.children)


@dataclass(frozen=True, slots=True)
class _Twin:
    """How to say of a twin (`mine`) what is known of another: slots, tables and words of the one for those of the other.

    `model` is the slot of the model by the twin's. `is_named` where both have names of their own.
    """

    screen: str
    is_named: bool
    model: dict[str, str] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, screen: str, model: Part, mine: Part) -> _Twin:
        made = cls(screen, kind_of(model.node) != kind_of(mine.node))
        for a, b in _side_by_side(model, mine):
            made.model[b.key], made.slots[a.key] = a.key, b.key
            if a.table is not None and b.table is not None:
                made.tables[a.table] = b.table
            for one, other, attribute in ((a.node.text, b.node.text, "text"), (a.node.content_desc, b.node.content_desc, "content_desc")):
                if one and other and attribute not in (*a.varying, *b.varying):
                    made.words[one] = other
        return made

    def expr(self, expr: Expr) -> Expr:
        """An expression about the model as one about the twin."""

        def change(e: Expr) -> Expr | None:
            match e:
                case Var(name):
                    return Var(self.variable(name))
                case Column(name):
                    return Column(self.column(name))
                case Acted(name):
                    return Acted(self.column(name))
                case Const(str(text)) if text in self.words or text in self.slots:
                    return Const(self.words.get(text) or self.slots[text])
                case Cell(table, name, where):
                    return Cell(self.tables.get(table, table), self.column(name), rewritten(where, change))
                case Count(table, where):
                    return Count(self.tables.get(table, table), rewritten(where, change))
                case Sum(table, of, where):
                    return Sum(self.tables.get(table, table), rewritten(of, change), rewritten(where, change))
            return None

        return rewritten(expr, change)

    def variable(self, name: str) -> str:
        """A variable of the model's, as the twin's."""
        for table, other in self.tables.items():
            if name.startswith(table + "."):
                return other + name[len(table) :]
        prefix = self.screen + "."
        return prefix + self.column(name[len(prefix) :]) if name.startswith(prefix) else name

    def column(self, name: str) -> str:
        """A slot's attribute of the model's, as the twin's."""
        slot, dot, attribute = name.rpartition(".")
        return self.slots[slot] + dot + attribute if slot in self.slots else name

    def rows(self, rows: RowEffects) -> RowEffects:
        """What becomes of a table of the model's, as what becomes of the twin's."""
        return RowEffects(
            self.tables.get(rows.table, rows.table),
            None if rows.deleted is None else self.expr(rows.deleted),
            {self.column(c): self.expr(e) for c, e in rows.cells.items()},
            None if rows.inserted is None else {self.column(c): self.expr(e) for c, e in rows.inserted.items()},
            self.expr(rows.inserted_when),
            rows.at,
        )


def _sound(what: Learned, history: History, derived: Derived) -> Learned | None:
    """What is borrowed, without what speaks of slots that the twin has not or sets what follows; None where that leaves nothing to be told."""
    variables = {FOCUS, KEYBOARD, BELOW}.union(*history.names.values())
    acted = next((t for t, row in history.patterns[what.of.screen].tables.items() if any(p.key == what.of.slot for p in row.walk())), None)

    def has(table: str | None, column: str) -> bool:
        return table is not None and (column == ROW_ID or column in history.columns.get(table, ()))

    def is_kept(table: str, column: str) -> bool:
        return has(table, column) and column not in derived.columns.get(table, {})

    def is_sound(expr: Expr, table: str | None = None) -> bool:
        return all(
            (not isinstance(e, Var) or e.name in variables)
            and (not isinstance(e, Column) or has(at, e.name))
            and (not isinstance(e, Acted) or has(acted, e.name))
            and (not isinstance(e, Cell) or has(e.table, e.column))
            and (not isinstance(e, Count | Sum) or e.table in history.columns)
            for e, at in walk(expr, table)
        )

    rows: list[RowEffects] = []
    for r in what.rows:
        cells = {c: e for c, e in r.cells.items() if is_kept(r.table, c) and is_sound(e, r.table)}
        inserted = None if r.inserted is None else {c: e for c, e in r.inserted.items() if is_kept(r.table, c) and is_sound(e)}
        deleted = r.deleted if r.deleted is not None and is_sound(r.deleted, r.table) else None
        if r.table in history.columns and is_sound(r.inserted_when) and (cells or inserted or deleted is not None):
            rows.append(replace(r, deleted=deleted, cells=cells, inserted=inserted))
    sets = {n: e for n, e in what.sets.items() if n in variables and n not in derived.variables and is_sound(e)}
    if not is_sound(what.leads) or (what.leads == Const(what.of.screen) and not sets.keys() - {FOCUS, KEYBOARD} and not rows):
        return None
    return replace(what, sets=sets, rows=tuple(rows))


def _side_by_side(a: Part, b: Part) -> Iterator[tuple[Part, Part]]:
    yield a, b
    left: dict[object, list[Part]] = {}
    for child in b.children:
        left.setdefault(kind_of(child.node), []).append(child)
    for child in a.children:
        if same := left.get(kind_of(child.node)):
            yield from _side_by_side(child, same.pop(0))


def _borrowed(of: ActionClass, models: Sequence[tuple[_Twin, Learned]]) -> Learned | None:
    """What the models say of an action that was never done. What only one of them does, and nothing of it is its own, is left out."""
    models = [(twin, what) for twin, what in models if len(what.wrong) < len(what.cases)]
    if not models:
        return None
    leads = {twin.expr(what.leads) for twin, what in models}
    if len(leads) > 1:
        return None
    (lead,) = leads
    twin, best = max(models, key=lambda m: (len(m[1].cases) - len(m[1].wrong), -len(m[1].wrong), repr(m[1].of)))
    if twin.is_named and len(models) == 1:
        return None  # one button tells nothing of another beside it
    agreed = [{(name, repr(expr)) for name, expr in what.sets.items()} for _, what in models]
    common = set.intersection(*agreed) if len(models) > 1 else set()
    sets: dict[str, Expr] = {}
    for name, expr in best.sets.items():
        own, told = twin.variable(name), twin.expr(expr)
        if own != name or told != expr or name in (FOCUS, KEYBOARD) or (name, repr(expr)) in common:
            sets[own] = told
    rows = tuple(mapped for r in best.rows if (mapped := twin.rows(r)) != r or len(models) > 1)
    return Learned(of, best.cases, lead, sets, rows, best.wrong)
