"""What tasks can be made from: an app at one start, its words, short names for its tables, and the ways to name a row so that a person finds it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from phoneworld.program.expr import Column, Equal, Value, Var, walk
from phoneworld.program.program import Program
from phoneworld.program.template import ROW_ID, Rows, current
from phoneworld.sim.state import AppState
from phoneworld.tasks.checker import Checker, Comparison, State, Visible
from phoneworld.tasks.influence import Influence, parts
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.labels import Labels, alias, kind_of_values
from phoneworld.tasks.names import Names, TableName
from phoneworld.tasks.reading_pieces import pieces_of, said_in_one_breath
from phoneworld.tasks.task import Found, Parameter, RowOf, path_of

TITLE, OWNER = "title", "@owner"
_FEWEST = 3
"""Of fewer rows none is the cheapest."""
_WAYS = {
    "price": (("min", "the one with the lowest amount", "金额最低的一项"), ("max", "the one with the highest amount", "金额最高的一项")),
    "rating": (("max", "the best rated one", "评分最高的一项"),),
    "day": (("max", "the newest one", "日期最新的一项"), ("min", "the oldest one", "日期最早的一项")),
}


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing to ask: as a clause in each language, what is drawn, what is checked, what has to be seen.

    `touches` names what it changes, so that two of one task do not get in each other's way; `reads` is True where a value that the
    instruction does not say has to be read. `watch` are variables that count though they are no settings. `before` is what a user
    has to be shown on the way, or the words make no sense. Parameters are called x, y, … and renamed when atoms come together.
    """

    key: str
    skill: str
    en: str
    zh: str
    parameters: dict[str, Parameter] = field(default_factory=dict)
    check: Checker | None = None
    look: Checker | None = None
    touches: frozenset[str] = frozenset()
    reads: bool = False
    last: bool = False
    watch: tuple[str, ...] = ()
    before: Visible | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A way to name a row: by its title, or by what sets it apart. `first` is drawn before the row, `then` after it."""

    key: str
    en: str
    zh: str
    where: str = ""
    first: tuple[tuple[str, Parameter], ...] = ()
    then: tuple[tuple[str, Parameter], ...] = ()
    reads: bool = False
    framed: bool = False
    """True where it goes by a number and the words beside it: long enough to say once."""


@dataclass(frozen=True, slots=True)
class Comparable:
    """A column, or a part of it, by which one row is before another. `number` is a path to what is compared, in a row."""

    key: str
    short: str
    number: str
    kind: str
    ways: tuple[tuple[str, str, str], ...]


class Ground:
    """One app at one start. `names` are those that checkers use."""

    def __init__(self, program: Program, app: AppState, influence: Influence, *, named: Names | None = None) -> None:
        """`named` are the names of the same app at another start: rows that are there now have those of that time."""
        self.program = program
        self.app = app
        self.influence = influence
        self.labels = Labels(program, app)
        self.kept = kept_variables(program)
        self.fields = {v.name: p for p in self.labels.places if p.slot.node.is_editable for a, v in p.slot.attributes if a == "text" and isinstance(v, Var)}
        self.names: Names = self._named() if named is None else self._retitled(named)
        self.short = {t.table: {own: short for short, own in t.columns.items()} for t in self.names.tables.values()}
        self.owners = dict(self._owned())
        """The table whose rows have rows of another table for their own, by that table."""

    def _named(self) -> Names:
        tables: dict[str, TableName] = {}
        for table in self.program.tables.values():
            columns: dict[str, str] = {}
            title = self.labels.titles.get(table.name)
            if title:
                columns[TITLE] = title
            for column in table.columns:
                if column not in (ROW_ID, title):
                    columns[alias(column, columns)] = column
            tables[alias(table.name.partition(".")[2] or table.name, tables)] = TableName(table.name, columns)
        variables: dict[str, str] = {}
        for name in (*sorted(self.kept), *sorted(self.influence.hiders), *sorted(self.fields)):
            if name in self.program.variables and name not in variables.values():
                variables[alias(name.partition(".")[2] or name, variables)] = name
        return Names(tables, variables, {})

    def _retitled(self, names: Names) -> Names:
        """Tables that had no rows before have a column now that their rows are known by: the names say which."""
        tables = dict(names.tables)
        for name, of in names.tables.items():
            title = self.labels.titles.get(of.table)
            if title and TITLE not in of.columns:
                others = {short: column for short, column in of.columns.items() if column != title}
                tables[name] = TableName(of.table, {TITLE: title, **others})
        return replace(names, tables=tables)

    def _owned(self) -> Iterator[tuple[str, str]]:
        chosen = {current(table): table for table in self.program.tables}
        for screen in self.program.screens.values():
            for part in parts(screen.template.windows if screen.template else ()):
                if isinstance(part, Rows):
                    for inner, _ in walk(part.where):
                        if isinstance(inner, Equal) and inner.left == Column(OWNER) and isinstance(inner.right, Var) and inner.right.name in chosen:
                            yield part.table, chosen[inner.right.name]

    # What things are called

    def called(self, table: str) -> str:
        """What checkers call a table."""
        return self.names.called(table)

    def rows(self, table: str) -> list[dict[str, Value]]:
        """The rows of a table at the start."""
        return [dict(row) for row in self.app.tables.get(table, ())]

    def cells(self, table: str, column: str) -> list[str]:
        """The words in a column at the start, where there are any."""
        return [v for row in self.rows(table) if isinstance(v := row.get(column), str) and v.strip()]

    def on_page(self, screen: str) -> tuple[str, str]:
        """“ on the page …”, in both languages; empty where the page has no heading to call it by."""
        heading = self.labels.heading(screen)
        return (f" on the page “{heading}”", f"在“{heading}”页面") if heading else ("", "")

    def list_of(self, table: str) -> tuple[str, str] | None:
        """“ on the page …” of the one list of a table; None where nobody could tell which list is meant."""
        lists = self.labels.lists(table)
        if not lists or table in self.owners:
            return None
        page = self.on_page(lists[0])
        return page if page[0] or (len(self.labels.titles) == 1 and lists[0] == self.app.screen) else None

    def holds(self, variable: str, value: Value) -> State:
        """The check that a variable has a value."""
        name = self.names.variable_called(variable)
        return is_so(f"variables.{name if name.isidentifier() else json.dumps(name)}", value)

    # Ways to name a row

    def references(self, table: str) -> Iterator[Reference]:
        """The ways to name a row of a table: by its name, or as the cheapest, newest, best of its list."""
        if table not in self.labels.titles:
            return
        if said_in_one_breath(self.cells(table, self.labels.titles[table])):
            yield Reference("name", "“{t}”", "“{t}”", f"called({TITLE})", then=(("t", Found(f"called($x.{TITLE})")),))
        else:
            yield Reference("title", "“{x.title}”", "“{x.title}”")
        if table in self.owners:
            yield from self._best_of_owner(table)
        elif (page := self.list_of(table)) is not None:
            for c in self.comparable(table):
                for which, en, zh in c.ways:
                    if self._is_clear(self.rows(table), c, which):
                        path = f"{which}(tables.{self.called(table)}[?{c.short}].{c.number})"
                        where = f"{c.short} && {c.number} == $m"
                        yield Reference(f"{which} {c.key}", f"{en} in the list{page[0]}", f"{page[1]}列表中{zh}", where, (("m", Found(path)),), reads=True, framed=c.key.endswith("]"))

    def _best_of_owner(self, table: str) -> Iterator[Reference]:
        owner = self.owners[table]
        if owner not in self.labels.titles or said_in_one_breath(self.cells(owner, self.labels.titles[owner])):
            return
        called, mine = self.called(table), self.short[table][OWNER]
        for c in self.comparable(table):
            for which, en, zh in c.ways:
                fit = [i for i in self.owning(table) if self._is_clear([r for r in self.rows(table) if r.get(OWNER) == i], c, which)]
                if not fit:
                    continue
                path = f"{which}(tables.{called}[?{mine} == $o.row && {c.short}].{c.number})"
                first = (("o", self.owner(table, fit)), ("m", Found(path)))
                where = f"{mine} == $o.row && {c.short} && {c.number} == $m"
                yield Reference(f"{which} {c.key}", f"{en} in the list on the page of “{{o.title}}”", f"“{{o.title}}”页面列表中{zh}", where, first, reads=True, framed=c.key.endswith("]"))

    def owning(self, table: str) -> list[int]:
        """The rows that own rows of a table, in order."""
        found = dict.fromkeys(i for row in self.rows(table) if isinstance(i := row.get(OWNER), int))
        return [i for i in found if any(row.get(ROW_ID) == i for row in self.rows(self.owners[table]))]

    def owner(self, table: str, of: list[int]) -> RowOf:
        """One of these rows that own rows of a table, to be drawn."""
        return RowOf(self.called(self.owners[table]), f'contains(`{json.dumps(of)}`, "{ROW_ID}")')

    def kinds(self, table: str, column: str) -> frozenset[str]:
        """What the cells of a column are, or hold."""
        cells = self.cells(table, column)
        return frozenset((kind_of_values(list[Value](cells)), *(p.kind for p in pieces_of(cells))))

    def comparable(self, table: str) -> Iterator[Comparable]:
        """The columns by which one row is before another, where it is clear which is meant."""
        rows = self.rows(table)
        for column, short in self.short[table].items():
            listed = any(p.table == table and any(column == e.name for a, v in p.slot.attributes if a == "text" for e, _ in walk(v) if isinstance(e, Column)) for p in self.labels.places)
            if not listed or len(rows) < _FEWEST or column == OWNER:
                continue
            kind = kind_of_values([row.get(column) for row in rows if row.get(column) is not None])
            if kind in _WAYS and not any(kind in self.kinds(table, other) for other in self.short[table] if other != column):
                of = "date" if kind == "day" else "number"
                yield Comparable(column, short, f"{of}({short})", kind, _WAYS[kind])
            elif kind not in _WAYS:
                for piece in pieces_of(self.cells(table, column)):
                    if piece.frame:
                        ways = (("min", f"the one with the least beside “{piece.frame}”", f"“{piece.frame}”最少的一项"), ("max", f"the one with the most beside “{piece.frame}”", f"“{piece.frame}”最多的一项"))
                        yield Comparable(f"{column} {piece.path}", short, piece.path.replace("@", short), piece.kind, ways)

    def _is_clear(self, rows: list[dict[str, Value]], c: Comparable, which: str) -> bool:
        """True where one row alone has the least, or the most."""
        own = c.key.partition(" numbers(@)")[0]
        cells = [v for row in rows if (v := row.get(own)) not in (None, "")]
        known = sorted(v for cell in cells if (v := path_of(c.number).find({c.short: cell})) is not None)
        return len(known) == len(cells) >= _FEWEST and bool(known[0] != known[1] if which == "min" else known[-1] != known[-2])

    def row(self, table: str, reference: Reference, where: str = "") -> dict[str, Parameter]:
        """The parameters that draw a row: x is the row itself."""
        conditions = " && ".join(w for w in (where, reference.where) if w)
        return {**dict(reference.first), "x": RowOf(self.called(table), conditions), **dict(reference.then)}


def is_so(path: str, value: Value) -> State:
    """The check that a path finds a value."""
    return State(path, Comparison("is", value))
