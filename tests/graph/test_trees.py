"""Reading many trees at once gives what the one reader of dumps gives, tree for tree and error for error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.errors import DumpError
from phoneworld.graph.trees import read_trees
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
from tests.graph.recordings import imported
from tests.graph.sample import PACKAGE, notes_graph, screen, text
from tests.shared import needs_shared


def one_by_one(texts: dict[str, str]) -> dict[str, Hierarchy]:
    return {name: parse_hierarchy(xml.encode()) for name, xml in texts.items()}


def written(*trees: Hierarchy) -> dict[str, str]:
    """Each tree twice, so that tags repeat themselves."""
    return {f"{name}{i}": write_hierarchy(tree).decode() for i, tree in enumerate(trees) for name in "tu"}


SAMPLE = written(
    *(c.hierarchy for c in notes_graph()[0].captures.values()),
    screen(text("a > b", "x"), text("<node index=\"3\" />"), text("]]>")),
    Hierarchy((screen().windows[0], screen(text("above")).windows[0]), rotation=1, attributes=(("width", "5"),)),
    Hierarchy((Node("v", extra=(("NAF", "true"), ("naf-like", "x"))),)),
)  # fmt: skip


def test_trees_of_our_writer_are_read_as_the_reader_reads_them() -> None:
    assert read_trees(SAMPLE) == one_by_one(SAMPLE)


@needs_shared
@pytest.mark.parametrize("run", ["seq-philo-tv", "seq-mohamy-rtl", "droidbot-kea-myexpenses"])
def test_recorded_trees_are_read_as_the_reader_reads_them(run: str) -> None:
    texts = written(*(c.hierarchy for c in imported(run).graph.captures.values()))
    assert read_trees(texts) == one_by_one(texts)


ODD = [
    "", "<hierarchy />", "nonsense",
    SAMPLE["t0"].replace('<node index="0" ', "<node ", 1),
    SAMPLE["t0"].replace('<node index="0" ', '<node index="x" ', 1),
    SAMPLE["t0"].replace("</node>", "", 1),
    SAMPLE["t0"].replace("</hierarchy>", "</node></hierarchy>"),
    SAMPLE["t0"].replace("<node", "<!-- a --><node", 1),
    SAMPLE["t0"].replace("<node", "words<node", 1),
    SAMPLE["t0"].replace('text=""', 'text="a > b"', 1),
    SAMPLE["t0"].replace('text=""', 'text="a < b"', 1),
    SAMPLE["t0"].replace('text=""', 'text="" text="twice"', 1),
    SAMPLE["t0"].replace('text=""', 'text=""', 1).replace("checked=\"false\"", "checked=\"maybe\"", 1),
    SAMPLE["t0"].replace('rotation="0"', 'rotation="soon"'),
    SAMPLE["t0"].replace('rotation="0"', "rotation=0"),
    SAMPLE["t0"].replace('bounds="[0,0][1080,2400]"', 'bounds="wide"', 1),
    write_hierarchy(Hierarchy(())).decode(),
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"></hierarchy>",
]  # fmt: skip


@pytest.mark.parametrize("xml", ODD)
def test_other_texts_give_the_readers_own_result_or_error(xml: str) -> None:
    try:
        expected = parse_hierarchy(xml.encode())
    except DumpError as e:
        with pytest.raises(DumpError) as found:
            read_trees(SAMPLE | {"odd": xml})
        assert found.value.message == f"odd: {e.message}"
        return
    assert read_trees(SAMPLE | {"odd": xml}) == one_by_one(SAMPLE) | {"odd": expected}


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(SAMPLE)),
    st.integers(min_value=0),
    st.integers(0, 12),
    st.text(alphabet="<>/\"=& 'nodeindx0", max_size=8),
)
def test_a_damaged_text_is_never_read_otherwise_than_by_the_reader(name: str, at: int, length: int, put: str) -> None:
    whole = SAMPLE[name]
    at %= len(whole)
    damaged = whole[:at] + put + whole[at + length :]
    try:
        expected = parse_hierarchy(damaged.encode())
    except DumpError:
        with pytest.raises(DumpError):
            read_trees({"d": damaged, "e": whole, "f": whole})
        return
    assert read_trees({"d": damaged, "e": whole, "f": whole})["d"] == expected


def test_what_does_not_repeat_itself_is_read_too() -> None:
    texts = written(*(screen(*(text(f"{i} {j}") for j in range(9))) for i in range(9)))
    assert read_trees(texts) == one_by_one(texts)


def test_a_tree_deeper_than_any_screen_is_refused_as_the_reader_refuses_it() -> None:
    def deep(levels: int) -> str:
        node = Node("v", package=PACKAGE)
        for _ in range(levels - 1):
            node = Node("v", package=PACKAGE, children=(node,))
        return write_hierarchy(Hierarchy((node,))).decode()

    for levels in (100, 246, 247, 248, 249, 250, 251, 400):
        texts = {"d": deep(levels)}
        try:
            expected = one_by_one(texts)
        except DumpError:
            with pytest.raises(DumpError, match="deeper"):
                read_trees(texts)
        else:
            assert read_trees(texts) == expected
