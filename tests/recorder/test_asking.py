"""Asking: the way is gone by what widgets are, the action is done where it was meant, and what cannot be reached is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.questions import find_questions
from phoneworld.device.trees_only import TreesOnly
from phoneworld.device.web import WebDevice
from phoneworld.errors import RecordingError
from phoneworld.graph.file import load_graph
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.plan import Plan, Question
from phoneworld.graph.situation import circumstances, deed_of, recognise, scene_of
from phoneworld.testing.groceries import PACKAGE, SIZE, Groceries, Item
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import OpenApp, PressKey, Tap, TypeText
from recorder import run_recording
from recorder.asking import Asking, StartOver
from recorder.run import Recorded
from recorder.session import AppCleared, Begin, ClearApp, Moved, Perform, Performed
from tests.recorder.groceries_phone import GroceriesPhone, glance
from tests.recorder.test_session import Transcript, session
from tests.webapps import NOTES, served


@pytest.fixture(scope="module")
def plan() -> Plan:
    graph, pixels = sample_graph()
    return find_questions(graph, compile_graph(graph, pixels))


def asked(plan: Plan, out: Path, *, steps: int = 200, mix: float = 0.0, phone: GroceriesPhone | None = None, keep: bool = False) -> tuple[Recorded, GroceriesPhone]:
    phone = phone or GroceriesPhone()
    return run_recording(phone, PACKAGE, steps=steps, seed=3, out=out, look=glance, ask=plan, mix=mix, keep=keep), phone


def was_done(graph: StateGraph, plan: Plan, question: Question) -> bool:
    """Whether the recording holds a step that is what the question asks for, in its circumstances."""
    for t in graph.transitions():
        source = graph.captures[t.source]
        sketch = recognise(plan.screens, source)
        if sketch is not None and sketch.id == question.screen:
            scene = scene_of(source, sketch)
            if deed_of(scene, t.action, t.hit) == question.deed and question.given <= circumstances(scene, t.hit):
                return True
    return False


def look(app: Groceries, name: str = "c1") -> Capture:
    return Capture(name, app.tree(), SIZE, state=app.state(0))


def test_asking_alone_asks_every_question_and_stops(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "asked.graph.json"
    done, phone = asked(plan, out)
    answers = done.answers
    assert done.reason == "finished" and answers is not None
    assert (len(answers.answered), answers.not_reached, answers.left) == (len(plan.questions), (), 0)
    graph = load_graph(out)
    assert [q.id for q in plan.questions if not was_done(graph, plan, q)] == []
    assert phone.cleared == len(graph.traces) > 1 and {t.start_kind for t in graph.traces} == {"fresh"}
    assert done.summary.steps < sum(q.cost for q in plan.questions), "questions on one way are asked in one go"


def unknown(plan: Plan) -> set[tuple[str, str, frozenset[str]]]:
    """What was never done, or never so: screen, deed and circumstances."""
    names = {s.id: s.name for s in plan.screens}
    return {(names[q.screen], q.deed, q.given) for q in plan.questions if q.given or q.kind in ("untried", "text", "back", "return")}


def test_an_asked_recording_leaves_less_open(plan: Plan, tmp_path: Path) -> None:
    graph, pixels = sample_graph()
    done, _ = asked(plan, tmp_path / "asked.graph.json")
    joined = replace(
        graph,
        captures={**graph.captures, **{f"a{n}": replace(c, id=f"a{n}") for n, c in done.graph.captures.items()}},
        traces=(
            *graph.traces,
            *(
                replace(
                    t, id=f"a{t.id}", start=f"a{t.start}",
                    transitions=tuple(replace(s, source=f"a{s.source}", target=f"a{s.target}") for s in t.transitions),
                )
                for t in done.graph.traces
            ),
        ),
    )  # fmt: skip
    after = find_questions(joined, compile_graph(joined, pixels))
    assert not unknown(plan) & unknown(after), "what was asked is known"
    assert sum(q.gain for q in after.questions) < sum(q.gain for q in plan.questions)


def test_words_for_questions_are_new_each_time(plan: Plan, tmp_path: Path) -> None:
    blank = next(q for q in plan.questions if q.deed == "type blank EditText#name")
    first = replace(blank.act[0], action=TypeText("new words"), is_fresh=True)
    fresh = [replace(blank, id=name, deed=f"type new {name}", act=(first,), given=frozenset()) for name in ("a", "b")]
    done, _ = asked(replace(plan, questions=tuple(fresh)), tmp_path / "asked.graph.json")
    typed = [t.action.text for t in done.graph.transitions() if isinstance(t.action, TypeText)]
    known = {t.action.text for t in sample_graph()[0].transitions() if isinstance(t.action, TypeText)}
    own = [text for text in typed if text not in known]
    assert done.answers is not None and len(done.answers.answered) == 2
    assert len(own) == len(set(own)) == 2 and "new words" not in own and all(text.strip() for text in own)


def test_half_of_the_steps_are_left_to_chance(plan: Plan, tmp_path: Path) -> None:
    done, _ = asked(plan, tmp_path / "asked.graph.json", steps=40, mix=0.5)
    assert done.summary.steps == 40
    assert done.answers is not None and len(done.answers.answered) > 3
    all_asked, _ = asked(plan, tmp_path / "chance.graph.json", steps=40, mix=1.0)
    assert all_asked.graph.traces[0].start_kind == "fresh" and len(all_asked.graph.traces) == 1, "nothing was asked: nothing was started over"


def test_rows_are_found_by_their_words_where_they_have_moved(plan: Plan) -> None:
    """A recorded step on "Bread" is done on it, though a row has come before it."""
    question = next(q for q in plan.questions if any(s.target and s.target.words == "Bought Apples" for s in q.start.steps))
    step = next(s for s in question.start.steps if s.target and s.target.words == "Bought Apples")
    way = replace(question, start=replace(question.start, steps=(step,)), given=frozenset())
    asking = Asking(replace(plan, questions=(way,)), mix=0.0)
    asking.begin_trace(is_fresh=True)
    moved = Groceries(items=(Item("Pears"), Item("Apples")))
    choice = asking.next(look(moved))
    assert choice is not None and not isinstance(choice, StartOver) and isinstance(choice.action, Tap)
    after = moved.act(choice.action)
    assert [i.bought for i in after.items] == [False, True]


def test_a_screen_that_is_not_the_expected_one_ends_the_way_and_is_said(plan: Plan, tmp_path: Path) -> None:
    far = next(q for q in plan.questions if len(q.start.steps) >= 2 and q.start.steps[1].screen != q.start.steps[0].screen)
    steps = far.start.steps
    wrong = replace(far, start=replace(far.start, steps=(replace(steps[0], action=PressKey("home"), target=None), *steps[1:])))
    done, _ = asked(replace(plan, questions=(wrong,)), tmp_path / "asked.graph.json", steps=20)
    assert done.answers is not None and done.answers.answered == ()
    ((why, lost),) = done.answers.not_reached
    assert why == far.why and lost.startswith("expected ") and "found" in lost
    assert done.reason == "finished"


def test_a_widget_that_is_gone_is_said(plan: Plan, tmp_path: Path) -> None:
    question = next(q for q in plan.questions if q.target is not None and not q.start.steps)
    assert question.target is not None
    lost = replace(question.target, mark="Button#gone")
    gone = replace(question, target=lost, act=(replace(question.act[0], target=lost),), given=frozenset())
    done, _ = asked(replace(plan, questions=(gone,)), tmp_path / "asked.graph.json", steps=20)
    assert done.answers is not None and "Button#gone" in done.answers.not_reached[0][1]


def test_kept_data_are_not_cleared_to_ask(plan: Plan, tmp_path: Path) -> None:
    done, phone = asked(plan, tmp_path / "asked.graph.json", steps=60, keep=True)
    assert phone.cleared == 0 and len(done.graph.traces) == 1
    assert done.answers is not None and done.answers.answered, "what can be asked where the app stands is asked"


def test_questions_about_another_app_are_refused(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="not about"):
        asked(replace(plan, package="org.example.other"), tmp_path / "asked.graph.json")


def test_what_is_unsafe_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    phone = GroceriesPhone()
    done = run_recording(phone, PACKAGE, steps=120, out=tmp_path / "asked.graph.json", look=glance, ask=plan, mix=0.0, avoid=["id=save"])
    assert done.answers is not None
    assert any("left alone" in why for _, why in done.answers.not_reached)
    for t in done.graph.transitions():
        assert t.hit is None or not done.graph.captures[t.source].hierarchy.at(t.hit).resource_id.endswith(":id/save")


def test_a_question_that_cannot_be_asked_is_not_the_last_one(plan: Plan, tmp_path: Path) -> None:
    """What is given up on this screen leaves the others: asking alone ends where nothing is left."""
    phone = GroceriesPhone()
    done = run_recording(phone, PACKAGE, steps=400, out=tmp_path / "asked.graph.json", look=glance, ask=plan, mix=0.0, avoid=["id=add", "id=name"])
    assert done.answers is not None
    assert len(done.answers.not_reached) > 2 and done.answers.left == 0


def test_a_recording_goes_on_by_asking(plan: Plan, tmp_path: Path) -> None:
    """Record, build, ask, record: the same journal, new traces, the same graph file."""
    out = tmp_path / "app.graph.json"
    phone = GroceriesPhone()
    first = run_recording(phone, PACKAGE, steps=15, seed=3, out=out, look=glance)
    questions = find_questions(first.graph, compile_graph(first.graph))
    assert questions.questions
    done = run_recording(phone, PACKAGE, steps=75, seed=3, out=out, look=glance, resume=True, ask=questions)
    assert done.answers is not None and len(done.answers.answered) >= 5
    assert [t.transitions for t in done.graph.traces[:1]] == [t.transitions for t in first.graph.traces]
    assert any(t.start_kind == "fresh" for t in done.graph.traces[1:])
    compile_graph(done.graph)


def test_a_step_of_a_question_is_done_again_where_the_screen_moved_first(plan: Plan) -> None:
    subject = session(steps=9)
    subject.header = subject.header.model_copy(update={"app": subject.header.app.model_copy(update={"package": PACKAGE})})
    subject.asking = Asking(plan, mix=0.0)
    t = Transcript(subject)
    assert t.feed(Begin()) == [ClearApp(PACKAGE)]
    assert t.feed(AppCleared()) == [Perform(OpenApp(PACKAGE))]
    t.feed(Performed())
    tree = Groceries().tree()
    first = t.act(t.captured(tree))
    (wait,) = t.feed(Moved())
    assert isinstance(wait, Perform)
    t.feed(Performed())
    assert t.act(t.captured(tree)) == first


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(NOTES) as address:
        yield address


def test_a_web_page_is_recorded_built_asked_and_built_again(url: str, tmp_path: Path) -> None:
    out = tmp_path / "notes.graph.json"
    with WebDevice(url, clock_ms=1_790_000_000_000) as device:
        phone, app = TreesOnly(device), device.apps()[0].package
        first = run_recording(phone, app, steps=10, seed=2, out=out)
        questions = find_questions(first.graph, compile_graph(first.graph))
        done = run_recording(phone, app, steps=24, seed=2, out=out, resume=True, ask=questions, mix=0.0)
    assert done.answers is not None and len(done.answers.answered) >= 2
    assert load_graph(out) == done.graph and len(done.graph.traces) >= 2
    settled = [q for q in questions.questions if was_done(done.graph, questions, q) and not was_done(first.graph, questions, q)]
    assert len(settled) >= 2
    again = compile_graph(done.graph)
    assert not again.replay.faults
