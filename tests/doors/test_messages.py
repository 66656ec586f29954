"""The environment as a conversation, in every dialect; and that the loops of several trainers reduce to it."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from typing import Any

import pytest

from phoneworld.dialects.families import DIALECTS
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Phones
from phoneworld.errors import SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.serve.doors.messages import MessageEnv, Turn
from phoneworld.testing.samples import sample_bundle
from phoneworld.ui.action import Action, Finish, Tap
from tests.env.shop_phone import CART, CHEAP
from tests.loops import in_a_loop


def talk(env: MessageEnv, task: str, actions: tuple[Action, ...]) -> tuple[list[dict[str, Any]], list[Turn]]:
    """A whole conversation, said in the dialect of the env."""

    async def go() -> tuple[list[dict[str, Any]], list[Turn]]:
        messages = await env.reset(task=task, seed=0)
        inner = env._env
        assert inner is not None
        turns = []
        for action in actions:
            text = env.dialect.emit(action, env._screen(inner.observation()), thought="So it is.", tree=inner.observation().tree)
            turns.append(await env.step(text))
        await env.close()
        await env.close()
        return messages, turns

    return in_a_loop(go())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_task_is_done_by_talking_in_any_dialect(phones: Phones, dialect: str) -> None:
    messages, turns = talk(MessageEnv(phones, dialect=dialect), "shop/cheap-v1", (CHEAP, CART, Finish()))
    assert [m["role"] for m in messages] == ["system", "user"]
    assert "Show what is cheap only." in messages[1]["content"] and "switch" in messages[1]["content"]
    assert [(t.reward, t.done) for t in turns] == [(0.0, False), (0.0, False), (1.0, True)], turns[-1].info
    assert "Empty" in turns[1].messages[0]["content"] and turns[2].info["termination"] == "success"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_how_to_speak_is_said_in_words_that_are_understood(phones: Phones, dialect: str) -> None:
    from phoneworld.dialects.dialect import Screen
    from phoneworld.dialects.speaking import how_to_speak
    from tests.sim.shop import SIZE

    told = how_to_speak(DIALECTS[dialect], Screen(SIZE)).split("\nTo ")
    assert len(told) >= 7
    for part in told[1:]:
        name, _, example = part.partition(":\n")
        assert DIALECTS[dialect].parse(example, Screen(SIZE)).actions, name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_a_picture_the_words_say_where_things_are(phones: Phones, dialect: str) -> None:
    """A model that only reads can touch what it reads of, and no other place is said."""

    async def go() -> tuple[str, str]:
        env = MessageEnv(phones, dialect=dialect)
        told = (await env.reset(task="shop/cheap-v1"))[1]["content"]
        inner = env._env
        assert inner is not None
        (line,) = (line for line in told.split("\n") if 'switch "Cheap"' in line)
        x, y = json.loads(line[line.index(" at [") + 4 :])
        place = env.dialect.coordinates.read(x, y, inner.observation().size)
        turn = await env.step(env.dialect.emit(Tap(place.x, place.y), env._screen(inner.observation())))
        await env.close()
        return told, turn.messages[0]["content"]

    told, after = in_a_loop(go())
    assert 'switch "Cheap" on' in after
    numbered = [line for line in told.split("\n") if line[:1].isdigit()]
    assert len(numbered) > 3 and all(line.endswith("]") and " at [" in line for line in numbered)
    assert not any(" at [" in line for line in told.split("\n") if line not in numbered)


def test_nonsense_costs_a_step_and_is_answered(phones: Phones) -> None:
    async def go() -> Turn:
        env = MessageEnv(phones)
        with pytest.raises(SessionError, match="no episode"):
            await env.step("x")
        await env.reset(task="shop/cheap-v1")
        turn = await env.step("I would rather not.")
        await env.close()
        return turn

    turn = in_a_loop(go())
    assert not turn.done and turn.info["step"] == 1 and turn.info["error_class"] == "agent"
    assert "no tool call" in turn.messages[0]["content"] and "for example" in turn.messages[0]["content"]


def test_a_text_with_two_actions_is_two_steps(phones: Phones) -> None:
    async def go() -> Turn:
        env = MessageEnv(phones, dialect="doubao")
        await env.reset(task="shop/cheap-v1")
        turn = await env.step("Thought: both\nAction: click(point='<point>833 25</point>')\n\nfinished(content='')")
        await env.close()
        return turn

    turn = in_a_loop(go())
    assert turn.done and turn.info["step"] == 2 and turn.info["termination"] == "failed" and turn.messages == []


def test_pictures_come_as_data_addresses_or_bytes(tmp_path: Any) -> None:
    bundle: Bundle = sample_bundle(tmp_path / "b")

    def make() -> PhoneEnv:
        return PhoneEnv(bundle, observe=ObservationSpec(screenshot="png", text=False, scale=0.25))

    async def first(images: Any) -> Any:
        env = MessageEnv(make, images=images)
        messages = await env.reset()
        await env.close()
        return messages[1]["content"][0]

    data = in_a_loop(first("data"))["image_url"]["url"]
    assert base64.b64decode(data.removeprefix("data:image/png;base64,")) == in_a_loop(first("png"))["image"]
    with pytest.raises(SessionError):
        MessageEnv(make, images="gif")  # type: ignore[arg-type]


def test_many_conversations_go_on_at_once(phones: Phones) -> None:
    async def one(seed: int) -> tuple[str, float]:
        env = MessageEnv(phones)
        messages = await env.reset(task="shop/buy-v1", seed=seed)
        inner = env._env
        assert inner is not None
        await env.step(env.dialect.emit(Tap(300, 60), env._screen(inner.observation())))
        turn = await env.step(env.dialect.emit(Finish(), env._screen(inner.observation())))
        await env.close()
        return messages[1]["content"].split("\n")[0], turn.reward

    async def all_of_them() -> list[tuple[str, float]]:
        return await asyncio.gather(*(one(seed) for seed in range(6)))

    told = in_a_loop(all_of_them())
    assert told == [in_a_loop(one(seed)) for seed in range(6)] and not any(math.isnan(r) for _, r in told)
