"""Finds what a person would do in a mock app, by trying it in the simulator: open, go back, type and save, toggle.

It knows no app: it looks for actions after which the phone shows what is wanted. That costs nothing, for a state is a value.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState, state_to_json
from phoneworld.ui.action import Action, PressKey, Tap, TypeText
from phoneworld.ui.node import Node

DEPTH = 7
STATES = 4000


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a person does: its name, the actions, and the state before and after."""

    name: str
    actions: tuple[Action, ...]
    before: PhoneState
    after: PhoneState


def plan(phone: Phone, words: str) -> list[Part]:
    """Open something, go back, type `words` and save them, go back, toggle something; parts that cannot be found are left out."""
    start = phone.reset()
    home = phone.screen_name(start)
    parts: list[Part] = []

    def find(name: str, goal: Callable[[PhoneState, PhoneState], bool]) -> None:
        before = parts[-1].after if parts else start
        found = search(phone, before, lambda after: goal(before, after), words)
        if found is not None:
            parts.append(Part(name, found[0], before, found[1]))

    find("open", lambda _, now: phone.screen_name(now) != home and now.foreground != "" and not shows(phone, now, words))
    find("go back", lambda _, now: phone.screen_name(now) == home)
    find("type and save", lambda before, now: now.foreground != "" and shows(phone, now, words) and not holds(phone, now, words))
    find("go back again", lambda _, now: phone.screen_name(now) == home and not phone.view(now).state.keyboard)
    find("toggle", lambda before, now: toggled(phone, before, now))
    return [part for part in parts if part.actions]


def search(
    phone: Phone, start: PhoneState, goal: Callable[[PhoneState], bool], words: str
) -> tuple[tuple[Action, ...], PhoneState] | None:
    """The shortest actions after which the goal holds, none of them `unrecorded`; None within the limits above."""
    if goal(start):
        return (), start
    queue: deque[tuple[PhoneState, tuple[Action, ...]]] = deque([(start, ())])
    seen = {_apps(start)}
    while queue and len(seen) < STATES:
        state, path = queue.popleft()
        for action in candidates(phone, state, words):
            step = phone.step(state, action)
            if not step.changed or step.evidence == "unrecorded" or not step.state.foreground:
                continue
            apps = _apps(step.state)
            if apps in seen:
                continue
            seen.add(apps)
            if goal(step.state):
                return (*path, action), step.state
            if len(path) + 1 < DEPTH:
                queue.append((step.state, (*path, action)))
    return None


def _apps(state: PhoneState) -> str:
    """The apps' part of a state: equal for equal apps, whatever the time."""
    return json.dumps(state_to_json(state)["apps"], sort_keys=True)


def candidates(phone: Phone, state: PhoneState, words: str) -> Iterator[Action]:
    """What could be done now: tap each widget, type the words where a field has the focus, Enter, Back."""
    view = phone.view(state)
    focused = False
    for path, node in view.hierarchy.walk():
        focused |= node.focused and node.is_editable
        point = view.hierarchy.tap_point(path, view.size) if node.takes("tap") else None
        if point is not None:
            yield Tap(point.x, point.y)
    if focused:
        yield TypeText(words)
        yield PressKey("enter")
    yield PressKey("back")


def shows(phone: Phone, state: PhoneState, words: str) -> bool:
    """True where the words stand somewhere on the screen."""
    return any(words in node.label for node in _nodes(phone, state))


def holds(phone: Phone, state: PhoneState, words: str) -> bool:
    """True where the words stand in a field: typed, but not yet saved."""
    return any(node.is_editable and words in node.text for node in _nodes(phone, state))


def toggled(phone: Phone, before: PhoneState, after: PhoneState) -> bool:
    """True where the screen is the same but one more or one less of its widgets is checked."""
    if phone.screen_name(before) != phone.screen_name(after):
        return False
    was, now = ([n.checked for n in _nodes(phone, s) if n.checkable] for s in (before, after))
    return len(was) == len(now) and sum(a != b for a, b in zip(was, now, strict=True)) == 1


def _nodes(phone: Phone, state: PhoneState) -> Iterator[Node]:
    return phone.view(state).hierarchy.nodes()
