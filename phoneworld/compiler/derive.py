"""What on a screen follows from the rest: counts, words made of other words, parts that are there while a list is not empty.

What follows needs no rule of its own and keeps true in states never seen. An expression is taken only where it gives every
sight of the recording right, and where enough changes speak for it: the less one would expect it, the more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from phoneworld.compiler.arithmetic import may_follow, numbers_that_follow, sums_of
from phoneworld.compiler.believed import Alias
from phoneworld.compiler.causes import sights_unknown
from phoneworld.compiler.choose import Example, bits, choose
from phoneworld.compiler.compose import compositions
from phoneworld.compiler.history import CURRENT, OWNER, History, Sight, is_hidden, shows_all, slot_of
from phoneworld.compiler.modes import MODE
from phoneworld.compiler.rewrite import inlined, settled, with_cells
from phoneworld.compiler.template import SHOWN, Part
from phoneworld.program.expr import (
    TRUE,
    All,
    Blank,
    Calc,
    Case,
    Cell,
    Column,
    Const,
    Count,
    Equal,
    Expr,
    Fixed,
    Less,
    Not,
    Value,
    Var,
    names_in,
    same_value,
    walk,
)  # fmt: skip
from phoneworld.program.template import KEYBOARD, ROW_ID
from phoneworld.sim.compiled import compiled
from phoneworld.sim.evaluate import NO_ROW, Scope, evaluate

_COUNTS_PAIRED = 12
_WORDS = (".text", ".content_desc")
_DOUBT = 0.15
"""The share of sights that may contradict what follows, all of them where rows are out of sight: what is believed of those may be wrong."""


@dataclass(slots=True)
class Derived:
    """Expressions by variable, and by table and column; the latter read the row's other columns."""

    variables: dict[str, Expr] = field(default_factory=dict)
    columns: dict[str, dict[str, Expr]] = field(default_factory=dict)
    cases: dict[str, int] = field(default_factory=dict)
    """How many changes of its value each derived variable or column was seen to follow."""


def settle(expr: Expr, derived: Derived, table: str | None = None) -> Expr:
    """The expression in what is kept: see `rewrite.settled`."""
    return settled(expr, derived.variables, derived.columns, table)


def current_row(table: str) -> Expr:
    """The condition that the row in scope is the one last acted on."""
    return Equal(Column(ROW_ID), Var(table + CURRENT))


def cell_of(derived: Derived, table: str, column: str) -> Expr:
    """A cell of the current row; where the column follows from others, what it follows from."""
    where = current_row(table)
    follows = derived.columns.get(table, {}).get(column)
    if follows is None:
        return Cell(table, column, where)
    return with_cells(follows, table, where)


def _of_current(derived: Derived, aliases: Sequence[Alias]) -> Expr:
    """The cell that a variable shows: of that table which has a current row."""
    first, *others = aliases
    expr = cell_of(derived, first.table, first.column)
    for other in others:
        expr = Case(Equal(Var(other.table + CURRENT), Const(None)), expr, cell_of(derived, other.table, other.column))
    return expr


def find_derived(history: History, *, sure_only: bool = False) -> Derived:
    """All that follows. Deterministic; linear in sights times candidates.

    With `sure_only` what depends on tables is judged where a filter hides none of their rows.
    """
    derived = Derived()
    sights = list(history.sights())
    for screen, pattern in history.patterns.items():
        mine = [s for s in sights if s.screen == screen]
        for table in pattern.tables:
            _derive_columns(history, derived, table, mine)
    _follow_their_twins(history, derived, sights)
    for screen in history.patterns:
        mine = [s for s in sights if s.screen == screen]
        filters = [f for f in history.filters.values() if f.screen == screen]
        sure = [s for s in mine if all(shows_all(s, f) for f in filters)] if sure_only and filters else mine
        if mine:
            _derive_screen(history, derived, screen, mine, sure or mine, sights)
    _derive_shared(history, derived, sights, sure_only=sure_only)
    derived.variables = {n: settled(e, derived.variables, derived.columns) for n, e in derived.variables.items()}
    return derived


