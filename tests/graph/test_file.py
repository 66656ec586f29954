"""`app.graph.json`: round trips, refusals with a place, and writes that a crash cannot harm."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError, NewerFormat, PhoneWorldError, WriteError
from phoneworld.graph import file
from phoneworld.graph.file import (
    assets_folder,
    dumps,
    is_special,
    load_graph,
    loads,
    missing_screenshots,
    save_graph,
    screenshot_bytes,
    write_atomically,
)
from phoneworld.graph.graph import StateGraph, Transition
from phoneworld.graph.schema import VERSION, json_schema
from phoneworld.ui.action import Tap
from tests.graph.sample import notes_graph, png, sha

GOLDEN = Path(__file__).with_name("golden")


def test_a_graph_comes_back_equal_and_again_as_the_same_bytes() -> None:
    graph, _ = notes_graph()
    content = dumps(graph)
    assert loads(content) == graph
    assert dumps(loads(content)) == content


def test_equal_graphs_give_equal_bytes_whatever_the_order_of_their_captures() -> None:
    graph, _ = notes_graph()
    turned = replace(graph, captures=dict(reversed(list(graph.captures.items()))))
    assert turned == graph and dumps(turned) == dumps(graph)
    assert [c["id"] for c in orjson.loads(dumps(graph))["captures"]] == ["c2", "c3", "c10"]


def test_each_tree_is_stored_once_as_uiautomator_xml() -> None:
    content = orjson.loads(dumps(notes_graph()[0]))
    assert len(content["trees"]) == 2 and len(content["captures"]) == 3
    assert all(xml.startswith("<?xml") and "<hierarchy" in xml for xml in content["trees"].values())


def test_the_published_schema_is_that_of_the_model() -> None:
    assert file.SCHEMA_FILE.read_bytes() == json_schema(), (
        "renew it: python -c 'from phoneworld.graph.schema import *; from phoneworld.graph.file import *; SCHEMA_FILE.write_bytes(json_schema())'"
    )


def test_the_published_schema_takes_our_files_and_refuses_a_foreign_action() -> None:
    schema = orjson.loads(file.SCHEMA_FILE.read_bytes())
    content = orjson.loads(dumps(notes_graph()[0]))
    jsonschema.validate(content, schema)
    content["traces"][0]["transitions"][0]["action"] = {"kind": "teleport"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema)


def test_a_golden_file_of_each_version_still_loads() -> None:
    found = {orjson.loads(p.read_bytes())["version"]: load_graph(p) for p in GOLDEN.glob("*.graph.json")}
    assert sorted(found) == list(range(1, VERSION + 1))
    assert found[1] == notes_graph()[0]


def test_there_is_a_converter_for_each_version_step() -> None:
    assert sorted(file.CONVERTERS) == list(range(1, VERSION))


def test_a_newer_file_says_update() -> None:
    content = orjson.loads(dumps(notes_graph()[0])) | {"version": VERSION + 1, "surprise": True}
    with pytest.raises(NewerFormat) as e:
        loads(orjson.dumps(content))
    assert "update phoneworld" in e.value.hint


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{}", b'{"format": "other", "version": 1}', b"\xff\xfe", b'{"a":', b"<hierarchy/>"],
)
def test_foreign_bytes_are_refused_by_name(content: bytes) -> None:
    with pytest.raises(FileFormatError, match=r"my\.graph\.json"):
        loads(content, where="my.graph.json")


def _first_transition(content: dict[str, Any]) -> dict[str, Any]:
    return content["traces"][0]["transitions"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (lambda c: c.pop("app"), "app"),
        (lambda c: c.update(extra=1), "extra"),
        (lambda c: c.update(version=0), "version"),
        (lambda c: c.update(version=True), "version"),
        (lambda c: c["captures"][0].update(width="1080"), "captures.0.width"),
        (lambda c: c["captures"][0].update(screenshot="../../etc/passwd"), "captures.0.screenshot"),
        (lambda c: c["captures"][0].update(screenshot="A" * 64), "captures.0.screenshot"),
        (lambda c: c["captures"][0].update(tree="0" * 64), "captures.0"),
        (lambda c: c["captures"][0].update(id="../x"), "captures.0.id"),
        (lambda c: c["captures"][1].update(id=c["captures"][0]["id"]), "captures.1"),
        (lambda c: c["trees"].update({"ab": "<hierarchy/>"}), "trees"),
        (lambda c: c["trees"].update({next(iter(c["trees"])): "<hierarchy/>"}), "trees"),
        (lambda c: c["traces"][0].update(start="nobody"), "traces.0.start"),
        (lambda c: c["traces"][0].update(start="c3"), "traces.0.transitions.0"),
        (lambda c: _first_transition(c).update(target="c3"), "traces.0.transitions.1"),
        (lambda c: _first_transition(c).update(target="nobody"), "traces.0.transitions.0"),
        (lambda c: _first_transition(c).update(transients=["nobody"]), "traces.0.transitions.0"),
        (lambda c: _first_transition(c).update(hit=[0, 9]), "traces.0.transitions.0.hit"),
        (lambda c: _first_transition(c).update(hit=[]), "traces.0.transitions.0.hit"),
        (lambda c: _first_transition(c).update(hit=[-1]), "traces.0.transitions.0.hit"),
        (lambda c: _first_transition(c).update(action={"kind": "tap", "x": 1080, "y": 0}), "traces.0.transitions.0.action"),
        (lambda c: _first_transition(c).update(action={"kind": "teleport"}), "traces.0.transitions.0.action"),
    ],
)  # fmt: skip
def test_a_file_that_contradicts_itself_is_refused_with_the_place(
    edit: Callable[[dict[str, Any]], object], place: str
) -> None:
    content = orjson.loads(dumps(notes_graph()[0]))
    edit(content)
    with pytest.raises(FileFormatError) as e:
        loads(orjson.dumps(content), where="g.json")
    assert e.value.message.startswith("g.json: " + place), e.value.message


def test_a_graph_that_contradicts_itself_is_not_written(tmp_path: Path) -> None:
    graph, _ = notes_graph()
    broken = replace(graph, traces=(replace(graph.traces[1], transitions=(Transition("c3", Tap(1, 1), "nobody"),)),))
    with pytest.raises(FileFormatError, match="nobody"):
        save_graph(broken, tmp_path / "app.graph.json")
    assert list(tmp_path.iterdir()) == []


def test_surrogate_halves_become_replacement_characters() -> None:
    graph, _ = notes_graph()
    marked = replace(graph, traces=(replace(graph.traces[0], instruction="a\ud83db"),))
    assert loads(dumps(marked)).traces[0].instruction == "a\ufffdb"


@given(st.integers(min_value=0), st.binary(max_size=40))
def test_a_valid_prefix_followed_by_anything_is_an_error_of_ours(cut: int, tail: bytes) -> None:
    whole = dumps(notes_graph()[0])
    content = whole[: cut % len(whole)] + tail
    try:
        loads(content)
    except PhoneWorldError:
        return
    assert orjson.loads(content) == orjson.loads(whole)


def test_pictures_lie_beside_the_file_under_their_hash(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    path = tmp_path / "deep" / "app.graph.json"
    save_graph(graph, path, pictures)
    assert sorted(p.name for p in assets_folder(path).iterdir()) == sorted(f"{s}.png" for s in pictures)
    assert assets_folder(path) == tmp_path / "deep" / "app.assets"
    assert load_graph(path) == graph and missing_screenshots(graph, path) == frozenset()
    for name, content in pictures.items():
        assert screenshot_bytes(path, name) == content


def test_a_picture_is_what_its_hash_says(tmp_path: Path) -> None:
    graph, pictures = notes_graph()
    path = tmp_path / "app.graph.json"
    with pytest.raises(FileFormatError, match="expected the picture"):
        save_graph(graph, path, {next(iter(pictures)): b"else"})
    with pytest.raises(FileFormatError, match="no PNG"):
        save_graph(graph, path, {sha(b"GIF89a"): b"GIF89a"})
    save_graph(graph, path, pictures)
    name = next(iter(pictures))
    (assets_folder(path) / f"{name}.png").write_bytes(png("red"))
    with pytest.raises(FileFormatError, match="damaged"):
        screenshot_bytes(path, name)
    save_graph(graph, path, pictures)
    assert screenshot_bytes(path, name) == pictures[name]


@pytest.mark.parametrize("name", ["../app", "x" * 64, "A" * 64, "", "0" * 63])
def test_a_picture_is_only_named_by_64_hex_digits(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match="64 hex digits"):
        screenshot_bytes(tmp_path / "app.graph.json", name)


def test_missing_files_and_folders_are_errors_of_ours(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="does not exist"):
        load_graph(tmp_path / "nothing.json")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_graph(tmp_path)
    with pytest.raises(FileFormatError, match="does not exist"):
        screenshot_bytes(tmp_path / "app.graph.json", "0" * 64)
    assert missing_screenshots(notes_graph()[0], tmp_path / "app.graph.json") == frozenset(notes_graph()[1])


def _larger(graph: StateGraph) -> StateGraph:
    return replace(graph, source="x" * 3_000_000)


_WRITER = """
import sys
from dataclasses import replace
from phoneworld.graph.file import load_graph, save_graph
path = sys.argv[1]
graph = replace(load_graph(path), source="x" * 3_000_000)
print("ready", flush=True)
while True:
    save_graph(graph, path)
    save_graph(replace(graph, source="old"), path)
    print("round", flush=True)
