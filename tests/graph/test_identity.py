"""Which captures are one screen: rules on small trees, and both errors measured on recordings that others made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import pytest

from phoneworld.graph.features import features
from phoneworld.graph.file import load_graph
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph
from phoneworld.graph.identity import same_screen, screen_key, screens_of, volatile_slots
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.selector import Selector
from tests.graph.recordings import imported
from tests.graph.sample import PACKAGE, SIZE, screen, text
from tests.shared import CORPUS, needs_shared
from tests.webapps import ROOT

# The labels were given by eye: one person looked at every screenshot of the run, in the order of the state files, and wrote
# down which screen of the app it shows, without looking at trees or at what the program says. States that have no picture
# (launchers, and repeated states of the two genie runs) were labelled from the texts in their file. "main" of the album app
# is one screen with and without pictures in it; "page" of the browser is one screen whatever page it shows or loads.
BY_EYE = {
    "droidbot-album-sample": (
        "main grid sheet grid grid preview preview main preview launcher preview camera effects camera denied tips grid "
        "preview preview camera denied"
    ),
    "droidbot-exp-small": "launcher splash ad mine album share share no-qq webview blank feedback compose",
    "droidbot-droidxp": (
        "launcher page tabs bookmarks launcher launcher page select page tabs bookmarks launcher page select page"
    ),
    "droidbot-kea-myexpenses": (
        "launcher launcher welcome welcome backup account main wide-main wide-main menu balance balance wide-main edit types"
    ),
    "genie-activitydiary-main": (
        "launcher launcher stats stats pics pics edit edit pics pics edit edit colour colour edit edit pics pics pics pics "
        "pics pics pics pics"
    ),
    "genie-activitydiary-mutant": " ".join((["stats"] * 13 + ["edit"] * 2) * 2),
}


@dataclass(frozen=True)
class Errors:
    """Pairs of captures of one label that came apart, and pairs of two labels that came together."""

    captures: int
    labels: int
    screens: int
    same_pairs: int
    split: int
    other_pairs: int
    merged: int


def graph_of(run: str) -> tuple[StateGraph, Mapping[str, str]]:
    recording = imported(run)
    return recording.graph, recording.origins


def errors(graph: StateGraph, labels: Mapping[str, str]) -> Errors:
    assert set(labels) == set(graph.captures)
    screens = screens_of(graph)
    home = {capture: name for name, members in screens.items() for capture in members}
    pairs = list(combinations(graph.captures, 2))
    same = [(a, b) for a, b in pairs if labels[a] == labels[b]]
    other = [(a, b) for a, b in pairs if labels[a] != labels[b]]
    return Errors(
        len(labels),
        len(set(labels.values())),
        len(screens),
        len(same),
        sum(home[a] != home[b] for a, b in same),
        len(other),
        sum(home[a] == home[b] for a, b in other),
    )


@needs_shared
def test_over_split_and_wrong_merge_on_the_labelled_droidbot_runs() -> None:
    """117 captures of 42 labels: 45 screens; 9 of 467 pairs split (1.9 %), 3 of 730 merged (0.4 %). Nothing worse is let in.

    By run, split and merged: album 1/26 and 3/184, exp-small 1/1 and 0/65, droidxp 6/19 and 0/86, kea 1/6 and 0/99, genie
    main 0/84 and 0/192, genie mutant 0/331 and 0/104. The rules were shaped on these runs, so expect more on new ones.
    Split: the album's first page with and without pictures, a share sheet caught half drawn, a browser page before and
    after loading, a dialog whose error bubble was dumped alone. Merged: two states of the camera app, where DroidBot's
    tree and picture are of different moments.
    """
    found = []
    for run, words in BY_EYE.items():
        graph, _ = graph_of(run)
        found.append(errors(graph, dict(zip(graph.captures, words.split(), strict=True))))
    assert sum(e.captures for e in found) == 117 and sum(e.labels for e in found) == 42
    assert sum(e.screens for e in found) <= 45
    assert sum(e.split for e in found) / sum(e.same_pairs for e in found) <= 0.02
    assert sum(e.merged for e in found) / sum(e.other_pairs for e in found) <= 0.005


@needs_shared
def test_both_errors_without_the_help_of_activities() -> None:
    """Dumps do not name the activity; identity must hold without it."""
    split = merged = same = other = 0
    for run, words in BY_EYE.items():
        graph, _ = graph_of(run)
        bare = replace(graph, captures={n: replace(c, state=DeviceState()) for n, c in graph.captures.items()})
        e = errors(bare, dict(zip(graph.captures, words.split(), strict=True)))
        split, merged, same, other = split + e.split, merged + e.merged, same + e.same_pairs, other + e.other_pairs
    assert split / same <= 0.02 and merged / other <= 0.01


@needs_shared
def test_pages_of_a_car_that_differ_in_a_scrolling_area_only() -> None:
    """A settings app without ids or titles: 40 dumps of 17 pages at several scroll positions, labelled by their file names.

    The hardest kind: scroll positions of one page need not overlap, so half of such pairs come apart (19 of 35); 8 of 745
    pairs of different pages come together.
    """
    graph, origins = graph_of("seq-ivi-scroll-pages")
    named = {c: re.match(r"source_([A-Za-z]+)_", origin) for c, origin in origins.items()}
    e = errors(graph, {c: m[1] for c, m in named.items() if m})
    assert e.captures == 40 and e.labels == 17 and e.screens <= 24
    assert e.split / e.same_pairs <= 0.55 and e.merged / e.other_pairs <= 0.012


@needs_shared
def test_states_of_one_droidbot_structure_are_never_taken_apart() -> None:
    """An independent partition: states that DroidBot's `state_str_content_free` holds for one are one screen of ours too.

    It is the set of classes and ids with the activity; ours may put more together, but must not take those apart.
    """
    apart = pairs = 0
    for run in BY_EYE:
        root = CORPUS / "traces" / run
        graph, origins = graph_of(run)
        folder = root / "states" if (root / "states").is_dir() else root / "output" / "all_states"
        structure = {c: json.loads((folder / o).read_text()).get("state_str_content_free") for c, o in origins.items()}
        home = {capture: name for name, members in screens_of(graph).items() for capture in members}
        for a, b in combinations(graph.captures, 2):
            if structure[a] == structure[b]:
                pairs += 1
                apart += home[a] != home[b]
    assert pairs >= 200 and apart == 0


# ---- rules


def capture(
    *children: Node, name: str = "c", state: DeviceState | None = None, size: Size = SIZE, **more: object
) -> Capture:
    tree = screen(*children, size=size, **more)  # type: ignore[arg-type]
    return Capture(name, tree, size, state=state or DeviceState(PACKAGE, ".Main"))


def row(words: str, top: int, **more: object) -> Node:
    label = Node("android.widget.TextView", text=words, package=PACKAGE, bounds=Bounds(100, top, 900, top + 100))
    box = Node(
        "android.widget.CheckBox",
        package=PACKAGE,
        checkable=True,
        clickable=True,
        bounds=Bounds(900, top, 1080, top + 100),
    )
    return Node(  # type: ignore[arg-type]
        "android.widget.LinearLayout",
        package=PACKAGE,
        clickable=True,
        bounds=Bounds(0, top, 1080, top + 100),
        children=(label, box),
        **more,
    )


def list_of(*words: str, class_name: str = "androidx.recyclerview.widget.RecyclerView", name: str = "list") -> Node:
    rows = tuple(row(w, 300 + 100 * i) for i, w in enumerate(words))
    resource_id = f"{PACKAGE}:id/{name}" if name else ""
    return Node(
        class_name,
        resource_id=resource_id,
        package=PACKAGE,
        scrollable=len(rows) > 3,
        bounds=Bounds(0, 300, 1080, 2300),
        children=rows,
    )


def button(words: str, name: str = "", left: int = 0, **more: object) -> Node:
    resource_id = f"{PACKAGE}:id/{name}" if name else ""
    return Node(  # type: ignore[arg-type]
        "android.widget.Button", text=words, resource_id=resource_id, package=PACKAGE, clickable=True,
        bounds=Bounds(left, 100, left + 200, 200), **more,
    )  # fmt: skip


def field(name: str) -> Node:
    return Node("android.widget.EditText", resource_id=name, package=PACKAGE, clickable=True, bounds=Bounds(0, 300, 1080, 390))


def one_screen(*captures: Capture) -> bool:
    named = {f"c{i}": replace(c, id=f"c{i}") for i, c in enumerate(captures)}
    graph = StateGraph(RecordedApp(PACKAGE), DeviceInfo(SIZE), named)
    return len(screens_of(graph)) == 1


TITLE = text("Notes", "title")


def test_a_list_with_other_and_with_more_rows_is_one_screen() -> None:
    many = [capture(TITLE, list_of(*[f"note {i}" for i in range(n)])) for n in (0, 1, 2, 5, 40)]
    assert len({screen_key(c) for c in many}) == 1 and one_screen(*many)


def test_rows_of_a_list_without_ids_may_change_one_by_one() -> None:
    shown = [
        capture(TITLE, button("Add"), list_of(*words.split(), class_name="android.widget.ListView", name=""))
        for words in ("a b c d", "b c d e", "x y")
    ]
    assert one_screen(*shown)


def test_counters_clocks_typed_text_and_toggles_do_not_make_new_screens() -> None:
    field = Node("android.widget.EditText", text="", hint="Title", package=PACKAGE, bounds=Bounds(0, 300, 1080, 400))
    switch = Node(
        "android.widget.Switch", text="Wi-Fi", package=PACKAGE, checkable=True, bounds=Bounds(0, 500, 1080, 600)
    )
    before = capture(text("12:59", "clock"), text("3 items left"), field, switch, button("Save"))
    after = capture(
        text("13:00", "clock"),
        text("41 items left"),
        replace(field, text="milk", focused=True),
        replace(switch, checked=True),
        button("Save", enabled=True),
    )
    assert screen_key(before) == screen_key(after) and one_screen(before, after)


def test_an_opened_menu_is_another_screen_and_so_is_one_in_the_same_window() -> None:
    closed = capture(TITLE, button("More", "more"), list_of("a"))
    items = tuple(button(w, left=300 + 10 * i) for i, w in enumerate(("Edit", "Share", "Delete")))
    opened = capture(TITLE, button("More", "more"), list_of("a"), *items)
    assert not one_screen(closed, opened)
    drawer = capture(TITLE, button("More", "more"), list_of("a"), list_of("Inbox", "Sent", name="drawer"))
    assert not one_screen(closed, drawer)


def popup(title: str, message: str, *buttons: str) -> Capture:
    nodes = [
        text(title, "alertTitle"),
        text(message, "message"),
        *(button(b, f"button{i}") for i, b in enumerate(buttons, 1)),
    ]
    tree = screen(*nodes)
    window = replace(tree.windows[0], bounds=Bounds(60, 900, 1020, 1500), children=tuple(
        replace(n, bounds=Bounds(100, 950 + 100 * i, 900, 1040 + 100 * i)) for i, n in enumerate(tree.windows[0].children)
    ))  # fmt: skip
    return Capture("d", Hierarchy((window,)), SIZE, state=DeviceState(PACKAGE, ".Main"))


def test_two_dialogs_of_one_build_are_two_screens_but_not_for_what_they_quote() -> None:
    delete, tips = popup("Delete?", "This cannot be undone.", "OK"), popup("Tips", "Swipe to archive.", "OK")
    assert not one_screen(delete, tips)
    assert one_screen(
        popup("Delete?", "“Milk” will be gone", "OK", "Cancel"), popup("Delete?", "“Tea” will be gone", "OK", "Cancel")
    )


def test_a_dialog_is_the_same_over_any_activity_but_a_screen_is_not() -> None:
    one, other = DeviceState(PACKAGE, ".Main"), DeviceState(PACKAGE, ".Other")
    dialog = popup("Delete?", "Really?", "OK")
    assert one_screen(dialog, replace(dialog, state=other))
    assert not one_screen(capture(TITLE, state=one), capture(TITLE, state=other))
    late = DeviceState("com.android.launcher3", ".Launcher")
    assert one_screen(capture(TITLE, state=late), capture(TITLE, state=replace(late, activity=".Other"))), (
        "not this app's activity"
    )


def test_other_apps_and_the_selected_tab_make_other_screens() -> None:
    assert not one_screen(capture(TITLE), capture(TITLE, package="com.android.settings"))
    tabs = [
        Node("Tab", text=w, package=PACKAGE, clickable=True, bounds=Bounds(i * 300, 0, i * 300 + 300, 100))
        for i, w in enumerate(("All", "New"))
    ]

    def with_tab(chosen: int) -> Capture:
        bar = Node("android.widget.LinearLayout", package=PACKAGE, bounds=Bounds(0, 0, 1080, 100), children=tuple(
            replace(t, selected=i == chosen) for i, t in enumerate(tabs)
        ))  # fmt: skip
        return capture(bar, list_of("a"))

    assert one_screen(with_tab(0), with_tab(0)) and not one_screen(with_tab(0), with_tab(1))


def test_a_snackbar_passes_and_a_page_over_another_hides_it() -> None:
    plain = capture(TITLE, list_of("a"), button("Add", "add"))
    bar = Node("android.widget.FrameLayout", package=PACKAGE, clickable=True, bounds=Bounds(0, 2300, 1080, 2400), children=(
        text("Saved", "snackbar_text"), button("UNDO", "snackbar_action"),
    ))  # fmt: skip
    assert one_screen(plain, replace(plain, hierarchy=screen(*plain.hierarchy.windows[0].children, bar)))

    def page(*children: Node) -> Node:
        return Node("android.widget.FrameLayout", package=PACKAGE, bounds=SIZE.bounds, children=children)

    picture = Node("android.widget.ImageView", package=PACKAGE, bounds=SIZE.bounds)
    over = page(picture, button("Share", "share"), text("1 / 9", "count"))
    below = [page(TITLE, list_of("a")), page(TITLE, button("Add", "add"))]
    assert one_screen(capture(below[0], over), capture(below[1], over))


def test_a_form_is_one_screen_at_each_scroll_position() -> None:
    def at(first: int) -> Capture:
        lines = tuple(text(f"question {'abcdefghij'[i]}", top=200 * (i - first)) for i in range(first, first + 6))
        form = Node("android.widget.ScrollView", package=PACKAGE, scrollable=True, bounds=SIZE.bounds, children=lines)
        return capture(form)

    other = Node("android.widget.ScrollView", package=PACKAGE, scrollable=True, bounds=SIZE.bounds, children=tuple(
        text(w, top=100 * i) for i, w in enumerate(("brightness", "volume", "sound", "theme"))
    ))  # fmt: skip
    assert one_screen(at(0), at(2), at(4))
    assert not one_screen(at(0), capture(other))


def test_mask_leaves_nodes_out_and_keep_makes_their_text_count() -> None:
    a, b = capture(TITLE, text("Monday", "day")), capture(TITLE, text("Friday", "day"))
    day = Selector(resource_id=f"{PACKAGE}:id/day")
    assert screen_key(a) == screen_key(b)
    assert screen_key(a, keep=(day,)) != screen_key(b, keep=(day,))
    ad = capture(TITLE, text("Monday", "day"), *(button(w, w) for w in ("ad1", "ad2", "ad3")))
    assert not one_screen(a, ad)
    masks = tuple(Selector(resource_id=f"{PACKAGE}:id/ad{i}") for i in (1, 2, 3))
    assert screen_key(a, mask=masks) == screen_key(ad, mask=masks)


def test_rows_and_fields_are_content_and_no_volatile_slots() -> None:
    field = Node("android.widget.EditText", text="a", package=PACKAGE, bounds=Bounds(0, 200, 1080, 300))
    first = capture(text("1", "badge"), field, list_of("x", "y"), name="one")
    second = capture(text("2", "badge"), replace(field, text="b"), list_of("z"), name="two")
    (slot,) = volatile_slots((first, second))
    assert slot.key == f"{PACKAGE}:id/badge" and slot.values == (("one", "1"), ("two", "2"))


def test_screens_hold_every_capture_once_in_order() -> None:
    graph = StateGraph(RecordedApp(PACKAGE), DeviceInfo(SIZE), {
        n: replace(c, id=n) for n, c in {"b": capture(TITLE), "a": capture(button("x")), "c": capture(TITLE)}.items()
    })  # fmt: skip
    assert list(screens_of(graph).values()) == [("b", "c"), ("a",)]


@pytest.mark.parametrize("tree", [Hierarchy(()), screen(), Hierarchy((Node(""),))])
def test_any_tree_has_an_identity(tree: Hierarchy) -> None:
    odd = Capture("c", tree, Size(0, 0))
    assert re.fullmatch("[0-9a-f]{16}", screen_key(odd))
    assert same_screen(features(odd), features(odd))


def web_page(*children: Node, title: str = "Notes", longer: bool = False) -> Capture:
    """As Chromium's pages come: an outer and an inner WebView, containers that are plain views with the page's ids."""
    inner = Node(
        "android.webkit.WebView", text=title, package=PACKAGE, scrollable=longer, bounds=SIZE.bounds, children=children
    )
    outer = Node("android.webkit.WebView", package=PACKAGE, bounds=SIZE.bounds, children=(inner,))
    return capture(outer)


def view(name: str, *children: Node, bounds: Bounds = SIZE.bounds) -> Node:
    return Node("android.view.View", resource_id=name, package=PACKAGE, bounds=bounds, children=children)


def test_the_screens_of_a_web_app_are_told_apart_by_what_they_hold() -> None:
    note = web_page(view("screen-note", button("Edit", "edit"), text("Milk", "title", top=300)), title="Milk · Notes")
    other = web_page(view("screen-note", button("Edit", "edit"), text("Tea", "title", top=300)), title="Tea · Notes")
    settings = web_page(view("screen-settings", button("Dark", "dark"), text("Look", "look", top=300)))
    assert one_screen(note, other) and not one_screen(note, settings)
    saved = view("snackbar", text("Saved", "snackbar-text", top=2200))
    shown = web_page(view("screen-note", button("Edit", "edit"), text("Milk", "title", top=300)), saved)
    assert one_screen(note, shown), "what passes by is not looked at"


def test_a_web_pages_own_dialogs_are_told_apart_by_their_words() -> None:
    def asks(title: str) -> Capture:
        words = replace(text(title, "dialog-title"), bounds=Bounds(140, 1050, 936, 1140))
        cancel, yes = (
            replace(button(w, w), bounds=Bounds(x, 1300, x + 200, 1400)) for w, x in (("Cancel", 400), ("Delete", 700))
        )
        return web_page(view("scrim", view("dialog", words, cancel, yes, bounds=Bounds(72, 980, 1008, 1490))))

    assert not one_screen(asks("Delete this note?"), asks("Forget all settings?"))
    assert one_screen(asks("Delete “Milk”?"), asks("Delete “Tea”?"))


def test_a_long_web_page_is_one_screen_when_scrolled_but_not_when_its_menu_opens() -> None:
    def page(first: int, *more: Node) -> Capture:
        return web_page(
            *(button("abcdefghij"[i], "abcdefghij"[i], left=10 * i) for i in range(first, first + 6)),
            *more,
            longer=True,
        )

    assert one_screen(page(0), page(2), page(4))
    assert not one_screen(page(0), page(0, button("Rename", "rename"), button("Remove", "remove")))


def test_a_web_list_that_is_empty_or_searched_in_vain_is_the_same_screen() -> None:
    frame = (button("Settings", "settings"), field("search"), button("New", "new", left=800), text("Notes", "heading", top=100))
    listed = web_page(view("app", *frame, Node("android.widget.ListView", resource_id="notes", package=PACKAGE, bounds=Bounds(0, 400, 1080, 2000))))
    nothing = web_page(view("app", *frame, button("Clear the search", "clear", left=300), text("Nothing found", "", top=900)))
    other = web_page(view("about", text("About", "about-heading", top=100), text("Version 2", "version", top=300), button("Back", "back")))
    assert one_screen(listed, nothing) and not one_screen(listed, other) and not one_screen(nothing, other)


def test_what_the_keyboard_hides_of_a_web_page_makes_no_other_screen_but_a_menu_does() -> None:
    form = [field("title"), button("Save", "save"), text("Title", "label", top=200), text("Note", "body-label", top=500)]
    switches = [button("Pin", "pin", left=400), button("Colour", "colour", left=700)]
    whole = web_page(view("edit", *form, *switches), longer=True)
    typing = web_page(view("edit", *form), longer=True)
    typing = replace(typing, state=replace(typing.state, keyboard=True))
    assert one_screen(whole, typing)
    assert not one_screen(whole, replace(typing, state=replace(typing.state, keyboard=False))), "a menu that opened"


def test_a_page_that_scrolls_in_a_box_of_its_own_is_one_long_page() -> None:
    def page(first: int, *, is_longer: bool) -> Capture:
        parts = [button(w, w, left=90 * i) for i, w in enumerate("abcdefghij"[first : first + 6])]
        box = Node("android.view.View", text="All of it", package=PACKAGE, scrollable=is_longer, bounds=SIZE.bounds, children=tuple(parts))
        return web_page(view("container", box))

    assert one_screen(page(0, is_longer=False), page(2, is_longer=True), page(4, is_longer=True))


def test_what_an_app_draws_around_its_pages_does_not_make_them_one_screen() -> None:
    """A host's title bar and capsule stand over each page of a mini-app: a page with few widgets has little else."""

    def hosted(*children: Node) -> Capture:
        frame = (text("Shop", "bar-title"), button("More", "capsule-menu"), button("Close", "capsule-close", left=300), button("Home", "capsule-home", left=600))
        page = Node("android.webkit.WebView", package=PACKAGE, bounds=Bounds(0, 200, 1080, 2400), children=children)
        return capture(*frame, page)

    assert not one_screen(hosted(text("Choose a colour", top=300)), hosted(text("Your orders", top=300)))
    assert one_screen(hosted(text("Your orders", top=300)), hosted(text("Your orders", top=300)))


