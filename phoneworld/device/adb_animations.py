"""Switches a phone's animations off and puts them back, even after a crash: what they were is kept in a small file until then.

The file lies in the user's state folder under the phone's serial and is there only while the animations are off. Whoever opens
that phone next and finds it, with the process that wrote it gone, puts the scales back.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from phoneworld.device.adb_server import ShellOutput
from phoneworld.errors import DeviceError

log = logging.getLogger("phoneworld.device")

SCALES = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")
_VALUE = re.compile(r"null|\d+(\.\d+)?")


def state_folder() -> Path:
    """Where this user's programs keep what must outlive them (XDG_STATE_HOME)."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "phoneworld"


class Animations:
    """The three animation scales of one phone. `run` runs a line on it."""

    def __init__(self, serial: str, run: Callable[[str], ShellOutput], *, folder: Path | None = None) -> None:
        self._serial, self._run = serial, run
        self._file = (folder or state_folder() / "animations") / f"{quote(serial, safe='')}.json"
        self._before: dict[str, str] | None = None

    @property
    def are_off(self) -> bool:
        """True between `off` and `put_back`."""
        return self._before is not None

    def off(self) -> None:
        """Sets all three to 0, having written down what they were. Called again it does nothing."""
        if self._before is not None:
            return
        # What an earlier process could not put back is what they were; the phone itself only knows the zeros.
        before = self._kept() or self._read()
        self._keep(before)
        self._before = before
        self._run("; ".join(f"settings put global {name} 0" for name in SCALES))

    def put_back(self) -> None:
        """Makes them what they were. A phone that is gone gets them back when it is opened next."""
        before, self._before = self._before, None
        if before is not None:
            self._restore(before)

    def put_back_left_behind(self) -> bool:
        """Puts back what a process that is gone has left switched off; True where there was something to do."""
        if self._before is not None or not (before := self._kept()) or self._is_held():
            return False
        self._restore(before)
        return True

    def _read(self) -> dict[str, str]:
        told = self._run("; ".join(f"settings get global {name}" for name in SCALES)).text.split()
        return {name: value for name, value in zip(SCALES, told, strict=False) if _VALUE.fullmatch(value)}

    def _restore(self, before: Mapping[str, str]) -> None:
        line = "; ".join(
            f"settings put global {name} {value}" if value != "null" else f"settings delete global {name}"
            for name, value in before.items()
        )
        try:
            if line:
                self._run(line)
        except DeviceError as e:
            log.warning("%s: its animations are still off (%s); they are put back when it is opened next", self._serial, e.message)
            return
        self._file.unlink(missing_ok=True)

    def _keep(self, before: Mapping[str, str]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._file.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps({"serial": self._serial, "pid": os.getpid(), "scales": before}) + "\n")
            fresh.replace(self._file)
        except OSError as e:
            log.warning("what the animations of %s were cannot be kept in %s: %s", self._serial, self._file, e.strerror)

    def _content(self) -> dict[str, object]:
        try:
            content = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _kept(self) -> dict[str, str]:
        """What the file says they were; nothing of it that is no scale, since it goes into a shell line."""
        scales = self._content().get("scales")
        if not isinstance(scales, dict):
            return {}
        return {name: str(scales[name]) for name in SCALES if _VALUE.fullmatch(str(scales.get(name, "")))}

    def _is_held(self) -> bool:
        """True where the process that wrote the file still runs."""
        pid = self._content().get("pid")
        if not isinstance(pid, int) or pid <= 0:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True
