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
        st.characters(exclude_categories=["Cs"], exclude_characters=_NOT_XML),
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


_TRUTHS = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long_clickable", "password",
    "selected",
)  # fmt: skip
# One number for all truth values of a node: drawing each by itself takes most of a property test's time.
_truths = st.integers(0, 2 ** len(_TRUTHS) - 1).map(lambda bits: {name: bool(bits >> i & 1) for i, name in enumerate(_TRUTHS)})
_names = st.tuples(class_names, resource_ids, st.sampled_from(["", "com.example.app"]))


def trees(bounds: st.SearchStrategy[Bounds], words: st.SearchStrategy[str]) -> st.SearchStrategy[Node]:
    """Nodes with any value in any field, and their descendants."""

    def node(children: st.SearchStrategy[tuple[Node, ...]]) -> st.SearchStrategy[Node]:
        return st.builds(
            lambda names, texts, truths, visible, bounds, order, extra, children: Node(
                names[0], texts[0], names[1], names[2], texts[1], texts[2], **truths,
                visible=visible, bounds=bounds, index=abs(order or 0), drawing_order=order, extra=extra, children=children,
            ),
            _names, st.tuples(words, words, st.none() | words), _truths, st.sampled_from([True, True, True, False]),
            bounds, st.none() | st.integers(-3, 3), extras if words is xml_texts else st.just(()), children,
        )  # fmt: skip

    return st.recursive(node(st.just(())), lambda inner: node(st.lists(inner, max_size=3).map(tuple)), max_leaves=6)


def _hierarchies(bounds: st.SearchStrategy[Bounds], words: st.SearchStrategy[str]) -> st.SearchStrategy[Hierarchy]:
    attributes = st.lists(
        st.tuples(st.sampled_from(["width", "height", "class"]), words), max_size=2, unique_by=lambda pair: pair[0]
    ).map(tuple)
    windows = st.lists(trees(bounds, words), min_size=1, max_size=2).map(tuple)
    return st.builds(Hierarchy, windows, st.integers(0, 3), attributes)


hierarchies = _hierarchies(bounds, xml_texts)
"""Whole trees, with any text that XML can hold."""


# A small screen, so that rectangles overlap and points hit them.
SMALL = Size(40, 60)
on_small = st.builds(Bounds, st.integers(-10, 50), st.integers(-10, 50), st.integers(-10, 70), st.integers(-10, 70))
small_points = st.builds(Point, st.integers(0, 39), st.integers(0, 59))
small_hierarchies = _hierarchies(on_small, st.sampled_from(["", "", "a", "b"]))
"""Whole trees around the small screen, with few words."""


def actions(size: Size) -> st.SearchStrategy[act.Action]:
    """Every kind of action, with its points on a screen of this size."""
    x, y = st.integers(0, size.width - 1), st.integers(0, size.height - 1)
    ms, words = st.integers(0, 600_000), st.text(max_size=8)
    place = st.tuples(x, y) | st.just((None, None))
    modes = st.sampled_from(get_args(act.TypeMode))
    return st.one_of(
        st.builds(act.Tap, x, y),
        st.builds(act.DoubleTap, x, y),
        st.builds(act.LongPress, x, y, ms),
        st.builds(act.Swipe, x, y, x, y, ms),
        st.builds(act.Drag, x, y, x, y, ms),
        st.builds(act.Pinch, x, y, st.floats(0.01, 100), ms),
        st.builds(lambda text, at, mode: act.TypeText(text, at[0], at[1], mode), words, place, modes),
        st.builds(lambda at: act.Clear(at[0], at[1]), place),
        st.builds(act.PressKey, st.sampled_from(get_args(act.Key))),
        st.builds(act.OpenApp, words, words, words),
        st.builds(act.CloseApp, words),
        st.builds(act.Wait, ms),
        st.builds(act.Answer, words),
        st.builds(act.Ask, words),
        st.builds(act.Finish, st.sampled_from(["success", "failure", "infeasible"])),
    )