def scrolled_page(words: tuple[str, ...], first: int, frame: tuple[str, ...] = ("home", "search", "cart", "account", "help", "more")) -> Capture:
    """A page of which what is scrolled away stays in the tree, without a place, as a WebView's does."""
    chrome = tuple(button(w, w, left=120 * i) for i, w in enumerate(frame))
    content = tuple(
        button(word, word, left=10 * i) if first <= i < first + 4 else replace(button(word, word), bounds=Bounds(0, 0, 0, 0))
        for i, word in enumerate(words)
    )
    return web_page(*chrome, *content, longer=True)


def test_long_pages_in_one_frame_are_told_apart_by_all_that_they_hold() -> None:
    one, other = tuple("abcdefghij"), ("a", *"qrstuvwxy")
    assert one_screen(scrolled_page(one, 0), scrolled_page(one, 3), scrolled_page(one, 6))
    assert not one_screen(scrolled_page(one, 0), scrolled_page(other, 0)), "the frame and a button in common"
    assert one_screen(scrolled_page(one, 0, ()), scrolled_page(one, 6, ())), "nothing in sight in common, but the same page"


def test_boxes_without_a_size_do_not_hide_what_is_shown_in_them() -> None:
    """Frameworks lay pages out in boxes without a size, whose content is placed: three alike are no rows that are scrolled away."""

    def page(*words: str) -> Capture:
        parts = (view("", button(w, w, left=300 * i), text(w, w, top=300), bounds=Bounds(0, 100, 1080, 200)) for i, w in enumerate(words))
        return web_page(view("", *(view("", part, bounds=Bounds(0, 0, 0, 0)) for part in parts), bounds=Bounds(0, 0, 0, 0)))

    assert one_screen(page("play", "queue", "volume"), page("play", "queue", "volume"))
    assert not one_screen(page("play", "queue", "volume"), page("name", "theme", "reset"))


