"""Which node an action belongs to, where it has no place of its own."""

from __future__ import annotations

import pytest

from phoneworld.ui.action import Action, Clear, PressKey, TypeText
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node
from recorder.attribute import attribute

SIZE = Size(200, 400)
FIELD = Node("android.widget.EditText", focused=True, focusable=True, bounds=Bounds(0, 100, 200, 140))


def screen(*children: Node) -> Hierarchy:
    return Hierarchy((Node("android.widget.FrameLayout", bounds=SIZE.bounds, children=children),))


@pytest.mark.parametrize("action", [TypeText("milk"), Clear(), *(PressKey(key) for key in ("enter", "backspace", "delete", "space"))])
def test_what_a_field_takes_belongs_to_the_one_in_focus(action: Action) -> None:
    assert attribute(screen(FIELD), action, SIZE) == (0, 0)
    assert attribute(screen(), action, SIZE) is None


@pytest.mark.parametrize("key", ["back", "home", "volume_up"])
def test_a_key_of_the_phone_belongs_to_no_field(key: str) -> None:
    assert attribute(screen(FIELD), PressKey(key), SIZE) is None  # type: ignore[arg-type]
