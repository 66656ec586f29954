"""What is taken for granted while a recording is told: `beliefs.py` finds it, `history.py` tells by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from phoneworld.compiler.modes import Filter
from phoneworld.program.expr import Acted, Cell, Column, Equal, Expr, Value, same_value
from phoneworld.program.template import ROW_ID
from phoneworld.sim.evaluate import Row


@dataclass(frozen=True, slots=True)
class Alias:
    """A variable of a screen that is a cell of the current row of a table: seeing one is seeing the other."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Rows of one table stand for those of another (`table`) that say in `column` what they say in `own`: a list of what was saved, say."""

    own: str
    table: str
    column: str

    def of(self, row: Row, tables: Mapping[str, tuple[Row, ...]]) -> Value:
        """The id of the row that this one stands for, None where there is none."""
        return next((r[ROW_ID] for r in tables.get(self.table, ()) if same_value(r.get(self.column), row.get(self.own))), None)

    @property
    def found(self) -> Expr:
        """The same, of the row acted on."""
        return Cell(self.table, ROW_ID, Equal(Column(self.column), Acted(self.own)))


@dataclass(frozen=True, slots=True)
class Worded:
    """The words of a cell with others before and after."""

    before: str
    column: str
    after: str

    def cell(self, words: Value) -> str | None:
        """What the other column holds where all of it says this; None where it cannot."""
        if not isinstance(words, str) or not (words.startswith(self.before) and words.endswith(self.after)):
            return None
        return words[len(self.before) : len(words) - len(self.after)] or None


@dataclass(frozen=True, slots=True)
class Unseen:
    """Rows that a step brought to a table out of sight, each with the id of the row it stands behind (None: the first)."""

    table: str
    came: tuple[tuple[Row, int | None], ...]

    def rows(self, before: tuple[Row, ...]) -> tuple[Row, ...]:
        """The table after it."""
        rows = list(before)
        for row, behind in self.came:
            if all(r[ROW_ID] != row[ROW_ID] for r in rows):
                rows.insert(next((i + 1 for i, r in enumerate(rows) if r[ROW_ID] == behind), 0), dict(row))
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What is taken for granted while a recording is told: values before the first sight of a variable, aliases."""

    initial: Mapping[str, Value] = field(default_factory=dict)
    aliases: Mapping[str, tuple[Alias, ...]] = field(default_factory=dict)
    """One alias for each table from whose rows one comes to the variable's screen: that whose row is current counts."""
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Screens that show one row of a table: the tables. Coming there with no row current means that a row of the first has come to be."""
    cells: Mapping[tuple[str, str, int, str], Value] = field(default_factory=dict)
    """What a row's cell out of sight was found to hold later on: by trace, table, row and column."""
    places: Mapping[tuple[str, str, int], int] = field(default_factory=dict)
    """Where a row that came to be out of sight was found to stand: by trace, table and row."""
    filters: Mapping[str, Filter] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Variables that are one with that of another screen: a message that stays while one goes on, say."""
    rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """What tables hold that were not seen yet."""
    worded: Mapping[tuple[str, str], Worded] = field(default_factory=dict)
    """Columns (by table) that say what another column does in more words: seeing the one is seeing the other."""
    away: frozenset[str] = frozenset()
    """Tables whose rows come back as they were where what is around them was not there for a while, like those of a form that opens."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Tables of which a details screen shows what belongs to its row: the table of that row."""
    rivals: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Tables whose rows lead to one screen: acting on a row of the one leaves the others without a current row."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """Tables whose rows stand for those of another: acting on one makes the other current."""
    unseen: Mapping[tuple[str, int], tuple[Unseen, ...]] = field(default_factory=dict)
    """By trace and step: what a step did to tables that were shown only later."""
