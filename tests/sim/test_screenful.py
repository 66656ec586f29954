"""The prepared hit test gives what the hit test of the tree gives, at every point and for every gesture."""

from __future__ import annotations

import random

import pytest

from phoneworld.errors import PhoneWorldError
from phoneworld.program.program import Layout, Screen
from phoneworld.sim.screenful import Screenful
from phoneworld.ui.geometry import Point
from phoneworld.ui.node import Gesture, Hierarchy
from phoneworld.ui.xml import parse_hierarchy
from tests.shared import CORPUS, needs_shared
from tests.sim.programs import SIZE, program

GESTURES: tuple[Gesture, ...] = ("tap", "long_press", "scroll", "type")


def check(tree: Hierarchy, points: int) -> None:
    size = tree.extent
    if size.width < 1 or size.height < 1:
        return
    layout = Layout("l", tree, size)
    screenful = Screenful(Screen("s", "s", "p", "", (layout,)), layout)
    chance = random.Random(5)
    for _ in range(points):
        x, y = chance.randrange(size.width), chance.randrange(size.height)
        for gesture in GESTURES:
            hit = tree.hit_test(Point(x, y), gesture, size)
            touched = screenful.touch(gesture, x, y)
            if hit is None:
                assert touched is None
            else:
                assert touched is not None
                assert touched[1] == (None if hit.target is None else screenful.keys[hit.target])


@pytest.mark.parametrize("name", ["list", "form"])
def test_prepared_and_plain_hit_test_agree(name: str) -> None:
    check(program().screens[name].layouts[0].hierarchy, 400)
    assert program().screens[name].layouts[0].hierarchy.extent == SIZE


@needs_shared
def test_prepared_and_plain_hit_test_agree_on_recorded_trees() -> None:
    checked = 0
    for file in sorted(CORPUS.glob("ui/*/*.xml"))[::6]:
        try:
            tree = parse_hierarchy(file.read_bytes())
        except PhoneWorldError:
            continue
        check(tree, 12)
        checked += 1
    assert checked > 30
