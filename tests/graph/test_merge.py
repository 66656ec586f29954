"""Recordings of one app put together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.graph import RecordedApp, Unfinished
from phoneworld.graph.merge import merge, renamed_app
from phoneworld.ui.action import OpenApp, Tap
from phoneworld.ui.geometry import Size
from tests.graph.sample import notes_graph


def test_all_captures_and_traces_are_kept_and_still_join() -> None:
    graph, _ = notes_graph()
    merged = merge([graph, graph, graph]).graph
    assert len(merged.captures) == 9 and len({t.id for t in merged.traces}) == 6
    assert all(capture.id == name for name, capture in merged.captures.items())
    assert loads(dumps(merged)) == merged, "every reference holds"
    assert [t.action for t in merged.transitions()] == 3 * [t.action for t in graph.transitions()]


def test_one_recording_stays_as_it_is() -> None:
    graph, _ = notes_graph()
    assert merge([graph]).graph == graph


def test_another_size_warns_and_another_app_is_refused() -> None:
    graph, _ = notes_graph()
    small = replace(graph, device=replace(graph.device, size=Size(720, 1280), night_mode=False))
    sizes, themes = merge([graph, small]).warnings
    assert "1080x2400, 720x1280" in sizes and "dark, light" in themes
    with pytest.raises(FileFormatError, match="one app"):
        merge([graph, replace(graph, app=RecordedApp("other.app"))])
    with pytest.raises(FileFormatError, match="found none"):
        merge([])


def test_a_merged_recording_merges_again_and_long_ids_stay_within_their_length() -> None:
    graph, _ = notes_graph()
    once = merge([graph, graph]).graph
    twice = merge([once, graph, once]).graph
    assert len(twice.captures) == 15 and len({t.id for t in twice.traces}) == 10
    names = {name: f"{'n' * 126}{i}" for i, name in enumerate(graph.captures)}
    long = replace(
        graph,
        captures={names[k]: replace(c, id=names[k]) for k, c in graph.captures.items()},
        traces=tuple(
            replace(
                t,
                start=names[t.start],
                transitions=tuple(
                    replace(s, source=names[s.source], target=names[s.target], transients=tuple(names[n] for n in s.transients))
                    for s in t.transitions
                ),
            )
            for t in graph.traces
        ),
    )
    both = merge([long, long]).graph
    assert loads(dumps(twice)) == twice and loads(dumps(both)) == both


def test_transients_and_what_was_left_unfinished_stay_with_their_trace() -> None:
    graph, _ = notes_graph()
    open_ = replace(graph.traces[0], unfinished=Unfinished(Tap(5, 5), reason="interrupted"))
    graph = replace(graph, traces=(open_, *graph.traces[1:]))
    merged = merge([graph, graph]).graph
    assert [t.unfinished for t in merged.traces] == 2 * [t.unfinished for t in graph.traces]
    seen = [(t, merged.captures[n]) for t in merged.transitions() for n in t.transients]
    assert len(seen) == 2 * sum(len(t.transients) for t in graph.transitions()) > 0


def test_the_app_is_renamed_in_widgets_ids_states_and_actions() -> None:
    graph, _ = notes_graph()
    graph = replace(graph, traces=(replace(graph.traces[0], unfinished=Unfinished(OpenApp("org.example.notes"))), *graph.traces[1:]))
    moved = renamed_app(graph, "web.app")
    assert renamed_app(moved, "org.example.notes") == graph and renamed_app(graph, "") == graph
    assert {c.state.package for c in moved.captures.values()} <= {"web.app", ""}
    unfinished = moved.traces[0].unfinished
    assert unfinished is not None and unfinished.action == OpenApp("web.app")
    other = replace(graph, app=RecordedApp("org.example"))
    assert renamed_app(other, "web").captures["c10"].hierarchy == graph.captures["c10"].hierarchy, "org.example is another app"
