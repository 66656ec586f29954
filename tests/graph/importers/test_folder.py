"""Plain folders of dumps and pictures: all of the corpus in place, and small ones of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from phoneworld.errors import FileFormatError, NewerFormat, OptionError, PhoneWorldError
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.identity import screens_of
from phoneworld.graph.importers import formats, import_recording
from phoneworld.ui.action import PressKey, Tap
from phoneworld.ui.geometry import Size
from phoneworld.ui.xml import write_hierarchy
from tests.graph.sample import png, screen, text
from tests.shared import CORPUS, needs_shared

DUMP = write_hierarchy(screen(text("Notes", "title"), text("Add", "add", top=100, clickable=True)))
OTHER = write_hierarchy(screen(text("Edit", "heading")))

# What the corpus holds that is no whole dump, and why it is refused.
REFUSED_DUMPS = {
    "ui/odd-output/zero-byte-dump.xml": "0 bytes",
    "ui/sinet.startup.indriver/wilderblas_xmltemp_560ac3.xml": "<node>",
}


def corpus_dumps() -> list[Path]:
    return sorted([*CORPUS.glob("ui/**/*.xml"), *CORPUS.glob("traces/seq-*/*.xml")]) if CORPUS.is_dir() else []


@needs_shared
def test_each_dump_of_the_corpus_is_a_screen_or_has_its_reason() -> None:
    refused = {}
    for dump in corpus_dumps():
        where = dump.relative_to(CORPUS).as_posix()
        try:
            recording = import_recording(dump)
        except FileFormatError as e:
            refused[where] = e.message
            continue
        (capture,) = recording.graph.captures.values()
        assert recording.format == "folder" and recording.graph.traces == ()
        assert capture.size.width > 0 and capture.size.height > 0
        assert loads(dumps(recording.graph)) == recording.graph, where
        assert list(screens_of(recording.graph).values()) == [(capture.id,)]
    assert refused.keys() == REFUSED_DUMPS.keys()
    assert all(REFUSED_DUMPS[where] in reason for where, reason in refused.items())


@needs_shared
def test_all_single_dumps_of_the_corpus_import_as_one_folder() -> None:
    recording = import_recording(CORPUS / "ui")
    files = [p for p in CORPUS.glob("ui/**/*") if p.is_file()]
    dumps_found = [p for p in files if p.suffix == ".xml"]
    left_out = {where for where, _ in recording.refused}
    assert len(recording.graph.captures) == len(dumps_found) - len([w for w in left_out if w.endswith(".xml")])
    assert {f"ui/{w}" for w in left_out if w.endswith(".xml")} == REFUSED_DUMPS.keys()
    assert all(reason for _, reason in recording.refused)
    with_picture = [c for c in recording.graph.captures.values() if c.screenshot]
    assert len(with_picture) == 18 and all(c.screenshot in recording.screenshots for c in with_picture)


@needs_shared
def test_a_sequence_keeps_its_order_and_its_pictures() -> None:
    recording = import_recording(CORPUS / "traces" / "seq-vendomat")
    assert list(recording.origins.values()) == sorted(
        p.name for p in (CORPUS / "traces" / "seq-vendomat").glob("*.xml")
    )
    assert sum(c.screenshot is not None for c in recording.graph.captures.values()) == 3
    assert {reason for _, reason in recording.refused} == {"a picture without a dump of the same name"}
    philo = import_recording(CORPUS / "traces" / "seq-philo-tv").origins
    assert [o[:2] for o in philo.values()] == sorted(o[:2] for o in philo.values())


def test_dumps_and_pictures_of_one_name_belong_together(tmp_path: Path) -> None:
    for name in ("s2", "s10", "s1"):
        (tmp_path / f"{name}.xml").write_bytes(DUMP)
    (tmp_path / "s2.png").write_bytes(png("white", Size(1080, 2400)))
    (tmp_path / "alone.png").write_bytes(png("white"))
    (tmp_path / "s10.jpg").write_bytes(b"no picture")
    (tmp_path / "notes.txt").write_text("not a dump")
    recording = import_recording(tmp_path)
    assert list(recording.origins.values()) == ["s1.xml", "s2.xml", "s10.xml"]
    assert [c.screenshot is not None for c in recording.graph.captures.values()] == [False, True, False]
    assert dict(recording.refused).keys() == {"alone.png", "s10.jpg"}
    assert recording.graph.app.package == "org.example.notes" and recording.graph.traces == ()
    assert import_recording(tmp_path, package="x.y").graph.app.package == "x.y"
    assert import_recording(tmp_path, package="x.y").warnings


def test_a_small_window_without_a_picture_has_the_usual_size_of_its_folder(tmp_path: Path) -> None:
    dialog = screen(text("Sure?", "alertTitle"), size=Size(900, 1500))
    for name, content in {"a": DUMP, "b": DUMP, "c": write_hierarchy(dialog)}.items():
        (tmp_path / f"{name}.xml").write_bytes(content)
    assert [c.size for c in import_recording(tmp_path).graph.captures.values()] == [Size(1080, 2400)] * 3


def _with_sidecar(root: Path, **more: Any) -> None:
    (root / "home.xml").write_bytes(DUMP)
    (root / "edit.xml").write_bytes(OTHER)
    steps = [
        {"action": {"kind": "tap", "x": 5, "y": 150}, "to": "edit"},
        {"action": {"kind": "press_key", "key": "back"}, "to": "home"},
    ]
    content = {
        "format": "phoneworld.folder",
        "version": 1,
        "label": "Notes",
        "density": 440,
        "traces": [{"start": "home", "steps": steps}],
    } | more
    (root / "phoneworld.json").write_text(json.dumps(content))


def test_a_sidecar_says_what_led_to_what(tmp_path: Path) -> None:
    _with_sidecar(tmp_path, locale="fr-FR")
    graph = import_recording(tmp_path).graph
    (trace,) = graph.traces
    assert [t.action for t in trace.transitions] == [Tap(5, 150), PressKey("back")]
    assert trace.transitions[0].hit == (0, 1) and trace.transitions[1].target == trace.start
    assert (graph.app.label, graph.device.density, graph.device.locale) == ("Notes", 440, "fr-FR")
    assert loads(dumps(graph)) == graph


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"traces": [{"start": "nowhere"}]}, "traces.0.start"),
        ({"traces": [{"start": "home", "steps": [{"action": {"kind": "tap", "x": 9999, "y": 0}, "to": "edit"}]}]}, "traces.0.steps.0.action"),
        ({"traces": [{"start": "home", "steps": [{"action": {"kind": "press_key", "key": "back"}, "to": "../x"}]}]}, "traces.0.steps.0.to"),
        ({"surprise": 1}, "surprise"),
        ({"format": "other"}, "format"),
    ],
)  # fmt: skip
def test_a_wrong_sidecar_is_refused_with_the_place(tmp_path: Path, more: dict[str, Any], place: str) -> None:
    _with_sidecar(tmp_path, **more)
    with pytest.raises(FileFormatError, match=re_escape(place)):
        import_recording(tmp_path)


def re_escape(words: str) -> str:
    return words.replace(".", r"\.")


def test_a_newer_sidecar_says_update(tmp_path: Path) -> None:
    _with_sidecar(tmp_path, version=2)
    with pytest.raises(NewerFormat):
        import_recording(tmp_path)


def test_what_is_no_recording_is_refused_with_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="does not exist"):
        import_recording(tmp_path / "nothing")
    with pytest.raises(FileFormatError) as e:
        import_recording(tmp_path)
    assert "DroidBot" in e.value.hint and "dumps" in e.value.hint
    with pytest.raises(OptionError, match="unknown format") as unknown:
        import_recording(tmp_path, "papyrus")
    assert all(name in unknown.value.hint for name in formats())
    (tmp_path / "broken.xml").write_bytes(DUMP[:200])
    with pytest.raises(FileFormatError, match=r"not one dump could be read \(broken\.xml"):
        import_recording(tmp_path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(min_value=0), st.binary(max_size=30))
def test_a_dump_cut_short_and_followed_by_anything_is_never_a_traceback(tmp_path: Path, cut: int, tail: bytes) -> None:
    (tmp_path / "d.xml").write_bytes(DUMP[: cut % len(DUMP)] + tail)
    try:
        recording = import_recording(tmp_path / "d.xml")
    except PhoneWorldError:
        return
    assert len(recording.graph.captures) == 1


def test_the_dump_in_the_graph_file_is_what_other_tools_read() -> None:
    root = etree.fromstring(DUMP)
    assert root.tag == "hierarchy" and [n.get("text") for n in root.iter("node") if n.get("text")] == ["Notes", "Add"]
