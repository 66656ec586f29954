"""The public strategies draw what they say, and what is drawn holds the promises of compiler, simulator and environment."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phoneworld.compiler.compile import compile_graph
from phoneworld.env.elements import list_screen
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import Program
from phoneworld.sim.phone import Phone
from phoneworld.testing.strategies import SMALL, actions, graphs, hierarchies, programs
from phoneworld.ui.action import Action, action_from_json, action_to_json, check_on_screen
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(hierarchies())
@few
def test_every_tree_survives_its_xml(tree: Hierarchy) -> None:
    assert parse_hierarchy(write_hierarchy(tree)) == tree


@given(hierarchies())
@few
def test_a_touch_at_an_elements_point_finds_the_element(tree: Hierarchy) -> None:
    for element in list_screen(tree, SMALL).elements:
        hit = tree.hit_test(element.point, element.gestures[0], SMALL)
        assert hit is not None and hit.target == element.path
        assert element.bounds.contains(element.point) and SMALL.contains(element.point)


@given(actions())
@few
def test_every_action_is_on_the_screen_and_survives_its_json(action: Action) -> None:
    check_on_screen(action, SMALL)
    assert action_from_json(action_to_json(action), size=SMALL) == action


@given(graphs())
@few
def test_every_recording_replays_in_what_is_compiled_from_it(graph: StateGraph) -> None:
    replay = compile_graph(graph).replay
    assert replay.faults == ()
    assert replay.whole == replay.traces == len(graph.traces)


@given(programs(), st.lists(actions(), max_size=12), st.integers(0, 11))
@few
def test_an_environment_over_any_program_is_total_and_goes_back(
    program: Program, script: list[Action], cut: int
) -> None:
    env = PhoneEnv(Phone([program]))
    env.reset(seed=1)
    for action in script[:cut]:
        env.step(action)
    kept = env.snapshot()
    future = [env.step(action)[2:] for action in script[cut:]]
    env.restore(kept)
    assert [env.step(action)[2:] for action in script[cut:]] == future
