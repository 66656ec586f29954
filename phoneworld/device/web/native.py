"""The windows that Android draws over a web page: JavaScript dialogs, lists of choices, date and time pickers. Pure.

A window is a value; a gesture on it gives another window, an `Answer` that closes it, or None where it changes nothing.
"""

from __future__ import annotations

import calendar
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, assert_never

from phoneworld.ui import mini, system
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy, Node

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# The suggestions of Chromium's colour dialog on Android.
_COLOURS = (
    ("Red", "#ff0000"), ("Cyan", "#00ffff"), ("Blue", "#0000ff"), ("Green", "#00ff00"), ("Magenta", "#ff00ff"),
    ("Yellow", "#ffff00"), ("Black", "#000000"), ("White", "#ffffff"),
)  # fmt: skip
_SET_BUTTONS = ("Set", "Cancel", "Clear")

MessageKind = Literal["alert", "confirm", "prompt", "beforeunload"]


@dataclass(frozen=True, slots=True)
class Message:
    """A JavaScript dialog. `field` is what its text field holds, None where it has none."""

    kind: MessageKind
    title: str
    message: str
    field: str | None = None

    @property
    def buttons(self) -> tuple[str, ...]:
        match self.kind:
            case "alert":
                return ("OK",)
            case "confirm" | "prompt":
                return ("OK", "Cancel")
            case "beforeunload":
                return ("Leave this page", "Stay on this page")
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class Choice:
    """The list of a `select`, or of colours: then `values` holds what each option stands for."""

    options: tuple[str, ...]
    enabled: tuple[bool, ...]
    selected: int | None
    values: tuple[str, ...] = ()
    first: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """One number picker: `value` of `low`..`high`, going round; `labels` are shown instead of the numbers."""

    name: str
    value: int
    low: int
    high: int
    labels: tuple[str, ...] = ()
    digits: int = 1

    def shown(self, offset: int = 0) -> str:
        """What it shows for the value `offset` further on."""
        value = (self.value + offset - self.low) % (self.high - self.low + 1) + self.low
        return self.labels[value - self.low] if self.labels else f"{value:0{self.digits}d}"

    def turned(self, steps: int) -> Column:
        return replace(self, value=(self.value + steps - self.low) % (self.high - self.low + 1) + self.low)

    def typed(self, text: str) -> Column:
        """The column after a value was typed into its field; unchanged where the text is none of its values."""
        for i, label in enumerate(self.labels):
            if label.lower() == text.strip().lower():
                return replace(self, value=self.low + i)
        if text.strip().isdecimal() and self.low <= int(text) <= self.high:
            return replace(self, value=int(text))
        return self


@dataclass(frozen=True, slots=True)
class Picker:
    """A date or time being picked. `kind` is the type of the input element, `low` and `high` its bounds ("" for none)."""

    kind: str
    columns: tuple[Column, ...]
    focused: int | None = None
    low: str = ""
    high: str = ""

    @property
    def value(self) -> str:
        """The value in the form that the input element takes."""
        v = {c.name: c.value for c in self.columns}
        day = f"{v.get('year', 0):04d}-{v.get('month', 0):02d}-{v.get('day', 0):02d}"
        time = f"{v.get('hour', 0):02d}:{v.get('minute', 0):02d}"
        return {
            "date": day, "time": time, "datetime-local": f"{day}T{time}", "month": day[:7],
            "week": f"{v.get('year', 0):04d}-W{v.get('week', 0):02d}",
        }[self.kind]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MiniMenu:
    """The sheet of a mini-app's capsule."""


@dataclass(frozen=True, slots=True)
class Files:
    """The system's own app for choosing a file, which covers the screen: `FILES` are what it offers."""

    multiple: bool = False


FILES: tuple[tuple[str, str, bytes], ...] = (
    ("Note.txt", "text/plain", b"A note.\n"),
    (
        "Picture.png",
        "image/png",
        b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="),
    ),
)
"""What lies on the phone for an app to take: name, MIME type, content."""

