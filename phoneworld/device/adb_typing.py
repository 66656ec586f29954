"""Enters text on a phone over adb, by a route that can do it, or says plainly that it cannot.

printable ASCII          `input text`, quoted; a newline is the Enter key
anything else            ADBKeyBoard's broadcast in base64

Either way the field that has the focus is read before and after it: text that did not arrive is an error, not a recording.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterator

from phoneworld.device.adb_server import ShellOutput
from phoneworld.errors import ActionError, CaptureFailed
from phoneworld.ui.keys import KEY_CODES
from phoneworld.ui.node import Hierarchy, Node

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
_PIECE = 200  # characters in one `input text`; long ones are dropped in part by slow phones
_KEYS_AT_ONCE = 60
_ENTRY_TIMEOUT_S = 6.0
_POLL_S = 0.3
_TRIES = 2


class Typist:
    """Types into what has the focus. `run` runs a line on the phone, `look` reads its tree."""

    def __init__(
        self,
        run: Callable[[str], ShellOutput],
        look: Callable[[], Hierarchy],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._run, self._look, self._clock, self._sleep = run, look, clock, sleep

    def type(self, text: str) -> None:
        """Adds text at the cursor. Raises ActionError where it could not be entered as given."""
        if not text:
            return
        plain = all(" " <= c <= "~" for c in text)
        if plain or (all(" " <= c <= "~" or c in "\n\t" for c in text) and not self._has_adb_keyboard()):
            self._type_by_input(text)
        else:
            self._type_by_broadcast(text)

    def clear(self) -> None:
        """Empties what has the focus, by as many Delete keys as it holds characters."""
        field = self._focused()
        if field is None:
            raise ActionError("no field has the focus, so none can be emptied", hint="tap the field first")
        count = len(field.value.encode("utf-16-le")) // 2
        if not count:
            return
        keys = [KEY_CODES["move_end"]] + [KEY_CODES["backspace"]] * count
        if "\n" in field.value:  # the end of a line is not the end of the text
            keys += [KEY_CODES["delete"]] * count
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            self._checked("input keyevent " + " ".join(map(str, keys[start : start + _KEYS_AT_ONCE])))

    def _checked(self, line: str) -> None:
        output = self._run(line)
        if output.status != 0 or "Exception" in output.everything:
            told = (output.everything.strip().splitlines() or [f"status {output.status}"])[0]
            raise ActionError(f"the phone refused {line[:60]!r}: {told}")

    def _focused(self) -> Node | None:
        return next((node for node in self._look().nodes() if node.focused and node.is_editable), None)

    def _has_adb_keyboard(self) -> bool:
        return ADB_KEYBOARD in self._run("ime list -s -a").text.split()

    def _type_by_input(self, text: str) -> None:
        """Types it, and waits until the field has taken in something. A field that makes other text of it is what it is.

        Where no field is known to have the focus (a screen that draws itself), it is typed all the same.
        """
        field = self._seen()
        for line in text_commands(text):
            self._checked(line)
        if field is None:
            return
        deadline = self._clock() + _ENTRY_TIMEOUT_S
        while (now := self._seen()) is not None and _same_field(field, now) and now.value == field.value:
            if self._clock() >= deadline:
                raise ActionError(
                    f"the text was not entered: the field still holds {field.value!r} after {text!r}", hint="does this field take text?"
                )
            self._sleep(_POLL_S)

    def _seen(self) -> Node | None:
        """The field with the focus, None where there is none or the screen cannot be read now."""
        try:
            return self._focused()
        except CaptureFailed:
            return None

    def _type_by_broadcast(self, text: str) -> None:
        if not self._has_adb_keyboard():
            odd = next(c for c in text if not " " <= c <= "~")
            raise ActionError(
                f"this phone cannot enter {odd!r}: `input text` takes ASCII only and ADBKeyBoard is not installed",
                hint="install it once: https://github.com/senzhk/ADBKeyBoard, then adb install ADBKeyboard.apk",
            )
        field = self._focused()
        if field is None:
            raise ActionError("no field has the focus, so the text would be lost", hint="tap the field first")
        before = self._run("settings get secure default_input_method").text.strip()
        if before != ADB_KEYBOARD:
            self._run(f"ime enable {ADB_KEYBOARD}")
            if "selected" not in (told := self._run(f"ime set {ADB_KEYBOARD}").everything) or "cannot" in told:
                raise ActionError(
                    f"the phone does not switch to ADBKeyBoard: {told.strip()}",
                    hint="enable it in the phone's settings under input methods",
                )
        try:
            self._broadcast(text, field)
        finally:
            if before not in (ADB_KEYBOARD, "", "null"):
                self._run(f"ime set {shlex.quote(before)}")

    def _broadcast(self, text: str, field: Node) -> None:
        """Sends it and reads the field back. The keyboard may still be on its way up, so an untouched field gets a second try."""
        message = base64.b64encode(text.encode()).decode()
        held, found = field.value, field.value
        for _ in range(_TRIES):
            self._run(f"am broadcast -a ADB_INPUT_B64 --es msg {shlex.quote(message)}")
            deadline = self._clock() + _ENTRY_TIMEOUT_S / _TRIES
            while True:
                now = self._focused()
                found = now.value if now is not None else held
                if _entered(held, found, text, hidden=field.password):
                    return
                if found != held or self._clock() >= deadline:
                    break
                self._sleep(_POLL_S)
            if found != held:
                break
        raise ActionError(
            f"the text was not entered as given: the field holds {found!r} after {text!r}",
            hint="does this field take such text?",
        )


def _same_field(a: Node, b: Node) -> bool:
    return (a.class_name, a.resource_id, a.bounds.left, a.bounds.top) == (b.class_name, b.resource_id, b.bounds.left, b.bounds.top)


def _entered(held: str, found: str, text: str, *, hidden: bool) -> bool:
    """True where the field holds what it held with the text put in; a password field shows only how much."""
    if hidden:
        return len(found) > len(held)
    at = found.find(text)
    while at >= 0:
        if found[:at] + found[at + len(text) :] == held:
            return True
        at = found.find(text, at + 1)
    return False


def text_commands(text: str) -> Iterator[str]:
    """The shell lines that enter printable ASCII, newlines and tabs.

    A blank is written `%s`, as `input` reads it on every Android; so a `%s` in the text itself is cut between two calls.
    """
    for piece in re.split(r"([\n\t])", text):
        if piece in ("\n", "\t"):
            yield f"input keyevent {KEY_CODES['enter' if piece == chr(10) else 'tab']}"
            continue
        for part in re.split(r"(?<=%)(?=s)", piece):
            for start in range(0, len(part), _PIECE):
                yield "input text " + shlex.quote(part[start : start + _PIECE].replace(" ", "%s"))
