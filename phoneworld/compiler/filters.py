"""Lists that show some of their rows: tabs and chips that switch what is shown, fields that search.

A filter is found by rows that went and came back as they were. What a switch shows is learned from what went and what stayed
when it was touched, for that does not change the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from phoneworld.compiler.choose import Example, choose
from phoneworld.compiler.history import Deed, History, is_hidden, variable
from phoneworld.compiler.modes import MODE, Filter
from phoneworld.compiler.template import Part, Pattern
from phoneworld.program.expr import TRUE, All, Any, Case, Column, Const, Contains, Equal, Expr, Not, Value, Var
from phoneworld.program.expr import walk as expressions
from phoneworld.sim.evaluate import Row, Scope, evaluate


def find_filters(history: History) -> dict[str, Filter]:
    """The filter of each table that has one."""
    found: dict[str, Filter] = {}
    for screen, pattern in history.patterns.items():
        for table in pattern.tables:
            deeds = [
                d
                for d in history.deeds
                if d.before.screen == screen == d.after.screen and table in d.before.tables and table in d.after.tables
            ]
            switch = _switch(history, pattern, table, deeds)
            words = _search(history, screen, pattern, table, deeds)
            if switch is not None or words != TRUE:
                mode, shows, also, firm = switch or ("", {}, {}, True)
                where = _where(mode, shows, words)
                found[table] = Filter(table, screen, mode, tuple(shows), where, words, also, firm)
    return found


def _where(mode: str, shows: Mapping[str, Expr], words: Expr) -> Expr:
    """The condition that a row is shown."""
    where: Expr = TRUE
    for slot, shown in reversed(list(shows.items())):
        if shown != TRUE:
            where = Case(Equal(Var(mode), Const(slot)), shown, where)
    if words == TRUE:
        return where
    return words if where == TRUE else All((where, words))


def _content(row: Row) -> tuple[tuple[str, Value], ...]:
    """The words by which a row is known again; what is ticked or open may change while it is out of sight."""
    return tuple(sorted((c, v) for c, v in row.items() if isinstance(v, str) and not is_hidden(c)))


def _switch(
    history: History, pattern: Pattern, table: str, deeds: Sequence[Deed]
) -> tuple[str, dict[str, Expr], dict[str, str], bool] | None:
    """The variable that holds the slot touched last, what each slot shows, places beside them that do the same, whether that is sure."""
    came_back: dict[str, int] = {}
    hidden: dict[tuple[tuple[str, Value], ...], str] = {}
    trace = ""
    for deed in deeds:
        if deed.trace != trace:
            trace, hidden = deed.trace, {}
        before, after = (
            {_content(r) for r in deed.before.tables[table]},
            {_content(r) for r in deed.after.tables[table]},
        )
        for content in (after - before) & hidden.keys():
            slot = hidden.pop(content)
            came_back[slot] = came_back.get(slot, 0) + 1
        if deed.aim.kind == "tap" and deed.table is None and deed.aim.slot:
            hidden |= dict.fromkeys(before - after, deed.aim.slot)
    groups = {group for slot in came_back if len(group := _alike(pattern, slot)) > 1}
    touchable = {p.key for p in pattern.walk() if p.node.clickable}
    best: tuple[tuple[bool, int], dict[str, Expr], bool] | None = None
    for group in sorted(groups):
        shows, firm = _shown_by(history, table, group, deeds)
        # What takes touches is a switch rather than what lies beside it, however often a finger came there.
        told = touchable.issuperset(group), sum(came_back.get(s, 0) for s in group)
        if any(e != TRUE for e in shows.values()) and (best is None or told > best[0]):
            best = (told, shows, firm)
    if best is None:
        return None
    others = [s for s in sorted(came_back) if s not in best[1]] if best[2] else []
    also = {slot: twin for slot in others if (twin := _twin(slot, best[1], table, deeds)) is not None}
    return table + MODE, best[1], also, best[2]


def _twin(slot: str, shows: Mapping[str, Expr], table: str, deeds: Sequence[Deed]) -> str | None:
    """The switch that a touch of another slot is like: the finger is broader than the gap between two of them."""
    told = 0
    like: dict[str, int] = {}
    hid: set[str] = set()
    columns = {e.name for shown in shows.values() for e, _ in expressions(shown) if isinstance(e, Column)}
    for deed in deeds:
        before, after = deed.before.tables[table], {_content(r): r for r in deed.after.tables[table]}
        if deed.aim.kind != "tap" or deed.aim.slot != slot or not (before or after):
            continue
        told += 1
        kept = [(r, after[_content(r)]) for r in before if _content(r) in after]
        if any(a.get(c) != b.get(c) for a, b in kept for c in columns):
            continue  # a switch leaves the rows alone
        for switch, shown in shows.items():
            right = all(bool(evaluate(shown, Scope({}, row=r))) == (_content(r) in after) for r in before)
            if right and all(evaluate(shown, Scope({}, row=r)) for r in after.values()):
                like[switch] = like.get(switch, 0) + 1
                hid |= {switch} if len(kept) < len(before) else set()
    best = max(hid, key=lambda s: (like[s], s), default=None)
    return best if best is not None and like[best] > _MOSTLY * told else None


_MOSTLY, _RARELY = 0.8, 0.15


def _with_gone(table: str, deeds: Sequence[Deed]) -> Iterator[tuple[Deed, set[tuple[tuple[str, Value], ...]]]]:
    """Each step with all rows of its trace so far that are not shown before it."""
    trace = ""
    seen: set[tuple[tuple[str, Value], ...]] = set()
    for deed in deeds:
        if deed.trace != trace:
            trace, seen = deed.trace, set()
        shown = {_content(r) for r in deed.before.tables[table]}
        seen |= shown
        yield deed, seen - shown


def _alike(pattern: Pattern, slot: str) -> tuple[str, ...]:
    """The slots that stand to a row of like parts as this one does: the other tabs, the other chips."""
    for parts in _lines(pattern.windows, slot):
        for depth in range(len(parts) - 1, 0, -1):
            above, here = parts[depth - 1], parts[depth]
            below = parts[depth + 1 :]
            twins = [p for p in above.children if p.table is None and p.node.class_name == here.node.class_name]
            found = [_down(twin, here, below) for twin in twins]
            if sum(f is not None for f in found) > 1:
                return tuple(f for f in found if f is not None)
    return ()


def _down(part: Part, model: Part, below: Sequence[Part]) -> str | None:
    """The slot that lies in `part` where the last of `below` lies in `model`."""
    for step in below:
        at = model.children.index(step)
        if at >= len(part.children) or part.children[at].node.class_name != step.node.class_name:
            return None
        part, model = part.children[at], step
    return part.key


def _lines(parts: Sequence[Part], slot: str) -> Iterator[list[Part]]:
    """The parts from a window down to the slot."""
    for part in parts:
        if part.key == slot:
            yield [part]
        for line in _lines(part.children, slot):
            yield [part, *line]


def _shown_by(
    history: History, table: str, group: tuple[str, ...], deeds: Sequence[Deed]
) -> tuple[dict[str, Expr], bool]:
    """What each switch of a group shows, as a condition on rows, and whether hardly anything contradicts that."""
    seen: dict[str | None, list[tuple[Row, bool]]] = {}
    trace, mode = "", None
    for deed in deeds:
        if deed.trace != trace:
            trace, mode = deed.trace, None
        if deed.aim.kind != "tap" or deed.aim.slot not in group:
            continue
        before, after = deed.before.tables[table], deed.after.tables[table]
        kept, had = {_content(r) for r in after}, {_content(r) for r in before}
        seen.setdefault(deed.aim.slot, []).extend((r, _content(r) in kept) for r in before)
        seen[deed.aim.slot].extend((r, True) for r in after)
        if mode != deed.aim.slot:
            seen.setdefault(mode, []).extend((r, _content(r) in had) for r in after)
            mode = deed.aim.slot
    columns = [c for c in history.columns[table] if not is_hidden(c)]
    shows: dict[str, Expr] = {}
    firm = True
    for slot in group:
        examples = [Example(Scope({}, row=r), shown) for r, shown in seen.get(slot, ())]
        options: list[Expr] = [TRUE]
        for column in columns:
            values = {(type(e.scope.row.get(column)), e.scope.row.get(column)) for e in examples}
            if 1 <= len(values) <= 4:
                options += [
                    o
                    for _, v in sorted(values, key=repr)
                    for o in (Equal(Column(column), Const(v)), Not(Equal(Column(column), Const(v))))
                ]
        chosen = choose(examples, options) if examples else None
        shows[slot] = chosen.expr if chosen is not None else TRUE
        firm = firm and (chosen is None or len(chosen.wrong) <= _RARELY * len(examples))
    return shows, firm


def _search(history: History, screen: str, pattern: Pattern, table: str, deeds: Sequence[Deed]) -> Expr:
    """The condition under which a row is found, where a field of the screen searches the table."""
    fields = [p.key for p in pattern.walk() if p.node.is_editable]
    columns = [c for c in history.columns[table] if c.endswith(".text") and not is_hidden(c)]
    for slot in fields:
        name = variable(screen, slot, "text")
        examples: list[Example] = []
        went = came = 0
        for deed, gone in _with_gone(table, deeds):
            if deed.aim.kind != "type" or deed.aim.slot != slot or name not in deed.after.variables:
                continue
            kept = {_content(r) for r in deed.after.tables[table]}
            scope = Scope(deed.after.variables)
            before = {_content(r): r for r in deed.before.tables[table]}
            went += sum(c not in kept for c in before)
            came += sum(c not in before and c in gone for c in kept)
            examples += [Example(scope.at(r), c in kept) for c, r in before.items()]
        if not came and went < 2:
            continue
        contains: list[Expr] = [Contains(Column(c), Var(name)) for c in columns]
        options = [
            *contains,
            *(Any((a, b)) for i, a in enumerate(contains) for b in contains[i + 1 :]),
            *([Any(tuple(contains))] if len(contains) > 2 else []),
        ]
        chosen = choose(examples, options)
        if chosen is not None and len(chosen.wrong) <= len(examples) // 20:
            return chosen.expr
    return TRUE