def test_a_screen_that_was_caught_on_its_way_to_another_does_not_make_one_of_the_two() -> None:
    one = scrolled_page(tuple("abcdefghij"), 0)
    other = scrolled_page(tuple("qrstuvwxyz"), 0)
    both = replace(scrolled_page(tuple("abcdefghijqrstuvwxyz"), 0), settled=False)
    named = {n: replace(c, id=n) for n, c in {"one": one, "both": both, "other": other}.items()}
    screens = screens_of(StateGraph(RecordedApp(PACKAGE), DeviceInfo(SIZE), named))
    assert sorted(len(members) for members in screens.values()) == [1, 2]
    assert one_screen(one, replace(both, settled=True), other), "at rest it is a page that has all of both"


def test_the_shipped_recording_of_the_notes_app_has_the_screens_of_its_page() -> None:
    """Labelled by the containers that its page shows: `screen-…`, or the words of a dialog; 126 captures, none apart or astray."""
    graph = load_graph(ROOT / "apps" / "notes" / "app.graph.json")
    labels: dict[str, set[str]] = {}
    for screen_id, members in screens_of(graph).items():
        for member in members:
            nodes = list(graph.captures[member].hierarchy.nodes())
            asks = [n.text for n in nodes if n.resource_id == "dialog-title"]
            shown = [n.resource_id for n in nodes if n.resource_id.startswith("screen-") and n.visible]
            labels.setdefault((asks or shown or ["launcher"])[0], set()).add(screen_id)
    assert all(len(ids) == 1 for ids in labels.values()), labels
    assert len(labels) == len(screens_of(graph)) == 8


