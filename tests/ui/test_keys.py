"""Android's key codes, both ways."""

from __future__ import annotations

from typing import get_args

import pytest

from phoneworld.ui.action import Key
from phoneworld.ui.keys import KEY_CODES, code_named, key_named, key_of_code, keycode


def test_every_key_of_ours_has_a_code_and_comes_back_from_it() -> None:
    assert set(KEY_CODES) == set(get_args(Key))
    assert len(set(KEY_CODES.values())) == len(KEY_CODES)
    for key in get_args(Key):
        assert key_of_code(keycode(key)) == key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("KEYCODE_BACK", "back"), ("BACK", "back"), ("4", "back"), ("back", "back"), ("66", "enter"), ("ENTER", "enter"),
        ("KEYCODE_NUMPAD_ENTER", "enter"), ("KEYCODE_DPAD_CENTER", "enter"), ("67", "backspace"), ("DEL", "backspace"), ("112", "delete"),
        ("KEYCODE_APP_SWITCH", "recents"), ("KEYCODE_A", "a"), ("29", "a"), ("KEYCODE_Z", "z"), ("KEYCODE_9", "9"), ("16", "9"),
        ("KEYCODE_AT", "@"), ("KEYCODE_CAMERA", None), ("KEYCODE_NOSUCH", None), ("", None), ("99999", None),
    ],
)  # fmt: skip
def test_a_key_is_known_by_number_and_by_name(name: str, key: str | None) -> None:
    assert key_named(name) == key


def test_a_known_key_without_effect_is_told_from_a_word_that_is_no_key() -> None:
    assert code_named("KEYCODE_CAMERA") == 27
    assert code_named("KEYCODE_NOSUCH") is None


@pytest.mark.parametrize("character", [*"abcdefghijklmnopqrstuvwxyz0123456789,.;'/@+-=", " "])
def test_a_character_that_one_key_types_comes_back(character: str) -> None:
    assert key_of_code(keycode(character)) == {" ": "space"}.get(character, character)


def test_a_character_without_a_key_of_its_own_is_an_error() -> None:
    with pytest.raises(KeyError):
        keycode("é")
