"""What can be asked on a mock, one thing at a time: read off its rules and templates, said in the words of the app. `generate.py` makes tasks of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from phoneworld.program.effect import DeleteRows, InsertRow, UpdateRows
from phoneworld.program.expr import Acted, Column, Contains, Equal, Expr, Not, Value, Var, walk
from phoneworld.program.program import Program
from phoneworld.program.template import ROW_ID, Rows
from phoneworld.sim.state import AppState
from phoneworld.tasks.checker import AllOf, Answer, AnswerKind, Checker, Comparison, NotSo, RowChange, State, Visible
from phoneworld.tasks.checker import Rows as RowsCheck
from phoneworld.tasks.influence import Deed, Influence, chosen_by, parts, sources
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.labels import Labels, Place, alias, cells_shown, kind_of_values
from phoneworld.tasks.names import Names, TableName
from phoneworld.tasks.reading_values import says
from phoneworld.tasks.task import Found, OneOf, Parameter, RowOf

TITLE = "title"
WORDS = (
    "Blue folder", "Train at six", "Call Mira back", "Spare batteries", "Garden gloves", "Lunch with Theo", "Window seat", "Paint the shelf",
    "Cinema tickets", "Plum cake", "Water the fern", "Library card", "Fix the lamp", "Choir practice", "Green umbrella", "Parcel for Ines",
)  # fmt: skip
_GONE = re.compile(r"\b(?:delete|remove|discard|trash)\b|删除|移除", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing to ask: as a clause in each language, what is drawn, what is checked, what has to be seen.

    `touches` names what it changes, so that two of one task do not get in each other's way; `reads` is True where a value that the
    instruction does not say has to be read. Parameters are called x, y, … and renamed when atoms come together.
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


@dataclass(frozen=True, slots=True)
class _Reference:
    """A way to name a row: by its title, or by what sets it apart."""

    key: str
    en: str
    zh: str
    where: str = ""
    more: tuple[tuple[str, Parameter], ...] = ()
    reads: bool = False


class Atoms:
    """All that can be asked of one app from one start. `names` are those that its checkers use."""

    def __init__(self, program: Program, app: AppState, influence: Influence, *, named: Atoms | None = None) -> None:
        """`named` are the atoms of the same app from another start: rows that are there now have the names of that time."""
        self.program = program
        self.app = app
        self.influence = influence
        self.labels = Labels(program, app)
        self.kept = kept_variables(program)
        self.names: Names = self._named() if named is None else self._retitled(named.names)
        self._short = {t.table: {own: short for short, own in t.columns.items()} for t in self.names.tables.values()}
        self._fields = {v.name: p for p in self.labels.places if p.slot.node.is_editable for a, v in p.slot.attributes if a == "text" and isinstance(v, Var)}

    def all(self) -> tuple[Atom, ...]:
        """The atoms, without duplicates, in an order that the Program decides."""
        found: dict[str, Atom] = {}
        for atom in (
            *self._settings(), *self._ticks(), *self._buttons(), *self._deletions(), *self._additions(), *self._details(), *self._listed(),
            *self._counts(), *self._searches(), *self._pages(),
        ):  # fmt: skip
            found.setdefault(atom.key, atom)
        return tuple(found.values())

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
        for name in (*sorted(self.kept), *sorted(self.influence.hiders)):
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

    def _called(self, table: str) -> str:
        return self.names.called(table)

    def _rows(self, table: str) -> list[dict[str, Value]]:
        return [dict(row) for row in self.app.tables.get(table, ())]

    # Ways to name a row

    def _references(self, table: str) -> Iterator[_Reference]:
        if table not in self.labels.titles:
            return
        yield _Reference("title", "“{x.title}”", "“{x.title}”")
        rows = self._rows(table)
        called = self._called(table)
        lists = self.labels.lists(table)
        en_page, zh_page = self._on_page(lists[0]) if lists else ("", "")
        if not en_page and (len(self.labels.titles) > 1 or not lists or lists[0] != self.app.screen):
            return  # which list?
        for column, short in self._short[table].items():
            if not any(p.table == table and any(column == e.name for _, v in p.slot.attributes for e, _ in walk(v) if isinstance(e, Column)) for p in self.labels.places):
                continue
            kind = kind_of_values([row.get(column) for row in rows if row.get(column) is not None]) if len(rows) >= 3 else ""
            if kind not in ("price", "rating", "day"):
                continue
            of = "date" if kind == "day" else "number"
            ways = {"price": (("min", "the cheapest one", "最便宜的一项"), ("max", "the dearest one", "最贵的一项")),
                    "rating": (("max", "the best rated one", "评分最高的一项"),), "day": (("max", "the newest one", "日期最新的一项"), ("min", "the oldest one", "日期最早的一项"))}  # fmt: skip
            for which, en, zh in ways[kind]:
                path = f"{which}(tables.{called}[?{short}].{of}({short}))"
                yield _Reference(f"{which} {column}", f"{en} in the list{en_page}", f"{zh_page}列表中{zh}", f"{short} && {of}({short}) == $m", (("m", Found(path)),), True)

    def _row(self, table: str, reference: _Reference, where: str) -> dict[str, Parameter]:
        conditions = " && ".join(w for w in (where, reference.where) if w)
        return {**dict(reference.more), "x": RowOf(self._called(table), conditions)}

    def _on_page(self, screen: str) -> tuple[str, str]:
        heading = self.labels.heading(screen)
        return (f" on the page “{heading}”", f"在“{heading}”页面") if heading else ("", "")

    def _holds(self, variable: str, value: Value) -> State:
        name = self.names.variable_called(variable)
        return _is(f"variables.{name if name.isidentifier() else json.dumps(name)}", value)

    # Settings

    def _settings(self) -> Iterator[Atom]:
        places = {v.name: p for p in self.labels.places if p.slot.node.checkable and not p.table for a, v in p.slot.attributes if a == "checked" and isinstance(v, Var)}
        labels = {name: self.labels.of(place) for name, place in places.items()}
        for name, place in places.items():
            label, now = labels[name], self.app.variables.get(name)
            if name not in self.kept or label is None or not isinstance(now, bool) or name in self.influence.hiders:
                continue
            if sum(other == label for other in labels.values()) > 1 or any(d.rows for d in self.influence.deeds if name in d.variables):
                continue
            en_page, zh_page = self._on_page(place.screen)
            if "RadioButton" in place.slot.node.class_name:
                if now:
                    continue
                group = [n for n, p in places.items() if p.screen == place.screen and "RadioButton" in p.slot.node.class_name and p.around[-2:-1] == place.around[-2:-1]]
                on = [n for n in group if self.app.variables.get(n) is True]
                check: Checker = AllOf((self._holds(name, True), *(self._holds(n, False) for n in on)))
                yield Atom(f"choose {name}", "settings", f"choose “{label}”{en_page}", f"{zh_page}选择“{label}”", check=check, touches=frozenset(group))
            else:
                word, han = ("off", "关闭") if now else ("on", "打开")
                yield Atom(f"set {name}", "settings", f"switch {word} “{label}”{en_page}", f"{zh_page}{han}“{label}”", check=self._holds(name, not now), touches=frozenset((name,)))

    # Rows

    def _ticks(self) -> Iterator[Atom]:
        for place in self.labels.places:
            table = place.table
            column = next((v.name for a, v in place.slot.attributes if a == "checked" and isinstance(v, Column)), None)
            if table is None or column is None or table not in self.labels.titles or not place.slot.node.checkable or "RadioButton" in place.slot.node.class_name:
                continue
            short = self._short[table][column]
            for on in (True, False):
                if not any(row.get(column) is (not on) for row in self._rows(table)):
                    continue
                en, zh = ("tick the box of", "勾选") if on else ("untick the box of", "取消勾选")
                yield from self._changes("tick", table, column, on, f"{en} @", f"{zh}@", (f"!{short}" if on else short))
            flags = {row.get(column) for row in self._rows(table)}
            if len(flags) == 2:
                for r in self._references(table):
                    if r.key == "title":
                        want = Found(f"!(tables.{self._called(table)}[?title==$x.title] | [0].{short})")
                        check = self._changed(table, short, "{want}", ())
                        en = f"if the box of {r.en} is ticked, untick it, and otherwise tick it"
                        zh = f"如果{r.zh}已勾选就取消勾选,否则勾选它"
                        yield Atom(f"turn {table} {column}", "conditional", en, zh, {**self._row(table, r, ""), "want": want}, check, touches=frozenset((f"{table} row",)), reads=True)

    def _buttons(self) -> Iterator[Atom]:
        """What a button on the page of a row turns round in the row."""
        for deed in self.influence.deeds:
            for effect in deed.effects:
                if not isinstance(effect, UpdateRows) or deed.kind != "tap" or effect.table not in self.labels.titles:
                    continue
                place = self._place(deed)
                label = self.labels.of(place) if place and not place.table else None
                if label is None or deed.screen in self.labels.lists(effect.table):
                    continue
                columns = dict(effect.cells)
                for column, value in columns.items():
                    short = self._short[effect.table].get(column)
                    if short is None or not any(e == Not(Column(column)) for e, _ in walk(value)) or not list(chosen_by(value)):
                        continue
                    free = tuple(self._short[effect.table][c] for c in columns if c != column and c in self._short[effect.table])
                    for now in (False, True):
                        if any(row.get(column) is now for row in self._rows(effect.table)):
                            where = short if now else f"{short} == `false`"
                            en, zh = f"open @ and press “{label}” there", f"打开@,按“{label}”"
                            yield from self._changes(f"press {deed.node}", effect.table, column, not now, en, zh, where, free)

    def _place(self, deed: Deed) -> Place | None:
        return next((p for p in self.labels.places if p.screen == deed.screen and p.slot.key == deed.node), None)

    def _changes(self, key: str, table: str, column: str, to: Value, en: str, zh: str, where: str, free: tuple[str, ...] = ()) -> Iterator[Atom]:
        for r in self._references(table):
            check = self._changed(table, self._short[table][column], to, free)
            clause = (en.replace("@", r.en), zh.replace("@", r.zh))
            yield Atom(f"{key} {table} {column} {to} {r.key}", "toggle", *clause, self._row(table, r, where), check, touches=frozenset((f"{table} row",)), reads=r.reads)

    def _changed(self, table: str, short: str, to: Value, free: tuple[str, ...]) -> Checker:
        where = ((TITLE, Comparison("is", "{x.title}")),)
        return RowsCheck(self._called(table), changed=(RowChange(where, ((short, Comparison("is", to)),), free),))

    def _deletions(self) -> Iterator[Atom]:
        for deed in self.influence.deeds:
            for effect in deed.effects:
                if not isinstance(effect, DeleteRows) or effect.table not in self.labels.titles or deed.kind not in ("tap", "long_press"):
                    continue
                if not any(True for _ in chosen_by(effect.where)) and not _of_acted(effect.where):
                    continue
                place = self._place(deed)
                label = self.labels.of(place) if place else None
                said = [w for p in self.labels.places if p.screen == deed.screen and not p.table and (w := self.labels.of(p))]
                gone = bool(label and _GONE.search(label)) or any(_GONE.search(w) for w in said if deed.screen not in self.labels.lists(effect.table))
                if not gone and (label is None or (place is not None and place.table is None)):
                    continue
                en, zh = ("delete @", "删除@") if gone else (f"press “{label}” beside @", f"按@旁的“{label}”")
                for r in self._references(effect.table):
                    check = RowsCheck(self._called(effect.table), deleted=(((TITLE, Comparison("is", "{x.title}")),),))
                    clause = (en.replace("@", r.en), zh.replace("@", r.zh))
                    yield Atom(f"delete {effect.table} {gone} {r.key}", "delete", *clause, self._row(effect.table, r, ""), check, touches=frozenset((f"{effect.table} row",)), reads=r.reads)

    # New rows

    def _additions(self) -> Iterator[Atom]:
        for deed in self.influence.deeds:
            for effect in deed.effects:
                if isinstance(effect, InsertRow):
                    yield from self._added(effect)

    def _added(self, effect: InsertRow) -> Iterator[Atom]:
        table = effect.table
        typed: list[tuple[str, str]] = []
        ticks: list[tuple[str, str]] = []
        plain: dict[str, bool] = {}  # what was not asked for is to stay as a new entry has it
        for column, value in effect.cells:
            short = self._short[table].get(column)
            names = [s.name for s in sources(value) if isinstance(s, Var)]
            if short is None or len(names) != 1:
                continue
            label = self.labels.of(self._fields[names[0]]) if names[0] in self._fields else None
            if label:
                typed.append((short, label))
            box = next((p for p in self.labels.places if p.slot.node.checkable and ("checked", Var(names[0])) in p.slot.attributes), None)
            is_on = self.app.variables.get(names[0])
            if box is not None and isinstance(is_on, bool) and (words := self.labels.of(box)):
                ticks.append((short, words))
                plain[short] = is_on
        if not typed:
            return
        first, label = typed[0]
        for flag in (None, *(t for t in ticks[:2])):
            asked = {**plain, flag[0]: True} if flag else plain
            cells = ((first, Comparison("is", "{x}")), *((short, Comparison("is", is_on)) for short, is_on in asked.items()))
            check = RowsCheck(self._called(table), added=(cells,))
            en = f"add a new entry with “{{x}}” as “{label}”" + (f" and “{flag[1]}” switched on" if flag else "")
            zh = f"新增一条,“{label}”填“{{x}}”" + (f",并打开“{flag[1]}”" if flag else "")
            touches = frozenset((f"{table} new",))
            yield Atom(f"add {table} {first} {flag}", "create", en, zh, {"x": OneOf(WORDS)}, check, touches=touches)
            if flag is None:
                en, zh = f"if there is no entry called “{{x}}” yet, add it: “{label}” is “{{x}}”", f"如果还没有名为“{{x}}”的条目,就新增一条,“{label}”填“{{x}}”"
                yield Atom(f"ensure {table} {first}", "conditional", en, zh, {"x": OneOf(WORDS)}, check, touches=touches)
        unasked = tuple((short, Comparison("is", is_on)) for short, is_on in plain.items())
        for (second, words), more in ((t, WORDS[::-1]) for t in typed[1:2]):
            both = ((first, Comparison("is", "{x}")), (second, Comparison("is", "{y}")), *unasked)
            en = f"add a new entry with “{{x}}” as “{label}” and “{{y}}” as “{words}”"
            zh = f"新增一条,“{label}”填“{{x}}”,“{words}”填“{{y}}”"
            parameters: dict[str, Parameter] = {"x": OneOf(WORDS), "y": OneOf(more)}
            yield Atom(f"add {table} {first} {second}", "create", en, zh, parameters, RowsCheck(self._called(table), added=(both,)), touches=frozenset((f"{table} new",)))
        for source in self._readable():
            cells = ((first, Comparison("is", "{x." + source.short + "}")), *unasked)
            en = f"add a new entry whose “{label}” is {source.en}, the whole line as it stands there"
            zh = f"新增一条,“{label}”填{source.zh},与那里的整行文字相同"
            check = RowsCheck(self._called(table), added=(cells,))
            # Read where it stands, not where it has been written.
            look = AllOf((Visible(says="{x." + source.short + "}"), NotSo(check)))
            yield Atom(f"copy {table} {first} {source.key}", "copy", en, zh, source.parameters, check, look, frozenset((f"{table} new",)), True)

    # Reading

    def _readable(self) -> Iterator[_Readable]:
        """The cells that can be asked for: on the page of a row, or in the list."""
        for place in self.labels.places:
            for attribute, value in place.slot.attributes:
                if attribute != "text" or place.table is not None or place.slot.node.is_editable:
                    continue
                for table, column in cells_shown(value):
                    if place.screen not in self.labels.lists(table):
                        yield from self._asked(place, table, column, "page")
        for place in self.labels.places:
            if place.table is None or place.screen != next(iter(self.labels.lists(place.table)), ""):
                continue
            for attribute, value in place.slot.attributes:
                if attribute == "text" and isinstance(value, Column):
                    yield from self._asked(place, place.table, value.name, "list")

    def _asked(self, place: Place, table: str, column: str, where: str) -> Iterator[_Readable]:
        short = self._short.get(table, {}).get(column)
        rows = self._rows(table)
        if short is None or short == TITLE or table not in self.labels.titles:
            return
        kind = kind_of_values([row.get(column) for row in rows if row.get(column) not in (None, "")])
        same = [c for c in self._short[table] if c != column and kind_of_values([r.get(c) for r in rows if r.get(c) not in (None, "")]) == kind]
        label = self.labels.above(place) if where == "page" else None
        title = self.labels.titles[table]
        if any(isinstance(v := row.get(column), str) and isinstance(t := row.get(title), str) and v and says(t, v) for row in rows):
            return  # who names the row has said it
        if kind in ("", "flag") or (kind == "text" and label is None) or (kind != "text" and label is None and same and where == "list"):
            return
        for r in self._references(table):
            if r.reads and column in r.key:
                continue
            if label is not None:
                en, zh = f"what the page of {r.en} says under “{label}”", f"{r.zh}的页面上“{label}”下面的内容"
            else:
                noun, han = {"day": ("day", "日期"), "price": ("amount", "金额"), "rating": ("rating", "评分"), "phone": ("phone number", "电话号码"), "text": ("text", "文字")}[kind]
                at, han_at = (f"that the page of {r.en} shows", f"{r.zh}的页面上显示的") if where == "page" else (f"that the list shows for {r.en}", f"列表中{r.zh}旁显示的")
                en, zh = f"the {noun} {at}", f"{han_at}{han}"
            answer: AnswerKind = "date" if kind == "day" else "number" if kind in ("price", "rating") else "text"
            yield _Readable(f"{where} {table} {column} {r.key}", en, zh, self._row(table, r, short), short, answer)

    def _details(self) -> Iterator[Atom]:
        for source in self._readable():
            if source.key.startswith("page"):
                yield self._question(source)

    def _listed(self) -> Iterator[Atom]:
        for source in self._readable():
            if source.key.startswith("list"):
                yield self._question(source)

    def _question(self, source: _Readable) -> Atom:
        value = "{x." + source.short + "}"
        ask = f"tell me {source.en}", f"告诉我{source.zh}"
        return Atom(f"read {source.key}", "read", *ask, source.parameters, Answer(source.answer, value), Visible(says=value), reads=True, last=True)

    def _counts(self) -> Iterator[Atom]:
        for table in self.labels.titles:
            rows = self._rows(table)
            for column, short in self._short[table].items():
                if len(rows) < 3 or kind_of_values([row.get(column) for row in rows]) != "flag":
                    continue
                shown = next((p for p in self.labels.places if p.table == table and p.slot.node.checkable and ("checked", Column(column)) in p.slot.attributes), None)
                if shown is None:
                    continue
                called = self._called(table)
                en_page, zh_page = self._on_page(shown.screen)
                parameters: dict[str, Parameter] = {"x": Found(f"length(tables.{called}[?{short}])"), "z": Found(f"tables.{called}[-1].title")}
                en, zh = f"tell me how many entries in the list{en_page} are ticked", f"告诉我{zh_page}列表中有几项已勾选"
                yield Atom(f"count {table} {column}", "count", en, zh, parameters, Answer("number", "{x}"), Visible(says="{z}"), reads=True, last=True)

    # Going and finding

    def _searches(self) -> Iterator[Atom]:
        for screen in self.program.screens.values():
            for part in parts(screen.template.windows if screen.template else ()):
                if not isinstance(part, Rows) or part.table not in self.labels.titles:
                    continue
                for inner, _ in walk(part.where):
                    if isinstance(inner, Contains) and isinstance(inner.part, Var) and inner.part.name in self._fields:
                        check = self._holds(inner.part.name, "{x.title}")
                        en, zh = "search for “{x.title}” and leave the search open", "搜索“{x.title}”并保留搜索结果"
                        yield Atom(f"search {part.table}", "search", en, zh, {"x": RowOf(self._called(part.table))}, check, touches=frozenset((inner.part.name,)), last=True)

    def _pages(self) -> Iterator[Atom]:
        for screen in self.program.screens:
            heading = self.labels.heading(screen)
            if heading is not None and screen != self.app.screen and self.program.screens[screen].package == self.program.package:
                yield Atom(f"reach {screen}", "reach", f"leave the page “{heading}” open", f"停在“{heading}”页面", check=_is("screen", screen), touches=frozenset(("screen",)), last=True)


@dataclass(frozen=True, slots=True)
class _Readable:
    """A cell that can be asked for, in words."""

    key: str
    en: str
    zh: str
    parameters: dict[str, Parameter]
    short: str
    answer: AnswerKind


def _is(path: str, value: Value) -> State:
    return State(path, Comparison("is", value))


def _of_acted(where: Expr) -> bool:
    """True where the row acted on is meant."""
    return any(isinstance(e, Equal) and isinstance(e.right, Acted) for e, _ in walk(where)) or any(isinstance(e, Equal) and isinstance(e.left, Acted) for e, _ in walk(where))

