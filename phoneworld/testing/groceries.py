"""A small app that is no phone: a pure model to record sample graphs from. Knows nothing of how it is recorded.

Three screens: a list of things to buy with a checkbox each, the details of one of them with a switch, a form with a field.
It behaves as an Android app of this kind does: a tap on a field brings the keyboard, Back hides it first, Save adds a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from phoneworld.ui.action import Action, OpenApp, PressKey, Tap, TypeText
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

PACKAGE = "org.example.groceries"
SIZE = Size(1080, 2400)
DENSITY = 420
_BAR = 63
_ROW = 180


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to buy."""

    name: str
    bought: bool = False
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Groceries:
    """Where the app is. `shown` is the index of the item on the details screen."""

    items: tuple[Item, ...] = (Item("Apples"), Item("日本茶 🍵"), Item("Bread", bought=True))
    screen: Literal["list", "details", "form"] = "list"
    shown: int = 0
    draft: str = ""
    draft_urgent: bool = False
    typing: bool = False

    @property
    def activity(self) -> str:
        return {"list": ".ListActivity", "details": ".DetailsActivity", "form": ".FormActivity"}[self.screen]

    def state(self, clock_ms: int) -> DeviceState:
        return DeviceState(PACKAGE, self.activity, self.typing, 0, clock_ms)

    def tree(self) -> Hierarchy:
        """What UI Automator would dump now."""
        match self.screen:
            case "list":
                body = self._list()
            case "details":
                body = self._details()
            case "form":
                body = self._form()
        content = _node(
            "android.widget.FrameLayout", "android:id/content", Bounds(0, _BAR, SIZE.width, SIZE.height), children=body
        )
        return Hierarchy((_node("android.widget.FrameLayout", "", SIZE.bounds, children=(content,)),))

    def act(self, action: Action) -> Groceries:
        """The app after an action."""
        match action:
            case Tap(x, y):
                hit = self.tree().hit_test(Point(x, y), "tap", SIZE)
                if hit is None or hit.target is None:
                    return self
                return self._tapped(self.tree().at(hit.target), hit.target)
            case TypeText(text) if self.typing:
                return replace(self, draft=self.draft + text)
            case PressKey("back") if self.typing:
                return replace(self, typing=False)
            case PressKey("back") if self.screen != "list":
                return replace(self, screen="list", draft="", draft_urgent=False)
            case OpenApp():
                return self
        return self

    def _tapped(self, node: Node, path: tuple[int, ...]) -> Groceries:
        match node.resource_id.removeprefix(f"{PACKAGE}:id/"):
            case "row":
                return replace(self, screen="details", shown=path[-1])
            case "bought":
                return self._with(path[-2], bought=not self.items[path[-2]].bought)
            case "urgent":
                return self._with(self.shown, urgent=not self.items[self.shown].urgent)
            case "up":
                return replace(self, screen="list", draft="", draft_urgent=False, typing=False)
            case "add":
                return replace(self, screen="form")
            case "name":
                return replace(self, typing=True)
            case "form_urgent":
                return replace(self, draft_urgent=not self.draft_urgent)
            case "save" if self.draft:
                items = (*self.items, Item(self.draft, urgent=self.draft_urgent))
                return replace(self, items=items, screen="list", draft="", draft_urgent=False, typing=False)
        return self

    def _with(self, index: int, *, bought: bool | None = None, urgent: bool | None = None) -> Groceries:
        item = self.items[index]
        item = Item(item.name, item.bought if bought is None else bought, item.urgent if urgent is None else urgent)
        return replace(self, items=(*self.items[:index], item, *self.items[index + 1 :]))

    def _list(self) -> tuple[Node, ...]:
        top = _BAR + 160
        rows = []
        for i, item in enumerate(self.items):
            row = Bounds(0, top + i * _ROW, SIZE.width, top + (i + 1) * _ROW)
            box = Bounds(30, row.top + 30, 150, row.bottom - 30)
            words = Bounds(180, row.top + 40, 1040, row.bottom - 40)
            rows.append(
                _node(
                    "android.widget.LinearLayout",
                    "row",
                    row,
                    clickable=True,
                    children=(
                        _node(
                            "android.widget.CheckBox",
                            "bought",
                            box,
                            content_desc=f"Bought {item.name}",
                            clickable=True,
                            checkable=True,
                            checked=item.bought,
                        ),
                        _node("android.widget.TextView", "title", words, item.name + (" !" if item.urgent else "")),
                    ),
                )
            )
        listed = Bounds(0, top, SIZE.width, SIZE.height)
        return (
            _title("Groceries"),
            _node("androidx.recyclerview.widget.RecyclerView", "list", listed, scrollable=True, children=tuple(rows)),
            _node(
                "android.widget.ImageButton", "add", Bounds(870, 2190, 1038, 2358), content_desc="Add", clickable=True
            ),
        )

    def _details(self) -> tuple[Node, ...]:
        item = self.items[self.shown]
        return (
            _up(),
            _title("Details", left=160),
            _node("android.widget.TextView", "details_name", Bounds(60, 300, 1020, 420), item.name),
            _node(
                "android.widget.TextView",
                "details_state",
                Bounds(60, 440, 1020, 540),
                "Bought" if item.bought else "To buy",
            ),
            _node(
                "android.widget.Switch",
                "urgent",
                Bounds(60, 600, 1020, 744),
                "Urgent",
                clickable=True,
                checkable=True,
                checked=item.urgent,
            ),
        )

    def _form(self) -> tuple[Node, ...]:
        field = _node(
            "android.widget.EditText", "name", Bounds(60, 300, 1020, 440), self.draft or "What to buy", hint="What to buy",
            clickable=True, focusable=True, focused=self.typing,
        )  # fmt: skip
        return (
            _up(),
            _title("New item", left=160),
            field,
            _node(
                "android.widget.CheckBox",
                "form_urgent",
                Bounds(60, 480, 1020, 600),
                "Urgent",
                clickable=True,
                checkable=True,
                checked=self.draft_urgent,
            ),
            _node("android.widget.Button", "save", Bounds(60, 660, 1020, 804), "Save", clickable=True),
        )


def _node(
    class_name: str, name: str, bounds: Bounds, text: str = "", *, children: tuple[Node, ...] = (), **more: object
) -> Node:
    resource_id = name if not name or ":" in name else f"{PACKAGE}:id/{name}"
    numbered = tuple(replace(child, index=i) for i, child in enumerate(children))
    return Node(class_name, text, resource_id, PACKAGE, bounds=bounds, children=numbered, **more)  # type: ignore[arg-type]


def _title(words: str, left: int = 40) -> Node:
    return _node("android.widget.TextView", "heading", Bounds(left, _BAR + 20, 1040, _BAR + 140), words)


def _up() -> Node:
    return _node(
        "android.widget.ImageButton", "up", Bounds(0, _BAR, 140, _BAR + 160), content_desc="Navigate up", clickable=True
    )
