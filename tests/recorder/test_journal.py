"""The journal survives what happens to files: cuts at any byte, damage, later versions."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError, NewerFormat, RecordingError, WriteError
from phoneworld.graph.file import assets_folder, load_graph, screenshot_bytes
from recorder.folder import JournalFolder, journal_folder
from recorder.journal import read_records, tell_all, write_record
from recorder.session import Begin, Performed
from tests.recorder.test_session import DETAIL, LIST, Transcript, session


def recording() -> Transcript:
    """A small recording: two steps and one that was begun."""
    t = Transcript(session(steps=5))
    t.started()
    for tree in (DETAIL, LIST):
        t.feed(Performed())
        t.captured(tree)
    return t


RECORDS = recording().records
CONTENT = b"".join(write_record(r) for r in RECORDS)


def test_every_record_comes_back_as_it_was() -> None:
    assert read_records(CONTENT) == (tuple(RECORDS), len(CONTENT))


def test_a_cut_at_any_byte_loses_only_the_record_that_was_cut() -> None:
    ends = [0]
    for record in RECORDS:
        ends.append(ends[-1] + len(write_record(record)))
    for cut in range(len(CONTENT) + 1):
        found, whole = read_records(CONTENT[:cut])
        kept = sum(end <= cut for end in ends) - 1
        assert found == tuple(RECORDS[:kept]), cut
        assert whole == ends[kept]


def test_every_prefix_that_has_a_trace_is_a_graph_with_every_journalled_step() -> None:
    for count in range(len(RECORDS) + 1):
        prefix = RECORDS[:count]
        begun = sum(r.record == "begun" for r in prefix)
        done = sum(r.record == "done" for r in prefix)
        story = tell_all(prefix)
        if count == 0:
            with pytest.raises(FileFormatError):
                story.graph()
            continue
        graph = story.graph()
        unfinished = sum(t.unfinished is not None for t in graph.traces)
        assert (len(list(graph.transitions())), unfinished) == (done, begun - done)


@given(st.binary(min_size=1, max_size=60))
@settings(max_examples=200)
def test_a_tail_of_anything_is_dropped_or_refused_by_name(tail: bytes) -> None:
    try:
        found, whole = read_records(CONTENT + tail)
    except FileFormatError as e:
        assert "line" in e.message
    else:
        assert found[: len(RECORDS)] == tuple(RECORDS)
        assert whole >= len(CONTENT)


def test_zeros_that_a_power_cut_leaves_are_dropped() -> None:
    assert read_records(CONTENT + b"\0" * 4096) == (tuple(RECORDS), len(CONTENT))
    assert read_records(CONTENT + b'{"record":"do\n\0\0\0') == (tuple(RECORDS), len(CONTENT))


def test_damage_in_the_middle_is_named_with_its_line() -> None:
    lines = CONTENT.splitlines(keepends=True)
    lines[2] = lines[2][:10] + b"#" + lines[2][11:]
    with pytest.raises(FileFormatError, match="line 3 is damaged"):
        read_records(b"".join(lines))


def test_a_later_version_is_refused() -> None:
    first = orjson.loads(CONTENT.splitlines()[0])
    with pytest.raises(NewerFormat):
        read_records(orjson.dumps(first | {"version": 2}) + b"\n" + CONTENT)


@pytest.mark.parametrize("order", [[1, 0], [0, 0], [0, 4], [0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 7]])
def test_records_that_do_not_follow_on_each_other_are_refused(order: list[int]) -> None:
    with pytest.raises(FileFormatError):
        tell_all(RECORDS[i] for i in order)


def writes(folder: JournalFolder) -> None:
    """The same recording, put on the disk as the session asks for it."""
    for write in recording().writes:
        folder.append(write.records, write.pictures)


def test_a_journal_on_disk_becomes_a_graph_and_stays_small(tmp_path: Path) -> None:
    out = tmp_path / "app.graph.json"
    folder = JournalFolder.create(out)
    writes(folder)
    graph = tell_all(folder.read()).graph()
    assert list((journal_folder(out) / "pictures").iterdir())
    folder.write_graph(graph)
    folder.close()
    loaded = load_graph(out)
    assert loaded == graph
    (sha,) = loaded.screenshots()
    assert screenshot_bytes(out, sha).startswith(b"\x89PNG")
    assert sorted(p.name for p in journal_folder(out).iterdir()) == ["journal.jsonl"], "the pictures lie beside the graph now"
    assert len(list(assets_folder(out).iterdir())) == 1


def test_a_cut_line_is_removed_before_the_journal_is_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "app.graph.json"
    folder = JournalFolder.create(out)
    writes(folder)
    folder.close()
    path = journal_folder(out) / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    folder = JournalFolder.open(out)
    kept = folder.read()
    folder.append([RECORDS[-1]])
    assert folder.read() == (*kept, RECORDS[-1])
    folder.close()


def test_a_recording_is_not_overwritten_unasked(tmp_path: Path) -> None:
    out = tmp_path / "app.graph.json"
    begun = JournalFolder.create(out)
    writes(begun)
    begun.close()
    with pytest.raises(RecordingError) as e:
        JournalFolder.create(out)
    assert "--resume" in e.value.hint and "--force" in e.value.hint
    folder = JournalFolder.create(out, force=True)
    assert folder.read() == ()
    folder.close()


def test_a_recording_that_ended_before_it_saw_a_screen_is_not_in_the_way(tmp_path: Path) -> None:
    out = tmp_path / "app.graph.json"
    blank = JournalFolder.create(out)
    blank.append(RECORDS[:1])
    with pytest.raises(RecordingError, match="another recorder"):
        JournalFolder.create(out)
    blank.close()
    again = JournalFolder.create(out)
    assert again.read() == ()
    again.close()
    (journal_folder(out) / "journal.jsonl").rename(journal_folder(out) / "diary.txt")
    with pytest.raises(WriteError, match="none of ours"):
        JournalFolder.create(out)
    (journal_folder(out) / "diary.txt").unlink()
    JournalFolder.create(out).close()


def test_two_recorders_do_not_write_one_journal(tmp_path: Path) -> None:
    out = tmp_path / "app.graph.json"
    first = JournalFolder.create(out)
    with pytest.raises(RecordingError, match="another recorder"):
        JournalFolder.open(out)
    first.close()
    JournalFolder.open(out).close()


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="nothing to resume"):
        JournalFolder.open(tmp_path / "app.graph.json")


def test_a_recording_that_never_began_has_no_step() -> None:
    t = Transcript(session())
    t.feed(Begin())
    assert t.kinds == ["recording"]
    assert t.graph().traces == ()
