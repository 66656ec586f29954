"""Pages of one site: told apart by what they hold beside the frame that all of them share."""

from __future__ import annotations

from phoneworld.graph.graph import Capture, RecordedApp, StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.graph.pages import skeleton, told_apart
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.graph.sample import PACKAGE, SIZE

AWAY = Bounds(0, 0, 0, 0)


def node(kind: str, name: str = "", words: str = "", *children: Node, clickable: bool = False, top: int | None = 0) -> Node:
    bounds = AWAY if top is None else Bounds(0, top, 1080, top + 100)
    return Node(f"android.{kind}", text=words, resource_id=name, package=PACKAGE, clickable=clickable, bounds=bounds, children=children)


def label(words: str, **more: int | None) -> Node:
    return node("widget.TextView", "", words, **more)  # type: ignore[arg-type]


def link(words: str) -> Node:
    return node("view.View", "", words, clickable=True)


def table(name: str, heads: tuple[str, ...], *rows: tuple[str, ...], button: str = "") -> Node:
    head = node("view.View", "", "", node("view.View", "", "", *(node("view.View", "", word) for word in heads)))
    last = (node("view.View", "", "", node("view.View", "do", "", node("widget.Button", "", button, clickable=True))),) if button else ()
    body = (node("view.View", "", "", *(node("view.View", "", word) for word in row), *last) for row in rows)
    return node("widget.GridView", name, "", head, *body)


def page(*parts: Node, menu: bool = False, title: str = "A site") -> Capture:
    """A whole page: bar, menu where it is open, a sidebar, its own parts, and a footer out of sight."""
    bar = node("view.View", "", "", node("widget.Button", "", "Menu", clickable=True), link("Site"))
    links = [node("view.View", "links", "", *(node("view.View", "", "", link(w)) for w in ("Orders", "Debts", "Figures")))] if menu else []
    side = node("view.View", "side", "", node("view.View", "people", "", link("Ann"), link("Bo")))
    footer = node("view.View", "", "", node("view.View", "", "", link("about"), link("terms")), label("Free software", top=None))
    inside = Node("android.webkit.WebView", text=title, package=PACKAGE, scrollable=True, bounds=SIZE.bounds, children=(bar, *links, side, *parts, footer))
    root = Node("android.widget.FrameLayout", package=PACKAGE, bounds=SIZE.bounds, children=(inside,))
    return Capture("", Hierarchy((root,)), SIZE)


def orders(*rows: tuple[str, ...], more: tuple[Node, ...] = (), menu: bool = False) -> Capture:
    bar = node("view.View", "bar", "", node("widget.Button", "new", "New order", clickable=True), node("widget.EditText", "find", ""))
    return page(bar, *more, table("list", ("When", "What", "Price"), *rows, button="edit"), menu=menu)


def debts(*rows: tuple[str, ...], menu: bool = False) -> Capture:
    return page(table("list", ("Who pays", "To whom", "Sum", "Done"), *rows, button="settle"), menu=menu)


def figures(menu: bool = False) -> Capture:
    return page(table("list", ("Who", "Paid", "Spent"), ("Ann", "1", "2")), label("By month"), table("months", ("Month", "Sum"), ("May", "3")), menu=menu)


FORM = node("app.Dialog", "form", "", label("New order"), node("widget.EditText", "what", ""), node("widget.EditText", "price", ""), link("Cancel"))


def pages_among(*looks: Capture) -> list[list[int]]:
    """The looks at each page, by number."""
    captures = {f"c{i}": Capture(f"c{i}", look.hierarchy, look.size) for i, look in enumerate(looks)}
    found = screens_of(StateGraph(RecordedApp(PACKAGE), DeviceInfo(size=SIZE), captures))
    return [[int(name[1:]) for name in names] for names in found.values()]


def test_pages_in_one_frame_are_screens_of_their_own_and_an_open_menu_makes_none() -> None:
    milk = ("1 May", "Milk", "2.00")
    looks = (orders(milk), debts(("Ann", "Bo", "1.00")), figures(), orders(milk, menu=True), debts(("Ann", "Bo", "1.00"), menu=True), figures(menu=True))
    assert pages_among(*looks) == [[0, 3], [1, 4], [2, 5]]


def test_a_form_that_unfolds_in_a_page_and_more_rows_make_no_other_page() -> None:
    milk, tea = ("1 May", "Milk", "2.00"), ("2 May", "Tea", "3.00")
    looks = (orders(milk), orders(milk, tea), orders(milk, more=(FORM,)), debts(("Ann", "Bo", "1.00"), ("Bo", "Cy", "4.00")), debts())
    assert pages_among(*looks) == [[0, 1, 2], [3, 4]], "a table without rows has its heads, and is the same page"


def test_words_in_the_place_of_a_list_make_no_other_page() -> None:
    rows = page(node("widget.ListView", "notes", "", node("view.View", "", "", label("Milk"), node("widget.CheckBox", "done", ""), link("open"))))
    none = page(node("view.View", "empty", "", label("Nothing here"), node("widget.Button", "", "Write one", clickable=True)))
    assert told_apart([skeleton(rows), skeleton(none)]) == [[0, 1]]


def test_pages_of_one_build_with_other_words_are_one_page() -> None:
    def product(name: str, about: str) -> Capture:
        return page(node("view.View", "product", "", label(name), label(about), node("widget.Button", "buy", "Buy", clickable=True)))

    assert told_apart([skeleton(product("Cup", "Blue")), skeleton(product("Pot", "For six"))]) == [[0, 1]]
