"""Values that have to be read off an app, in words: what a list or a page shows for a row, which row is the cheapest, how many are so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phoneworld.program.expr import Column, Value
from phoneworld.tasks.checker import AllOf, AnswerKind, Checker, Visible
from phoneworld.tasks.ground import OWNER, TITLE, Ground, Reference
from phoneworld.tasks.labels import Place, cells_shown, kind_of_values
from phoneworld.tasks.reading_pieces import Piece, marks_of, pieces_of
from phoneworld.tasks.reading_values import number_in, says
from phoneworld.tasks.task import Found, Parameter, RowOf

_NOUNS = {
    "day": ("day", "日期"), "price": ("amount", "金额"), "rating": ("rating", "评分"), "phone": ("phone number", "电话号码"), "number": ("number", "数字"),
    "text": ("text", "文字"),
}  # fmt: skip
_ANSWERS: dict[str, AnswerKind] = {"day": "date", "price": "number", "rating": "number", "number": "number"}


@dataclass(frozen=True, slots=True)
class Reading:
    """A value to be read. `en` and `zh` name it, `value` is what it is, `look` what has to be seen for it.

    `words` is True where the value is text as it stands on the screen, so that it can be typed. `counts` is True where more than
    one row was looked at.
    """

    key: str
    en: str
    zh: str
    parameters: dict[str, Parameter]
    value: str
    answer: AnswerKind
    look: Checker
    words: bool = False
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is so or not, and has to be read: `path` finds True or False."""

    key: str
    en: str
    zh: str
    parameters: dict[str, Parameter]
    path: str
    look: Checker


@dataclass(frozen=True, slots=True)
class _Shown:
    """A column where it can be read: in a list, or on the page of a row. `parts` is False where all of it is one value."""

    table: str
    column: str
    short: str
    where: str
    label: str | None
    at: tuple[str, str]