Window: TypeAlias = Message | Choice | Picker | MiniMenu | Files


@dataclass(frozen=True, slots=True)
class Answer:
    """A window was closed: accepted or cancelled. `value` is the text, the new value, or the index of the choice."""

    accepted: bool
    value: str | int = ""


def window_of(report: Mapping[str, Any], today: datetime) -> Window | None:
    """The window for a report of the isolated world; None where the report calls for none. `today` fills an empty picker."""
    kind = str(report.get("kind", ""))
    if kind == "select":
        options = report["options"]
        selected = int(report["selected"])
        return Choice(
            tuple(str(o["text"]) for o in options), tuple(bool(o["enabled"]) for o in options), selected if selected >= 0 else None
        )
    value = str(report.get("value", ""))
    if kind == "color":
        values = tuple(v for _, v in _COLOURS)
        return Choice(tuple(n for n, _ in _COLOURS), (), values.index(value) if value in values else None, values)
    if kind in _FORMATS:
        low, high = (_bound(kind, str(report.get(name, ""))) for name in ("min", "max"))
        return _settled(Picker(kind, _columns(kind, value, today), low=low, high=high))
    if kind == "file":
        return Files(bool(report.get("multiple")))
    return None


_FORMATS = {
    "date": ("%Y-%m-%d", 10), "time": ("%H:%M", 5), "datetime-local": ("%Y-%m-%dT%H:%M", 16), "month": ("%Y-%m", 7),
    "week": ("%G-W%V-%u", 10),
}  # fmt: skip


def _bound(kind: str, value: str) -> str:
    """A bound as far as it is one: what HTML does not read as a value of the field bounds nothing."""
    form, length = _FORMATS[kind]
    try:
        datetime.strptime(f"{value}-1" if kind == "week" else value, form)
    except ValueError:
        return ""
    return value if len(value) == (8 if kind == "week" else length) else ""


def _columns(kind: str, value: str, today: datetime) -> tuple[Column, ...]:
    form, length = _FORMATS[kind]
    try:
        moment = datetime.strptime((f"{value}-1" if kind == "week" else value)[:length], form)
    except ValueError:
        moment = today
    iso = moment.isocalendar()
    year_shown = iso.year if kind == "week" else moment.year
    year = Column("year", year_shown, min(1900, year_shown), max(2100, year_shown))
    week = Column("week", iso.week, 1, date(iso.year, 12, 28).isocalendar().week)
    month = Column("month", moment.month, 1, 12, _MONTHS)
    day = Column("day", moment.day, 1, calendar.monthrange(moment.year, moment.month)[1])
    clock = (Column("hour", moment.hour, 0, 23, digits=2), Column("minute", moment.minute, 0, 59, digits=2))
    return {
        "date": (month, day, year), "time": clock, "datetime-local": (month, day, year, *clock), "month": (month, year),
        "week": (week, year),
    }[kind]  # fmt: skip


def tree_of(window: Window, size: Size, density: int, package: str) -> Hierarchy:
    """The window as UI Automator dumps it: the active window alone."""
    node: Node
    match window:
        case Message(_, title, message, field):
            node = system.dialog(size, density, title, message, window.buttons, package, field=field)
        case Choice(options, enabled, selected, _, first):
            node = system.choice_dialog(size, density, "", options, selected, package, enabled=enabled, first=first)
        case MiniMenu():
            node = mini.menu(size, density, package)
        case Files():
            return system.documents(size, density, tuple(name for name, _, _ in FILES))
        case Picker(_, columns, focused):
            shown = tuple((c.shown(-1), c.shown(), c.shown(1)) for c in columns)
            node = system.picker_dialog(size, density, shown, _SET_BUTTONS, package, focused=focused)
        case _:
            assert_never(window)
    return Hierarchy((node,))