def _derive_shared(history: History, derived: Derived, sights: Sequence[Sight], *, sure_only: bool) -> None:
    """What stands on several screens, and follows from tables wherever it stands: how many are in the cart, on a bar."""
    unknown = sights_unknown(history)
    on = Counter(name for names in history.names.values() for name in set(names))
    for name in sorted(n for n, screens in on.items() if screens > 1 and n.endswith(_WORDS) and n not in derived.variables):
        there = [s for s in sights if name in s.seen and id(s) not in unknown]
        if not there or not may_follow([s.variables[name] for s in there]):
            continue
        tables = sorted(set.intersection(*(set(s.tables) for s in there)))
        filters = [history.filters[t] for t in tables if t in history.filters]
        sure = [s for s in there if all(s.screen != f.screen or shows_all(s, f) for f in filters)] if sure_only else there
        flips = _flips(name, there)
        counts = _counts(history, derived, tables, there)
        expr = _words(name, there, {id(s) for s in sure}, (), counts, tables, history, derived, flips)
        if expr is not None:
            derived.variables[name] = expr
            derived.cases[name] = flips


def _flips(name: str, there: Sequence[Sight]) -> int:
    """How often a variable was seen to change."""
    return sum(a.trace == b.trace and not same_value(a.variables[name], b.variables[name]) for a, b in pairwise(there))


# Columns


def _derive_columns(history: History, derived: Derived, table: str, mine: Sequence[Sight]) -> None:
    found = derived.columns.setdefault(table, {})
    columns = history.columns[table]
    shown = [(s, r) for s in mine for r in s.tables[table] if r[ROW_ID] in s.shown.get(table, ())]
    rows = list({tuple(sorted(r.items(), key=lambda i: i[0])): r for _, r in shown}.values())
    if not rows:
        return
    if table in history.numbered:
        for name in columns:
            if name.endswith(".resource_id"):
                sources: dict[Expr, list[Value]] = {Column(ROW_ID): [r[ROW_ID] for r in rows]}
                for expr in compositions([r.get(name) for r in rows], sources, 1):
                    found[name] = expr
    for name in sorted(columns, key=lambda c: (not c.endswith(("." + SHOWN, ".content_desc")), columns.index(c))):
        if name in found:
            continue
        others = [c for c in columns if c != name and c not in found]
        there = [r for r in rows if r.get(name) is not None]
        target = [r.get(name) for r in there]
        if len({(type(v), v) for v in target}) < 2:
            continue
        options: list[Expr] = []
        if name.endswith("." + SHOWN):
            slot = name.removesuffix("." + SHOWN)
            options += [Not(Equal(Column(c), Const(None))) for c in others if c.startswith(slot + ".")]
            options += [
                Column(c)
                for c in others
                if isinstance(target[0], bool) and any(isinstance(r.get(c), bool) for r in there)
            ]
            if all(evaluate(current_row(table), Scope(s.variables, row=r)) == r.get(name) for s, r in shown):
                found[name] = current_row(table)
                continue
        elif isinstance(target[0], str):
            options += _composed(
                target,
                {
                    Column(c): [r.get(c) for r in there]
                    for c in others
                    if not any(isinstance(r.get(c), bool) for r in there)
                },
                # What the details show may be a part of what the row does; of two things that a row shows neither is the whole.
                [Column(c) for c in others if not is_hidden(c)] if is_hidden(name) else (),
            )
            options += [
                option
                for written, values in numbers_that_follow(target, {Column(c): [r.get(c) for r in there] for c in others}).items()
                for option in compositions(target, {written: values})
            ]
            absent: list[Expr] = [Equal(Column(c), Const(None)) for c in others if any(r.get(c) is None for r in there)]
            chosen = choose([Example(Scope({}, row=r), v) for r, v in zip(there, target, strict=True)], options, absent)
            options = [chosen.expr] if chosen is not None and not isinstance(chosen.expr, Const) else []
        # A part that a row is seen without has no words there: what would give it some is not what it says.
        told = there if is_hidden(name) else rows
        right = [e for e in options if all(same_value(evaluate(e, Scope({}, row=r)), r.get(name)) for r in told)]
        if right:
            found[name] = min(right, key=lambda e: (bits(e), repr(e)))
            derived.cases[f"{table} {name}"] = len(there)
    derived.columns[table] = {c: inlined(e, found, Column) for c, e in found.items()}


