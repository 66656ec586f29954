"""What callers hand to `step`, as Actions: values, or JSON objects in any coordinate space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from phoneworld.errors import ActionError
from phoneworld.ui.action import KINDS, Action, Tap, action_from_json, action_to_json
from phoneworld.ui.geometry import Size

Parse: TypeAlias = Callable[[object, Callable[[], Size]], Action]
"""Reads an action for a screen whose size it may ask. Raises ActionError."""

_ACTIONS = frozenset(KINDS.values())


def parse_action(action: object, size: Callable[[], Size]) -> Action:
    """An Action of what a caller handed in: a value, or its JSON object in any coordinate space. Raises ActionError.

    Numbers of numpy are taken as numbers. A point outside the screen is left to the phone to refuse.
    """
    kind = type(action)
    if kind is Tap and type(action.x) is int and type(action.y) is int:  # type: ignore[attr-defined]
        return action  # type: ignore[return-value]
    try:
        if kind in _ACTIONS:
            return action_from_json(_plain(action_to_json(action)))  # type: ignore[arg-type]
        if isinstance(action, Mapping):
            return action_from_json(_plain(action), size=size())
    except (TypeError, ValueError, OverflowError) as e:
        raise ActionError(
            f"the action holds what cannot be read: {e}", hint='for example {"kind": "tap", "x": 1, "y": 2}'
        ) from None
    raise ActionError(
        f"an action is an Action or its JSON object, found {kind.__name__}",
        hint='for example {"kind": "tap", "x": 1, "y": 2}',
    )


def _plain(obj: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in obj.items()}
