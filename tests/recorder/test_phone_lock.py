"""One recorder a phone, whatever becomes of the one that holds it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from phoneworld.errors import RecordingError
from recorder.phone_lock import only_recorder_of

HOLD = """
import sys
from recorder.phone_lock import only_recorder_of
with only_recorder_of(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_recorder_of_a_phone_is_refused_until_the_first_is_gone_even_killed() -> None:
    serial = "test-phone-lock:5555"
    other = subprocess.Popen([sys.executable, "-c", HOLD, serial], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    with pytest.raises(RecordingError, match="another recorder"), only_recorder_of(serial):
        pass
    with only_recorder_of("test-other-phone:5555"):
        pass
    other.kill()
    other.wait()
    with only_recorder_of(serial):
        pass


def test_phones_of_this_process_need_no_lock() -> None:
    with only_recorder_of("web:http://127.0.0.1:1/"), only_recorder_of("web:http://127.0.0.1:1/"):
        pass
