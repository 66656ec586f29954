"""All dialects by name. A new family is a file and a line here."""

from __future__ import annotations

from difflib import get_close_matches

from phoneworld.dialects.android_world import ANDROID_CONTROL, ANDROID_WORLD
from phoneworld.dialects.autoglm import AUTOGLM
from phoneworld.dialects.dialect import Dialect
from phoneworld.dialects.mobile_use import GUI_OWL, GUI_OWL15, QWEN3, QWEN25
from phoneworld.dialects.os_atlas import OS_ATLAS
from phoneworld.dialects.ui_tars import DOUBAO, UI_TARS, UI_TARS15
from phoneworld.errors import ActionError

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (QWEN25, QWEN3, GUI_OWL, GUI_OWL15, UI_TARS, UI_TARS15, DOUBAO, AUTOGLM, OS_ATLAS, ANDROID_WORLD, ANDROID_CONTROL)
}


def dialect_named(name: str) -> Dialect:
    """The dialect with a name. Raises ActionError with the nearest name for one that is not there."""
    if name not in DIALECTS:
        near = get_close_matches(name, DIALECTS, 1)
        hint = f"did you mean {near[0]}?" if near else "one of " + ", ".join(DIALECTS)
        raise ActionError(f"no dialect {name[:40]!r}", hint=hint)
    return DIALECTS[name]
