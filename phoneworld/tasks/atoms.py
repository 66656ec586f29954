"""What can be asked on a mock, one thing at a time: read off its rules and templates, said in the words of the app. `generate.py` makes tasks of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phoneworld.program.effect import DeleteRows, InsertRow, UpdateRows
from phoneworld.program.expr import Acted, Column, Contains, Equal, Expr, Not, Value, Var, walk
from phoneworld.program.template import Rows, current
from phoneworld.tasks.checker import AllOf, Checker, Comparison, NotSo, RowChange, State, Visible
from phoneworld.tasks.checker import Rows as RowsCheck
from phoneworld.tasks.ground import TITLE, Atom, Ground, is_so
from phoneworld.tasks.influence import Deed, chosen_by, parts, sources
from phoneworld.tasks.labels import Place
from phoneworld.tasks.readings import Readings
from phoneworld.tasks.task import Found, OneOf, Parameter
from phoneworld.tasks.uses import decided, question, written

WORDS = (
    "Blue folder", "Train at six", "Call Mira back", "Spare batteries", "Garden gloves", "Lunch with Theo", "Window seat", "Paint the shelf",
    "Cinema tickets", "Plum cake", "Water the fern", "Library card", "Fix the lamp", "Choir practice", "Green umbrella", "Parcel for Ines",
)  # fmt: skip
_GONE = re.compile(r"\b(?:delete|remove|discard|trash)\b|删除|移除", re.IGNORECASE)
_CHOICES = 6
"""How many pairs of things to do a condition decides between."""


class Atoms:
    """All that can be asked of one app from one start."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.program, self.app, self.influence, self.labels = ground.program, ground.app, ground.influence, ground.labels
        self.names = ground.names
        self.readings = Readings(ground)
        self._row_pages = frozenset(s for table in self.program.tables for s in self._pages_of(table))

    def all(self) -> tuple[Atom, ...]:
        """The atoms that stand by themselves, without duplicates, in an order that the Program decides."""
        readings = tuple(self.readings.all())
        found: dict[str, Atom] = {}
        for atom in (
            *self._settings(), *self._ticks(), *self._buttons(), *self._deletions(), *self._additions(), *self._edits(), *map(question, readings),
            *self._searches(), *self._pages(), *self._opened(), *(atom for reading in readings for atom in written(self.ground, reading)),
        ):  # fmt: skip
            found.setdefault(atom.key, atom)
        return tuple(found.values())

    def decided(self, usable: list[Atom]) -> Iterator[Atom]:
        """What a condition decides between two things that can be done."""
        settings = [a for a in usable if a.skill == "settings" and isinstance(a.check, State)]
        pages = [a for a in usable if a.skill == "reach" and isinstance(a.check, State)]
        pairs = [(a, b) for of in (settings, pages) for i, a in enumerate(of) for b in of[i + 1 :]]
        for n, condition in enumerate(self.readings.conditions()):
            near = [pairs[(n + k * max(1, len(pairs) // _CHOICES)) % len(pairs)] for k in range(min(_CHOICES, len(pairs)))]
            yield from decided(condition, near)

    # Called

    def _called(self, table: str) -> str:
        return self.ground.called(table)

    def _rows(self, table: str) -> list[dict[str, Value]]:
        return self.ground.rows(table)

    # Settings

    def _settings(self) -> Iterator[Atom]:
        places = {v.name: p for p in self.labels.places if p.slot.node.checkable and not p.table for a, v in p.slot.attributes if a == "checked" and isinstance(v, Var)}
        labels = {name: self.labels.of(place) for name, place in places.items()}
        for name, place in places.items():
            label, now = labels[name], self.app.variables.get(name)
            if name not in self.ground.kept or label is None or not isinstance(now, bool) or name in self.influence.hiders:
                continue
            if place.screen in self._row_pages or (not now) not in self.program.variables[name].domain:
                continue  # of which row? and what was never seen the other way may well not go
            if sum(other == label for other in labels.values()) > 1 or any(d.rows for d in self.influence.deeds if name in d.variables):
                continue
            en_page, zh_page = self.ground.on_page(place.screen)
            own = place.slot.node.value or place.slot.node.content_desc
            before = Visible(shows=own, checked=now) if own else None
            group = self._rivals(name, place, places)
            if group:
                if now:
                    continue
                on = [n for n in group if self.app.variables.get(n) is True]
                check: Checker = AllOf((self.ground.holds(name, True), *(self.ground.holds(n, False) for n in on)))
                yield Atom(
                    f"choose {name}", "settings", f"choose “{label}”{en_page}", f"{zh_page}选择“{label}”", check=check, touches=frozenset((*group, name)), before=before,
                )
            else:
                word, han = ("off", "关闭") if now else ("on", "打开")
                said = f"switch {word} “{label}”{en_page}", f"{zh_page}{han}“{label}”"
                yield Atom(f"set {name}", "settings", *said, check=self.ground.holds(name, not now), touches=frozenset((name,)), before=before)

    def _rivals(self, name: str, place: Place, places: dict[str, Place]) -> list[str]:
        """Those of which only one is on: what stands with it and is set with it. None for a switch that stands for itself."""
        beside = [n for n, p in places.items() if n != name and p.screen == place.screen and p.around[-1:] == place.around[-1:]]
        if "RadioButton" in place.slot.node.class_name:
            of = [n for n, p in places.items() if n != name and p.screen == place.screen and p.around[-2:-1] == place.around[-2:-1]]
            return [n for n in of if "RadioButton" in places[n].slot.node.class_name]
        taps = [d for d in self.influence.deeds if d.screen == place.screen and d.kind == "tap"]
        return [n for n in beside if any({n, name} <= d.variables and d.node in (place.slot.key, places[n].slot.key) for d in taps)]

    # Rows

    def _ticks(self) -> Iterator[Atom]:
        for place in self.labels.places:
            table = place.table
            column = next((v.name for a, v in place.slot.attributes if a == "checked" and isinstance(v, Column)), None)
            if table is None or column is None or table not in self.labels.titles or not place.slot.node.checkable or "RadioButton" in place.slot.node.class_name:
                continue
            if table not in self.ground.owners and self.ground.list_of(table) is None:
                continue  # which list?
            short = self.ground.short[table][column]
            for on in (True, False):
                if not any(row.get(column) is (not on) for row in self._rows(table)):
                    continue
                en, zh = ("tick the box of", "勾选") if on else ("untick the box of", "取消勾选")
                yield from self._changes("tick", table, column, on, f"{en} @", f"{zh}@", (f"!{short}" if on else short))
            flags = {row.get(column) for row in self._rows(table)}
            if len(flags) == 2:
                for r in self.ground.references(table):
                    if r.key == "title":
                        want = Found(f"!(tables.{self._called(table)}[?title==$x.title] | [0].{short})")
                        check = self._changed(table, short, "{want}", ())
                        en = f"if the box of {r.en} is ticked, untick it, and otherwise tick it"
                        zh = f"如果{r.zh}已勾选就取消勾选,否则勾选它"
                        yield Atom(f"turn {table} {column}", "conditional", en, zh, {**self.ground.row(table, r, ""), "want": want}, check, touches=frozenset((f"{table} row",)), reads=True)

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
                    short = self.ground.short[effect.table].get(column)
                    if short is None or not any(e == Not(Column(column)) for e, _ in walk(value)) or not list(chosen_by(value)):
                        continue
                    free = tuple(self.ground.short[effect.table][c] for c in columns if c != column and c in self.ground.short[effect.table])
                    for now in (False, True):
                        if any(row.get(column) is now for row in self._rows(effect.table)):
                            where = short if now else f"{short} == `false`"
                            en, zh = f"open @ and press “{label}” there", f"打开@,按“{label}”"
                            yield from self._changes(f"press {deed.node}", effect.table, column, not now, en, zh, where, free)

    def _place(self, deed: Deed) -> Place | None:
        return next((p for p in self.labels.places if p.screen == deed.screen and p.slot.key == deed.node), None)

    def _changes(self, key: str, table: str, column: str, to: Value, en: str, zh: str, where: str, free: tuple[str, ...] = ()) -> Iterator[Atom]:
        for r in self.ground.references(table):
            check = self._changed(table, self.ground.short[table][column], to, free)
            clause = (en.replace("@", r.en), zh.replace("@", r.zh))
            yield Atom(f"{key} {table} {column} {to} {r.key}", "toggle", *clause, self.ground.row(table, r, where), check, touches=frozenset((f"{table} row",)), reads=r.reads)

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
                for r in self.ground.references(effect.table):
                    check = RowsCheck(self._called(effect.table), deleted=(((TITLE, Comparison("is", "{x.title}")),),))
                    clause = (en.replace("@", r.en), zh.replace("@", r.zh))
                    yield Atom(f"delete {effect.table} {gone} {r.key}", "delete", *clause, self.ground.row(effect.table, r, ""), check, touches=frozenset((f"{effect.table} row",)), reads=r.reads)

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
            short = self.ground.short[table].get(column)
            names = [s.name for s in sources(value) if isinstance(s, Var)]
            if short is None or len(names) != 1:
                continue
            label = self.labels.of(self.ground.fields[names[0]]) if names[0] in self.ground.fields else None
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
        for source in self.readings.all():
            if not source.words:
                continue
            cells = ((first, Comparison("is", source.value)), *unasked)
            en = f"add a new entry whose “{label}” is {source.en}, as it stands there"
            zh = f"新增一条,“{label}”填{source.zh},与那里的文字相同"
            check = RowsCheck(self._called(table), added=(cells,))
            look = AllOf((source.look, NotSo(check)))  # read where it stands, not where it has been written
            yield Atom(f"copy {table} {first} {source.key}", "copy", en, zh, source.parameters, check, look, frozenset((f"{table} new",)), True)

    # Going and finding

    def _searches(self) -> Iterator[Atom]:
        for screen in self.program.screens.values():
            for part in parts(screen.template.windows if screen.template else ()):
                if not isinstance(part, Rows) or part.table not in self.labels.titles:
                    continue
                for inner, _ in walk(part.where):
                    if isinstance(inner, Contains) and isinstance(inner.part, Var) and inner.part.name in self.ground.fields:
                        for r in self.ground.references(part.table):
                            if not r.reads:
                                check = self.ground.holds(inner.part.name, "{t}" if r.then else "{x.title}")
                                en, zh = f"search for {r.en}{self.ground.on_page(screen.id)[0]} and leave the search open", f"{self.ground.on_page(screen.id)[1]}搜索{r.zh}并保留搜索结果"
                                touches, row = frozenset((inner.part.name, "screen")), self.ground.row(part.table, r)
                                yield Atom(f"search {part.table}", "search", en, zh, row, check, touches=touches, last=True, watch=(inner.part.name,))

    def _opened(self) -> Iterator[Atom]:
        """The page of a row, left open."""
        for table in self.labels.titles:
            pages = self._pages_of(table)
            if not pages or current(table) not in self.program.variables:
                continue
            for r in self.ground.references(table):
                check = AllOf((self.ground.holds(current(table), "{x.row}"), State("screen", Comparison("one_of", pages))))
                en, zh = f"open the page of {r.en} and leave it open", f"打开{r.zh}的页面并停在那里"
                touches = frozenset(("screen", current(table)))
                yield Atom(f"open {table} {r.key}", "reach", en, zh, self.ground.row(table, r), check, touches=touches, reads=r.reads, last=True, watch=(current(table),))

    def _pages_of(self, table: str) -> tuple[str, ...]:
        """The screens that a tap on a row of a table leads to."""
        lists = self.labels.lists(table)
        leads = frozenset[str]().union(*(d.leads for d in self.influence.deeds if d.screen in lists and d.kind == "tap" and self._is_in(d, table)))
        return tuple(sorted(s for s in leads if s not in lists and self.labels.heading(s) is None))

    def _is_in(self, deed: Deed, table: str) -> bool:
        """True for what stands for the row itself: a button in it that says what it does is something else."""
        place = self._place(deed)
        if place is None or place.table != table:
            return False
        words = [value for attribute, value in place.slot.attributes if attribute in ("text", "content_desc")]
        return all(isinstance(value, Column) for value in words) if words else not place.slot.node.text and not place.slot.node.content_desc

    def _edits(self) -> Iterator[Atom]:
        """What a form writes into a row that is there."""
        for deed in self.influence.deeds:
            for effect in deed.effects:
                if not isinstance(effect, UpdateRows) or effect.table not in self.labels.titles:
                    continue
                for column, value in effect.cells:
                    names = [e.name for e in sources(value) if isinstance(e, Var) and e.name in self.ground.fields]
                    short = self.ground.short[effect.table].get(column)
                    label = self.labels.of(self.ground.fields[names[0]]) if len(names) == 1 else None
                    if label is None or short is None or not list(chosen_by(value)):
                        continue
                    free = tuple(self.ground.short[effect.table][c] for c, _ in effect.cells if c != column and c in self.ground.short[effect.table])
                    for r in self.ground.references(effect.table):
                        check = self._changed(effect.table, short, "{y}", free)
                        en, zh = f"change the “{label}” of {r.en} to “{{y}}”", f"把{r.zh}的“{label}”改成“{{y}}”"
                        parameters = {**self.ground.row(effect.table, r), "y": OneOf(WORDS)}
                        yield Atom(f"edit {effect.table} {column} {r.key}", "edit", en, zh, parameters, check, touches=frozenset((f"{effect.table} row",)), reads=r.reads)

    def _pages(self) -> Iterator[Atom]:
        for screen in self.program.screens:
            heading = self.labels.heading(screen)
            if heading is not None and screen != self.app.screen and self.program.screens[screen].package == self.program.package:
                yield Atom(f"reach {screen}", "reach", f"leave the page “{heading}” open", f"停在“{heading}”页面", check=is_so("screen", screen), touches=frozenset(("screen",)), last=True)


def _of_acted(where: Expr) -> bool:
    """True where the row acted on is meant."""
    return any(isinstance(e, Equal) and isinstance(e.right, Acted) for e, _ in walk(where)) or any(isinstance(e, Equal) and isinstance(e.left, Acted) for e, _ in walk(where))

