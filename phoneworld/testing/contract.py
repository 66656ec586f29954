"""The environment contract as a suite of tests: implement one factory, inherit the rest.

    class TestMyEnv(EnvContract):
        def make_env(self, max_steps=None):
            return MyEnv(..., observe=ObservationSpec(tree=True, text=True), max_steps=max_steps)

Every environment of PhoneWorld passes it, and so should one that puts a PhoneWorld phone behind another line.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from phoneworld.env.env import Env
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.outcome import INFO_KEYS
from phoneworld.errors import ObservationError, SessionError
from phoneworld.testing.actions import NOT_ACTIONS, edge_points, go_on, moment, play, random_action, random_episode
from phoneworld.ui.action import Answer, Ask, Finish, Tap
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy


class EnvContract:
    """Inherit from it and implement `make_env`; the environment must observe tree and text.

    `steps` is the length of the random episodes, `seeds` which ones; a slow face may lower both. `packages` are apps that
    the random actions open and close.
    """

    steps: ClassVar[int] = 40
    seeds: ClassVar[tuple[int, ...]] = (0, 1, 2)
    packages: ClassVar[tuple[str, ...]] = ()

    def make_env(self, max_steps: int | None = None) -> Env[Any]:
        """A new environment, not yet reset."""
        raise NotImplementedError("a contract test makes its environment in make_env")

    @pytest.fixture
    def env(self) -> Iterator[Env[Any]]:
        env = self.make_env()
        yield env
        env.close()

    # Beginning

    def test_two_resets_show_the_same(self, env: Env[Any]) -> None:
        first, info = env.reset(seed=5)
        again, info_again = env.reset(seed=5)
        assert moment(first, info) == moment(again, info_again)
        assert first == again

    def test_a_reset_forgets_the_episode_before(self, env: Env[Any]) -> None:
        fresh = moment(*env.reset(seed=5))
        random_episode(env, 5, self.steps, self.packages)
        assert moment(*env.reset(seed=5)) == fresh

    def test_a_reset_without_a_seed_keeps_the_last_one(self, env: Env[Any]) -> None:
        first = env.reset(seed=9)[1]
        again = env.reset()[1]
        assert again["seed"] == first["seed"] == 9

    def test_no_step_before_the_first_reset(self, env: Env[Any]) -> None:
        with pytest.raises(SessionError, match="no episode"):
            env.step(Tap(1, 1))

    # Acting

    def test_the_same_seed_and_actions_give_the_same_episode_to_the_byte(self, env: Env[Any]) -> None:
        for seed in self.seeds:
            script = random_episode(env, seed, self.steps, self.packages)
            assert play(env, script, seed) == play(env, script, seed), f"seed {seed}"

    def test_every_step_tells_the_same_keys_and_types(self, env: Env[Any]) -> None:
        rng = random.Random(1)
        observation, info = env.reset(seed=1)
        assert set(info) == INFO_KEYS
        for _ in range(self.steps):
            observation, reward, terminated, truncated, info = env.step(random_action(rng, observation, self.packages))
            assert set(info) == INFO_KEYS
            assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
            assert isinstance(info["state_id"], str) and info["error_class"] == ("none" if info["invalid_action"] is None else "agent")

    def test_any_action_has_an_outcome(self, env: Env[Any]) -> None:
        for seed in self.seeds:
            rng = random.Random(seed)
            observation, _ = env.reset(seed)
            for number in range(1, self.steps + 1):
                observation, _, terminated, truncated, info = env.step(random_action(rng, observation, self.packages))
                assert not terminated and not truncated and info["step"] == number
                assert observation.tree.windows, "a phone always shows something"

    def test_what_is_no_action_changes_nothing_and_says_why(self, env: Env[Any]) -> None:
        first, info = env.reset(seed=0)
        for number, given in enumerate(NOT_ACTIONS, 1):
            after, reward, terminated, truncated, told = env.step(given)
            assert told["invalid_action"], f"{given!r} was taken for an action"
            assert (reward, terminated, truncated) == (0.0, False, False), repr(given)
            assert told["step"] == number, "a refused action costs a step of the budget"
            assert told["state_id"] == info["state_id"] and after == first, f"{given!r} changed something"

    def test_the_outermost_pixels_are_on_the_screen_and_the_next_ones_are_not(self, env: Env[Any]) -> None:
        inside, outside = edge_points(env.reset(seed=0)[0].size)
        for point in inside:
            env.reset(seed=0)
            assert env.step(Tap(point.x, point.y))[4]["invalid_action"] is None, str(point)
        for point in outside:
            before = env.reset(seed=0)[0]
            after, *_, info = env.step(Tap(point.x, point.y))
            assert info["invalid_action"] and after == before, str(point)

    def test_an_action_is_the_same_as_its_json_in_any_space(self, env: Env[Any]) -> None:
        size = env.reset(seed=0)[0].size
        x, y = size.width // 2, size.height // 7
        spaces: tuple[dict[str, Any], ...] = (
            {"x": x, "y": y},
            {"x": (x + 0.5) / size.width, "y": (y + 0.5) / size.height, "space": "unit"},
            {"x": (x + 0.5) / size.width * 1000, "y": (y + 0.5) / size.height * 1000, "space": "thousand"},
        )
        wanted = play(env, [Tap(x, y)], 0)
        for place in spaces:
            assert play(env, [{"kind": "tap", **place}], 0) == wanted, str(place)

    # Ending

    def test_finish_ends_the_episode(self, env: Env[Any]) -> None:
        env.reset(seed=0)
        *_, terminated, truncated, info = env.step(Finish("infeasible"))
        assert (terminated, truncated) == (True, False)
        assert (info["termination"], info["status"], info["answer"]) == ("finish", "infeasible", None)

    def test_an_answer_ends_the_episode_and_a_question_does_not(self, env: Env[Any]) -> None:
        env.reset(seed=0)
        *_, terminated, truncated, info = env.step(Ask("which one?"))
        assert (terminated, truncated, info["termination"]) == (False, False, None)
        *_, terminated, truncated, info = env.step(Answer("42 ✓"))
        assert (terminated, truncated, info["termination"], info["answer"]) == (True, False, "answer", "42 ✓")

    def test_after_the_end_nothing_happens_until_a_reset(self, env: Env[Any]) -> None:
        first = moment(*env.reset(seed=0))
        end = env.step(Finish())
        for _ in range(2):
            after, reward, terminated, truncated, info = env.step(Tap(540, 300))
            assert info["invalid_action"] and info["step"] == end[4]["step"] and info["state_id"] == end[4]["state_id"]
            assert (reward, terminated, truncated) == (0.0, True, False)
            assert after == end[0]
        assert moment(*env.reset(seed=0)) == first

    def test_the_budget_truncates(self) -> None:
        env = self.make_env(max_steps=3)
        try:
            env.reset(seed=0)
            ends = [env.step(action)[2:4] for action in (Tap(1, 1), {"kind": "fly"}, Tap(1, 1), Tap(1, 1))]
            assert ends == [(False, False), (False, False), (False, True), (False, True)]
            env.reset(seed=0)
            env.step(Tap(1, 1))
            env.step(Tap(1, 1))
            *_, terminated, truncated, info = env.step(Finish())
            assert (terminated, truncated, info["termination"]) == (True, False, "finish"), (
                "an end by the agent comes first"
            )
        finally:
            env.close()

    # Going back

    def test_a_snapshot_anywhere_gives_the_same_future(self, env: Env[Any]) -> None:
        self._need_snapshots(env)
        script = random_episode(env, 3, self.steps, self.packages)
        for at in (0, len(script) // 3, len(script) - 2):
            play(env, script[:at], 3)
            kept = env.snapshot()
            future = go_on(env, script[at:])
            env.restore(kept)
            assert go_on(env, script[at:]) == future, f"after {at} steps"
            env.restore(kept)
            assert go_on(env, script[at:]) == future, "a snapshot can be used again"

    def test_a_restore_shows_what_was_shown_and_a_reset_to_it_starts_a_new_budget(self, env: Env[Any]) -> None:
        self._need_snapshots(env)
        script = random_episode(env, 4, self.steps, self.packages)
        play(env, script[:5], 4)
        observation, *_, info = env.step(script[5])
        kept = env.snapshot()
        go_on(env, script[6:])
        shown, told = env.restore(kept)
        assert shown.xml == observation.xml and told["state_id"] == info["state_id"] and told["step"] == info["step"]
        shown, told = env.reset(seed=4, snapshot=kept)
        assert shown.xml == observation.xml and told["state_id"] == info["state_id"] and told["step"] == 0

    def _need_snapshots(self, env: Env[Any]) -> None:
        if not env.supports_snapshots:
            pytest.skip("this phone cannot be put back to a snapshot")

    # Observing

    def test_a_tree_survives_its_xml(self, env: Env[Any]) -> None:
        rng = random.Random(2)
        observation, _ = env.reset(seed=2)
        for _ in range(self.steps):
            assert write_hierarchy(parse_hierarchy(observation.xml)) == observation.xml
            observation = env.step(random_action(rng, observation, self.packages))[0]

    def test_elements_are_numbered_and_a_touch_finds_them(self, env: Env[Any]) -> None:
        rng = random.Random(3)
        observation, _ = env.reset(seed=3)
        for _ in range(self.steps):
            for number, element in enumerate(observation.elements):
                assert element.index == number
                assert element.line() in observation.text.split("\n")
                hit = observation.tree.hit_test(element.point, element.gestures[0], observation.size)
                assert hit is not None and hit.target == element.path, element.line()
            observation = env.step(random_action(rng, observation, self.packages))[0]

    def test_an_observation_stays_what_it_was(self, env: Env[Any]) -> None:
        rng = random.Random(4)
        observation, _ = env.reset(seed=4)
        kept = [(observation, observation.xml, observation.device)]
        for _ in range(self.steps):
            observation = env.step(random_action(rng, observation, self.packages))[0]
            kept.append((observation, observation.xml, observation.device))
        assert all(o.xml == xml and o.device == device for o, xml, device in kept)

    def test_what_is_not_observed_cannot_be_read(self, env: Env[Any]) -> None:
        observation = env.reset(seed=0)[0].with_spec(ObservationSpec(tree=False, text=False))
        for part in ("tree", "xml", "text", "elements", "screenshot", "png"):
            with pytest.raises(ObservationError, match="not in what this environment observes"):
                getattr(observation, part)
        assert set(observation.as_dict()) == {"instruction", "device", "size"}
