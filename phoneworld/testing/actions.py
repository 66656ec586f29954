"""Actions to throw at an environment: sensible ones, senseless ones, and what is no action at all. Deterministic by seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from phoneworld.env.env import Env
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.ui.action import (
    Action,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Key,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
)  # fmt: skip
from phoneworld.ui.geometry import Point, Size

WORDS: tuple[str, ...] = (
    "",
    "a",
    "Milk",
    "two words",
    "日本茶",
    "😀👩‍👩‍👧",
    "\u202eabc",
    "<b>&amp;",
    'it\'s "quoted"',
    "%s $HOME `ls`",
)

NOT_ACTIONS: tuple[Any, ...] = (
    None, 7, "tap", [], {}, {"kind": "fly"}, {"kind": "tap"}, {"kind": "tap", "x": 1}, {"kind": "tap", "x": "1", "y": 2},
    {"kind": "tap", "x": float("nan"), "y": 0}, {"kind": "tap", "x": float("inf"), "y": 0}, {"kind": "tap", "x": 1.5, "y": 0},
    {"kind": "tap", "x": 10**400, "y": 0}, {"kind": "tap", "x": -1, "y": 0}, {"kind": "tap", "x": 0, "y": 10**6},
    {"kind": "tap", "x": 2.0, "y": 0.5, "space": "unit"}, {"kind": "tap", "x": 0, "y": 0, "space": "furlong"},
    {"kind": "tap", "x": 0, "y": 0, "z": 0}, {"kind": "press_key", "key": "any"}, {"kind": "type", "text": None},
    {"kind": "wait", "duration_ms": -1}, {"kind": ["tap"]}, {"kind": "open_app", "package": "no.such.app"}, Tap(-1, 0),
    Tap(1, None), Tap(True, 2), Swipe(0, 0, 10**9, 0), TypeText(3), Wait(float("nan")),  # type: ignore[arg-type]
)  # fmt: skip
"""What an environment must refuse without raising and without a change."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What one step showed, in a form that can be compared to the byte."""

    xml: bytes
    package: str
    activity: str
    keyboard: bool
    reward: float
    terminated: bool
    truncated: bool
    info: tuple[tuple[str, str], ...]


def random_action(rng: random.Random, observation: Observation, packages: Sequence[str] = ()) -> Action:
    """One action: mostly at a widget, sometimes anywhere, sometimes typing, a key, an app."""
    size = observation.size
    elements = observation.elements
    chance = rng.random()
    if elements and chance < 0.6:
        point = rng.choice(elements).point
    else:
        point = Point(rng.randrange(size.width), rng.randrange(size.height))
    other = Point(rng.randrange(size.width), rng.randrange(size.height))
    match rng.randrange(20):
        case 0:
            return LongPress(point.x, point.y)
        case 1:
            return DoubleTap(point.x, point.y)
        case 2 | 3:
            return Swipe(point.x, point.y, other.x, other.y)
        case 4:
            return TypeText(rng.choice(WORDS))
        case 5:
            return TypeText(rng.choice(WORDS), point.x, point.y, rng.choice(("append", "replace")))
        case 6:
            return rng.choice((Clear(), Clear(point.x, point.y)))
        case 7 | 8:
            return PressKey("back")
        case 9:
            return PressKey(rng.choice(get_args(Key)))
        case 10 if packages:
            return rng.choice((OpenApp, CloseApp))(rng.choice(packages))
        case 11:
            return rng.choice((Wait(10), Drag(point.x, point.y, other.x, other.y), Pinch(point.x, point.y, 2.0)))
        case _:
            return Tap(point.x, point.y)


def edge_points(size: Size) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """The outermost pixels of a screen, and the points just outside it."""
    w, h = size.width, size.height
    inside = (Point(0, 0), Point(w - 1, 0), Point(0, h - 1), Point(w - 1, h - 1))
    outside = (Point(-1, 0), Point(0, -1), Point(w, 0), Point(0, h), Point(w, h))
    return inside, outside


def random_episode(env: Env[Any], seed: int, steps: int, packages: Sequence[str] = ()) -> tuple[Action, ...]:
    """A script of actions, found by acting on the environment after a reset with this seed."""
    rng = random.Random(seed)
    observation, _ = env.reset(seed)
    actions: list[Action] = []
    for _ in range(steps):
        action = random_action(rng, observation, packages)
        actions.append(action)
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    return tuple(actions)


def play(env: Env[Any], actions: Sequence[Any], seed: int | None = None) -> tuple[Moment, ...]:
    """A whole episode: the moments after reset and after each action."""
    observation, info = env.reset(seed)
    return (moment(observation, info), *go_on(env, actions))


def go_on(env: Env[Any], actions: Sequence[Any]) -> tuple[Moment, ...]:
    """The moments after each action, from where the environment stands."""
    moments = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        moments.append(moment(observation, info, reward, terminated, truncated))
    return tuple(moments)


def moment(
    observation: Observation, info: Info, reward: float = 0.0, terminated: bool = False, truncated: bool = False
) -> Moment:
    """What is compared of one step."""
    device = observation.device
    told = tuple((name, repr(value)) for name, value in info.items())
    return Moment(
        observation.xml, device.package, device.activity, device.keyboard, reward, terminated, truncated, told
    )