def _follow_their_twins(history: History, derived: Derived, sights: Sequence[Sight]) -> None:
    """What follows in one table follows in those with the same columns, where nothing seen of these contradicts it."""
    for table, columns in history.columns.items():
        others = [t for t, cs in history.columns.items() if t != table and set(cs) - {OWNER} == set(columns) - {OWNER}]
        rows = [r for s in sights for r in s.tables.get(table, ())] if others else []
        own = derived.columns.setdefault(table, {})
        for name in columns:
            for expr in (derived.columns.get(t, {}).get(name) for t in others):
                if expr is None or name in own or any(isinstance(e, Column) and e.name in (ROW_ID, OWNER) for e, _ in walk(expr)):
                    continue
                if all(r.get(name) is None or same_value(evaluate(expr, Scope({}, row=r)), r[name]) for r in rows):
                    own[name] = expr


def _composed(target: Sequence[Value], sources: Mapping[Expr, Sequence[Value]], whole: Collection[Expr]) -> list[Expr]:
    """Compositions of all texts, and of those in which the same sources are there."""
    options = compositions(target, {e: vs for e, vs in sources.items() if None not in vs}, whole=whole)
    groups: dict[tuple[bool, ...], list[int]] = {}
    for i in range(len(target)):
        groups.setdefault(tuple(vs[i] is None for vs in sources.values()), []).append(i)
    for absent, members in groups.items() if len(groups) > 1 else ():
        there = {e: [vs[i] for i in members] for (e, vs), gone in zip(sources.items(), absent, strict=True) if not gone}
        options += compositions([target[i] for i in members], there, whole=whole)
    return options


# Screens


def _derive_screen(
    history: History,
    derived: Derived,
    screen: str,
    mine: Sequence[Sight],
    sure: Sequence[Sight],
    every: Sequence[Sight],
) -> None:
    names = sorted(n for n in history.names[screen] if not n.endswith(MODE))
    many = {n for n in names if sum(n in shown for shown in history.names.values()) > 1}
    tables = _tables(history, screen, mine)
    parents = _parents(history.patterns[screen].windows)
    counts = _counts(history, derived, tables, mine)
    inputs = {
        history.variable(screen, p.key, a)
        for p in history.patterns[screen].walk()
        for a in ("text", "checked", "selected")
        if p.node.is_editable or (a != "text" and p.node.checkable)
    }
    order = sorted(names, key=lambda n: (n in inputs, not n.endswith("." + SHOWN), n.endswith(".text"), n))
    certain: set[str] = set()
    for name in order:
        if name.endswith("." + SHOWN):
            above = parents.get(slot_of(name), "")
            around = history.variable(screen, above, SHOWN)
            if above and all(
                s.variables[name]
                for s in (every if name in many else mine)
                if name in s.seen and s.variables.get(around, True)
            ):
                derived.variables[name] = Const(True)
                certain.add(name)
    for name in order:
        if name in certain:
            continue
        if name in history.aliases:
            aliases = history.aliases[name]
            of_row = _of_current(derived, aliases)
            calculated = None
            if name.endswith(".text") and all(is_hidden(a.column) for a in aliases):
                there = [s for s in mine if name in s.seen]
                others = [n for n in names if n != name and n in history.names[screen] and not _depends(derived, n, name)]
                calculated = _calculated_text(name, there, others, tables, history, derived)
            derived.variables[name] = of_row if calculated is None else calculated
            continue
        if name in many and name not in history.aliases:
            continue
        slot = slot_of(name)
        above = history.variable(screen, parents[slot], SHOWN) if parents.get(slot) else ""
        there = [s for s in mine if name in s.seen and (not name.endswith("." + SHOWN) or s.variables.get(above, True))]
        values = [s.variables[name] for s in there]
        kinds = {(type(v), v) for v in values}
        if len(kinds) < 2:
            continue
        certain_of = {id(s) for s in sure}
        others = [n for n in names if n != name and not _depends(derived, n, name) and n not in derived.variables]
        flips = _flips(name, there)
        expr = (
            _boolean(name, there, certain_of, others, counts, flips, name in inputs)
            if isinstance(values[0], bool)
            else _words(name, there, certain_of, others, counts, tables, history, derived, flips)
            if isinstance(values[0], str) and name not in inputs
            else None
        )
        if expr is not None:
            derived.variables[name] = expr
            derived.cases[name] = flips


def _tables(history: History, screen: str, mine: Sequence[Sight]) -> list[str]:
    """The tables known at every sight of a screen, its own first."""
    own = list(history.patterns[screen].tables)
    known = set.intersection(*(set(s.tables) for s in mine))
    return own + sorted(t for t in known if t not in own)


