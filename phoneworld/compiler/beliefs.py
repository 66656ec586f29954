"""What a first telling of a recording shows about what is out of sight, so that it can be told again and better.

Initial values: what variables of screens not yet visited hold. Aliases: a screen that shows one row of a table (its details)
shows that row's cells, some of which the table itself does not show. Cells and places: what a row was later found to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from phoneworld.compiler.believed import Alias, Beliefs, Reference, Worded
from phoneworld.compiler.belonging import list_of_the_row, of_the_row, visits
from phoneworld.compiler.derive import Derived
from phoneworld.compiler.history import (
    CURRENT,
    OWNER,
    Deed,
    History,
    Sight,
    is_hidden,
    screen_of,
    slot_of,
)
from phoneworld.compiler.patterns import Way
from phoneworld.compiler.template import SHOWN
from phoneworld.program.expr import Column, Const, Join, Value, same_value
from phoneworld.program.template import FOCUS, KEYBOARD, ROW_ID
from phoneworld.sim.evaluate import Row

_AGREE = 0.6
_OF_ROWS = 0.4
_WORDS = (".text", ".content_desc")


def find_beliefs(history: History, before: Beliefs) -> Beliefs:
    """What a telling shows. Aliases are looked for in a first telling; what rows hold, in one with aliases."""
    references = before.references or _references(history)
    rivals = before.rivals or _rivals(history, references)
    if (rivals and not before.rivals) or (references and not before.references):
        return Beliefs(rivals=rivals, references=references)  # which row is current has to be told anew first
    aliases = before.aliases or _aliases(history)
    details: dict[str, tuple[str, ...]] = {}
    for name, of in aliases.items():
        known = details.get(screen_of(name), ())
        details[screen_of(name)] = (*known, *(a.table for a in of if a.table not in known))
    owners = before.owners or _owners(history, details)
    cells, places = _found_later(history)
    rows = _first_rows(history)
    # Where rows get other numbers in the next telling, what was found by the old ones would be said of others, and believed from then on.
    anew = {t for t in rows if (t in owners or t in before.rows) and _numbered(rows[t]) != _numbered(before.rows.get(t, ()))}
    cells = {at: value for at, value in cells.items() if at[1] not in anew}
    places = {at: value for at, value in places.items() if at[1] not in anew}
    same = before.same or _same(history, aliases)
    return Beliefs(
        _initial(history, aliases), aliases, details, cells, places, before.filters, same, rows,
        away=_away(history), owners=owners, rivals=rivals, references=references,
    )


def _initial(history: History, aliases: Mapping[str, tuple[Alias, ...]]) -> dict[str, Value]:
    """The value each variable had when first seen: the one most traces agree on, else that which was seen after the fewest steps."""
    first: dict[str, dict[str, Value]] = {}
    soonest: dict[str, tuple[int, Value]] = {}
    for trace, sights in _traces(history).items():
        for step, sight in enumerate(sights):
            for name in sight.seen:
                if name not in (FOCUS, KEYBOARD) and name not in aliases and trace not in first.setdefault(name, {}):
                    first[name][trace] = sight.variables[name]
                    if step < soonest.get(name, (step + 1,))[0]:
                        soonest[name] = step, sight.variables[name]
    initial: dict[str, Value] = {}
    for name, values in first.items():
        (_, value), times = Counter((type(v).__name__, v) for v in values.values()).most_common(1)[0]
        if times >= max(2, _AGREE * len(values)) or (isinstance(value, bool) and times > len(values) / 2):
            initial[name] = value
        else:
            initial[name] = soonest[name][1]
    return initial


def _numbered(rows: Sequence[Row]) -> list[tuple[Value, tuple[tuple[str, Value], ...]]]:
    return [(row[ROW_ID], _words(row)) for row in rows]


def _first_rows(history: History) -> dict[str, tuple[Row, ...]]:
    """The rows each table showed when it was first seen: what it is believed to hold before it is seen.

    Most traces agree on that; else the one is believed that saw it after the fewest steps. Of a table whose rows belong to those of
    another: what it showed when it was first seen for each of these that is there from the start.
    """
    first: dict[tuple[str, int | None], dict[str, tuple[int, tuple[Row, ...]]]] = {}
    for trace, sights in _traces(history).items():
        for step, sight in enumerate(sights):
            for table, shown in sight.shown.items():
                parent = history.owners.get(table)
                if parent is None:
                    first.setdefault((table, None), {}).setdefault(trace, (step, sight.tables[table]))
                    continue
                owner = sight.variables.get(parent + CURRENT)
                if isinstance(owner, int):
                    held = {r[ROW_ID]: r for r in sight.tables[table]}
                    first.setdefault((table, owner), {}).setdefault(trace, (step, tuple(held[n] for n in shown)))
    believed = {at: agreed_rows(list(traces.values())) for at, traces in first.items()}
    rows = {table: of for (table, owner), of in believed.items() if owner is None}
    for table, parent in history.owners.items():
        there = {r[ROW_ID] for r in rows.get(parent, ())}
        found = [row for (of, owner), own in believed.items() if of == table and owner in there for row in own]
        rows[table] = tuple({**row, ROW_ID: number} for number, row in enumerate(found, 1))
    return rows


def agreed_rows(seen: Sequence[tuple[int, tuple[Row, ...]]]) -> tuple[Row, ...]:
    """Of what was seen first in several traces, after so many steps: what most agree on, else what was seen soonest."""
    words = [tuple(_words(row) for row in rows) for _, rows in seen]
    usual, times = Counter(words).most_common(1)[0]
    if times >= max(2, _AGREE * len(seen)):
        return seen[words.index(usual)][1]
    return min(seen, key=lambda s: s[0])[1]


def _away(history: History) -> frozenset[str]:
    """The tables that are out of sight, not empty, where the part around them is not there.

    A list without rows is often not drawn. But where rows come back as they were when last seen, or as they were first seen in other
    traces, they were there all the while.
    """
    kept: Counter[str] = Counter()
    around = {table: key for pattern in history.patterns.values() for table, key in pattern.around().items()}
    first: dict[str, list[Counter[str]]] = {}
    for sights in _traces(history).values():
        last: dict[str, list[Counter[str]]] = {}
        gone: set[str] = set(around)
        for sight in sights:
            content = history.content[sight.capture][1]
            for table, rows in content.rows.items():
                if not content.values.get((around[table], SHOWN), True):
                    gone.add(table)
                    continue
                words = [Counter(v for v in row.values() if isinstance(v, str)) for row in rows]
                if table in gone and rows:
                    known = last.get(table, first.get(table))
                    if known is not None:
                        kept[table] += 1 if known == words else -1
                    gone.discard(table)
                last[table] = words
                first.setdefault(table, words)
    return frozenset(table for table, times in kept.items() if times > 0)


def _owners(history: History, details: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The tables whose rows belong to the row of a details screen: those that it shows otherwise for each row."""
    found: dict[str, str] = {}
    for screen, parent in ((screen, parent) for screen, parents in details.items() for parent in parents):
        seen = list(visits(history, screen, parent))
        for table in history.patterns[screen].tables:
            if table not in details[screen] and list_of_the_row(seen, table):
                found.setdefault(table, parent)
    return found


