"""Any agent that drives a phone over adb, as a policy: the mock is served as an adb device, and a command of the agent's is run on it.

    --policy "adb:python my_agent.py --serial {serial} --goal {instruction}"

The command finds the phone in ANDROID_SERIAL and what is asked in PHONEWORLD_INSTRUCTION (or as {serial} and {instruction}, each one
word). What it does over adb are the steps of the episode. It ends the episode by exiting: with 0 it says that it is done, else that it
failed; what it writes into the file PHONEWORLD_ANSWER is its answer. Knows no particular agent.
"""

from __future__ import annotations

import os
import queue
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from phoneworld.adbd.server import AdbPhone
from phoneworld.device.adb_server import AdbServer
from phoneworld.device.device import InstalledApp
from phoneworld.device.mock import installed_as
from phoneworld.env.observation import Observation
from phoneworld.env.outcome import Info
from phoneworld.env.policy import Actor
from phoneworld.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceUnusable,
    OptionError,
    PhoneWorldError,
    PolicyLost,
)
from phoneworld.program.bundle import load_bundle
from phoneworld.program.program import Program
from phoneworld.ui.action import Action, Answer, Finish
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.node import Hierarchy

_ANSWER_LIMIT = 100_000
_SAID = 2000
_LOOK_S = 0.05
"""How often it is looked whether the command has ended."""


@dataclass(frozen=True, slots=True)
class AdbPolicy:
    """Runs a command for each episode. `episode_s` is how long it may take."""

    command: str
    bundles: tuple[str, ...]
    episode_s: float = 600.0

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor whose command is started when the first action is asked for."""
        return _Agent(self)


@lru_cache(maxsize=4)
def _programs(bundles: tuple[str, ...]) -> tuple[Program, ...]:
    return tuple(load_bundle(b).program for b in bundles)


def words_of(command: str, serial: str, instruction: str) -> list[str]:
    """The command as words; what is put in stays one word each. Raises OptionError where it cannot be split."""
    try:
        words = shlex.split(command)
    except ValueError as e:
        raise OptionError(f"the command {command!r} cannot be split into words: {e}", hint='for example --policy "adb:python agent.py {instruction}"') from None
    if not words:
        raise OptionError("there is no command after adb:", hint='for example --policy "adb:python agent.py {instruction}"')
    return [word.replace("{serial}", serial).replace("{instruction}", instruction) for word in words]


class _Agent:
    """One episode: the phone behind adb, the command, and between them what it asks to be done."""

    def __init__(self, policy: AdbPolicy) -> None:
        self._policy = policy
        self._phone: _Shown | None = None
        self._served: AdbPhone | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._place: TemporaryDirectory[str] | None = None
        self._until = 0.0
        self.said: str | None = None

    def act(self, observation: Observation, info: Info) -> Action:
        if self._phone is None:
            self._start(observation)
        assert self._phone is not None and self._process is not None
        self._phone.answer(observation, info)
        while True:
            # Read before what is asked: what it asked before it ended is done still.
            code = self._process.poll()
            action = self._phone.asked(_LOOK_S if code is None else 0.0)
            if action is not None:
                return action
            if code is not None:
                return self._ended(code)
            if monotonic() > self._until:
                self.said = f"it was ended after {self._policy.episode_s:g} s"
                return Finish("failure")

    def close(self) -> None:
        """Ends the command and all that it started, and lets the phone go. May be called twice."""
        if self._phone is not None:
            self._phone.close()
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        served, self._served = self._served, None
        if served is not None:
            with suppress(DeviceError):
                AdbServer().disconnect(served.serial)
            served.close()
        if self._place is not None:
            self._place.cleanup()
            self._place = None

    def _start(self, observation: Observation) -> None:
        programs = _programs(self._policy.bundles)
        self._phone = _Shown(programs, observation)
        self._served = AdbPhone(self._phone, port=0).start()
        serial = self._served.serial
        # An address without a device: none of the ports that adb looks at by itself, or it would list the phone twice.
        if not AdbServer().connect(serial):
            raise DeviceUnusable(f"the adb server did not connect to {serial}", hint=f"adb disconnect {serial}, then try again")
        self._place = TemporaryDirectory()
        words = words_of(self._policy.command, serial, observation.instruction)
        environment = {
            **os.environ, "ANDROID_SERIAL": serial, "PHONEWORLD_INSTRUCTION": observation.instruction, "PHONEWORLD_ANSWER": str(self._answer_file),
        }  # fmt: skip
        try:
            with open(self._output_file, "wb") as out:
                self._process = subprocess.Popen(
                    words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
                )
        except OSError as e:
            raise PolicyLost(f"{words[0]} cannot be run: {e.strerror or e}", hint="is it installed, and can it be executed?") from None
        self._until = monotonic() + self._policy.episode_s

    @property
    def _answer_file(self) -> Path:
        assert self._place is not None
        return Path(self._place.name) / "answer.txt"

    @property
    def _output_file(self) -> Path:
        assert self._place is not None
        return Path(self._place.name) / "output.txt"

    def _ended(self, code: int) -> Action:
        output = self._output_file.read_bytes()[-_SAID:].decode(errors="replace").strip()
        self.said = f"exit {code}: {output}" if code else output
        if code:
            return Finish("failure")
        if self._answer_file.is_file():
            return Answer(self._answer_file.read_bytes()[:_ANSWER_LIMIT].decode(errors="replace").strip())
        return Finish()


class _Shown:
    """The phone of the environment as a Device: what was last observed is shown; what is to be done is handed over, and waited for."""

    def __init__(self, programs: Sequence[Program], observation: Observation) -> None:
        self._programs = tuple(programs)
        self._observation = observation
        self._asked: queue.SimpleQueue[Action] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[PhoneWorldError | None] = queue.SimpleQueue()
        self._open = False
        self._closed = threading.Event()

    # Of the episode's thread

    def asked(self, wait_s: float) -> Action | None:
        """What is to be done next; None where nothing is asked within these seconds."""
        try:
            action = self._asked.get(timeout=wait_s) if wait_s else self._asked.get_nowait()
        except queue.Empty:
            return None
        self._open = True
        return action

    def answer(self, observation: Observation, info: Mapping[str, object]) -> None:
        """Shows what is seen now, and lets who waits for it go on."""
        self._observation = observation
        if self._open:
            self._open = False
            refused = info["invalid_action"]
            self._done.put(ActionError(str(refused), hint="the phone is unchanged") if refused else None)

    # Of the phone's

    @property
    def serial(self) -> str:
        return "episode:" + self._programs[0].package

    @property
    def info(self) -> DeviceInfo:
        return self._programs[0].device

    def state(self) -> DeviceState:
        return self._seen().device

    def hierarchy(self) -> Hierarchy:
        return self._seen().look[2].hierarchy

    def screenshot(self) -> bytes:
        return self._seen().png

    def perform(self, action: Action) -> None:
        self._seen()
        self._asked.put(action)
        told = self._done.get()
        if told is not None:
            raise told

    def apps(self) -> tuple[InstalledApp, ...]:
        return tuple(map(installed_as, self._programs))

    def clear_app(self, package: str) -> None:
        raise DeviceUnusable(f"{package} cannot be cleared: it stands at the start of a task", hint="leave it as it is")

    def close(self) -> None:
        """Ends the episode's side: who waits, and whoever asks later, is told that the phone is gone."""
        if not self._closed.is_set():
            self._closed.set()
            self._done.put(DeviceLost("the episode is over", hint="one command, one episode"))

    def _seen(self) -> Observation:
        if self._closed.is_set():
            raise DeviceLost("the episode is over", hint="one command, one episode")
        return self._observation
