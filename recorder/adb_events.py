"""getevent on a phone, followed over adb: which glass it has, and its events as they come."""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import threading
import time

from phoneworld.device.adb import AdbDevice
from phoneworld.device.adb_server import AdbServer
from phoneworld.errors import DeviceLost, RecordingError
from phoneworld.ui.glass import InputDevice, parse_input_devices

_CHUNK = 64 * 1024
_PENS = re.compile(r"pen|stylus|mouse|digitizer_aux", re.I)


def glass_of(device: AdbDevice) -> tuple[InputDevice, ...]:
    """The phone's touchscreens. Raises RecordingError where it has none that can be read."""
    return touchscreens(parse_input_devices(device.run("getevent -lp 2>&1").everything))


def touchscreens(devices: tuple[InputDevice, ...]) -> tuple[InputDevice, ...]:
    """Those that may be the screen's glass: usually one; of several none can be told to be it, so all are listened to.

    Raises RecordingError where there is none.
    """
    able = [d for d in devices if d.x is not None and d.y is not None and d.x.max > d.x.min and d.y.max > d.y.min]
    for narrower in (lambda d: d.multi, lambda d: d.direct, lambda d: not _PENS.search(d.name)):
        able = [d for d in able if narrower(d)] or able
    if not able:
        names = ", ".join(d.name or d.path for d in devices) or "none"
        raise RecordingError(f"no touchscreen among the phone's input devices ({names})", hint="use --mode mirror, which needs none")
    return tuple(able)


class AdbEvents:
    """The events of these input devices from now on; `close` ends it. They are read on a thread of its own, so that none waits."""

    def __init__(self, serial: str, screens: tuple[InputDevice, ...], *, server: AdbServer | None = None) -> None:
        line = f"getevent -lt {screens[0].path}" if len(screens) == 1 else "getevent -lt"
        self._serial = serial
        self._wire = (server or AdbServer()).follow(serial, line)
        self._wire.settimeout(None)
        self._came: queue.SimpleQueue[tuple[bytes, float]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="getevent", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        data = b"\n"
        while data:
            try:
                data = self._wire.recv(_CHUNK)
            except OSError:
                data = b""
            self._came.put((data, time.monotonic() * 1000))

    def read(self, timeout_s: float) -> tuple[bytes, float]:
        """What has come, and when its first part came; nothing after the time. Raises DeviceLost where it has ended."""
        try:
            data, at_ms = self._came.get(timeout=timeout_s) if timeout_s > 0 else self._came.get_nowait()
        except queue.Empty:
            return b"", 0.0
        if not data:
            raise DeviceLost(f"getevent on {self._serial} has ended", hint="see `adb devices -l`; a recording goes on with --resume")
        return data, at_ms

    def close(self) -> None:
        """Ends getevent on the phone; may be called twice."""
        with contextlib.suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
        self._wire.close()
        self._thread.join()