def _traces(history: History) -> dict[str, list[Sight]]:
    traces = {trace: [start] for trace, start in history.starts.items()}
    for deed in history.deeds:
        traces[deed.trace].append(deed.after)
    return traces


def _arrivals(history: History) -> dict[tuple[str, str], list[Deed]]:
    """The steps from a row of a table to a screen that does not show that table, by screen and table."""
    arrivals: dict[tuple[str, str], list[Deed]] = {}
    for deed in history.deeds:
        if (
            deed.table is not None
            and deed.after.screen != deed.before.screen
            and deed.table not in history.patterns[deed.after.screen].tables
        ):
            arrivals.setdefault((deed.after.screen, deed.table), []).append(deed)
    return arrivals


def _references(history: History) -> dict[str, Reference]:
    """The tables whose rows lead where those of another do that say the same: each row that was touched stands for one of these."""
    found: dict[str, Reference] = {}
    arrivals = _arrivals(history)
    said: dict[tuple[str, str], set[Value]] = {}
    for table in {t for _, t in arrivals}:
        for column in _word_columns(history, table):
            said[table, column] = {r.get(column) for s in history.sights() for r in s.tables.get(table, ())} - {None}
    for (screen, table), deeds in sorted(arrivals.items()):
        others = [t for s, t in arrivals if s == screen and t != table and len(arrivals[screen, t]) > len(deeds)]
        if len({d.acted[ROW_ID] for d in deeds}) < 2 or table in found:
            continue
        for other in sorted(others):
            pairs = ((a, b) for a in _word_columns(history, table) for b in _word_columns(history, other))
            for own, column in sorted(pairs, key=lambda p: (p[0].rpartition("/")[2] != p[1].rpartition("/")[2], p)):
                if not said[table, own] < said[other, column]:
                    continue
                stands = [d.acted[own] for d in deeds if _stands_for_one(d, own, other, column)]
                if len(stands) >= _AGREE * len(deeds) and len(set(stands)) > 1:  # the others may not have been seen yet
                    found.setdefault(table, Reference(own, other, column))
    return {table: to for table, to in found.items() if to.table not in found}