def test_pages_of_one_title_are_one_page_however_little_they_have_in_common() -> None:
    """An empty cart and a full one; only in an app whose titles differ, and not of pages that are all called the same."""

    def shop(titles: tuple[str, str, str]) -> list[int]:
        cart, product, home = titles
        captures = [
            web_page(text(cart, top=0), text("Nothing here", top=300), button("Go on", "go"), title=cart),
            web_page(text(cart, top=0), field("coupon"), *(button(w, w, left=100 * i) for i, w in enumerate(("less", "more", "remove", "pay"))), title=cart),
            web_page(text(product, top=0), *(button(w, w, left=100 * i) for i, w in enumerate(("red", "blue", "buy"))), title=product),
            web_page(text(home, top=0), *(button(w, w, left=100 * i) for i, w in enumerate(("all", "new", "sale"))), title=home),
        ]
        named = [replace(c, id=str(i)) for i, c in enumerate(captures)]
        screens = screens_of(StateGraph(RecordedApp("org.shop"), DeviceInfo(SIZE, 160), {c.id: c for c in named}))
        return [next(i for i, names in enumerate(screens.values()) if c.id in names) for c in named]

    assert shop(("Cart", "Product", "Shop")) == [0, 0, 1, 2]
    assert shop(("Shop", "Shop", "Shop")) == [0, 1, 2, 3]


