"""Field cases of this room: what people who do this work ran into."""

from __future__ import annotations

import json
from dataclasses import replace

from phoneworld.graph.file import dumps, loads
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.identity import screen_key, screens_of, volatile_slots
from phoneworld.graph.merge import merge
from phoneworld.graph.views import networkx_view, nondeterministic, outcomes
from phoneworld.ui.action import PressKey, Tap
from phoneworld.ui.device_state import DeviceInfo
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.selector import Selector
from phoneworld.ui.xml import parse_hierarchy
from tests.graph.sample import SIZE, notes_graph, screen, text
from tests.shared import CASES, needs_shared


def dump(name: str) -> Hierarchy:
    return parse_hierarchy((CASES / name).read_bytes())


def of(*captures: Capture) -> StateGraph:
    return StateGraph(RecordedApp("com.example.app"), DeviceInfo(SIZE), {c.id: c for c in captures})


@needs_shared
def test_case_03_compressed_and_full_dumps_of_a_screen_are_one_screen() -> None:
    full = Capture("full", dump("03-compressed-full.xml"), SIZE)
    short = Capture("short", dump("03-compressed-short.xml"), SIZE, tree_mode="compressed")
    without = replace(short, hierarchy=_without_bare_layouts(full.hierarchy))
    assert len(list(without.hierarchy.nodes())) == 3
    assert screen_key(full) == screen_key(short) == screen_key(without)
    assert len(screens_of(of(full, short))) == 1
    assert loads(dumps(of(full, short))).captures["short"].tree_mode == "compressed"


def _without_bare_layouts(tree: Hierarchy) -> Hierarchy:
    """What a compressed dump does: the RelativeLayout that draws nothing is replaced by its child."""
    row = tree.at((0, 0))
    (inner,) = row.children
    return tree.replace_at((0, 0), replace(row, children=inner.children))


@needs_shared
def test_case_25_portrait_and_landscape_are_two_screens() -> None:
    wide = Capture("wide", dump("25-rotated.xml"), Size(2400, 1080))
    tall = Capture("tall", replace(wide.hierarchy, rotation=0), Size(1080, 2400))
    assert screen_key(wide) != screen_key(tall)
    assert len(screens_of(of(wide, tall))) == 2
    hit = wide.hierarchy.hit_test(Point(2280, 100), "tap", wide.size)
    assert hit is not None and wide.hierarchy.at(hit.node).resource_id.endswith("id/done")


@needs_shared
def test_case_33_clock_badge_and_ad_are_slots_of_one_screen() -> None:
    a, b = Capture("a", dump("33-clock-a.xml"), SIZE), Capture("b", dump("33-clock-b.xml"), SIZE)
    graph = of(a, b)
    (members,) = screens_of(graph).values()
    assert members == ("a", "b")
    slots = volatile_slots((a, b))
    assert {s.key.rpartition("/")[2]: [v for _, v in s.values] for s in slots} == {
        "clock": ["09:41", "09:42"],
        "badge": ["3", "4"],
        "ad_banner": ["Shoes -20%", "Fly to Rome"],
    }
    ad = Selector(resource_id="com.example.app:id/ad_banner")
    assert len(volatile_slots((a, b), keep=(ad,))) == 2
    assert len(screens_of(graph, keep=(ad,))) == 2, "the rule can be overridden"
    compose = Selector(resource_id="com.example.app:id/compose")
    assert len(volatile_slots((a, b), mask=(compose,))) == 4


@needs_shared
def test_case_35_an_opened_and_a_closed_menu_are_two_screens() -> None:
    opened, closed = Capture("o", dump("35-fab-open.xml"), SIZE), Capture("c", dump("35-fab-closed.xml"), SIZE)
    assert screen_key(opened) != screen_key(closed) and len(screens_of(of(opened, closed))) == 2

    def tappable(capture: Capture) -> list[str]:
        tree = capture.hierarchy
        return [n.text for path, n in tree.walk() if n.takes("tap") and tree.tap_point(path, capture.size)]

    assert tappable(opened) == ["+", "Photo note", "Text note"] and tappable(closed) == ["+"]


@needs_shared
def test_case_37_no_outcome_of_an_action_is_ever_lost() -> None:
    case = json.loads((CASES / "37-nondeterministic.json").read_text())
    steps = case["trace"]
    captures = {
        n: Capture(n, screen(text("x", "x", clickable=True), text(n, f"only_{n}", clickable=True, top=200)), SIZE)
        for n in "ABC"
    }
    taken = tuple(
        Transition(
            a, Tap(5, 5) if action == "tap x" else PressKey("back"), b, hit=(0, 0) if action == "tap x" else None
        )
        for a, action, b in steps
    )
    graph = replace(of(*captures.values()), traces=(Trace("t", "A", taken),))
    graph = loads(dumps(graph))
    names = {name: members[0] for name, members in screens_of(graph).items()}
    found = {
        f"{names[o.screen]}|{'tap x' if o.kind == 'tap' else 'BACK'}": {names[to]: n for to, n in o.counts.items()}
        for o in outcomes(graph)
    }
    assert found["A|tap x"] == case["expect"]["A|tap x"] and found["B|BACK"] == {"A": 2}
    (uncertain,) = nondeterministic(graph)
    assert names[uncertain.most_frequent] == "B" and not uncertain.is_certain and uncertain.words == "tap “x”"
    view = networkx_view(graph)
    assert sum(count for *_, count in view.edges(data="count")) == len(steps)


def test_case_64_the_language_is_kept_and_mixing_two_warns() -> None:
    french, _ = notes_graph()
    device = loads(dumps(french)).device
    assert (device.locale, device.timezone, device.font_scale, device.night_mode) == (
        "fr-FR",
        "Europe/Paris",
        1.15,
        True,
    )
    german = replace(french, device=replace(device, locale="de-DE"))
    assert merge([french, french]).warnings == ()
    merged = merge([french, german])
    (warning,) = merged.warnings
    assert "languages" in warning and "fr-FR" in warning and "de-DE" in warning
    assert len(merged.graph.captures) == 6 and loads(dumps(merged.graph)) == merged.graph
