"""Captures of a screen to a template: what is a row, what is a slot, and that nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.compiler.template import Pattern, find_pattern, plain, restored
from phoneworld.testing.strategies import hierarchies
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.chores import App, Chore, Kind

ID = "org.example:id/"


def text(words: str, name: str = "", class_name: str = "android.widget.TextView") -> Node:
    return Node(class_name, words, ID + name if name else "")


def row(*children: Node, name: str = "row") -> Node:
    return Node("android.widget.LinearLayout", "", ID + name if name else "", children=children)


def box(*children: Node, name: str = "box", class_name: str = "android.widget.LinearLayout") -> Node:
    return Node(class_name, "", ID + name, children=children)


def recycler(*children: Node) -> Node:
    return box(*children, name="list", class_name="androidx.recyclerview.widget.RecyclerView")


def screen(*children: Node) -> Hierarchy:
    return Hierarchy((Node("android.widget.FrameLayout", "", "android:id/content", children=children),))


def keys(pattern: Pattern) -> set[str]:
    return {part.key for part in pattern.walk()}


def check_lossless(trees: list[Hierarchy]) -> Pattern:
    pattern = find_pattern("s1", trees)
    for tree, content in zip(trees, pattern.contents, strict=True):
        assert restored(pattern, content) == plain(tree)
        assert content.places.keys() == {path for path, _ in tree.walk()}
    return pattern


# Nothing is lost


@settings(deadline=None, max_examples=80)
@given(st.lists(hierarchies(), min_size=1, max_size=5))
def test_template_and_values_give_each_capture_back(trees: list[Hierarchy]) -> None:
    check_lossless(trees)


words = st.sampled_from(["", "Milk", "Tea", "Bread", "Rye bread", "1", "2"])
rows = st.lists(
    st.builds(
        lambda name, ticked, star: row(
            replace(text("", "tick", "android.widget.CheckBox"), checkable=True, checked=ticked), text(name, "name"), *([text("*", "star")] if star else [])
        ),
        words, st.booleans(), st.booleans(),
    ),
    max_size=5,
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(rows, words, st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_lists_that_come_and_go_are_given_back(looks: list[tuple[list[Node], str, bool, bool]]) -> None:
    trees = [
        screen(text("Title", "title"), *([recycler(*found)] if listed else [text("Nothing", "nothing")]), *([text(count, "count")] if counted else []))
        for found, count, listed, counted in looks
    ]
    check_lossless(trees)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from([App(), App(kind=Kind(tabs=True, search=True)), App(chores=()), App(screen="details", shown=2)]), min_size=1, max_size=4))
def test_screens_of_different_apps_taken_for_one_are_given_back(apps: list[App]) -> None:
    check_lossless([app.tree() for app in apps])


def test_the_same_captures_give_the_same_pattern() -> None:
    trees = [screen(recycler(*(row(text(w, "name")) for w in ws))) for ws in ("ab", "bca", "c")]
    one, other = find_pattern("s1", trees), find_pattern("s1", trees)
    assert [(p.key, p.table, p.optional, p.varying) for p in one.walk()] == [(p.key, p.table, p.optional, p.varying) for p in other.walk()]
    assert one.contents == other.contents


# Rows, tabs, forms


def test_the_children_of_a_list_whose_words_vary_are_rows() -> None:
    pattern = check_lossless([screen(recycler(*(row(text(w, "name")) for w in ws))) for ws in ("ab", "ba", "abc", "c")])
    assert set(pattern.tables) == {"s1.list"}
    assert [[r["name.text"] for r in c.rows["s1.list"]] for c in pattern.contents] == [["a", "b"], ["b", "a"], ["a", "b", "c"], ["c"]]


def test_the_items_of_a_menu_are_slots_of_their_own() -> None:
    pattern = check_lossless([screen(text(f"Page {i}", "title"), recycler(*(row(text(w, "name")) for w in ("Home", "Settings", "About")))) for i in range(4)])
    assert not pattern.tables
    assert len([k for k in keys(pattern) if "name" in k]) == 3


def test_tabs_are_slots_though_one_of_them_is_selected() -> None:
    def tabs(chosen: int) -> Hierarchy:
        return screen(box(*(replace(text(w), selected=i == chosen, clickable=True) for i, w in enumerate(("All", "Open", "Done"))), name="tabs"))

    pattern = check_lossless([tabs(0), tabs(1), tabs(2)])
    assert not pattern.tables
    varying = {p.key: p.varying for p in pattern.walk()}
    assert sum(v == ("selected",) for v in varying.values()) == 3


def test_title_and_subtitle_are_no_rows_though_their_words_vary() -> None:
    pattern = check_lossless([screen(box(text(a), text(b))) for a, b in (("Tea", "3 left"), ("Milk", "4 left"), ("Bread", "none"))])
    assert not pattern.tables
    assert sum(p.varying == ("text",) for p in pattern.walk()) == 2


def test_fields_of_a_form_are_slots() -> None:
    def form(name: str, mail: str) -> Hierarchy:
        fields = (box(text("Name"), text(name, class_name="android.widget.EditText")), box(text("Mail"), text(mail, class_name="android.widget.EditText")))
        return screen(box(*fields, name="form"))

    pattern = check_lossless([form("", ""), form("Ann", ""), form("Ann", "a@b"), form("", "x")])
    assert not pattern.tables


def test_rows_outside_of_list_classes_are_found_where_they_are_made_of_parts() -> None:
    def page(*names: str) -> Hierarchy:
        return screen(box(*(row(text("", "tick", "android.widget.CheckBox"), text(n, "name"), name="") for n in names), name="items"))

    pattern = check_lossless([page("a", "b"), page("b", "a", "c"), page("d"), page("c", "d", "a", "b")])
    assert set(pattern.tables) == {"s1.items"}


def test_two_kinds_of_rows_between_one_another_are_not_one_table() -> None:
    """Headings between rows: the rows are not in one run, and each list is given back all the same."""
    trees = [screen(recycler(text("A", "head"), row(text("a", "name")), text("B", "head"), row(text(w, "name")))) for w in "bcd"]
    check_lossless(trees)


def test_the_heads_of_a_menu_and_what_unfolds_below_them_are_slots() -> None:
    def menu(*opened: int) -> Hierarchy:
        parts: list[Node] = []
        for i, (head, items) in enumerate((("Fruit", ("Apple", "Pear")), ("Bread", ("Rye", "Oat", "Spelt")), ("Drinks", ("Tea",)))):
            parts.append(row(text(head), Node("android.widget.Button", "+"), name=""))
            if i in opened:
                parts.append(row(*(Node("android.view.MenuItem", w) for w in items), name=""))
        return screen(box(*parts, name="menu"))

    pattern = check_lossless([menu(), menu(0), menu(1), menu(2), menu(0), menu(1)])
    assert not pattern.tables
    assert sum(p.optional for p in pattern.walk() if p.children) == 3


def test_a_single_row_that_was_typed_is_a_row() -> None:
    trees = [screen(recycler()), screen(recycler(row(text("Oat milk", "name"))))]
    assert not find_pattern("s1", trees).tables
    assert find_pattern("s1", trees, frozenset({"Oat milk"})).tables


# Optional parts, ids, doubles


def test_what_is_not_in_all_captures_is_optional() -> None:
    pattern = check_lossless([screen(text("T", "title"), text("Clear", "clear")), screen(text("T", "title"))])
    optional = {p.key for p in pattern.walk() if p.optional}
    assert optional == {"clear"}
    assert [c.values["clear", "shown"] for c in pattern.contents] == [True, False]


def test_a_part_of_some_rows_is_a_column_of_being_shown() -> None:
    trees = [screen(recycler(*(row(text(w, "name"), *([text("!", "flag")] if w in "bd" else [])) for w in ws))) for ws in ("ab", "bc", "dab")]
    pattern = check_lossless(trees)
    assert [[r["flag.shown"] for r in c.rows["s1.list"]] for c in pattern.contents] == [[False, True], [True, False], [True, False, True]]


def test_ids_with_numbers_are_one_kind_of_row() -> None:
    trees = [screen(recycler(*(row(text(f"n{i}", f"name_{i}"), name=f"row_{i}") for i in ids))) for ids in ((1, 2), (2, 3, 7), (7,))]
    pattern = check_lossless(trees)
    assert set(pattern.tables) == {"s1.list"}
    assert [r["row_#.resource_id"] for r in pattern.contents[1].rows["s1.list"]] == [f"{ID}row_{i}" for i in (2, 3, 7)]


def test_rows_that_look_the_same_are_as_many_as_they_are() -> None:
    trees = [screen(recycler(*(row(text(w, "name")) for w in ws))) for ws in ("aab", "aa", "baaa")]
    pattern = check_lossless(trees)
    assert [len(c.rows["s1.list"]) for c in pattern.contents] == [3, 2, 4]


def test_keys_are_unique_and_ids_where_an_id_is_the_only_one() -> None:
    trees = [screen(box(text("a", "one"), text("b", "twice"), text("c", "twice")), text("d", "alone"))]
    pattern = check_lossless(trees)
    found = [p.key for p in pattern.walk()]
    assert len(found) == len(set(found))
    assert {"one", "alone"} <= set(found)


def test_where_a_thing_lies_is_no_content() -> None:
    one = screen(replace(text("a", "one"), bounds=Bounds(0, 0, 9, 9)))
    other = screen(replace(text("a", "one"), bounds=Bounds(5, 5, 20, 20), focused=True))
    pattern = check_lossless([one, other])
    assert all(not p.varying and not p.optional for p in pattern.walk())


# The little app


def test_the_list_of_an_app_is_one_table_whatever_it_shows() -> None:
    apps = [App(chores=tuple(Chore(i, w, i % 2 == 0) for i, w in enumerate(names, 1))) for names in ("ab", "bca", "d", "dd")]
    pattern = check_lossless([a.tree() for a in apps])
    assert set(pattern.tables) == {"s1.list"}
    assert {"heading", "add", "row", "done", "name", "remove", "count"} <= keys(pattern)
    assert pattern.tables["s1.list"].key == "row"


def test_siblings_told_apart_by_a_number_in_an_id_are_rows_even_where_their_words_never_change() -> None:
    def entry(number: int, words: str) -> Node:
        return row(box(text(words), text("5.00"), name=f"entry-{number}"), name="")

    tree = screen(box(entry(21, "Milk"), entry(22, "Tea"), entry(23, "Bread")))
    pattern = check_lossless([tree, tree])
    (found,) = pattern.tables.values()
    assert [len(content.rows[found.table or ""]) for content in pattern.contents] == [3, 3]
    numbers = screen(box(row(box(text("Tea"), text("2"), name="tea"), name=""), row(box(text("Rye"), text("3"), name="rye"), name="")))
    assert not find_pattern("s1", [numbers, numbers]).tables, "no number tells these apart"


def test_a_value_that_has_an_id_of_its_own_among_others_in_a_list_is_no_row() -> None:
    def entry(party: str, amount: str) -> Hierarchy:
        return screen(recycler(text("Paid to"), text(party, "party"), text("Amount"), text(amount, "amount")))

    pattern = check_lossless([entry("Ann", "5"), entry("Bob", "7"), entry("Cleo", "9")])
    assert {"party", "amount"} <= keys(pattern)
    assert not [p.key for p in pattern.tables.values() if p.key in ("party", "amount")]