def tap(window: Window, size: Size, density: int, point: Point) -> Window | Answer | None:
    """A tap: on a button, a row, a field; outside the window it cancels, as Android's dialogs do."""
    tree = tree_of(window, size, density, "")
    if not tree.windows[0].bounds.contains(point):
        return Answer(False)
    hit = tree.hit_test(point, "tap", size)
    if hit is None or hit.target is None:
        return None
    node = tree.at(hit.target)
    button = node.resource_id.removeprefix("android:id/button") if node.resource_id.startswith("android:id/button") else ""
    match window:
        case Message(_, _, _, field) if button:
            return Answer(button == "1", field or "")
        case Choice(_, _, _, values, first) if node.resource_id == "android:id/text1":
            place = first + hit.target[-1]
            return Answer(True, values[place] if values else place)
        case MiniMenu():
            return Answer(True, node.index)
        case Files() if node.resource_id.endswith("/item_root"):
            return Answer(True, node.index)
        case Files() if node.content_desc == "Back":
            return Answer(False)
        case Picker() if button:
            return Answer(button != "2", window.value if button == "1" else "")
        case Picker(_, columns) if "NumberPicker" in tree.at(hit.target[:-1]).class_name:
            which, part = hit.target[-2], hit.target[-1]
            if part == 1:
                return replace(window, focused=which)
            return _settled(replace(window, columns=_with(columns, which, columns[which].turned(part - 1))))
        case _:
            return None


def is_field(window: Window, size: Size, density: int, point: Point) -> bool:
    """True where a tap at the point goes into a text field of the window."""
    tree = tree_of(window, size, density, "")
    hit = tree.hit_test(point, "type", size)
    return hit is not None and hit.target is not None


def drag(window: Window, size: Size, density: int, start: Point, end: Point) -> Window | None:
    """A finger moved over a list or a number picker: it follows in whole rows."""
    rows = round((start.y - end.y) / system.px(48, density))
    match window:
        case Choice(options, _, _, _, first):
            last = len(options) - system.choice_rows(size, density, len(options))
            return replace(window, first=max(0, min(last, first + rows)))
        case Picker(_, columns):
            tree = tree_of(window, size, density, "")
            for path, node in tree.walk():
                if node.class_name.endswith("NumberPicker") and node.bounds.contains(start):
                    return _settled(replace(window, columns=_with(columns, path[-1], columns[path[-1]].turned(rows))))
            return None
        case Message() | MiniMenu() | Files():
            return None
        case _:
            assert_never(window)


def type_into(window: Window, text: str, *, replacing: bool) -> Window:
    """Text typed into the field of a prompt or into the focused number picker."""
    match window:
        case Message(field=str(field)):
            return replace(window, field=text if replacing else field + text)
        case Picker(_, columns, int(focused)):
            return _settled(replace(window, columns=_with(columns, focused, columns[focused].typed(text))))
        case _:
            return window


def erase(window: Window) -> Window:
    """Backspace in the field of a prompt."""
    return replace(window, field=window.field[:-1]) if isinstance(window, Message) and window.field else window


def _with(columns: tuple[Column, ...], place: int, column: Column) -> tuple[Column, ...]:
    return (*columns[:place], column, *columns[place + 1 :])


def _settled(picker: Picker) -> Picker:
    """The same picker with as many days as its month has, or weeks as its year has, and at its bound where it was turned past it."""
    v = {c.name: c.value for c in picker.columns}
    columns = []
    for column in picker.columns:
        if column.name == "day":
            last = calendar.monthrange(v["year"], v["month"])[1]
            column = replace(column, high=last, value=min(column.value, last))
        elif column.name == "week":
            last = date(v["year"], 12, 28).isocalendar().week
            column = replace(column, high=last, value=min(column.value, last))
        columns.append(column)
    settled = replace(picker, columns=tuple(columns))
    # ISO forms of one kind and length compare as their times do. Where a page has its bounds the wrong way round, neither holds.
    if settled.low and settled.high and settled.low > settled.high:
        return settled
    bound = settled.low if settled.low and settled.value < settled.low else ""
    bound = settled.high if settled.high and settled.value > settled.high else bound
    return replace(settled, columns=_columns(settled.kind, bound, datetime(2000, 1, 1))) if bound else settled
