"""Recordings of one app put together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.errors import RecordingError
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.graph import RecordedApp
from phoneworld.graph.merge import merge
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
    with pytest.raises(RecordingError, match="one app"):
        merge([graph, replace(graph, app=RecordedApp("other.app"))])
    with pytest.raises(RecordingError, match="found none"):
        merge([])
