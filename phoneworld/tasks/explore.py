"""Random episodes: what a policy that knows nothing does. A task that such a policy passes measures nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from phoneworld.program.template import KEYBOARD
from phoneworld.sim.drawing import Drawing
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.oracle import Oracle, mark
from phoneworld.tasks.touchables import Touchable
from phoneworld.ui.action import Action, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText

_ELSEWHERE = 0.1
"""How often another app of the phone is opened, where there are several."""
_WORDS = ("milk", "Anna", "10", "hello", "test", "2026")


@dataclass(frozen=True, slots=True)
class Walk:
    """One random episode: the states it went through, the start first, and words that it read at the end."""

    states: tuple[PhoneState, ...]
    read: str


class Walks:
    """Random episodes from given starts, made once and judged by many tasks."""

    def __init__(self, oracle: Oracle, *, steps: int = 15) -> None:
        self.oracle = oracle
        self.phone: Phone = oracle.phone
        self.steps = steps
        self._known: dict[Any, tuple[Walk, ...]] = {}

    def of(self, start: PhoneState, seed: int, count: int) -> tuple[Walk, ...]:
        """So many episodes; the same start and seed, the same episodes."""
        key = (mark(start), start.clock_ms, seed, count)
        if key not in self._known:
            self._known[key] = tuple(self._walk(start, Random(f"{seed} {i}")) for i in range(count))
        return self._known[key]

    def _walk(self, start: PhoneState, dice: Random) -> Walk:
        states = [start]
        for _ in range(dice.randint(1, self.steps)):
            step = self.phone.step(states[-1], self._choose(states[-1], dice))
            states.append(step.state)
        words = [n.text for n in self.phone.look(states[-1]).hierarchy.nodes() if n.visible and n.text.strip()]
        return Walk(tuple(states), dice.choice(words) if words else "")

    def _choose(self, state: PhoneState, dice: Random) -> Action:
        package = self.oracle.package
        others = [p for p in self.phone.models if p != state.foreground]
        if state.foreground not in self.phone.models or (len(self.phone.models) > 1 and dice.random() < _ELSEWHERE):
            return OpenApp(dice.choice(others) if state.foreground in self.phone.models else package)
        size = self.phone.look(state).size
        if dice.random() < 0.1:
            return PressKey(dice.choice(("back", "back", "enter")))
        if dice.random() < 0.1:
            x, y, way = size.width // 2, size.height // 2, dice.choice((1, -1))
            return Swipe(x, y + way * size.height // 4, x, y - way * size.height // 4)
        found = [t for t in self._touchable(state, state.foreground) if t.point is not None]
        if not found:
            return PressKey("back")
        touch = dice.choice(found)
        assert touch.point is not None
        match touch.gesture:
            case "type":
                return TypeText(dice.choice(_WORDS), touch.point.x, touch.point.y)
            case "long_press":
                return LongPress(touch.point.x, touch.point.y)
            case _:
                return Tap(touch.point.x, touch.point.y)

    def _touchable(self, state: PhoneState, package: str) -> Iterator[Touchable]:
        app = state.apps[package]
        surface = self.phone.models[package].surface(app)
        keyboard = bool(app.variables.get(KEYBOARD)) if isinstance(surface, Drawing) else self.phone.look(state).state.keyboard
        yield from self.oracle.of(package).touchables(surface, keyboard=keyboard)
