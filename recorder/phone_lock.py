"""One recorder a phone: two at once would each take what the other does for the app's own behaviour."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phoneworld.errors import RecordingError

_PRIVATE = ("web:", "mock:")


@contextmanager
def only_recorder_of(serial: str) -> Iterator[None]:
    """Holds the phone for this process; the hold ends with it, however it ends.

    Phones that live in this process (`web:`, `mock:`) are nobody else's and need none. Raises RecordingError where another
    process of this user records the phone.
    """
    if serial.startswith(_PRIVATE):
        yield
        return
    name = hashlib.sha256(serial.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"phoneworld-{os.getuid()}-{name}.recording"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as e:
        raise RecordingError(f"{path} cannot be written ({e.strerror})", hint="set TMPDIR to a folder you may write to") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RecordingError(
                f"{serial} is being recorded by another recorder", hint="wait until it has stopped, or name another phone with --device"
            ) from None
        yield
    finally:
        os.close(file)
