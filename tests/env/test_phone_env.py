"""PhoneEnv beyond the contract: forks, starts, rewards, pictures, what a state's name depends on."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from immutables import Map

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.policy import RandomPolicy
from phoneworld.env.state_id import StateNamer
from phoneworld.errors import ObservationError, ProgramError, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.testing.groceries import PACKAGE, SIZE
from phoneworld.testing.samples import sample_graph, sample_program
from phoneworld.ui.action import Action, Finish, PressKey, Tap, Wait

BOX = Tap(90, 313)


@pytest.fixture
def env(bundle: Bundle) -> PhoneEnv:
    env = PhoneEnv(bundle)
    env.reset(seed=0)
    return env


def test_forks_stand_where_the_original_stands_and_go_their_own_ways(env: PhoneEnv) -> None:
    env.step(BOX)
    one, other = env.fork(2)
    assert one.steps == 1 and one.state is env.state
    moved = one.step(BOX)[4]["state_id"]
    still = other.step(Wait())[4]["state_id"]
    assert moved != still == env.step(Wait())[4]["state_id"]


def test_a_fork_can_be_closed_without_the_original(env: PhoneEnv) -> None:
    (twin,) = env.fork(1)
    twin.close()
    assert env.step(BOX)[4]["changed"]


def test_a_reset_to_a_named_start(env: PhoneEnv) -> None:
    assert env.starts() == ("t1", "t2", "t3")
    assert env.reset(start="t2")[1]["state_id"]
    with pytest.raises(SessionError, match="no start 'nowhere'"):
        env.reset(start="nowhere")


def test_the_reward_sees_the_states_around_the_action_and_only_valid_ones(bundle: Bundle) -> None:
    seen: list[tuple[int, Action, int]] = []

    def reward(before: PhoneState, action: Action, after: PhoneState) -> float:
        seen.append((before.steps, action, after.steps))
        return 0.5

    env = PhoneEnv(bundle, reward=reward)
    env.reset()
    assert [env.step(a)[1] for a in (BOX, {"kind": "fly"}, Finish(), BOX)] == [0.5, 0.0, 0.5, 0.0]
    assert seen == [(0, BOX, 1), (1, Finish(), 2)]


def test_the_evidence_of_a_recorded_step_names_its_rule(env: PhoneEnv) -> None:
    info = env.step(BOX)[4]
    assert info["evidence"] == "recorded" and info["rules"]
    assert env.step(Tap(600, 100))[4]["evidence"] == "assumed"


def test_numbers_of_numpy_are_numbers(env: PhoneEnv) -> None:
    wanted = env.step(BOX)[4]["state_id"]
    for action in (Tap(np.int64(90), np.int32(313)), {"kind": "tap", "x": np.int64(90), "y": np.float32(313)}):
        env.reset(seed=0)
        info = env.step(action)[4]
        assert info["invalid_action"] is None and info["state_id"] == wanted


def test_a_snapshot_of_another_phone_is_refused(env: PhoneEnv) -> None:
    kept = env.snapshot()
    with pytest.raises(SessionError, match="PhoneState"):
        env.restore(replace(kept, phone="snapshot-1"))
    foreign = kept.phone._replace(apps=Map({"com.other": kept.phone.apps[PACKAGE]}))
    with pytest.raises(ProgramError, match="other apps"):
        env.restore(replace(kept, phone=foreign))


def test_a_budget_of_nothing_is_refused(bundle: Bundle) -> None:
    with pytest.raises(SessionError, match="at least 1"):
        PhoneEnv(bundle, max_steps=0)


# Names of states


def test_the_name_of_a_state_is_the_same_in_another_process(bundle: Bundle) -> None:
    env = PhoneEnv(bundle)
    env.reset(seed=3)
    name = env.step(BOX)[4]["state_id"]
    code = (
        "from phoneworld.env.phone_env import PhoneEnv; from phoneworld.ui.action import Tap;"
        f"env = PhoneEnv({str(bundle.path)!r}); env.reset(seed=3); print(env.step(Tap(90, 313))[4]['state_id'])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PYTHONHASHSEED": "77"},
    )
    assert told.stdout.strip() == name


def test_the_name_of_a_state_tells_what_matters_and_nothing_else(env: PhoneEnv) -> None:
    state = env.state
    app = state.apps[PACKAGE]
    name = StateNamer().name(state)

    def with_app(**changes: object) -> PhoneState:
        return state._replace(apps=state.apps.set(PACKAGE, app._replace(**changes)))  # type: ignore[arg-type]

    same = (state._replace(clock_ms=9), state._replace(steps=9), state._replace(seed=9), with_app(departed=True))
    assert {StateNamer().name(s) for s in same} == {name}
    others = (
        state._replace(foreground=""),
        with_app(variables=app.variables.set("moment", 2)),
        with_app(edits=Map({("s", "n", "text"): ("a", "b")})),
        with_app(focus="x"),
        with_app(running=False),
        with_app(tables=Map({"t": ({"a": 1},)})),
        with_app(tables=Map({"t": ({"a": 2},)})),
    )
    assert len({name, *(StateNamer().name(s) for s in others)}) == 1 + len(others)


def test_states_that_are_equal_have_one_name_whichever_was_seen_first(env: PhoneEnv) -> None:
    state = env.state
    app = state.apps[PACKAGE]
    first, second = (
        state._replace(apps=state.apps.set(PACKAGE, app._replace(variables=app.variables.set("x", v))))
        for v in (1, True)
    )
    assert first == second
    one, other = StateNamer(), StateNamer()
    assert one.name(first) == other.name(second) == one.name(second) == other.name(first)


# Pictures


def test_the_picture_of_a_recorded_look_is_the_recorded_one(bundle: Bundle) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="png")) as env:
        observation, _ = env.reset()
        graph, pictures = sample_graph()
        assert observation.png == pictures[graph.captures["c0"].screenshot or ""]


def test_pictures_are_arrays_at_the_scale_asked_for_and_cannot_be_written_to(bundle: Bundle) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="array", scale=1 / 3)) as env:
        observation, _ = env.reset()
        picture = observation.screenshot
        assert (picture.shape, picture.dtype) == ((800, 360, 3), np.uint8)
        with pytest.raises(ValueError, match="read-only"):
            picture[0, 0, 0] = 1
        after = env.step(BOX)[0].screenshot
        assert not np.array_equal(after, picture)
        env.reset()
        assert np.array_equal(env.step(BOX)[0].screenshot, after)


def test_a_look_that_was_not_recorded_is_drawn(bundle: Bundle) -> None:
    """Apples are ticked, which was recorded, then bread is unticked, which was not."""
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="array")) as env:
        env.reset()
        ticked = env.step(BOX)[0]
        after, *_, info = env.step(Tap(90, 673))
        assert info["changed"] and info["evidence"] == "inferred"
        assert after.screenshot.shape == (SIZE.height, SIZE.width, 3)
        assert not np.array_equal(after.screenshot, ticked.screenshot)


def test_a_bare_phone_has_no_pictures_and_says_so() -> None:
    env = PhoneEnv(Phone([sample_program()]), observe=ObservationSpec(screenshot="png"))
    with pytest.raises(ObservationError, match="bare Phone"):
        _ = env.reset()[0].png


@pytest.mark.parametrize("scale", [0, -1, 4.5, math.nan])
def test_a_senseless_scale_is_refused(scale: float) -> None:
    with pytest.raises(ObservationError, match="scale"):
        ObservationSpec(scale=scale)


def test_equal_looks_are_equal_observations(env: PhoneEnv) -> None:
    first = env.observation()
    changed = env.step(BOX)[0]
    assert first != changed and first != "something else"
    env.reset(seed=0)
    assert env.observation() == first and hash(env.observation()) == hash(first)
    env.step(PressKey("home"))
    assert "launcher" in repr(env.observation())


def test_changed_says_whether_the_state_is_another_one_be_it_seen_or_not() -> None:
    """On the notes app, some steps change what is out of sight only: which row was touched last, a page behind."""
    unseen = 0
    with PhoneEnv(Path(__file__).resolve().parents[2] / "apps" / "notes" / "bundle") as env:
        for seed in range(3):
            observation, info = env.reset(seed=seed)
            actor = RandomPolicy(finish=0.0).begin(None, seed)
            for _ in range(60):
                tree, before = observation.xml, info["state_id"]
                observation, *_, info = env.step(actor.act(observation, info))
                assert info["changed"] is (info["state_id"] != before)
                assert info["changed"] or observation.xml == tree
                unseen += info["changed"] and observation.xml == tree
    assert unseen