def _word_columns(history: History, table: str) -> list[str]:
    return [c for c in history.columns[table] if not is_hidden(c) and c.endswith(_WORDS)]


def _stands_for_one(deed: Deed, own: str, other: str, column: str) -> bool:
    word = deed.acted.get(own)
    return isinstance(word, str) and sum(same_value(r.get(column), word) for r in deed.before.tables.get(other, ())) == 1


def _rivals(history: History, references: Mapping[str, Reference]) -> dict[str, frozenset[str]]:
    """The tables whose rows lead to one screen, each again and again, and those with rows of the same kind that do."""
    leading: dict[str, set[str]] = {}
    arrivals = _arrivals(history)
    for (screen, table), deeds in arrivals.items():
        if len({d.acted[ROW_ID] for d in deeds}) > 1 and table not in references:
            leading.setdefault(screen, set()).update((table, *_of_its_kind(history, arrivals, screen, table)))
    rivals: dict[str, frozenset[str]] = {}
    for tables in leading.values():
        for table in tables if len(tables) > 1 else ():
            rivals[table] = rivals.get(table, frozenset()) | (tables - {table})
    return rivals


def _of_its_kind(history: History, arrivals: Collection[tuple[str, str]], screen: str, table: str) -> list[str]:
    """The other tables whose rows lead to the screen and show the same columns."""
    columns = {t: frozenset(c for c in cs if not is_hidden(c)) for t, cs in history.columns.items()}
    return sorted(t for t, own in columns.items() if own == columns[table] and t != table and (screen, t) in arrivals)


def _aliases(history: History) -> dict[str, tuple[Alias, ...]]:
    """The variables that are cells: on a screen come to from a row, what that row's cell holds, or always the same for the same row."""
    found: dict[str, tuple[Alias, ...]] = {}
    arrivals = _arrivals(history)
    went_to = Counter(_went_to(history))
    told_by: dict[str, set[str]] = {}
    for screen, table in arrivals:
        if table in history.references and (screen, history.references[table].table) in arrivals:
            told_by.setdefault(screen, set()).add(table)
    for (screen, table), deeds in sorted(arrivals.items(), key=lambda a: (a[0][0], -len(a[1]), a[0][1])):
        if len({d.acted[ROW_ID] for d in deeds}) < 2 or table in told_by.get(screen, ()):
            continue
        inputs = {p.key for p in history.patterns[screen].walk() if p.node.is_editable}
        shown = [c for c in history.columns[table] if not is_hidden(c)]
        often, ever = set.intersection(*(set(d.after.seen) for d in deeds)), set.union(*(set(d.after.seen) for d in deeds))
        ever = {n for n in ever if screen_of(n) == screen and n.rpartition(".")[0].removeprefix(screen + ".") not in inputs}
        frame = _of_the_frame(history, screen, ever)
        ever -= frame
        names = sorted(often & ever)
        equal: dict[str, str] = {}
        for name in names:
            values = [d.after.variables[name] for d in deeds]
            if isinstance(values[0], str) and len(set(values)) < 2:
                continue
            for column in shown:
                cells = [d.acted.get(column) for d in deeds]
                if cells == values and (isinstance(values[0], str) or len(set(values)) > 1 or len(deeds) > 3):
                    equal.setdefault(name, column)
        # A screen that is mostly come to by other ways shows more than a row.
        others = sum(len(arrivals[screen, t]) for t in told_by.get(screen, ()))
        is_details = len(deeds) >= _OF_ROWS * (went_to[screen] - others)
        told = set(of_the_row(list(visits(history, screen, table)), sorted(ever))) if is_details else set()
        if not any(n.endswith(_WORDS) for n in (*equal, *told)) and not _again(names, deeds):
            continue
        aliases = {n: Alias(table, c) for n, c in equal.items()}
        own = {n for n in names if _by_row(n, deeds)} | told
        aliases |= {n: Alias(table, "@" + n) for n in sorted(own) if n not in equal}
        if not all(_is_shown_of(history, screen, n, a, told_by.get(screen, set())) for n, a in aliases.items() if n in equal):
            continue
        told_by.setdefault(screen, set()).add(table)
        for name, alias in aliases.items():
            if _holds(history, name, alias):
                found[name] = (*found.get(name, ()), alias)
    for screen, tables in told_by.items():
        for table in sorted(tables):
            for twin in _of_its_kind(history, arrivals, screen, table):
                if twin not in tables and _shows_as_its_twin(arrivals[screen, twin], found, table):
                    tables = tables | {twin}
                    for name, known in found.items():
                        found[name] = (*known, *(Alias(twin, a.column) for a in known if a.table == table and screen_of(name) == screen))
    return found


