"""What an app calls things: the words on its widgets, the names of its rows, the headings of its screens. No id, no name of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phoneworld.program.expr import TRUE, Case, Cell, Column, Expr, Value
from phoneworld.program.program import Program
from phoneworld.program.template import ROW_ID, Part, Rows, Slot
from phoneworld.sim.evaluate import Scope, evaluate
from phoneworld.sim.state import AppState
from phoneworld.tasks.influence import tabled
from phoneworld.tasks.reading_values import CURRENCY, days_in, number_in, says

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A slot where it stands: its screen, the slots around it from the outside in, the table whose row it is in."""

    screen: str
    slot: Slot
    around: tuple[Slot, ...]
    table: str | None

    @property
    def is_always_there(self) -> bool:
        """True for what is on its screen whatever the state."""
        return all(slot.when == TRUE for slot in (*self.around, self.slot))


class Labels:
    """The words of one app, as it stands at the start of an episode."""

    def __init__(self, program: Program, app: AppState) -> None:
        self.program = program
        self.app = app
        self.places = tuple(p for screen in program.screens.values() if screen.template for w in screen.template.windows for p in _places(screen.id, w, (), None))
        self._by_screen: dict[str, list[Place]] = {}
        for place in self.places:
            self._by_screen.setdefault(place.screen, []).append(place)
        self.titles: dict[str, str] = {table: title for table in program.tables if (title := self._title_of(table)) is not None}
        """The column that a person knows the rows of a table by."""

    # Widgets

    def of(self, place: Place) -> str | None:
        """What a widget is called: its own words where they never change, else the nearest ones beside it; None where it has none."""
        own = _fixed(place.slot) or self._now(place.slot)
        inside = next((w for child, _ in tabled(place.slot.children, None) if isinstance(child, Slot) and (w := _fixed(child))), "")
        if own or inside:
            # Where a switch says its name and what it is for in one breath, the first thing in it is its name.
            return _short(inside if inside and (not own or own.startswith(inside)) else own)
        for outer in reversed(place.around[-2:]):
            words = [w for child in outer.children if isinstance(child, Slot) and child is not place.slot and not child.node.clickable and (w := _fixed(child))]
            if words:
                return _short(words[0])
        return None

    def _now(self, slot: Slot) -> str:
        """What a field says that it is for, at the start."""
        if not slot.node.is_editable:
            return ""
        scope = Scope(self.app.variables, self.app.tables)
        said = {name: evaluate(value, scope) for name, value in slot.attributes}
        return next((str(words) for name in ("content_desc", "hint") if (words := said.get(name, getattr(slot.node, name)))), "")

    def heading(self, screen: str) -> str | None:
        """What a screen is headed: words of its name that stand on it and on no other screen of that name, and are no row's."""
        of = self.program.screens[screen]
        if of.template is None:
            return None
        fixed = {w for p in self._by_screen.get(screen, ()) if p.is_always_there and (w := _fixed(p.slot))}
        for part in (*re.split(r"\s+[·|–—-]\s+", of.name), of.name):
            words = part.strip()
            shared = [s for s in self.program.screens.values() if s.id != screen and words in (s.name, *re.split(r"\s+[·|–—-]\s+", s.name))]
            if words and words in fixed and not shared and not any(words in map(str, row.values()) for rows in self.app.tables.values() for row in rows):
                return words
        return None

    def above(self, place: Place) -> str | None:
        """The fixed words that stand right before a widget on its screen, as the name of what it shows."""
        before = self._by_screen[place.screen]
        at = next(i for i, p in enumerate(before) if p is place)
        for other in reversed(before[max(0, at - 2) : at]):
            words = _fixed(other.slot) if other.is_always_there or other.around == place.around else ""
            if words and other.slot.when in (TRUE, place.slot.when) and other.table == place.table and not other.slot.node.clickable and other.slot.node.text:
                return _short(words)
        return None

    def lists(self, table: str) -> tuple[str, ...]:
        """The screens that list the rows of a table, the one that lists most of it first."""
        return tuple(dict.fromkeys(p.screen for p in self.places if p.table == table))

    # Rows

    def _title_of(self, table: str) -> str | None:
        """The column whose words are short, different in every row, and stand in the list."""
        rows = self.app.tables.get(table, ())
        if not rows or self.program.tables[table].columns == ():
            return None
        listed = list(dict.fromkeys(e.name for p in self.places if p.table == table for a, v in p.slot.attributes if a in ("text", "content_desc") for e in _columns(v)))
        others = [c for c in self.program.tables[table].columns if c not in listed]
        fit = {c: words for c in (*listed, *others) if (words := _names([row.get(c) for row in rows], c)) is not None}
        first = next((c for c in listed if c in fit), None)
        texts = fit[first] if first else ["\n".join(str(v) for c in listed if isinstance(v := row.get(c), str)) for row in rows]
        # A list may say all of a row in one breath; what its page calls it is its name, where that is among the words of the list.
        within = [c for c, words in fit.items() if c != first and c not in listed and all(says(t, w) for t, w in zip(texts, words, strict=True))]
        return min(within, key=lambda c: sum(map(len, fit[c])), default=first)


