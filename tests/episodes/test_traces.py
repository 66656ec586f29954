"""Episodes on the disk: the same whoever plays them, whole or marked, read back with the line that is wrong, played again to the byte."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import RandomPolicy, Script
from phoneworld.env.processes import Processes
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import Executor, InProcess, Job, Phones, jobs, rollout
from phoneworld.episodes.folder import EpisodeFolder, Kept
from phoneworld.episodes.keeping import KeepTraces
from phoneworld.episodes.replay import env_words, looks, mock_digest, phones_of, replay
from phoneworld.episodes.trace import End, read_trace, write_line
from phoneworld.errors import FileFormatError, NewerFormat, PhoneWorldError, UnsafePath, WriteError
from phoneworld.tasks.file import load_tasks
from phoneworld.ui.action import Answer, Finish, Tap, TypeText
from tests.env.shop_phone import ADD, CHEAP, write_shop
from tests.env.test_rollout import Stumbles

ALL = ("shop/buy-v1", "shop/cheap-v1", "shop/told-v1")


@pytest.fixture
def phones(tmp_path: Path) -> Phones:
    bundle, tasks = write_shop(tmp_path)
    return Phones(bundle, tasks=tasks, rewards=Rewards("delta"))


def begun(path: Path, phones: Phones, policy: str = "random") -> KeepTraces:
    """A folder for episodes on these phones, and what keeps them in it."""
    folder, bundle = EpisodeFolder(path), str(phones.bundles)
    about = {
        "app": "org.example.shop", "mock": mock_digest([bundle]), "policy": {"name": policy}, "env": env_words(phones),
        "places": {"bundles": [os.path.relpath(bundle, path)]},
    }  # fmt: skip
    folder.begin(about, load_tasks(str(phones.tasks)))
    return KeepTraces(folder, app=about["app"], mock=about["mock"], policy=about["policy"], env=about["env"])


def contents(path: Path, *, times: bool = False) -> dict[str, bytes]:
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file() and (times or "times" not in p.parts)}


@pytest.mark.parametrize("executor", [InProcess(interleave=6), Processes(workers=2, interleave=2)], ids=["interleaved", "processes"])
def test_two_runs_are_the_same_to_the_byte_but_for_their_times(tmp_path: Path, phones: Phones, executor: Executor) -> None:
    todo = jobs(ALL, seeds=range(2))
    one, other = begun(tmp_path / "one", phones), begun(tmp_path / "other", phones)
    records = rollout(RandomPolicy(finish=0.1), todo, phones, keep=one)
    assert rollout(RandomPolicy(finish=0.1), todo, phones, executor, keep=other) == records
    assert contents(tmp_path / "one") == contents(tmp_path / "other")
    assert len(contents(tmp_path / "one", times=True)) == len(contents(tmp_path / "one")) + 6
    read = {kept.name: kept.trace for kept in one.folder.traces()}
    assert [read[one.name(job)].record() for job in todo] == records
    assert [len(one.folder.times(one.name(job))["steps"]) for job in todo] == [len(r.steps) for r in records]


def test_a_trace_says_what_was_touched_and_why_it_did_what_it_did(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((Tap(150, 220), ADD, Finish())), [Job("shop/buy-v1", 0)], phones, keep=keep)
    trace = keep.folder.read("shop/buy-v1/seed-0")
    first = trace.steps[0]
    assert first.hit is not None and first.hit.words == "Cheese" and first.evidence is not None and first.rules
    assert trace.header.mock == mock_digest([str(phones.bundles)]) and trace.header.screen == (360, 800) and trace.header.parameters
    assert trace.end is not None and trace.end.explanation and trace.end.steps == 3
    assert b"".join(trace.lines()) == keep.folder.trace_file("shop/buy-v1/seed-0").read_bytes()


def test_every_cut_of_a_trace_is_found_and_what_is_whole_of_it_is_read(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((CHEAP, Tap(5, 5), Finish())), [Job("shop/cheap-v1", 0)], phones, keep=keep)
    content = keep.folder.trace_file("shop/cheap-v1/seed-0").read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    for at in range(1, len(content)):
        whole = sum(end <= at for end in ends)
        if not whole:
            with pytest.raises(FileFormatError, match="no whole line"):
                read_trace(content[:at], "t.jsonl")
            continue
        trace = read_trace(content[:at], "t.jsonl")
        assert not trace.is_whole and trace.cut == (at not in ends) and len(trace.steps) == whole - 1
        assert trace.record().error_class == "infra" and trace.record().success is None
    assert read_trace(content, "t.jsonl").is_whole
    assert read_trace(content[: ends[1]] + b"\0" * 300, "t.jsonl").cut, "as a disk leaves it that lost its power"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: [lines[0], lines[1], b"{oops}", *lines[3:]], "line 3 is not JSON"),
        (lambda lines: [lines[0], lines[2], *lines[3:]], "line 2: expected step 1, found step 2"),
        (lambda lines: lines[1:], "line 1: expected the header of an episode, found a step"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3: expected step 2"),
        (lambda lines: [*lines[:3], lines[4]], "line 4: the end tells of 3 steps, found 2"),
        (lambda lines: [lines[0], lines[1].replace(b'"n": 1', b'"n": "1"'), *lines[2:]], "line 2: n: "),
        (lambda lines: [lines[0], lines[1].replace(b'"n": 1', b'"n": 1, "x": 2'), *lines[2:]], "line 2: x: Unexpected"),
        (lambda lines: [lines[0].replace(b"phoneworld-episode", b"other", 1), *lines[1:]], "line 1: not the header"),
        (lambda lines: [lines[0], b'{"kind": "picture"}', *lines[1:]], "line 2: expected a line of kind"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_what_it_should_be_is_named(tmp_path: Path, phones: Phones, change: Any, told: str) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((CHEAP, Tap(5, 5), Finish())), [Job("shop/cheap-v1", 0)], phones, keep=keep)
    file = keep.folder.trace_file("shop/cheap-v1/seed-0")
    file.write_bytes(b"".join(line + b"\n" for line in change(file.read_bytes().splitlines())))
    with pytest.raises(FileFormatError, match=told):
        keep.folder.read("shop/cheap-v1/seed-0")


def test_a_newer_trace_says_what_to_update(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((Finish(),)), [Job("shop/cheap-v1", 0)], phones, keep=keep)
    content = keep.folder.trace_file("shop/cheap-v1/seed-0").read_bytes().replace(b'"version": 1', b'"version": 2', 1)
    with pytest.raises(NewerFormat):
        read_trace(content, "t.jsonl")


def test_episodes_are_played_again_to_the_byte_and_a_change_is_found(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(RandomPolicy(finish=0.1), jobs(ALL, seeds=range(4)), phones, InProcess(interleave=3), keep)
    with phones_of(keep.folder)() as env:
        found = [replay(kept, env) for kept in keep.folder.traces()]
        assert len(found) == 12 and {r.outcome for r in found} == {"same"}
        kept = next(k for k in keep.folder.traces() if len(k.trace.steps) > 2)
        wrong = replace(kept.trace.steps[1], state_id="0" * 16)
        told = replay(Kept(kept.name, replace(kept.trace, steps=(kept.trace.steps[0], wrong, *kept.trace.steps[2:]))), env)
        assert (told.outcome, told.line) == ("differs", 3) and "0" * 16 in told.was and "0" * 16 not in told.now
        end = kept.trace.end
        assert end is not None
        told = replay(Kept(kept.name, replace(kept.trace, end=replace(end, success=not end.success))), env)
        assert (told.outcome, told.line) == ("differs", len(kept.trace.steps) + 2)
        assert len(list(looks(kept.trace, env))) == len(kept.trace.steps) + 1


class Odd:
    """Does what cannot be written down as it is: halves of surrogate pairs, what is no action, and says it in words."""

    def begin(self, task: str | None, seed: int) -> Any:
        return _Odd()


class _Odd:
    def __init__(self) -> None:
        self.left: list[Any] = [Answer("\udcff"), object(), TypeText("a\ud83d", 5, 5), {"kind": "tap", "x": 0.5, "y": 0.5, "space": "unit"}]
        self.said = "I say \ud83d"

    def act(self, observation: Observation, info: Info) -> Any:
        return self.left.pop()


def test_odd_actions_are_kept_and_played_again(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones, "odd")
    (record,) = rollout(Odd(), [Job("shop/told-v1", 0)], phones, keep=keep)
    (kept,) = keep.folder.traces()
    assert kept.trace.record() == record and record.answer == "\udcff" and len(record.steps) == 4
    assert kept.trace.steps[2].action is None and kept.trace.steps[0].said == "I say \ud83d"
    assert b"".join(kept.trace.lines()) == keep.folder.trace_file(kept.name).read_bytes()
    with phones_of(keep.folder)() as env:
        assert replay(kept, env).outcome == "same"


def test_a_worker_that_dies_leaves_a_trace_that_says_so_and_a_policy_that_raises_too(tmp_path: Path, phones: Phones) -> None:
    todo = jobs("shop/cheap-v1", seeds=range(4))
    keep = begun(tmp_path / "dies", phones)
    rollout(Stumbles((2,), "die"), todo, phones, Processes(workers=2), keep)
    traces = {kept.trace.header.seed: kept.trace for kept in keep.folder.traces()}
    assert [traces[seed].record().error_class for seed in range(4)] == ["none", "none", "infra", "none"]
    assert len(traces[2].steps) == 1 and "signal 9" in traces[2].record().message
    keep = begun(tmp_path / "raises", phones)
    rollout(Stumbles((2,), "raise"), todo, phones, keep=keep)
    with phones_of(keep.folder)() as env:
        assert [replay(kept, env).outcome for kept in keep.folder.traces()] == ["same", "same", "same steps", "same"]


def test_an_episode_that_was_broken_off_is_played_again_as_far_as_it_went(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((CHEAP, Tap(5, 5), Finish())), [Job("shop/cheap-v1", 0)], phones, keep=keep)
    file = keep.folder.trace_file("shop/cheap-v1/seed-0")
    file.write_bytes(file.read_bytes()[:-40])
    (kept,) = keep.folder.traces()
    assert not kept.trace.is_whole and kept.trace.cut and len(kept.trace.steps) == 3
    with phones_of(keep.folder)() as env:
        assert replay(kept, env).outcome == "same steps"


def test_episodes_that_cannot_begin_are_kept_as_lost(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    rollout(Script((Finish(),)), [Job("shop/broken-v1", 0), Job("shop/nothing-v1", 0)], phones, keep=keep)
    assert [kept.trace.record().error_class for kept in keep.folder.traces()] == ["checker", "env"]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, phones: Phones) -> None:
    begun(tmp_path / "runs", phones)
    begun(tmp_path / "runs", phones)
    with pytest.raises(WriteError, match="policy differ"):
        begun(tmp_path / "runs", phones, "other")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    with pytest.raises(WriteError, match="holds no episodes"):
        begun(tmp_path / "taken", phones)
    with EpisodeFolder(tmp_path / "runs").held(), pytest.raises(WriteError, match="another process"), EpisodeFolder(tmp_path / "runs").held():
        pass


def test_another_mock_is_not_taken_for_the_one_that_was_played_on(tmp_path: Path, phones: Phones) -> None:
    keep = begun(tmp_path / "runs", phones)
    program = Path(str(phones.bundles)) / "program.json"
    program.write_bytes(program.read_bytes() + b"\n")
    with pytest.raises(FileFormatError, match="another mock"):
        phones_of(keep.folder)
    program.unlink()
    with pytest.raises(FileFormatError, match="not at"):
        phones_of(keep.folder)


@pytest.mark.parametrize("text", ["[]", "{", '{"format": "phoneworld-episodes", "version": 9}', '{"format": "phoneworld-episodes", "version": 1}', '{"format": 3}'])
def test_a_broken_description_is_told_of(tmp_path: Path, text: str) -> None:
    (tmp_path / "episodes.json").write_text(text)
    with pytest.raises(PhoneWorldError):
        phones_of(EpisodeFolder(tmp_path))


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a//b", "a/../b", ".."])
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafePath):
        EpisodeFolder(tmp_path).read(name)
    with pytest.raises(UnsafePath):
        EpisodeFolder(tmp_path).content("png", name)
    made = EpisodeFolder(tmp_path).name_of(name, 0)
    assert tmp_path.resolve() in EpisodeFolder(tmp_path).trace_file(made).resolve().parents


def test_what_keeps_goes_to_other_processes(tmp_path: Path) -> None:
    facts: Mapping[str, Any] = {"name": "random"}
    keep = KeepTraces(EpisodeFolder(tmp_path), policy=facts)
    assert pickle.loads(pickle.dumps(keep)) == keep


def test_what_is_written_is_plain_json(tmp_path: Path) -> None:
    line = write_line(End(0, "error", "infra", "gone", None, None, "\ud83d", (), (), 0))
    assert json.loads(line)["answer"] == "\ud83d" and line.endswith(b"\n") and line.isascii()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A trace as it lies on the disk."""
    folder = tmp_path_factory.mktemp("written")
    bundle, tasks = write_shop(folder)
    keep = begun(folder / "runs", Phones(bundle, tasks=tasks))
    rollout(Script((CHEAP, Tap(5, 5), Finish())), [Job("shop/cheap-v1", 0)], Phones(bundle, tasks=tasks), keep=keep)
    return keep.folder.trace_file("shop/cheap-v1/seed-0").read_bytes()


