"""A walk to measure on: coordinate taps through a compiled app, of which most change its state. Found with the simulator."""

from __future__ import annotations

import random
from dataclasses import dataclass

from phoneworld.env.elements import list_screen
from phoneworld.env.state_id import StateNamer
from phoneworld.errors import ProgramError
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState
from phoneworld.ui.action import Action, Tap

STEPS = 512
WANTED_SHARE = 0.6
_STATES_SOUGHT = 2000


@dataclass(frozen=True, slots=True)
class Walk:
    """Taps from the start state on. `changing_share` of them leave the phone in another state than before; `looks` screens."""

    actions: tuple[Action, ...]
    changing_share: float
    states: int
    looks: int


def find_walk(phone: Phone, *, seed: int = 0, steps: int = STEPS) -> Walk:
    """A walk of `steps` taps. Taps that change the state are sought at widgets, the others fall anywhere on the screen.

    Raises ProgramError for an app that no tap changes.
    """
    rng = random.Random(seed)
    namer = StateNamer()
    state = phone.reset(seed)
    known: dict[str, tuple[Tap, ...]] = {}
    actions: list[Action] = []
    visited, looks = set(), set()
    changing = 0
    for number in range(steps):
        name = namer.name(state)
        visited.add(name)
        looks.add(phone.look(state).key)
        if name not in known and len(known) < _STATES_SOUGHT:
            known[name] = _changing_taps(phone, state, namer)
        taps = known.get(name, ())
        if taps and changing <= WANTED_SHARE * number:
            action = rng.choice(taps)
        else:
            size = phone.look(state).size
            action = Tap(rng.randrange(size.width), rng.randrange(size.height))
        after = phone.step(state, action).state
        if not after.foreground or (not taps and not _changing_taps(phone, after, namer)):
            # Stay where there is something to do: a press outside the app, or into a dead end, is not taken.
            action = rng.choice(taps) if taps else Tap(0, 0)
            after = phone.step(state, action).state
        changing += namer.name(after) != name
        actions.append(action)
        state = after
    if not changing:
        raise ProgramError("no tap changes the state of this app", hint="record more of it: phoneworld record")
    return Walk(tuple(actions), changing / steps, len(visited), len(looks))


def _changing_taps(phone: Phone, state: PhoneState, namer: StateNamer) -> tuple[Tap, ...]:
    """Taps at widgets that lead to another state inside the app."""
    view = phone.look(state)
    name = namer.name(state)
    taps = []
    for element in list_screen(view.hierarchy, view.size).elements:
        tap = Tap(element.point.x, element.point.y)
        after = phone.step(state, tap).state
        if after.foreground == state.foreground and namer.name(after) != name:
            taps.append(tap)
    return tuple(taps)