def _counts(history: History, derived: Derived, tables: Sequence[str], mine: Sequence[Sight]) -> list[Expr]:
    counts: list[Expr] = []
    for table in tables:
        shown = history.shown_where(table)
        if table not in history.owners:
            counts.append(Count(table))
        if shown is not None:
            counts.append(Count(table, shown))
        for name in history.columns[table]:
            if name in derived.columns.get(table, {}):
                continue
            kinds = {type(r.get(name)) for s in mine for r in s.tables[table]}
            if bool in kinds:
                ticked = Equal(Column(name), Const(True))
                if table not in history.owners:
                    counts += [Count(table, ticked), Count(table, Not(ticked))]
                if shown is not None:
                    counts += [Count(table, All((shown, w))) for w in (ticked, Not(ticked))]
    return counts


def _parents(parts: Iterable[Part], above: str = "") -> dict[str, str]:
    """The nearest slot above each that may be absent."""
    found: dict[str, str] = {}
    for part in parts:
        found[part.key] = above
        found |= _parents(part.children, part.key if part.optional else above)
    return found


def _depends(derived: Derived, name: str, on: str) -> bool:
    expr = derived.variables.get(name)
    return expr is not None and (on in names_in(expr) or any(_depends(derived, n, on) for n in names_in(expr)))


def _boolean(
    name: str,
    there: Sequence[Sight],
    sure: set[int],
    others: Sequence[str],
    counts: Sequence[Expr],
    flips: int,
    is_input: bool,
) -> Expr | None:
    if flips < (3 if is_input else 2):
        return None
    target = [s.variables[name] for s in there]
    tallies = {count: _values(count, there) for count in counts}
    found: list[tuple[Expr, Sequence[Value], int]] = []  # each with its values, and how many changes it takes to be believed
    for count, numbers in tallies.items():
        found.append((Less(Const(0), count), [_some(n) for n in numbers], 2))
        found.append((Equal(count, Const(0)), [n == 0 for n in numbers], 2))
    for a in counts[:_COUNTS_PAIRED]:
        for b in counts[:_COUNTS_PAIRED]:
            if a != b:
                both = [_some(x) and y == 0 for x, y in zip(tallies[a], tallies[b], strict=True)]
                found.append((All((Less(Const(0), a), Equal(b, Const(0)))), both, 2))
    if not is_input:
        up = [bool(s.variables.get(KEYBOARD)) for s in there]
        found += [(Var(KEYBOARD), [s.variables.get(KEYBOARD) for s in there], 2), (Not(Var(KEYBOARD)), [not u for u in up], 2)]
        for other in others:
            if not all(other in s.seen for s in there):
                continue
            values = [s.variables[other] for s in there]
            if set(values) <= {True, False}:
                found += [(Var(other), values, 3), (Not(Var(other)), [not v for v in values], 3)]
            elif all(isinstance(v, str) for v in values):
                blank = [isinstance(v, str) and not v.strip() for v in values]
                found += [(Blank(Var(other)), blank, 3), (Not(Blank(Var(other))), [not v for v in blank], 3)]
    right: list[tuple[int, float, str, Expr]] = []
    doubt = _DOUBT * len(there)
    certain = [id(s) in sure for s in there]
    for expr, told, need in found:
        if flips < need + (1 if is_input else 0):
            continue
        wrong = [is_sure for value, wanted, is_sure in zip(told, target, certain, strict=True) if not same_value(value, wanted)]
        if len(wrong) <= doubt and not any(wrong):
            right.append((len(wrong), bits(expr), repr(expr), expr))
    return min(right, key=lambda r: r[:3])[3] if right else None


def _some(number: Value) -> bool:
    """True for a count above 0."""
    return isinstance(number, int) and number > 0