json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=8), of, max_size=3), max_leaves=6)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_in_a_trace_it_is_read_or_refused_in_words(written: bytes, data: st.DataObject) -> None:
    """A valid beginning followed by noise, and lines with other values in them."""
    lines = written.splitlines(keepends=True)
    keep = data.draw(st.integers(0, len(lines)))
    if data.draw(st.booleans()):
        content = b"".join(lines[:keep]) + data.draw(st.binary(max_size=60)) + data.draw(st.sampled_from((b"", b"\n")))
    else:
        place = data.draw(st.integers(0, len(lines) - 1))
        changed = json.loads(lines[place])
        changed[data.draw(st.sampled_from(sorted(changed)))] = data.draw(json_values)
        content = b"".join(lines[:place]) + json.dumps(changed).encode() + b"\n" + b"".join(lines[place + 1 :])
    try:
        trace = read_trace(content, "t.jsonl")
    except FileFormatError as e:
        assert "t.jsonl" in e.message
    else:
        assert read_trace(b"".join(trace.lines()), "t.jsonl") == replace(trace, cut=False)


@pytest.mark.parametrize("line", [b'{"kind": []}\n', b"[" * 100_000 + b"\n", b'{"kind": {}}\n', b"\xff\xfe\x00\n", b"null\n", b"\n", b'{"kind": "step", "reward": NaN}\n', b'{"kind": "step", "n": 1' + b"0" * 5000 + b"}\n"])
def test_lines_that_are_nothing_are_refused(written: bytes, line: bytes) -> None:
    first = written.splitlines(keepends=True)[0]
    with pytest.raises(FileFormatError, match="line 2"):
        read_trace(first + line, "t.jsonl")
