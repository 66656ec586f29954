"""Hypothesis strategies of ui values: trees as a dumper may write them, and actions on a screen."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from phoneworld.ui import action as act
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node

_NOT_XML = "\ufffe\uffff" + "".join(map(chr, (*range(9), 11, 12, *range(14, 32))))
# Every character that an XML 1.0 document can hold.
xml_texts = st.text(
    st.one_of(
        st.sampled_from("ab \n\t\r&<>\"'\x85\u2028\ufffd😀"),
        st.characters(exclude_categories=("Cs",), exclude_characters=_NOT_XML),
    ),
    max_size=12,
)
edges = st.integers(-3000, 3000)
bounds = st.builds(Bounds, edges, edges, edges, edges)
"""Among them empty and inverted ones."""

sizes = st.builds(Size, st.integers(1, 4000), st.integers(1, 4000))
class_names = st.sampled_from(
    [
        "android.widget.FrameLayout", "android.widget.TextView", "android.widget.Button", "android.widget.EditText",
        "android.view.View", "android.widget.ScrollView", "android.webkit.WebView", "a$b", "",
    ]
)  # fmt: skip
resource_ids = st.sampled_from(["", "", "app:id/title", "app:id/row", "android:id/text1", "title", "x/View[0]", "items[0]"])
extras = st.lists(
    st.tuples(st.sampled_from(["NAF", "display-id", "instance", "tooltip-text", "a.b", "_x"]), xml_texts),
    max_size=3,
    unique_by=lambda pair: pair[0],
).map(lambda pairs: tuple(sorted(pairs, key=lambda pair: pair[0] != "NAF")))


def nodes(children: st.SearchStrategy[tuple[Node, ...]], *, bounds: st.SearchStrategy[Bounds] = bounds) -> st.SearchStrategy[Node]:
    """Nodes with any value in any field."""
    truth = st.booleans()
    return st.builds(
        Node,
        class_names, xml_texts, resource_ids, st.sampled_from(["", "com.example.app"]), xml_texts, st.none() | xml_texts,
        truth, truth, truth, truth, truth, truth, truth, truth, truth, truth, st.sampled_from([True, True, True, False]),
        bounds, st.integers(0, 200), st.none() | st.integers(-3, 3), extras, children,
    )  # fmt: skip


def trees(bounds: st.SearchStrategy[Bounds] = bounds) -> st.SearchStrategy[Node]:
    """Nodes with their descendants."""
    return st.recursive(
        nodes(st.just(()), bounds=bounds),
        lambda inner: nodes(st.lists(inner, max_size=3).map(tuple), bounds=bounds),
        max_leaves=8,
    )


def hierarchies(bounds: st.SearchStrategy[Bounds] = bounds) -> st.SearchStrategy[Hierarchy]:
    """Whole trees of one to three windows."""
    attributes = st.lists(
        st.tuples(st.sampled_from(["width", "height", "class"]), xml_texts), max_size=2, unique_by=lambda pair: pair[0]
    ).map(tuple)
    return st.builds(Hierarchy, st.lists(trees(bounds), min_size=1, max_size=3).map(tuple), st.integers(0, 3), attributes)


# A small screen, so that rectangles overlap and points hit them.
SMALL = Size(40, 60)
on_small = st.builds(Bounds, *[st.integers(-10, 70)] * 4)
small_points = st.builds(Point, st.integers(0, 39), st.integers(0, 59))
small_hierarchies = hierarchies(on_small)


def actions(size: Size) -> st.SearchStrategy[act.Action]:
    """Every kind of action, with its points on a screen of this size."""
    x, y = st.integers(0, size.width - 1), st.integers(0, size.height - 1)
    ms, words = st.integers(0, 600_000), st.text(max_size=8)
    place = st.tuples(x, y) | st.just((None, None))
    return st.one_of(
        st.builds(act.Tap, x, y),
        st.builds(act.DoubleTap, x, y),
        st.builds(act.LongPress, x, y, ms),
        st.builds(act.Swipe, x, y, x, y, ms),
        st.builds(act.Drag, x, y, x, y, ms),
        st.builds(act.Pinch, x, y, st.floats(0.01, 100), ms),
        st.builds(lambda text, at, mode: act.TypeText(text, *at, mode), words, place, st.sampled_from(["append", "replace"])),
        st.builds(lambda at: act.Clear(*at), place),
        st.builds(act.PressKey, st.sampled_from(get_args(act.Key))),
        st.builds(act.OpenApp, words, words, words),
        st.builds(act.CloseApp, words),
        st.builds(act.Wait, ms),
        st.builds(act.Answer, words),
        st.builds(act.Ask, words),
        st.builds(act.Finish, st.sampled_from(["success", "failure", "infeasible"])),
    )
