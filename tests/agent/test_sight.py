"""What a policy sees of a step, and that what it can choose means what it says."""

from __future__ import annotations

import numpy as np
import pytest

from phoneworld.agent.screen import ANSWER, TYPE, VERBS, screen_of
from phoneworld.agent.sight import Choice, Memory
from phoneworld.env.observation import Observation, ObservationSpec, Reading
from phoneworld.ui.action import Answer, Drag, Finish, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from tests.agent.looks import first_look
from tests.env.shop_phone import CHEAP, shop_env

BACK = VERBS.index("back")


def test_every_choice_means_an_action_that_means_the_choice() -> None:
    _, seen = first_look()
    offered = [(int(t), int(v)) for t, v in np.argwhere(seen.sight.verbs)]
    assert {VERBS[v] for _, v in offered} >= {"tap", "long_press", "type", "back", "enter", "wait", "finish", "answer"}
    for token, verb in offered:
        choice = Choice(token, verb, 0 if verb in (TYPE, ANSWER) else -1)
        assert seen.choice(seen.action(choice)) == choice


def test_every_action_that_is_offered_is_taken_by_the_phone() -> None:
    env, seen = first_look()
    for token, verb in np.argwhere(seen.sight.verbs):
        env.reset(0, task="shop/buy-v1")
        *_, info = env.step(seen.action(Choice(int(token), int(verb), 0 if verb in (TYPE, ANSWER) else -1)))
        assert info["invalid_action"] is None


def test_a_touch_anywhere_on_a_thing_is_the_choice_of_it() -> None:
    _, seen = first_look()
    bread = seen.choice(Tap(60, 181))
    assert bread is not None and bread == seen.choice(Tap(355, 199)) and "Bread" in str(seen.screen.things[bread.token].key)
    assert seen.choice(LongPress(100, 180)) == Choice(bread.token, VERBS.index("long_press"))


@pytest.mark.parametrize("action", [Drag(1, 1, 5, 5), OpenApp("org.example.shop"), Finish("failure"), PressKey("home"), Tap(359, 799), Swipe(10, 300, 300, 300)])
def test_what_the_policy_cannot_do_is_no_choice(action: object) -> None:
    _, seen = first_look()
    assert seen.choice(action) is None  # type: ignore[arg-type]


def test_words_are_copied_from_instruction_and_screen_and_numbers_are_known() -> None:
    env, seen = first_look()
    instruction = env.instruction
    assert {"Bread", "12", "I want" if "I want" in instruction else "into the cart"} <= {*seen.texts}
    typed, told = seen.choice(TypeText("Bread", 100, 20)), seen.choice(Answer("12"))
    assert typed is not None and seen.texts[typed.source] == "Bread" and told is not None and seen.texts[told.source] == "12"
    assert seen.choice(TypeText("Bre ad", 100, 20)) is None


def test_equal_words_match_wherever_they_stand() -> None:
    env = shop_env()
    seed = next(s for s in range(50) if "Grapes" in env.reset(s, task="shop/buy-v1")[0].instruction)
    observation, _ = env.reset(seed, task="shop/buy-v1")
    seen = Memory().look(screen_of(observation), observation.instruction)
    sight, things = seen.sight, seen.screen.things
    said = np.flatnonzero(sight.kinds == 1)
    word = next(i for i in said if sight.match[i, : len(things)].any())
    matched = [things[i] for i in np.flatnonzero(sight.match[word, : len(things)])]
    assert matched and all("Grapes" in str(t.key) or t.near for t in matched)
    assert (sight.match == sight.match.T).all() and (sight.match.diagonal()[sight.word_counts > 0] >= 254).all()


def test_an_episode_remembers_what_it_did_and_read() -> None:
    env, memory = shop_env(), Memory()
    observation, _ = env.reset(0, task="shop/cheap-v1")
    seen = memory.look(screen_of(observation), observation.instruction)
    assert not (seen.sight.kinds == 2).any() and not (seen.sight.kinds == 3).any()
    for action in (CHEAP, Tap(300, 60)):
        choice = seen.choice(action)
        assert choice is not None
        memory.did(seen, choice)
        observation, *_ = env.step(seen.action(choice))
        seen = memory.look(screen_of(observation), observation.instruction)
    assert [verb for verb, _, _ in memory.done] == [0, 0] and all(changed for _, _, changed in memory.done)
    assert (seen.sight.kinds == 2).sum() == 2
    shown = {thing.text for thing in seen.screen.things}
    assert "Bread" in seen.texts and "Bread" not in shown, "read on the list, and copied in the cart"


def test_a_look_of_one_state_is_worked_out_once() -> None:
    env = shop_env()
    first, _ = env.reset(0, task="shop/buy-v1")
    again, _ = env.reset(1, task="shop/buy-v1")
    assert screen_of(first) is screen_of(again)

@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Serving bowl $38.00 ★ 4.5", ["$38.00", "4.5"]),
        ("7 Feb 2026 · Delivered", ["7 Feb 2026", "Delivered", "7", "2026"]),
        ("Hello", []),
        ("12 €", []),
    ],
)
def test_parts_of_a_longer_text_and_its_words_with_digits_can_be_copied_alone(text: str, pieces: list[str]) -> None:
    label = Node("android.widget.TextView", text=text, bounds=Bounds(0, 0, 100, 50))
    tree = Hierarchy((Node("android.widget.FrameLayout", bounds=Bounds(0, 0, 100, 200), children=(label,)),))
    reading = Reading(lambda: tree, lambda kind, size: None)
    observation = Observation(ObservationSpec(), "", lambda: (DeviceState("p", ".A"), Size(100, 200), reading))
    assert [thing.text for thing in screen_of(observation).things] == [text, *pieces]