def _names(cells: list[Value], column: str) -> list[str] | None:
    """The cells, where they could be the names of rows: words, short, all different; None where they could not."""
    if column == ROW_ID or column.endswith("resource_id"):
        return None
    words = [c for c in cells if isinstance(c, str) and 2 <= len(c.strip()) <= _LONGEST and "\n" not in c and re.search(r"[^\W\d_]{2}", c)]
    if len(words) != len(cells) or len(set(words)) != len(words):
        return None
    return None if all(days_in(w) for w in words) or all(CURRENCY.search(w) for w in words) else words


def kind_of_values(values: list[Value]) -> str:
    """What the cells of a column are: flag, day, price, rating, phone, text; "" for what differs, is empty or too long to say."""
    if not values or any(v is None for v in values):
        return ""
    if all(isinstance(v, bool) for v in values):
        return "flag"
    if not all(isinstance(v, str) and v.strip() and len(v) <= _LONGEST and "\n" not in v for v in values):
        return ""
    words = [str(v) for v in values]
    if all(len(days_in(w)) == 1 for w in words):
        return "day"
    signed = any(re.match(r"\s*[+−-]", w) for w in words)  # who is asked for such an amount may say it with its sign or without
    if not signed and all(CURRENCY.search(w) and number_in(w) is not None and len(re.findall(r"\d+(?:[.,]\d+)*", w)) == 1 for w in words):
        return "price"
    if all("★" in w and number_in(w.replace("★", "")) is not None for w in words):
        return "rating"
    if all(re.fullmatch(r"\+?\d[\d ()/-]{6,}", w) for w in words):
        return "phone"
    return "text"


def _places(screen: str, part: Part, around: tuple[Slot, ...], table: str | None) -> Iterator[Place]:
    if isinstance(part, Rows):
        yield from _places(screen, part.row, around, part.table)
        return
    yield Place(screen, part, around, table)
    for child in part.children:
        yield from _places(screen, child, (*around, part), table)


def _fixed(slot: Slot) -> str:
    """The words of a slot that are always the same; "" where they change or are none."""
    changing = {name for name, _ in slot.attributes}
    node = slot.node
    if node.is_editable:
        return ""
    for name in ("text", "content_desc"):
        words = getattr(node, name)
        if words and name not in changing:
            return str(words)
    return ""


def _short(words: str) -> str | None:
    each = words.split()
    if len(each) > 1 and each[: len(each) // 2] == each[(len(each) + 1) // 2 :]:
        each = each[: (len(each) + 1) // 2]  # a field that says what it is for twice, as a name and as a hint
    words = " ".join(each)
    return words if 1 < len(words) <= _LONGEST and re.search(r"[^\W\d_]", words) else None


def _columns(expr: Expr) -> Iterator[Column]:
    match expr:
        case Column():
            yield expr
        case Case(_, then, otherwise):
            yield from _columns(then)
            yield from _columns(otherwise)
        case _:
            pass


def cells_shown(expr: Expr) -> Iterator[tuple[str, str]]:
    """The table and column of the cells that an expression shows as they are."""
    match expr:
        case Cell(table, column, _):
            yield table, column
        case Case(_, then, otherwise):
            yield from cells_shown(then)
            yield from cells_shown(otherwise)
        case _:
            pass


def alias(words: str, taken: Mapping[str, object]) -> str:
    """A short name for something of the Program, for the inside of a task file."""
    stem = re.sub(r"[^a-z0-9]+", "_", words.rpartition("/")[2].removesuffix(".text").removesuffix(".checked").lower()).strip("_") or "x"
    stem = stem if stem[0].isalpha() else f"x_{stem}"
    name, n = stem, 2
    while name in taken:
        name, n = f"{stem}_{n}", n + 1
    return name