def _shows_as_its_twin(deeds: Sequence[Deed], found: Mapping[str, tuple[Alias, ...]], table: str) -> bool:
    """True where what was come to from rows of a table shows their cells as it does those of `table`."""
    return all(
        same_value(deed.acted.get(alias.column), deed.after.variables[name])
        for deed in deeds
        for name, aliases in found.items()
        for alias in aliases
        if alias.table == table and not is_hidden(alias.column) and name in deed.after.seen
    )


def _is_shown_of(history: History, screen: str, name: str, alias: Alias, others: Collection[str]) -> bool:
    """False where one mostly comes to a screen otherwise than from a row: the list is what a field of it was chosen from.

    What one comes to from rows of `others` says nothing.
    """
    right = wrong = 0
    for deed in history.deeds:
        if deed.after.screen != screen or deed.before.screen == screen or name not in deed.after.seen or deed.table in others:
            continue
        current = deed.after.variables.get(alias.table + CURRENT)
        row = next((r for r in deed.after.tables.get(alias.table, ()) if r[ROW_ID] == current), None)
        fits = row is not None and same_value(row.get(alias.column), deed.after.variables[name])
        right, wrong = right + fits, wrong + (not fits)
    return right >= wrong


def _went_to(history: History) -> Iterator[str]:
    """The screens gone to, again and again, but not those that one came back to by closing what lay over them."""
    trace, way = "", Way()
    for deed in history.deeds:
        if deed.trace != trace:
            trace, way = deed.trace, Way()
            way.at(deed.before.screen)
        if way.at(deed.after.screen):
            yield deed.after.screen


def _of_the_frame(history: History, screen: str, names: Collection[str]) -> set[str]:
    """The variables that say on the next screen, at the same slot, what they said here: a badge of a bar, say. No row's own."""
    stayed: dict[str, list[tuple[Value, bool]]] = {}
    for deed in history.deeds:
        if deed.before.screen == screen and deed.after.screen != screen:
            for name in deed.before.seen & set(names):
                other = history.same.get(n := deed.after.screen + name[len(screen) :], n)
                if other in deed.after.seen:
                    value = deed.before.variables[name]
                    stayed.setdefault(name, []).append((value, same_value(value, deed.after.variables[other])))
    return {
        name
        for name, seen in stayed.items()
        if len(seen) >= _TIMES and len({v for v, _ in seen}) > 1 and sum(ok for _, ok in seen) >= _STAYS * len(seen)
    }


_TIMES, _STAYS = 3, 0.7


def _same(history: History, aliases: Mapping[str, tuple[Alias, ...]]) -> dict[str, str]:
    """The variables of one slot on several screens that mostly stay as they are when one goes from one screen to the other."""
    stayed: dict[tuple[str, str], list[tuple[Value, bool]]] = {}
    for deed in history.deeds:
        a, b = deed.before, deed.after
        if a.screen == b.screen:
            continue
        for name in b.seen:
            slot, other = slot_of(name), a.screen + name[len(b.screen) :]
            if (
                not slot
                or screen_of(name) != b.screen
                or other not in a.seen
                or name in aliases
            ):
                continue
            if name.endswith(".shown") and b.variables[name] is True and a.variables[other] is False:
                continue  # the step may have brought it
            pair = (min(name, other), max(name, other))
            stayed.setdefault(pair, []).append((a.variables[other], same_value(a.variables[other], b.variables[name])))
    one: dict[str, str] = {}
    for (a_name, b_name), seen in sorted(stayed.items()):
        if (
            len(seen) < _TIMES
            or len({(type(v), v) for v, _ in seen}) < 2
            or sum(ok for _, ok in seen) < _STAYS * len(seen)
        ):
            continue
        root = one.get(a_name, a_name)
        for name in (a_name, b_name):
            one[name] = root
    return {name: root for name, root in one.items() if name != root}


def _again(names: Sequence[str], deeds: Sequence[Deed]) -> bool:
    """True where a text is another for each row, and mostly the same again when a row is come back to."""
    for name in names:
        said: dict[Value, Counter[Value]] = {}
        for deed in deeds:
            said.setdefault(deed.acted[ROW_ID], Counter())[deed.after.variables[name]] += 1
        usual = [words.most_common(1)[0] for words in said.values()]
        again = sum(times - 1 for _, times in usual)
        other = len(deeds) - len(usual) - again
        if _by_row(name, deeds) and len({w for w, _ in usual}) == len(usual) and again > other:
            return True
    return False