def people(*captures: Capture) -> list[int]:
    """The screens of captures, by number in the order in which they come."""
    named = [replace(c, id=str(i)) for i, c in enumerate(captures)]
    screens = screens_of(StateGraph(RecordedApp("org.talk"), DeviceInfo(SIZE, 160), {c.id: c for c in named}))
    return [next(i for i, names in enumerate(screens.values()) if c.id in names) for c in named]


def talk(name: str, *kids: Node) -> Capture:
    return web_page(text(name, "title", top=0), button("Back", "back"), button("More", "thread-menu", left=200), *kids, title=name)


WRITE = (field("message"), button("Send", "send", left=300))


def test_a_page_seen_under_one_heading_is_the_one_that_shows_it_among_others() -> None:
    """The conversation with somebody who is blocked; not another page about the same person, nor a tab of the page."""
    blocked = talk("Cy", button("Unblock", "unblock", left=400), text("You have blocked Cy.", "blocked", top=300), text("Ask why", "why", top=340))
    about = web_page(text("Cy", "title", top=0), button("Back", "back"), button("Call", "call", left=200), button("Edit", "edit", left=300), title="Cy · Contact")
    home = web_page(text("Talks", "title", top=0), button("Back", "back"), button("New", "new", left=200), title="Talks")
    assert people(talk("Ann", *WRITE), talk("Bo", *WRITE), talk("Cy", *WRITE), blocked, about, home) == [0, 0, 0, 0, 1, 2]
    assert people(talk("Ann", *WRITE), talk("Bo", *WRITE), blocked)[2] == 1, "its heading was not seen there"


def test_sheets_that_say_whose_they_are_are_one() -> None:
    """And not those that ask different things of the same page."""

    def sheet(page: str, heading: str) -> Capture:
        inside = (text(heading, "sheet-title", top=400), text("See you.", "sheet-text", top=500), button("Delete", "delete", left=0))
        dialog = Node("android.app.Dialog", heading, bounds=Bounds(0, 300, 1080, 1900), children=inside)
        return web_page(Node("android.view.View", heading, clickable=True, bounds=SIZE.bounds, children=(dialog,)), title=page)

    assert people(sheet("Ann Ray", "From Ann"), sheet("Bo Lee", "From Bo"), sheet("Cy Day", "From Cy")) == [0, 0, 0]
    assert people(sheet("Ann Ray", "Delete message?"), sheet("Ann Ray", "Mute messages?")) == [0, 1]
