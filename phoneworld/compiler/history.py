"""What was recorded, told in the words of templates: before each action a state, then the action on a slot, then a state.

A state holds what is on the screen now and what was last seen of other screens and of tables out of sight. Rows keep an id
through a trace: rows are matched from one sight of a table to the next by what they hold and in what order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from phoneworld.compiler.aims import Aim, find_aim, may_be_covered
from phoneworld.compiler.believed import Alias, Beliefs, Reference, Unseen
from phoneworld.compiler.kept import column, columns_of, table_of, what_varies
from phoneworld.compiler.modes import Filter, hides_nothing, mode_after
from phoneworld.compiler.row_matching import match_rows, merged, number_of, number_slot, told
from phoneworld.compiler.template import SHOWN, Content, Pattern
from phoneworld.graph.graph import StateGraph
from phoneworld.program.expr import All, Column, Equal, Expr, Value, Var
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row, Scope, evaluate
from phoneworld.ui.action import Action
from phoneworld.ui.node import Hierarchy

OWNER = "@owner"
"""The column of rows that belong to a row of another table: the id of that row."""

CURRENT = ".current"
"""A table's variable of this ending holds the id of the row last acted on, None after acting beside the rows of a screen that shows it."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A state: the screen shown, and what is known of all variables and tables. `seen` are the variables that are on the screen."""

    screen: str
    capture: str
    variables: Mapping[str, Value]
    tables: Mapping[str, tuple[Row, ...]]
    seen: frozenset[str]
    shown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The ids of the rows on the screen, by table, in their order."""
    trace: str = ""
    time_ms: int = 0


@dataclass(frozen=True, slots=True)
class Deed:
    """One recorded step. `acted` is the row acted on, as it was before; empty where it was done to none.

    `is_swallowed`: nothing came of a touch where something else may have been on top. It says nothing of what was aimed at.
    """

    trace: str
    index: int
    aim: Aim
    before: Sight
    after: Sight
    acted: Row
    table: str | None
    took_ms: int
    is_swallowed: bool = False

    @property
    def name(self) -> str:
        return f"{self.trace}:{self.index}"


@dataclass(frozen=True, slots=True)
class Foretold:
    """What is expected of an action: what tables hold after it, and in which modes filters are (None where nothing is known)."""

    tables: Mapping[str, tuple[Row, ...]]
    modes: Mapping[str, Value] | None


Foretell = Callable[[Sight, Aim, Row, Mapping[str, Value]], Foretold]
"""What is known of an action: state, action, row acted on, current rows and modes."""


@dataclass(frozen=True, slots=True)
class History:
    """All steps of all traces, the pattern of each screen, and where each capture went."""

    patterns: Mapping[str, Pattern]
    content: Mapping[str, tuple[str, Content]]
    starts: Mapping[str, Sight]
    deeds: tuple[Deed, ...]
    columns: Mapping[str, tuple[str, ...]]
    numbered: Mapping[str, str]
    """Tables whose rows carry a number in the id of a slot: that slot. The number is the row's id."""
    aliases: Mapping[str, tuple[Alias, ...]] = field(default_factory=dict)
    filters: Mapping[str, Filter] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The variables that each screen shows, but for focus and keyboard."""
    kept: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """Slot and attribute of everything outside tables that varies, by screen."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """As in the beliefs it was told with."""
    rivals: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """As in the beliefs it was told with."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """As in the beliefs it was told with."""
    unseen: Mapping[tuple[str, int], tuple[Unseen, ...]] = field(default_factory=dict)
    """As in the beliefs it was told with."""

    def touched(self, screen: str, table: str | None) -> tuple[str, ...]:
        """The tables that a touch on a screen leaves without a current row, in a row of `table` or beside all rows."""
        return left_by_touch(self.patterns[screen], table, self.rivals)

    def shown_where(self, table: str) -> Expr | None:
        """Which rows of a table are shown; None for all."""
        owner, filter_ = self.owners.get(table), self.filters.get(table)
        belongs = Equal(Column(OWNER), Var(owner + CURRENT)) if owner is not None else None
        if filter_ is None or belongs is None:
            return belongs if filter_ is None else filter_.where
        return All((belongs, filter_.where))

    def variable(self, screen: str, slot: str, attribute: str) -> str:
        """The name of the variable behind one attribute of one slot of a screen."""
        name = variable(screen, slot, attribute)
        return self.same.get(name, name)

    def sights(self) -> Iterator[Sight]:
        """All states in the order of recording."""
        traces: dict[str, list[Deed]] = {}
        for deed in self.deeds:
            traces.setdefault(deed.trace, []).append(deed)
        for trace, start in self.starts.items():
            yield start
            yield from (deed.after for deed in traces.get(trace, ()))

    def shown_tables(self, screen: str) -> frozenset[str]:
        return frozenset(self.patterns[screen].tables)


def left_by_touch(pattern: Pattern, table: str | None, rivals: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """See `History.touched`."""
    beside = [t for t in pattern.tables if t != table]
    return (*beside, *sorted(rivals.get(table or "", frozenset()) - set(beside)))


def shows_all(sight: Sight, filter_: Filter) -> bool:
    """True where a filter lets all rows through, whatever they hold."""
    return hides_nothing(filter_, sight.variables)


def variable(screen: str, slot: str, attribute: str) -> str:
    """The name of the variable behind one attribute of one slot."""
    return f"{screen}.{slot}.{attribute}"


def slot_of(name: str) -> str:
    """The slot of a variable."""
    return name.partition(".")[2].rpartition(".")[0]


def screen_of(name: str) -> str:
    """The screen of a variable."""
    return name.partition(".")[0]


def is_hidden(name: str) -> bool:
    """True for a column that no row shows: it is named after the variable of another screen that does."""
    return name.startswith("@")


def lone_captures(graph: StateGraph) -> dict[str, str]:
    """The captures outside of any trace, each under a name that no trace has."""
    seen = {c for trace in graph.traces for c in trace.captures} | {
        c for t in graph.transitions() for c in t.transients
    }
    traces = {trace.id for trace in graph.traces}
    return {(c if c not in traces else f"capture {c}"): c for c in graph.captures if c not in seen}


def find_history(
    graph: StateGraph,
    screens: Mapping[str, Sequence[str]],
    patterns: Mapping[str, Pattern],
    beliefs: Beliefs | None = None,
    foretell: Foretell | None = None,
) -> History:
    """Tells a recording in the words of templates. `foretell` says what becomes of rows that are not shown."""
    content = {
        capture: (screen, patterns[screen].contents[i])
        for screen, captures in screens.items()
        for i, capture in enumerate(captures)
    }
    teller = _Teller(graph, patterns, content, beliefs or Beliefs(), foretell)
    starts: dict[str, Sight] = {}
    deeds: list[Deed] = []
    for trace in graph.traces:
        sight = starts[trace.id] = teller.first(trace.id, trace.start)
        for index, transition in enumerate(trace.transitions):
            took_ms = graph.took_ms(transition) or transition.settle_ms
            deed = teller.step(trace.id, index, sight, transition.action, transition.target, took_ms)
            if deed is None:
                sight = teller.see(sight, transition.target, None)
                continue
            deeds.append(deed)
            sight = deed.after
    for name, capture in lone_captures(graph).items():
        if capture in content:
            starts[name] = teller.first(name, capture)
    told = teller.beliefs
    shown: dict[str, set[str]] = {screen: set() for screen in screens}
    for sight in (*starts.values(), *(d.after for d in deeds)):
        shown[sight.screen].update(sight.seen)
    names = {screen: frozenset(found - {FOCUS, KEYBOARD}) for screen, found in shown.items()}
    return History(
        patterns, content, starts, tuple(deeds), teller.columns, teller.numbered, told.aliases, told.filters, told.same, names,
        {screen: frozenset(kept) for screen, kept in teller.kept.items()}, told.owners, told.rivals, told.references,
        told.unseen,
    )  # fmt: skip


class _Teller:
    def __init__(
        self,
        graph: StateGraph,
        patterns: Mapping[str, Pattern],
        content: Mapping[str, tuple[str, Content]],
        beliefs: Beliefs,
        foretell: Foretell | None,
    ) -> None:
        self._foretell = foretell
        self._graph = graph
        self._patterns = patterns
        self._content = content
        self.beliefs = beliefs
        self.kept = {s: what_varies(p) for s, p in patterns.items()}
        self.columns = {t: columns_of(p, t) for p in patterns.values() for t in p.tables}
        self.numbered = {
            t: slot for p in patterns.values() for t in p.tables if t not in beliefs.owners and (slot := number_slot(p, t))
        }
        for table in beliefs.owners:
            self.columns[table] = (*self.columns[table], OWNER)
        self._around = {t: key for p in patterns.values() for t, key in p.around().items()}
        self._aliases: dict[str, list[tuple[str, Alias]]] = {}
        for name, aliases in beliefs.aliases.items():
            self._aliases.setdefault(screen_of(name), []).extend((name, alias) for alias in aliases)
        for alias in (a for n in sorted(beliefs.aliases) for a in beliefs.aliases[n]):
            if alias.column not in self.columns[alias.table]:
                self.columns[alias.table] = (*self.columns[alias.table], alias.column)
        self._trace = ""
        self._ids: dict[str, int] = {}

    def first(self, trace: str, capture: str) -> Sight:
        self._trace = trace
        self._ids = {t: max((int(r[ROW_ID]) for r in rows), default=0) for t, rows in self.beliefs.rows.items()}  # type: ignore[arg-type]
        rows = {
            t: tuple({**row, **self._out_of_sight(t, int(row[ROW_ID]))} for row in rows)  # type: ignore[arg-type]
            for t, rows in self.beliefs.rows.items()
        }
        return self.see(Sight("", "", self.beliefs.initial, rows, frozenset()), capture, None)

    def see(
        self, before: Sight, capture: str, acted: int | None, switched: bool = False, likely: Mapping[str, Value] | None = None
    ) -> Sight:
        """The state after a capture has been seen. `switched`: a filter's switch was touched; `likely`: modes learned of such steps."""
        screen, content = self._content[capture]
        seen: dict[str, Value] = {}
        for slot, attribute in self.kept[screen]:
            if (slot, attribute) in content.values:
                name = variable(screen, slot, attribute)
                seen[self.beliefs.same.get(name, name)] = content.values[slot, attribute]
        recorded = self._graph.captures[capture]
        seen[KEYBOARD] = recorded.state.keyboard
        before = self._in_mode(before, screen, content, seen, switched=switched, likely=likely)
        tables = dict(before.tables)
        ids: dict[str, list[int]] = {}
        for table, rows in content.rows.items():
            if table in self.beliefs.away and not content.values.get((self._around[table], SHOWN), True):
                continue
            columns = [c for c in self.columns[table] if not is_hidden(c)]
            now = [{c: row.get(c) for c in columns} for row in rows]
            known = before.tables.get(table, ())
            filter_of = self.beliefs.filters.get(table)
            scope = Scope({**before.variables, **seen})
            owner = before.variables.get(self.beliefs.owners[table] + CURRENT) if table in self.beliefs.owners else None
            mine = [r for r in known if r.get(OWNER) == owner]
            old = [r for r in mine if filter_of is None or evaluate(filter_of.where, scope.at(r))]
            out = [r for r in mine if r not in old]
            of_id = {row[ROW_ID]: row for row in known}
            if table in self.numbered:
                ids[table] = [number_of(row.get(column(self.numbered[table], "resource_id"))) for row in rows]
                self._ids[table] = max([self._ids.get(table, 0), *ids[table]])
            else:
                ids[table] = [
                    int(old[i][ROW_ID]) if i is not None else self._found_again(table, row, out)  # type: ignore[arg-type]
                    for i, row in zip(match_rows(old, now, columns, acted), now, strict=True)
                ]
            of_owner = {OWNER: owner} if table in self.beliefs.owners else {}
            seen_now = [
                {ROW_ID: n, **(of_id[n] if n in of_id else self._out_of_sight(table, n)), **told(row, of_id.get(n)), **of_owner}
                for n, row in zip(ids[table], now, strict=True)
            ]
            away = {r[ROW_ID] for r in known if r.get(OWNER) != owner}
            tables[table] = merged(known, seen_now, away | {r[ROW_ID] for r in out})
        seen[FOCUS] = self._focus(screen, recorded.hierarchy, content, ids)
        variables = {**before.variables, **seen}
        self._learn(screen, variables, tables, seen)
        return Sight(
            screen, capture, variables, tables, frozenset(seen), {t: tuple(ns) for t, ns in ids.items()}, self._trace,
            recorded.time_ms,
        )  # fmt: skip

    def _in_mode(
        self, before: Sight, screen: str, content: Content, seen: dict[str, Value], *, switched: bool, likely: Mapping[str, Value] | None
    ) -> Sight:
        """The state before with the modes that what is shown tells; those that it leaves no doubt of are `seen`."""
        variables = dict(before.variables)
        for filter_ in self.beliefs.filters.values():
            if filter_.screen != screen or not filter_.mode:
                continue
            if switched or not filter_.firm:
                seen.update({n: variables.get(n) for n in filter_.past})
                continue
            columns = [c for c in self.columns[filter_.table] if not is_hidden(c)]
            rows = [{c: r.get(c) for c in columns} for r in content.rows.get(filter_.table, ())]
            found = mode_after(filter_, {**variables, **seen}, before.tables.get(filter_.table, ()), rows, likely)
            variables |= found.modes
            if found.told:
                seen.update(found.modes)
        return replace(before, variables=variables)

    def _learn(
        self, screen: str, variables: Mapping[str, Value], tables: dict[str, tuple[Row, ...]], seen: Mapping[str, Value]
    ) -> None:
        """Puts what aliases show into the rows they stand for."""
        for name, alias in self._aliases.get(screen, ()):
            current = variables.get(alias.table + CURRENT)
            if name in seen and current is not None:
                said: dict[str, Value] = {alias.column: seen[name]}
                worded = self.beliefs.worded.get((alias.table, alias.column))
                if worded is not None and (cell := worded.cell(seen[name])) is not None:
                    said[worded.column] = cell
                tables[alias.table] = tuple(
                    {**row, **said} if row[ROW_ID] == current else row for row in tables.get(alias.table, ())
                )

    def _out_of_sight(self, table: str, row: int) -> Row:
        """What a row that is seen for the first time holds beside what is shown of it."""
        known = self.beliefs.cells
        return {c: known.get((self._trace, table, row, c)) for c in self.columns[table] if is_hidden(c) and c != OWNER}

    def _turned_to(self, before: Sight, capture: str) -> Sight:
        """Where a row's own screen comes that shows another row than the current one, the row that it shows is current."""
        screen, content = self._content[capture]
        tables = self.beliefs.details.get(screen, ()) if screen != before.screen else ()
        for table in sorted(tables, key=lambda t: before.variables.get(t + CURRENT) is None):
            shown = {
                alias.column: content.values.get((slot_of(name), "text"))
                for name, alias in self._aliases.get(screen, ())
                if name.endswith(".text") and alias.table == table and not is_hidden(alias.column)
            }
            told = {c: v for c, v in shown.items() if v}
            fits = [r[ROW_ID] for r in before.tables.get(table, ()) if told and all(r.get(c) == v for c, v in told.items())]
            if len(fits) == 1:
                left = dict.fromkeys((t + CURRENT for t in self.beliefs.rivals.get(table, ())), None)
                return replace(before, variables={**before.variables, **left, table + CURRENT: fits[0]})
        return before

    def _come_to_be(self, before: Sight, after: Sight) -> Sight:
        """Where a row's own screen is shown and no row is current, there is a new one."""
        details = self.beliefs.details.get(after.screen, ())
        table = next((t for t in details if t in after.tables), None)
        if table is None or after.screen == before.screen or any(after.variables.get(t + CURRENT) is not None for t in details):
            return after
        rows = after.tables[table]
        number = self._fresh(table)
        cells = {c: self.beliefs.cells.get((self._trace, table, number, c)) for c in self.columns[table]}
        at = min(self.beliefs.places.get((self._trace, table, number), 0), len(rows))
        tables = {**after.tables, table: (*rows[:at], {ROW_ID: number, **cells}, *rows[at:])}
        variables = {**after.variables, table + CURRENT: number}
        self._learn(after.screen, variables, tables, {n: after.variables[n] for n in after.seen})
        return replace(after, variables=variables, tables=tables)

    def _found_again(self, table: str, row: Row, out: list[Row]) -> int:
        """The id of a row that was out of sight and holds just this, else a fresh one."""
        for cells in (row, {c: v for c, v in row.items() if isinstance(v, str)}):
            for i, other in enumerate(out):
                if cells and all(other.get(c) == v for c, v in cells.items()):
                    return int(out.pop(i)[ROW_ID])  # type: ignore[arg-type]
        return self._fresh(table)

    def _fresh(self, table: str) -> int:
        """An id that no row of the table had in this trace."""
        self._ids[table] = self._ids.get(table, 0) + 1
        return self._ids[table]

    def _focus(self, screen: str, tree: Hierarchy, content: Content, ids: Mapping[str, list[int]]) -> str | None:
        for path, node in tree.walk():
            if node.focused and node.is_editable:
                slot, row = content.places[path]
                table = table_of(self._patterns[screen], slot)
                return f"{slot}#{ids[table][row]}" if table is not None and row is not None else slot
        return None

    def step(self, trace: str, index: int, before: Sight, action: Action, target: str, took_ms: int) -> Deed | None:
        capture = self._graph.captures[before.capture]
        aim = find_aim(capture, self._content[before.capture][1], action)
        if aim is None:
            return None
        pattern = self._patterns[before.screen]
        table = table_of(pattern, aim.slot) if aim.row is not None else None
        acted: Row = {}
        if table is not None and aim.row is not None:
            number = before.shown[table][aim.row]
            acted = next(r for r in before.tables[table] if r[ROW_ID] == number)
        acted_id = acted.get(ROW_ID)
        current: dict[str, Value] = {}
        switched = False
        touched = aim.kind not in ("key", "open_app", "close_app", "wait")
        if touched:
            current |= dict.fromkeys((t + CURRENT for t in left_by_touch(pattern, table, self.beliefs.rivals)), None)
        if table is not None:
            current[table + CURRENT] = acted_id
            if (to := self.beliefs.references.get(table)) is not None:
                current[to.table + CURRENT] = to.of(acted, before.tables)
        for filter_ in self.beliefs.filters.values():
            mode = filter_.switched_by(aim.slot) if filter_.screen == before.screen and aim.kind == "tap" else None
            if mode is not None:
                current |= filter_.switched(before.variables, mode)
                switched = True
        expected = Foretold(before.tables, None) if self._foretell is None else self._foretell(before, aim, acted, current)
        tables = expected.tables
        for change in self.beliefs.unseen.get((trace, index), ()):
            came = tuple(({**self._out_of_sight(change.table, int(str(r[ROW_ID]))), **r}, behind) for r, behind in change.came)
            tables = {**tables, change.table: replace(change, came=came).rows(tables.get(change.table, ()))}
        self._ids |= {t: max([self._ids.get(t, 0), *(int(r[ROW_ID]) for r in rows)]) for t, rows in tables.items()}  # type: ignore[arg-type]
        chosen = self._turned_to(replace(before, variables={**before.variables, **current}, tables=tables), target)
        row = acted_id if isinstance(acted_id, int) else None
        after = self._come_to_be(before, self.see(chosen, target, row, switched, expected.modes))
        current = {}
        for name, rows in after.tables.items():
            old = {r[ROW_ID] for r in before.tables.get(name, ())}
            new = [r[ROW_ID] for r in rows if r[ROW_ID] not in old]
            if name in before.tables and len(new) == 1:
                current[name + CURRENT] = new[0]
        after = replace(after, variables={**after.variables, **current})
        swallowed = capture.hierarchy == self._graph.captures[target].hierarchy and may_be_covered(capture, action)
        return Deed(trace, index, aim, before, after, acted, table, took_ms, swallowed)