def find_worded(derived: Derived) -> dict[tuple[str, str], Worded]:
    """The cells of details that say what a cell of the row does with other words around it: they may be seen to change first."""
    found: dict[tuple[str, str], Worded] = {}
    for table, columns in derived.columns.items():
        for column, expr in columns.items():
            match expr:
                case Join(parts) if is_hidden(column):
                    pass
                case _:
                    continue
            at = [i for i, part in enumerate(parts) if isinstance(part, Column)]
            if len(at) != 1 or not all(isinstance(p, Column | Const) for p in parts):
                continue
            of = parts[at[0]]
            assert isinstance(of, Column)
            around = ("".join(str(p.value) for p in ps if isinstance(p, Const)) for ps in (parts[: at[0]], parts[at[0] + 1 :]))
            if of.name != ROW_ID and of.name not in columns:
                before, after = around
                found[table, column] = Worded(before, of.name, after)
    return found


def _by_row(name: str, deeds: Sequence[Deed]) -> bool:
    """True where a text differs from row to row, and for one row is mostly the same each time."""
    of_row: dict[Value, Counter[Value]] = {}
    for deed in deeds:
        value = deed.after.variables[name]
        if not isinstance(value, str):
            return False
        of_row.setdefault(deed.acted[ROW_ID], Counter())[value] += 1
    usual = {row: values.most_common(1)[0][0] for row, values in of_row.items()}
    agree = sum(values[usual[row]] for row, values in of_row.items())
    return len(set(usual.values())) > max(1, len(of_row) // 2) and agree >= _AGREE * len(deeds)


def _holds(history: History, name: str, alias: Alias) -> bool:
    """False where the row, when it was seen next, did not hold what the variable had shown last: what is shown there is a draft."""
    if is_hidden(alias.column):
        return True
    last: Value = None
    pending: Value = None
    true = false = 0
    trace = ""
    for deed in history.deeds:
        if deed.trace != trace:
            trace, pending = deed.trace, None
        row = pending if pending is not None else None
        if row is not None and alias.table in history.patterns[deed.after.screen].tables:
            cell = next((r.get(alias.column) for r in deed.after.tables[alias.table] if r[ROW_ID] == row), _GONE)
            if cell is not _GONE:
                true, false = true + (cell == last), false + (cell != last)
            pending = None
        current = deed.after.variables.get(alias.table + CURRENT)
        if name in deed.after.seen and current is not None:
            last, pending = deed.after.variables[name], current
    return false <= 0.2 * true


_GONE = object()


def _found_later(history: History) -> tuple[dict[tuple[str, str, int, str], Value], dict[tuple[str, str, int], int]]:
    """The first known value of each cell of each row of each trace, and where each row stood when first seen in its table."""
    cells: dict[tuple[str, str, int, str], Value] = {}
    places: dict[tuple[str, str, int], int] = {}
    first: dict[tuple[str, tuple[tuple[str, Value], ...]], dict[str, Value]] = {}
    for trace, sights in _traces(history).items():
        for sight in sights:
            for table, rows in sight.tables.items():
                seen = table in history.patterns[sight.screen].tables
                for i, row in enumerate(rows):
                    number = row[ROW_ID]
                    assert isinstance(number, int)
                    if seen:
                        places.setdefault((trace, table, number), i)
                    for column, value in row.items():
                        if value is not None and column not in (ROW_ID, OWNER) and (seen or is_hidden(column)):
                            cells.setdefault((trace, table, number, column), value)
    # Rows that are there from the start hold in every trace what one trace has found them to hold, in whichever list they stand.
    kinds = {t: min(t, *(o for o in history.rivals.get(t, ()) if set(history.columns[o]) == set(cs)), t) for t, cs in history.columns.items()}
    for trace, start in history.starts.items():
        for table, rows in start.tables.items():
            for row in rows:
                known = first.setdefault((kinds[table], _words(row)), {})
                for column in history.columns[table]:
                    key = (trace, table, row[ROW_ID], column)
                    if is_hidden(column) and column != OWNER and key in cells:
                        known.setdefault(column, cells[key])
    for trace, start in history.starts.items():
        for table, rows in start.tables.items():
            for row in rows:
                for column, value in first[kinds[table], _words(row)].items():
                    cells.setdefault((trace, table, int(row[ROW_ID]), column), value)  # type: ignore[arg-type]
    return cells, places


def _words(row: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted((c, v) for c, v in row.items() if isinstance(v, str) and not is_hidden(c)))
