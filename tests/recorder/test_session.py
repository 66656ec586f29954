"""Transcripts of recordings: >> an event goes in, << the commands that must come out, without a phone, a clock or a disk."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from PIL import Image

from phoneworld.device.settle import Reading, sight_digest
from phoneworld.errors import RecordingError
from phoneworld.graph.graph import RecordedApp, StateGraph
from phoneworld.ui.action import Action, CloseApp, OpenApp, Tap, TypeText, Wait
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy
from recorder.journal import BegunRecord, Record, header, read_records, tell_all, write_record
from recorder.redact import Redactor
from recorder.safety import Guard
from recorder.session import (
    MAX_REFUSED,
    AppCleared,
    Begin,
    Captured,
    ClearApp,
    Command,
    Event,
    Failed,
    Look,
    Lost,
    Moved,
    NotCaptured,
    Perform,
    Performed,
    Refused,
    Session,
    Stop,
    StopAsked,
    Write,
)
from tests.recorder.screens import APP, SIZE, button, entry, lines, text

LIST = lines(text("Shop"), button("Open"), button("About"))
DETAIL = lines(text("Detail"), button("Buy later"))
_out = io.BytesIO()
Image.new("RGB", (SIZE.width, SIZE.height), (240, 240, 240)).save(_out, "PNG")
PNG = _out.getvalue()


def reading(tree: Hierarchy, *, settled: bool = True, keyboard: bool = False, transients: tuple[Reading, ...] = (), retries: int = 0) -> Reading:
    return Reading(tree, PNG, DeviceState(APP, ".Main", keyboard), settled, 120, transients, () if settled else ("unsettled",), retries=retries)


def session(*, steps: int = 3, keep: bool = False, seed: int = 0) -> Session:
    app = RecordedApp(APP, "Shop")
    first = header(app, DeviceInfo(SIZE), serial="x", seed=seed, steps=steps, keep=keep, allow=(), created="2026-01-02T03:04:05+00:00")
    return Session(first)


class Transcript:
    """Feeds events and keeps what came out: the commands without their writes, and all records."""

    def __init__(self, subject: Session) -> None:
        self.subject = subject
        self.records: list[Record] = []
        self.writes: list[Write] = []
        self.clock = 1000
        self.last: tuple[Command, ...] = ()

    def feed(self, event: Event) -> list[Command]:
        self.last = self.subject.receive(event)
        for command in self.last:
            if isinstance(command, Write):
                self.writes.append(command)
                self.records.extend(command.records)
        return [c for c in self.last if not isinstance(c, Write)]

    def captured(self, tree: Hierarchy, **options: object) -> list[Command]:
        self.clock += 500
        return self.feed(Captured(reading(tree, **options), self.clock))  # type: ignore[arg-type]

    def started(self, tree: Hierarchy = LIST) -> Action:
        """Through the start of a fresh recording to its first action."""
        assert self.feed(Begin()) == [ClearApp(APP)]
        assert self.feed(AppCleared()) == [Perform(OpenApp(APP))]
        assert self.feed(Performed()) == [Look(None)]
        return self.act(self.captured(tree))

    def act(self, commands: list[Command]) -> Action:
        assert len(commands) == 1 and isinstance(commands[0], Perform), commands
        return commands[0].action

    @property
    def kinds(self) -> list[str]:
        return [r.record for r in self.records]

    def graph(self) -> StateGraph:
        """What would be in the file, by way of the bytes on the disk."""
        content = b"".join(write_record(r) for r in self.records)
        return tell_all(read_records(content)[0]).graph()


def test_a_fresh_recording_from_start_to_end() -> None:
    t = Transcript(session(steps=2))
    first = t.started()
    assert t.kinds == ["recording", "tree", "capture", "trace", "begun"]
    assert t.feed(Performed()) == [Look(LIST)]
    second = t.act(t.captured(DETAIL))
    assert t.kinds[5:] == ["tree", "capture", "done", "begun"]
    t.feed(Performed())
    assert t.captured(LIST) == [Stop("finished")]
    assert t.kinds[9:] == ["capture", "done", "end"], "a known tree is not written twice"
    (trace,) = t.graph().traces
    assert [x.action for x in trace.transitions] == [first, second]
    assert (trace.start_kind, trace.captures, trace.seed) == ("fresh", ("c1", "c2", "c3"), 0)
    assert t.graph().captures["c2"].hierarchy == DETAIL


def test_a_step_is_on_the_disk_before_the_phone_is_touched() -> None:
    t = Transcript(session())
    t.started()
    write, perform = t.last
    assert isinstance(write, Write) and isinstance(perform, Perform)
    assert write.records[-1] == t.records[-1]
    assert isinstance(write.records[-1], BegunRecord)
    assert write.pictures == (PNG,), "and so is the picture of the screen that it is done on"


def test_the_action_is_only_done_on_the_screen_it_was_chosen_on() -> None:
    t = Transcript(session())
    t.feed(Begin())
    t.feed(AppCleared())
    t.feed(Performed())
    (perform,) = t.captured(LIST)
    assert isinstance(perform, Perform)
    assert perform.expected == sight_digest(LIST)


def test_kept_data_are_not_cleared() -> None:
    t = Transcript(session(keep=True))
    assert t.feed(Begin()) == [Perform(OpenApp(APP))]
    t.feed(Performed())
    t.captured(LIST)
    assert t.graph().traces[0].start_kind == "kept"


def test_what_the_screen_did_by_itself_is_a_wait() -> None:
    t = Transcript(session())
    t.started()
    assert t.act(t.feed(Moved())) == Wait(500)
    t.feed(Performed())
    t.captured(DETAIL)
    (trace,) = t.graph().traces
    assert [x.action for x in trace.transitions] == [Wait(500)]


def test_a_refused_action_did_nothing() -> None:
    t = Transcript(session(steps=1))
    refused = t.started()
    other = t.act(t.feed(Refused("this phone cannot do that")))
    assert other != refused
    t.feed(Performed())
    assert t.captured(DETAIL) == [Stop("finished")]
    (trace,) = t.graph().traces
    assert [(x.source, x.action) for x in trace.transitions] == [("c1", other)]
    assert tell_all(t.records).summary().refused == 1


def test_a_phone_that_refuses_all_is_given_up() -> None:
    t = Transcript(session(steps=1))
    t.started()
    for _ in range(MAX_REFUSED + 1):
        t.act(t.feed(Refused("this phone can do nothing")))
    (stop,) = t.feed(Refused("this phone can do nothing"))
    assert isinstance(stop, Stop) and stop.reason == "gave-up"


def test_an_uncaptured_step_is_listed_and_a_new_trace_begins() -> None:
    t = Transcript(session())
    lost = t.started()
    t.feed(Performed())
    assert t.feed(NotCaptured("DUMP_NOT_IDLE", "ERROR: could not get idle state.")) == [Look(None)]
    t.captured(DETAIL)
    first, second = t.graph().traces
    assert first.unfinished is not None
    assert (first.unfinished.action, first.unfinished.reason) == (lost, "DUMP_NOT_IDLE")
    assert first.transitions == () and second.start_kind == "kept"
    assert len(t.graph().captures) == 2, "never an empty screen"
    summary = tell_all(t.records).summary()
    assert (summary.uncaptured, summary.unfinished, summary.steps) == (1, 0, 0)


def test_it_gives_up_where_no_screen_can_be_captured_any_more() -> None:
    t = Transcript(session())
    t.started()
    t.feed(Performed())
    failure = NotCaptured("NULL_ROOT", "null root node")
    assert t.feed(failure) == [Look(None)]
    assert t.feed(failure) == [Look(None)], "once more as it is"
    assert t.feed(failure) == [Perform(OpenApp(APP))], "once more after bringing the app to the front"
    t.feed(Performed())
    (stop,) = t.feed(failure)
    assert isinstance(stop, Stop) and stop.reason == "gave-up" and "NULL_ROOT" in stop.message


def test_a_phone_that_fails_in_the_middle_of_an_action_leaves_it_unfinished() -> None:
    t = Transcript(session())
    t.started()
    assert t.feed(Failed("DeviceError", "input was killed")) == [Look(None)]
    assert t.graph().traces[0].unfinished is not None


def test_a_lost_phone_ends_it_with_everything_kept() -> None:
    t = Transcript(session())
    first = t.started()
    t.feed(Performed())
    second = t.act(t.captured(DETAIL))
    assert t.feed(Lost("device offline")) == [Stop("device-lost", "device offline")]
    (trace,) = t.graph().traces
    assert [x.action for x in trace.transitions] == [first]
    assert trace.unfinished is not None and trace.unfinished.action == second
    assert t.kinds[-2:] == ["unfinished", "end"]


def test_a_stop_that_is_asked_for_waits_for_the_running_step() -> None:
    t = Transcript(session(steps=50))
    t.started()
    assert t.feed(StopAsked()) == []
    assert t.feed(Performed()) == [Look(LIST)]
    assert t.captured(DETAIL) == [Stop("interrupted")]
    assert len(t.graph().traces[0].transitions) == 1 and t.graph().traces[0].unfinished is None


@pytest.mark.parametrize(
    ("told", "illegal"),
    [
        ([], [Performed(), AppCleared(), Captured(reading(LIST), 1), Refused("x"), Moved()]),
        ([Begin()], [Begin(), Performed(), Captured(reading(LIST), 1)]),
        ([Begin(), AppCleared()], [AppCleared(), Captured(reading(LIST), 1), Moved()]),
        ([Begin(), AppCleared(), Performed()], [Performed(), Begin(), Refused("x")]),
        ([Begin(), AppCleared(), Performed(), Captured(reading(LIST), 1)], [Captured(reading(LIST), 1), AppCleared()]),
        ([Begin(), AppCleared(), Lost("gone")], [Begin(), Performed(), StopAsked(), Lost("again")]),
    ],
)
def test_an_illegal_event_raises_and_changes_nothing(told: Iterable[Event], illegal: Iterable[Event]) -> None:
    t = Transcript(session())
    for event in told:
        t.feed(event)
    phase, records, memory = t.subject.phase, len(t.records), t.subject.memory
    for event in illegal:
        with pytest.raises(RecordingError):
            t.feed(event)
        assert (t.subject.phase, len(t.records), t.subject.memory) == (phase, records, memory)


def test_transients_are_captures_but_no_steps() -> None:
    t = Transcript(session())
    t.started()
    t.feed(Performed())
    spinner = lines(text("Loading"))
    t.captured(DETAIL, transients=(reading(spinner, settled=False),))
    (step,) = t.graph().traces[0].transitions
    assert (step.target, step.transients) == ("c3", ("c2",))
    assert t.graph().captures["c2"].hierarchy == spinner
    assert tell_all(t.records).summary().unsettled == 0, "only ends of steps count"


def test_unsettled_and_retried_are_counted() -> None:
    t = Transcript(session())
    t.started()
    t.feed(Performed())
    t.captured(DETAIL, settled=False, retries=2)
    summary = tell_all(t.records).summary()
    assert (summary.unsettled, summary.retried) == (1, 2)
    assert t.graph().captures["c2"].notes == ("unsettled",)


FORM = lines(entry(hint="Password", password=True, focused=True))


def typed(t: Transcript, tree: Hierarchy) -> TypeText:
    """Goes on, on one screen, until something is typed."""
    action = t.started(tree)
    for _ in range(60):
        if isinstance(action, TypeText):
            return action
        t.feed(Performed())
        action = t.act(t.captured(tree, keyboard=True))
    raise AssertionError("nothing was typed in 60 steps")


def test_a_password_is_typed_but_never_stored() -> None:
    t = Transcript(session(steps=99))
    secret = typed(t, FORM).text
    assert len(secret) > 6
    t.feed(Performed())
    shown = lines(entry(secret, hint="Password", focused=True), text(f"You typed {secret}"))
    t.captured(shown, keyboard=True)
    t.feed(Lost(f"input text {secret} failed"))
    content = b"".join(write_record(r) for r in t.records)
    assert secret.encode() not in content
    step = next(x for x in t.graph().traces[0].transitions if isinstance(x.action, TypeText))
    assert isinstance(step.action, TypeText)
    assert step.action.text == "•" * len(secret)
    assert "redacted" in step.notes and "redacted" in t.graph().captures[step.target].notes


def test_text_that_does_not_read_back_is_noted() -> None:
    field = lines(entry(hint="Title", focused=True))
    t = Transcript(session(steps=99))
    action = typed(t, field)
    t.feed(Performed())
    t.captured(lines(entry("something else", hint="Title", focused=True)), keyboard=True)
    assert "text-not-read-back" in t.graph().traces[0].transitions[-1].notes

    t = Transcript(session(steps=99))
    action = typed(t, field)
    t.feed(Performed())
    t.captured(lines(entry(action.text, hint="Title", focused=True)), keyboard=True)
    assert t.graph().traces[0].transitions[-1].notes == ()


def test_typed_text_that_submits_itself_is_not_noted() -> None:
    t = Transcript(session(steps=99))
    typed(t, lines(entry(hint="Title", focused=True)))
    t.feed(Performed())
    t.captured(DETAIL)
    assert t.graph().traces[0].transitions[-1].notes == ()


def test_a_hit_is_the_node_that_takes_the_gesture() -> None:
    t = Transcript(session())
    action = t.started()
    while not isinstance(action, Tap):
        t.feed(Performed())
        action = t.act(t.captured(LIST))
    t.feed(Performed())
    t.captured(DETAIL)
    step = t.graph().traces[0].transitions[-1]
    assert step.hit is not None and LIST.at(step.hit).clickable


def test_resuming_goes_on_with_a_new_trace_from_a_fresh_capture() -> None:
    t = Transcript(session(steps=4))
    t.started()
    t.feed(Performed())
    t.captured(DETAIL)
    content = b"".join(write_record(r) for r in t.records)  # killed in mid-step: begun, not done
    story = tell_all(read_records(content)[0])
    graph = story.graph()
    again = Transcript(Session.resume(story, graph, steps=4, guard=Guard(), redactor=Redactor(), created="later"))
    again.records = list(read_records(content)[0])
    assert again.feed(Begin()) == [Look(None)], "the data are kept, the phone is looked at first"
    again.captured(LIST)
    whole = again.graph()
    assert [len(x.transitions) for x in whole.traces] == [1, 0]
    assert whole.traces[0].unfinished is not None and whole.traces[0].unfinished.reason == "interrupted"
    assert (whole.traces[1].start, whole.traces[1].start_kind) == ("c3", "kept")
    assert again.subject.story.begun == 3, "the unfinished step counts"


def test_what_was_learnt_before_is_known_after_resuming() -> None:
    t = Transcript(session(steps=30))
    t.started()
    for tree in (DETAIL, LIST, DETAIL, LIST, LIST, DETAIL) * 3:
        t.feed(Performed())
        t.captured(tree)
    story = tell_all(t.records)
    graph = story.graph()
    resumed = Session.resume(story, graph, steps=30, guard=Guard(), redactor=Redactor(), created="later")
    assert resumed.memory.tried == t.subject.memory.tried
    assert resumed.memory.leads == t.subject.memory.leads
    assert resumed.memory.texts == t.subject.memory.texts + isinstance(t.records[-1], BegunRecord) * (
        t.subject.choice is not None and isinstance(t.subject.choice.action, TypeText)
    )


def test_an_app_that_never_comes_back_is_given_up() -> None:
    t = Transcript(session(steps=99))
    t.started()
    commands: list[Command] = []
    elsewhere = lines(text("Other app"))
    other = Hierarchy(tuple(type(w)(w.class_name, package="com.other", bounds=w.bounds) for w in elsewhere.windows))
    actions = []
    for _ in range(30):
        t.feed(Performed())
        t.clock += 1
        commands = t.feed(Captured(Reading(other, PNG, DeviceState("com.other"), True, 1), t.clock))
        if isinstance(commands[0], Stop):
            break
        actions.append(t.act(commands))
    assert isinstance(commands[0], Stop) and commands[0].reason == "gave-up"
    assert OpenApp(APP) in actions and CloseApp(APP) in actions