class Readings:
    """All that can be read in one app from one start."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.labels = ground.labels
        self.shown = tuple(dict.fromkeys((*self._on_pages(), *self._in_lists())))

    def all(self) -> Iterator[Reading]:
        """The values, each in every way to name its row."""
        for shown in self.shown:
            if self._is_plain(shown):
                yield from self._whole(shown)
            else:
                yield from self._pieces(shown)
        yield from self._names()
        yield from self._last_entries()
        yield from self._of_two()
        yield from self._two_of_all()
        yield from self._counted()

    # Where columns are shown

    def _on_pages(self) -> Iterator[_Shown]:
        for place in self.labels.places:
            if place.table is not None or place.slot.node.is_editable:
                continue
            for attribute, value in place.slot.attributes:
                for table, column in cells_shown(value) if attribute == "text" else ():
                    if place.screen not in self.labels.lists(table):
                        yield from self._one(place, table, column, "page", ("", ""))

    def _in_lists(self) -> Iterator[_Shown]:
        for place in self.labels.places:
            if place.table is None or place.screen != next(iter(self.labels.lists(place.table)), ""):
                continue
            at = ("", "") if place.table in self.ground.owners else self.ground.list_of(place.table)
            for attribute, value in place.slot.attributes:
                if attribute == "text" and isinstance(value, Column) and at is not None:
                    yield from self._one(place, place.table, value.name, "list", at)

    def _one(self, place: Place, table: str, column: str, where: str, at: tuple[str, str]) -> Iterator[_Shown]:
        short = self.ground.short.get(table, {}).get(column)
        if short is not None and table in self.labels.titles and column != OWNER:
            yield _Shown(table, column, short, where, self.labels.above(place) if where == "page" else None, at)

    def _is_plain(self, shown: _Shown) -> bool:
        """True where a cell is one value, by itself or by the words above it, and the row's name does not say it."""
        cells = self.ground.cells(shown.table, shown.column)
        kind = kind_of_values(list[Value](cells))
        if shown.short == TITLE or kind == "flag" or self._says_its_name(shown):
            return False
        return kind not in ("", "text") or (kind == "text" and shown.label is not None)

    def _says_its_name(self, shown: _Shown) -> bool:
        title = self.labels.titles[shown.table]
        return any(isinstance(v := row.get(shown.column), str) and isinstance(t := row.get(title), str) and v and says(t, v) for row in self.ground.rows(shown.table))

    # One value of one row

    def _references(self, table: str, column: str = "") -> Iterator[tuple[Reference, str, str]]:
        """The ways to name a row, with the words for where it stands; a column is not asked of the row that it sets apart."""
        for r in self.ground.references(table):
            if r.framed or (r.reads and column and r.key.partition(" ")[2].startswith(column)):
                continue
            yield r, r.en, r.zh

    def _row(self, table: str, r: Reference, where: str) -> dict[str, Parameter]:
        row = self.ground.row(table, r, where)
        owner = self.ground.owners.get(table)
        if owner in self.labels.titles and "o" not in row:
            row["o"] = RowOf(self.ground.called(owner or ""), f'"#" == $x.{self.ground.short[table][OWNER]}')
        return row

    def _for(self, shown: _Shown, r: Reference) -> tuple[str, str]:
        """“ that the list shows for …”, in both languages."""
        if shown.where == "page":
            return f" that the page of {r.en} shows", f"{r.zh}的页面上显示的"
        if self.ground.owners.get(shown.table) in self.labels.titles and not r.reads:
            return f" that the page of “{{o.title}}” shows for {r.en}", f"“{{o.title}}”的页面上{r.zh}旁显示的"
        if r.reads:
            return f" shown for {r.en}", f"{r.zh}旁显示的"
        return f" that the list{shown.at[0]} shows for {r.en}", f"{shown.at[1]}列表中{r.zh}旁显示的"

    def _whole(self, shown: _Shown) -> Iterator[Reading]:
        table, column, short = shown.table, shown.column, shown.short
        cells = self.ground.cells(table, column)
        kind = kind_of_values(list[Value](cells))
        same = [s for s in self.shown if s.table == table and s.column != column and kind in self.ground.kinds(s.table, s.column)]
        if kind != "text" and shown.label is None and same and shown.where == "list":
            return
        value = "{x." + short + "}"
        for r, en_row, zh_row in self._references(table, column):
            noun, han = _NOUNS[kind]
            at, han_at = self._for(shown, r)
            if shown.label is not None:
                en, zh = f"what the page of {en_row} says under “{shown.label}”", f"{zh_row}的页面上“{shown.label}”下面的内容"
            else:
                en, zh = f"the {noun}{at}", f"{han_at}{han}"
            yield Reading(f"{shown.where} {table} {column} {r.key}", en, zh, self._row(table, r, short), value, _ANSWERS.get(kind, "text"), Visible(says=value), True)

    def _pieces(self, shown: _Shown) -> Iterator[Reading]:
        table, column, short = shown.table, shown.column, shown.short
        for piece in self._clear(shown):
            for r, _, _ in self._references(table, column):
                at, han_at = self._for(shown, r)
                en, zh = _piece_words(piece, at, han_at)
                found = piece.path.replace("@", f"$x.{short}")
                parameters = {**self._row(table, r, f"{short} && {piece.path.replace('@', short)}"), "v": Found(found)}
                answer = _ANSWERS.get(piece.kind, "text")
                look = Visible(says="{v}" if piece.kind == "phone" else f"{{x.{short}}}")
                yield Reading(f"{shown.where} {table} {column} {piece.path} {r.key}", en, zh, parameters, "{v}", answer, look, piece.kind == "phone")

    def _clear(self, shown: _Shown) -> Iterator[Piece]:
        """The pieces of a column that no other column of the row could be mistaken for."""
        others = [s for s in self.shown if s.table == shown.table and s.where == shown.where and s != shown]
        for piece in pieces_of(self.ground.cells(shown.table, shown.column)):
            taken = any(p.kind == piece.kind and p.frame == piece.frame for s in others for p in pieces_of(self.ground.cells(s.table, s.column)))
            if not taken and (piece.frame or not any(piece.kind in self.ground.kinds(s.table, s.column) for s in others)):
                yield piece

    # Names and entries

    def _names(self) -> Iterator[Reading]:
        for table in self.labels.titles:
            for r in self.ground.references(table):
                if r.reads:
                    yield Reading(f"name {table} {r.key}", f"the name of {r.en}", f"{r.zh}的名称", self.ground.row(table, r), "{x.title}", "text", Visible(says="{x.title}"), True, True)

    def _last_entries(self) -> Iterator[Reading]:
        """What the list on a row's page ends with."""
        for table, owner in self.ground.owners.items():
            if owner not in self.labels.titles or table in self.labels.titles:
                continue
            texts = [v.name for p in self.labels.places if p.table == table and p.slot.node.clickable for a, v in p.slot.attributes if a == "text" and isinstance(v, Column)]
            if len(texts) != 1 or next(self.ground.references(owner)).key != "title":
                continue
            short, mine, called = self.ground.short[table][texts[0]], self.ground.short[table][OWNER], self.ground.called(table)
            of = [i for i in self.ground.owning(table) if [r for r in self.ground.rows(table) if r.get(OWNER) == i and r.get(texts[0])]]
            if of:
                parameters: dict[str, Parameter] = {"x": self.ground.owner(table, of), "v": Found(f"tables.{called}[?{mine} == $x.row && {short}] | [-1].{short}")}
                en, zh = "the whole last line of the list on the page of “{x.title}”", "“{x.title}”页面列表中最后一条的整行文字"
                yield Reading(f"last {table}", en, zh, parameters, "{v}", "text", Visible(shows="{v}"), True)

    # More than one row

    def _of_two(self) -> Iterator[Reading]:
        for table, column, short, kind, page in self._priced():
            y = RowOf(self.ground.called(table), f"{short} && number({short}) != number($x.{short})", ("x",))
            two: dict[str, Parameter] = {"x": RowOf(self.ground.called(table), short), "y": y}
            look = AllOf((Visible(says=f"{{x.{short}}}"), Visible(says=f"{{y.{short}}}")))
            en_word, zh_word, less = ("has the lower amount", "金额更低", "<") if kind == "price" else ("is rated higher", "评分更高", ">")
            name = {**two, "v": Found(f"number($x.{short}) {less} number($y.{short}) && $x.title || $y.title")}
            en = f"which of “{{x.title}}” and “{{y.title}}” {en_word} in the list{page[0]}"
            zh = f"{page[1]}列表中“{{x.title}}”和“{{y.title}}”哪一个{zh_word}"
            yield Reading(f"of two {table} {column}", en, zh, name, "{v}", "text", look, counts=True)
            if kind == "price":
                total = {**two, "v": Found(f"sum([number($x.{short}), number($y.{short})])")}
                en, zh = f"the sum of the amounts of “{{x.title}}” and “{{y.title}}” in the list{page[0]}", f"{page[1]}列表中“{{x.title}}”和“{{y.title}}”的金额之和"
                yield Reading(f"together {table} {column}", en, zh, total, "{v}", "number", look, counts=True)

    def _two_of_all(self) -> Iterator[Reading]:
        for table, column, short, kind, page in self._priced():
            numbers = sorted((n for cell in self.ground.cells(table, column) if (n := number_in(cell)) is not None), reverse=kind != "price")
            if len(numbers) < 3 or len(set(numbers[:3])) < 3:
                continue
            found = f"sort_by(tables.{self.ground.called(table)}[?{short}], &number({short}))"
            at = (0, 1) if kind == "price" else (-1, -2)
            parameters: dict[str, Parameter] = {"v": Found(f"{found}[{at[0]}].title"), "w": Found(f"{found}[{at[1]}].title")}
            en_word, zh_word = ("two with the lowest amounts", "金额最低") if kind == "price" else ("two best rated ones", "评分最高")
            en, zh = f"the names of the {en_word} in the list{page[0]}", f"{page[1]}列表中{zh_word}的两项的名称"
            look = AllOf((Visible(says="{v}"), Visible(says="{w}")))
            yield Reading(f"two of {table} {column}", en, zh, parameters, "two", "set", look, counts=True)

    def _priced(self) -> Iterator[tuple[str, str, str, str, tuple[str, str]]]:
        for shown in self.shown:
            page = self.ground.list_of(shown.table)
            cells = self.ground.cells(shown.table, shown.column)
            kind = kind_of_values(list[Value](cells))
            others = [s for s in self.shown if s.table == shown.table and s.column != shown.column and kind in self.ground.kinds(s.table, s.column)]
            named = next(self.ground.references(shown.table)).key == "title"
            if shown.where == "list" and page is not None and kind in ("price", "rating") and len(cells) >= 3 and not others and named:
                yield shown.table, shown.column, shown.short, kind, page

    def _counted(self) -> Iterator[Reading]:
        for table in self.labels.titles:
            rows, called = self.ground.rows(table), self.ground.called(table)
            for column, short in self.ground.short[table].items():
                if len(rows) < 3 or kind_of_values([row.get(column) for row in rows]) != "flag":
                    continue
                shown = next((p for p in self.labels.places if p.table == table and p.slot.node.checkable and ("checked", Column(column)) in p.slot.attributes), None)
                if shown is not None and (at := self.ground.list_of(table)) is not None:
                    en_page, zh_page = at
                    parameters: dict[str, Parameter] = {"v": Found(f"length(tables.{called}[?{short}])"), "z": Found(f"tables.{called}[-1].title")}
                    en, zh = f"how many entries in the list{en_page} are ticked", f"{zh_page}列表中有几项已勾选"
                    yield Reading(f"count {table} {column}", en, zh, parameters, "{v}", "number", Visible(says="{z}"), counts=True)
        for shown_ in self.shown:
            page = self.ground.list_of(shown_.table)
            if shown_.where == "list" and page is not None:
                yield from self._counts_of(shown_, page)

    def _counts_of(self, shown: _Shown, page: tuple[str, str]) -> Iterator[Reading]:
        called, short = self.ground.called(shown.table), shown.short
        cells = self.ground.cells(shown.table, shown.column)
        z = Found(f"tables.{called}[-1].{short}")
        if self.ground.rows(shown.table)[-1].get(shown.column) is None:
            return
        for mark in marks_of(cells):
            v = Found(f"length(tables.{called}[?{short} && ends_with({short}, '{mark}')])")
            en, zh = f"how many entries in the list{page[0]} say “{mark}”", f"{page[1]}列表中有几项显示“{mark}”"
            yield Reading(f"count {shown.table} {shown.column} {mark}", en, zh, {"v": v, "z": z}, "{v}", "number", Visible(says="{z}"), counts=True)
        kind = kind_of_values(list[Value](cells))
        clear = any(c.key == shown.column for c in self.ground.comparable(shown.table))
        if kind in ("price", "rating") and clear and len(cells) == len(self.ground.rows(shown.table)) and self._is_plain(shown):
            n = _middle(cells)
            op, en_word, zh_word = ("<=", f"show an amount of {n:g} or less", f"金额不超过{n:g}") if kind == "price" else (">=", f"are rated {n:g} or higher", f"评分不低于{n:g}")
            v = Found(f"length(tables.{called}[?{short} && number({short}) {op} `{n:g}`])")
            en, zh = f"how many entries in the list{page[0]} {en_word}", f"{page[1]}列表中有几项{zh_word}"
            yield Reading(f"count {shown.table} {shown.column} {n:g}", en, zh, {"v": v, "z": z}, "{v}", "number", Visible(says="{z}"), counts=True)

    # What is so or not

    def conditions(self) -> Iterator[Condition]:
        """What of a row is so or not: it is marked so, it costs no more than that."""
        for shown in self.shown:
            table, short = shown.table, shown.short
            cells = self.ground.cells(table, shown.column)
            reference = next(self.ground.references(table))
            row, look = self._row(table, reference, short), Visible(says=f"{{x.{short}}}")
            at, han_at = self._for(shown, reference)
            for mark in marks_of(cells) if shown.where == "list" or shown.label is None else ():
                place, han = at.removeprefix(" that ").replace(" shows", f" shows “{mark}”", 1), f"{han_at.removesuffix('显示的')}显示“{mark}”"
                yield Condition(f"{table} {shown.column} {mark}", place, han, row, f"ends_with($x.{short}, '{mark}')", look)
            kind = kind_of_values(list[Value](cells))
            clear = shown.where == "page" or any(c.key == shown.column for c in self.ground.comparable(table))
            if kind in ("price", "rating") and clear and self._is_plain(shown) and len(set(map(number_in, cells))) > 1:
                n, (noun, han) = _middle(cells), _NOUNS[kind]
                yield Condition(f"{table} {shown.column} {n:g}", f"the {noun}{at} is {n:g} or more", f"{han_at}{han}不低于{n:g}", row, f"number($x.{short}) >= `{n:g}`", look)


def _piece_words(piece: Piece, at: str, han_at: str) -> tuple[str, str]:
    noun, han = _NOUNS[piece.kind]
    return (f"the {noun} beside “{piece.frame}”{at}", f"{han_at}“{piece.frame}”的{han}") if piece.frame else (f"the {noun}{at}", f"{han_at}{han}")


def _middle(cells: list[str]) -> float:
    """A number that some of the cells reach and others do not."""
    numbers = sorted({n for cell in cells if (n := number_in(cell)) is not None})
    return numbers[len(numbers) // 2]