"""


def test_a_kill_in_mid_write_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "app.graph.json"
    save_graph(replace(notes_graph()[0], source="old"), path)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        while not list(tmp_path.glob(f".{path.name}.*.{child.pid}.tmp")):
            assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert load_graph(path).source in ("old", "x" * 3_000_000)
    save_graph(notes_graph()[0], path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name], "what the killed writers left is gone"


def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path: Path) -> None:
    graph, _ = notes_graph()
    path = tmp_path / "app.graph.json"
    save_graph(graph, path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
        with pytest.raises(WriteError, match="unchanged") as e:
            save_graph(_larger(graph), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert e.value.hint and load_graph(path) == graph
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_is_a_file_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match="cannot write"):
        save_graph(notes_graph()[0], tmp_path / "file" / "app.graph.json")


def test_a_device_and_a_pipe_are_written_into_and_never_replaced(tmp_path: Path) -> None:
    pipe, link, null = tmp_path / "pipe", tmp_path / "link", tmp_path / "null"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    null.symlink_to(os.devnull)
    for target in (pipe, link):
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_atomically(target, b"whole")
            assert os.read(reader, 100) == b"whole"
        finally:
            os.close(reader)
    write_atomically(null, b"gone")
    assert pipe.is_fifo() and link.is_symlink() and null.is_char_device()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "null", "pipe"]
    assert is_special(link) and is_special(null) and not is_special(tmp_path) and not is_special(tmp_path / "none")


def test_what_is_written_to_the_standard_output_goes_where_that_goes(tmp_path: Path) -> None:
    """It may be a file: what the program prints before and after is kept."""
    program = 'import os; from pathlib import Path; from phoneworld.graph.file import write_atomically\nos.write(1, b"before "); write_atomically(Path("/dev/stdout"), b"written"); os.write(1, b" after")'
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True, cwd=Path(__file__).parents[2])
    assert (tmp_path / "out").read_bytes() == b"before written after"
