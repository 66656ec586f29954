"""The environment as Gymnasium has it."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation

from phoneworld.env.gym import ENV_ID, GymPhoneEnv
from phoneworld.env.observation import Observation
from phoneworld.env.spaces import KINDS, PLACES, UnicodeText, action_of
from phoneworld.errors import ActionError, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.ui.action import Clear, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Size
from tests.shared import CASES, needs_shared

SIZE = Size(1080, 2400)


@pytest.fixture
def env(bundle: Bundle) -> Iterator[Any]:
    env = gymnasium.make(ENV_ID, bundle=str(bundle.path))
    yield env
    env.close()


@pytest.mark.parametrize("options", [{}, {"actions": "text"}, {"max_nodes": 3, "text_limit": 20}])
def test_it_passes_gymnasiums_own_check_without_a_warning(bundle: Bundle, options: dict[str, Any]) -> None:
    env = gymnasium.make(ENV_ID, bundle=str(bundle.path), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_it_passes_the_check_with_pictures_and_rendering(bundle: Bundle) -> None:
    env = gymnasium.make(ENV_ID, bundle=str(bundle.path), screenshot=(200, 90))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    assert env.reset(seed=1)[0]["screenshot"].shape == (200, 90, 3)
    env.close()


def test_gymnasium_finds_it_by_its_module(bundle: Bundle) -> None:
    env = gymnasium.make(f"phoneworld.env.gym:{ENV_ID}", bundle=str(bundle.path))
    assert isinstance(env.unwrapped, GymPhoneEnv)


def test_spaces_pickle_and_copy(env: Any) -> None:
    for space in (env.observation_space, env.action_space, UnicodeText(50)):
        packed = pickle.dumps(space)
        assert pickle.loads(packed) == space == copy.deepcopy(space)
        assert len(packed) < 20_000, "no list of all characters in it"


def test_arrays_and_elements_agree(env: Any) -> None:
    arrays, info = env.reset(seed=1)
    observation: Observation = info["observation"]
    assert arrays["text"] == observation.text
    assert arrays["node_mask"].sum() == len(observation.elements)
    for element, bounds, flags in zip(observation.elements, arrays["node_bounds"], arrays["node_flags"], strict=False):
        assert np.allclose(
            bounds * (1080, 2400, 1080, 2400),
            [element.bounds.left, element.bounds.top, element.bounds.right, element.bounds.bottom],
            atol=0.01,
        )
        assert bool(flags[0]) == ("tap" in element.gestures)


def test_every_sample_is_an_action(bundle: Bundle) -> None:
    for actions in ("discrete", "text"):
        env = gymnasium.make(ENV_ID, bundle=str(bundle.path), actions=actions)
        env.action_space.seed(5)
        env.reset(seed=5)
        for _ in range(60):
            *_, terminated, truncated, info = env.step(env.action_space.sample())
            assert info["invalid_action"] is None
            if terminated or truncated:
                env.reset()


def test_what_is_no_action_is_refused_and_says_why(env: Any) -> None:
    env.reset()
    for given in (3, (1, 2), [0, PLACES, 0, 0], [len(KINDS), 0, 0, 0], [0, -1, 0, 0], {"kind": 0}, "tap"):
        info = env.unwrapped.step(given)[4]
        assert info["invalid_action"], str(given)


def test_our_own_actions_are_taken_too(env: Any) -> None:
    env.reset()
    assert env.unwrapped.step(Tap(90, 313))[4]["changed"]
    assert env.unwrapped.step({"kind": "tap", "x": 90, "y": 313})[4]["changed"]


def test_thousandths_cover_the_screen_to_its_edges() -> None:
    def at(x: int, y: int) -> Tap:
        action = action_of((0, x, y, 0), SIZE, ())
        assert isinstance(action, Tap)
        return action

    assert at(0, 0) == Tap(0, 1) and at(999, 999) == Tap(1079, 2398)
    assert len({at(x, 0).x for x in range(PLACES)}) == PLACES
    small = Size(7, 5)
    assert {action_of((0, x, 0, 0), small, ()).x for x in range(PLACES)} == set(range(7))  # type: ignore[union-attr]


def test_kinds_mean_what_they_say() -> None:
    texts = ("", "milk")
    kind = KINDS.index
    assert action_of((kind("type"), 0, 0, 1), SIZE, texts) == TypeText("milk")
    assert action_of((kind("type"), 500, 500, 1), SIZE, texts) == TypeText("milk", 540, 1201)
    assert action_of((kind("clear"), 0, 0, 0), SIZE, texts) == Clear()
    assert action_of((kind("swipe_up"), 500, 500, 0), SIZE, texts) == Swipe(540, 1201, 540, 241)
    assert action_of((kind("swipe_left"), 0, 0, 0), SIZE, texts) == Swipe(0, 1, 0, 1)
    with pytest.raises(ActionError, match="kind, x, y, text"):
        action_of({"kind": 0, "x": 0}, SIZE, texts)


def test_masks_allow_what_there_is_to_do(env: Any) -> None:
    env.reset(seed=1)
    mask = env.unwrapped.action_masks()
    assert mask.dtype == np.bool_ and len(mask) == int(env.action_space.nvec.sum())
    kinds = dict(zip(KINDS, mask, strict=False))
    assert kinds["tap"] and kinds["swipe_up"] and not kinds["type"] and not kinds["enter"] and kinds["finish"]
    form = env.unwrapped.step(Tap(950, 2270))[4]["observation"]
    assert "field" in form.text
    kinds = dict(zip(KINDS, env.unwrapped.action_masks(), strict=False))
    assert kinds["type"] and kinds["clear"] and not kinds["swipe_up"]


def test_a_masked_tap_reaches_every_element(env: Any) -> None:
    _, info = env.reset(seed=1)
    mask = env.unwrapped.action_masks()
    xs, ys = mask[len(KINDS) :][:PLACES], mask[len(KINDS) + PLACES :][:PLACES]
    observation = info["observation"]
    for element in observation.elements:
        reached = [
            hit.target
            for x in np.flatnonzero(xs)
            for y in np.flatnonzero(ys)
            if (tap := action_of((0, x, y, 0), SIZE, ()))
            and isinstance(tap, Tap)
            and (hit := observation.tree.hit_test(_point(tap), element.gestures[0], SIZE)) is not None
        ]
        assert element.path in reached, element.line()


def _point(tap: Tap) -> Any:
    from phoneworld.ui.geometry import Point

    return Point(tap.x, tap.y)


def test_vectorised_and_flattened_it_works_with_any_text(bundle: Bundle) -> None:
    vector = gymnasium.make_vec(ENV_ID, num_envs=2, vectorization_mode="sync", bundle=str(bundle.path))
    arrays, _ = vector.reset(seed=1)
    assert arrays["node_bounds"].shape == (2, 64, 4) and "日本茶" in arrays["text"][0]
    vector.step(vector.action_space.sample())
    vector.close()
    flat = FlattenObservation(gymnasium.make(ENV_ID, bundle=str(bundle.path), text_limit=500))
    arrays, _ = flat.reset(seed=1)
    back = spaces.unflatten(flat.unwrapped.observation_space, arrays)
    assert "日本茶 🍵" in back["text"]
    flat.close()


def test_options_that_do_not_exist_are_refused(env: Any, bundle: Bundle) -> None:
    with pytest.raises(SessionError, match="no option speed"):
        env.unwrapped.reset(options={"speed": 2})
    with pytest.raises(SessionError, match="discrete or text"):
        GymPhoneEnv(bundle, actions="any")
    env.reset(options={"start": "t2"})


@needs_shared
def test_text_of_any_kind_is_in_its_space() -> None:
    case = json.loads((CASES / "59-obs-text.json").read_text())
    space = UnicodeText(32_768)
    for text in case["texts"]:
        made = "a" * 20_000 if text.startswith("GENERATE") else text
        assert space.contains(made) and made in space
        assert spaces.unflatten(space, spaces.flatten(space, made)) == made
    assert not space.contains("a" * 32_769) and not space.contains(None)
    space.seed(1)
    assert all(space.contains(space.sample()) for _ in range(50))