def _words(
    name: str,
    there: Sequence[Sight],
    sure: set[int],
    others: Sequence[str],
    counts: Sequence[Expr],
    tables: Sequence[str],
    history: History,
    derived: Derived,
    flips: int,
) -> Expr | None:
    if flips < 2:
        return None
    sources: dict[Expr, list[Value]] = {c: _values(c, there) for c in counts}
    for other in others:
        if all(other in s.seen and isinstance(s.variables[other], str) for s in there):
            sources[Var(other)] = [s.variables[other] for s in there]
    for table in tables:
        for cell in history.columns[table]:
            if cell in derived.columns.get(table, {}):
                continue
            expr = Cell(table, cell, current_row(table))
            sources[expr] = _values(expr, there)
    target = [s.variables[name] for s in there]
    certain = [i for i, s in enumerate(there) if id(s) in sure]
    calculated = _calculated(target, certain, there, sources, tables, history)
    sources |= calculated
    cells = [e for e in sources if isinstance(e, Cell)]
    options = compositions([target[i] for i in certain], {e: [v[i] for i in certain] for e, v in sources.items()}, whole=cells)
    groups: dict[str, list[int]] = {}
    for i in certain:
        text = target[i]
        groups.setdefault("".join("#" if c.isdigit() else c for c in str(text)), []).append(i)
    for members in groups.values():
        texts = [target[i] for i in members]
        if len(set(texts)) > 1 and len(groups) > 1:
            options += compositions(texts, {e: [v[i] for i in members] for e, v in sources.items()})
        elif len(groups) <= 4 and len(set(texts)) == 1:
            options.append(Const(texts[0]))
    elsewhere = {v for i, v in enumerate(target) if i not in set(certain)}
    options += [Const(v) for v in sorted(map(str, elsewhere))] if len(elsewhere) <= 2 else []
    numbers = [e.of for e in calculated if isinstance(e, Fixed)]
    conditions: list[Expr] = [Equal(c, Const(n)) for c in (*counts, *numbers) for n in (0, 1)]
    conditions += [Var(o) for o in others if all(o in s.seen and isinstance(s.variables[o], bool) for s in there)]
    chosen = choose(
        [Example(_scope(s), v) for s, v in zip(there, target, strict=True)], options, conditions, exceptions=2
    )
    if chosen is None or isinstance(chosen.expr, Const):
        return None
    if any(id(there[i]) in sure for i in chosen.wrong) or len(chosen.wrong) > _DOUBT * len(there):
        return None
    return chosen.expr


def _calculated(
    target: Sequence[Value],
    certain: Sequence[int],
    there: Sequence[Sight],
    sources: Mapping[Expr, Sequence[Value]],
    tables: Sequence[str],
    history: History,
) -> dict[Expr, list[Value]]:
    """Numbers that are what the texts say, of what is in sight and of sums over rows."""
    if not may_follow([target[i] for i in certain]):
        return {}
    known = dict(sources)
    for table in tables:
        where = history.shown_where(table) if table in history.owners else TRUE
        if where is None:
            continue
        rows = [r for s in there for r in s.tables[table]]
        known |= {e: _values(e, there) for e in sums_of(table, [c for c in history.columns[table] if c not in (ROW_ID, OWNER)], rows, where)}
    found = numbers_that_follow([target[i] for i in certain], {e: [v[i] for i in certain] for e, v in known.items()})
    return {e: _values(e, there) for e in found}


def _calculated_text(
    name: str, there: Sequence[Sight], others: Sequence[str], tables: Sequence[str], history: History, derived: Derived
) -> Expr | None:
    """What the words of a row's details follow from where a number in them does: how many of it times its price, say."""
    target = [s.variables[name] for s in there]
    if not may_follow(target):
        return None
    own = {(a.table, a.column) for a in history.aliases[name]}
    sources: dict[Expr, Sequence[Value]] = {}
    for other in others:
        if all(other in s.seen and isinstance(s.variables[other], str) for s in there):
            sources[Var(other)] = [s.variables[other] for s in there]
    for table in tables:
        for cell in history.columns[table]:
            if (table, cell) not in own and cell not in derived.columns.get(table, {}):
                expr = Cell(table, cell, current_row(table))
                sources[expr] = _values(expr, there)
    written = numbers_that_follow(target, sources)
    options = [o for e, vs in written.items() if isinstance(e, Fixed) and isinstance(e.of, Calc) for o in compositions(target, {e: vs})]
    right = [o for o in options if all(same_value(v, t) for v, t in zip(_values(o, there), target, strict=True))]
    return min(right, key=lambda e: (bits(e), repr(e)), default=None)


def _values(expr: Expr, sights: Sequence[Sight]) -> list[Value]:
    function = compiled(expr)
    return [function(s.variables, s.tables, "", NO_ROW, NO_ROW) for s in sights]


def _scope(sight: Sight) -> Scope:
    return Scope(sight.variables, sight.tables)
