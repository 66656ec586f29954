"""Talks to the adb server: which phones are attached, and one command on one of them. Knows no screen.

Every call names its serial. The server is never killed: other people's phones hang on it.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from adbutils import AdbClient, AdbConnection  # type: ignore[import-untyped]
from adbutils.errors import AdbError  # type: ignore[import-untyped]

from phoneworld.errors import (
    DeviceAmbiguous,
    DeviceError,
    DeviceLost,
    DeviceNotFound,
    DeviceUnusable,
    MissingDependency,
    WireError,
)

_HEADING = "List of devices attached"
_STATES = (
    r"device|offline|unauthorized|authorizing|connecting|recovery|rescue|bootloader|sideload|host|unknown|detached|no device"
    r"|no permissions.*"
)
_LINE = re.compile(rf"^(?P<serial>\S.*?)(?:\t| {{1,}})\s*(?P<state>{_STATES})(?P<rest>(?:\s+\w+:\S*)*)\s*$")
_PAIR = re.compile(r"(\w+):(\S*)")
_OLD_EXIT = "X4EXIT:"
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class AttachedDevice:
    """One line of `adb devices -l`. `reason` says why it cannot be used, and is empty where it can; `mend` what to do."""

    serial: str
    state: str
    model: str = ""
    reason: str = ""
    mend: str = ""

    @property
    def usable(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class ShellOutput:
    """What a command printed, and its exit status. Old phones merge the two streams into `stdout`."""

    stdout: bytes
    stderr: bytes
    status: int

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace").replace("\r\n", "\n")

    @property
    def everything(self) -> str:
        return (self.stdout + self.stderr).decode(errors="replace").replace("\r\n", "\n")


def parse_devices(text: str) -> tuple[AttachedDevice, ...]:
    """Reads `adb devices -l`. Words of the daemon around the list are passed over; a serial may hold blanks."""
    _, heading, below = text.partition(_HEADING)
    found: list[AttachedDevice] = []
    for line in (below if heading else text).splitlines():
        if line.startswith("*") or line.startswith("adb server") or not (match := _LINE.match(line.rstrip())):
            continue
        serial, state = match["serial"].strip(), match["state"].strip()
        rest = dict(_PAIR.findall(match["rest"]))
        reason, mend = _why_unusable(serial, state)
        found.append(
            AttachedDevice(
                serial, state.split("(")[0].split(";")[0].strip(), rest.get("model", "").replace("_", " "), reason, mend
            )
        )
    return tuple(found)


def _why_unusable(serial: str, state: str) -> tuple[str, str]:
    match state.split()[0]:
        case "device":
            return "", ""
        case "offline" | "connecting" if is_address(serial):
            return f"it is {state}", f"adb disconnect {serial}; adb connect {serial}"
        case "offline" | "connecting":
            return f"it is {state}", "unplug it and plug it in again, or restart it"
        case "unauthorized" | "authorizing":
            return "it has not accepted this computer's key", "unlock it and accept the question about USB debugging"
        case "no" if "permission" in state:
            return (
                "this user may not open its USB device",
                "apt install android-sdk-platform-tools-common, then plug it in again",
            )
        case word:
            return f"it is in the state {word!r}, not in Android", "start Android on it"


def is_address(serial: str) -> bool:
    """True for a phone that is reached by `adb connect`: host:port."""
    return re.fullmatch(r"[\w.-]+:\d{1,5}", serial) is not None


def choose(devices: Sequence[AttachedDevice], serial: str | None) -> AttachedDevice:
    """The phone to use: the named one, else the only usable one.

    Raises DeviceNotFound, DeviceAmbiguous or DeviceUnusable, each with a one-line mend.
    """
    usable = [d for d in devices if d.usable]
    if serial is not None:
        named = next((d for d in devices if d.serial == serial), None)
        if named is None:
            listed = ", ".join(d.serial for d in devices) or "none"
            mend = (
                f"adb connect {serial}"
                if is_address(serial)
                else "plug it in, allow USB debugging, and see `adb devices -l`"
            )
            raise DeviceNotFound(f"no device {serial!r} is attached (attached: {listed})", hint=mend)
        if not named.usable:
            raise DeviceUnusable(f"device {serial} cannot be used: {named.reason}", hint=named.mend)
        return named
    if len(usable) == 1:
        return usable[0]
    if usable:
        raise DeviceAmbiguous(
            f"{len(usable)} devices are attached and none was named: {', '.join(d.serial for d in usable)}",
            hint=f"name one: --device {usable[0].serial}",
        )
    if devices:
        told = "; ".join(f"{d.serial}: {d.reason}" for d in devices)
        raise DeviceUnusable(f"no attached device can be used ({told})", hint=devices[0].mend)
    raise DeviceNotFound(
        "no device is attached",
        hint="plug in a phone with USB debugging on, or start one here: phoneworld phone web:URL",
    )


class AdbServer:
    """The adb server of this machine; host and port as adb itself takes them (ANDROID_ADB_SERVER_PORT). Starts it if need be."""

    def __init__(self, host: str | None = None, port: int | None = None) -> None:
        self._client = AdbClient(host=host, port=port)
        self._version: int | None = None
        self._features: dict[str, frozenset[str]] = {}

    def devices(self) -> tuple[AttachedDevice, ...]:
        """What is attached, usable or not."""
        return parse_devices(self._ask("host:devices-l"))

    def find(self, serial: str | None = None) -> AttachedDevice:
        """The phone to use, see `choose`. An address (host:port) is connected to, and again where it has gone offline."""
        serial = serial or os.environ.get("ANDROID_SERIAL") or None
        devices = self.devices()
        if serial is not None and is_address(serial):
            named = next((d for d in devices if d.serial == serial), None)
            if named is None or not named.usable:
                if named is not None:
                    self.disconnect(serial)
                self.connect(serial)
                devices = self.devices()
        return choose(devices, serial)

    def connect(self, address: str) -> bool:
        """`adb connect`; True where the phone is attached after it."""
        try:
            answer = self._ask(f"host:connect:{address}", timeout_s=15)
        except DeviceError:
            return False
        return answer.startswith(("connected", "already connected"))

    def disconnect(self, address: str) -> None:
        """`adb disconnect`; one that is not attached is no error."""
        try:
            self._ask(f"host:disconnect:{address}")
        except DeviceError:
            return

    def state(self, serial: str) -> str:
        """`device`, `offline`, ..., or an empty text where it is not attached."""
        return next((d.state for d in self.devices() if d.serial == serial), "")

    def features(self, serial: str) -> frozenset[str]:
        """What the phone's adbd can do; read once for each serial. Raises DeviceLost where it is not attached."""
        if serial not in self._features:
            try:
                self._features[serial] = frozenset(self._ask(f"host-serial:{serial}:features").split(","))
            except DeviceNotFound:
                raise  # there is no adb server at all
            except DeviceError as e:
                raise self.broken_off(serial, e.message) from e
        return self._features[serial]

    def shell(self, serial: str, line: str, *, timeout_s: float = 30.0) -> ShellOutput:
        """Runs a line in the phone's shell and waits for its end.

        Raises DeviceLost where the phone went away meanwhile, DeviceError where it did not answer in time.
        """
        if "shell_v2" in self.features(serial):
            return self._shell_v2(serial, line, timeout_s)
        raw = self._stream(serial, f"shell:{line}; echo {_OLD_EXIT}$?", timeout_s)
        output, mark, status = raw.rpartition(_OLD_EXIT.encode())
        if not mark or not status.strip().isdigit():
            raise self.broken_off(serial, f"the output of {line[:60]!r} stops in the middle")
        return ShellOutput(output, b"", int(status))

    def exec_out(self, serial: str, line: str, *, timeout_s: float = 30.0) -> bytes:
        """The raw output of a line, byte for byte; stderr comes in it. Raises as `shell` does."""
        return self._stream(serial, f"exec:{line}", timeout_s)

    def _shell_v2(self, serial: str, line: str, timeout_s: float) -> ShellOutput:
        raw = self._stream(serial, f"shell,v2,raw:{line}", timeout_s)
        streams = {1: bytearray(), 2: bytearray()}
        at, status = 0, None
        while at + 5 <= len(raw) and status is None:
            kind, length = raw[at], int.from_bytes(raw[at + 1 : at + 5], "little")
            payload = raw[at + 5 : at + 5 + length]
            if len(payload) < length:
                break
            if kind == 3:
                status = payload[0] if payload else 0
            elif kind in streams:
                streams[kind] += payload
            at += 5 + length
        if status is None:
            raise self.broken_off(serial, f"the output of {line[:60]!r} stops in the middle")
        return ShellOutput(bytes(streams[1]), bytes(streams[2]), status)

    def broken_off(self, serial: str, why: str) -> DeviceError:
        """The error for a call that broke off: DeviceLost where the phone is no longer there."""
        self._features.pop(serial, None)
        try:
            state = self.state(serial)
        except DeviceError as e:
            return DeviceLost(
                f"the device {serial} went away: {why}; {e.message}",
                hint="see `adb devices -l`; a recording goes on with --resume",
            )
        if state == "device":
            return DeviceError(f"the device {serial} broke off a call: {why}", hint="try again")
        how = f"is now {state}" if state else "is no longer attached"
        mend = f"adb connect {serial}" if is_address(serial) else "plug it in again"
        return DeviceLost(f"the device {serial} {how}: {why}", hint=f"{mend}; a recording goes on with --resume")

    def _connection(self, timeout_s: float) -> AdbConnection:
        try:
            return self._client.make_connection(timeout=timeout_s)
        except (AdbError, OSError) as e:
            if "No adb exe" in str(e):
                raise MissingDependency("the adb program is not installed", hint="apt install adb") from e
            raise DeviceNotFound(
                f"the adb server on port {self._client.port} does not answer: {e}", hint="adb start-server"
            ) from e

    def _ask(self, request: str, *, timeout_s: float = 10.0) -> str:
        """One question to the server itself, answered by one block of text."""
        connection = self._connection(timeout_s)
        try:
            connection.send_command(request)
            connection.check_okay()
            return str(connection.read_string_block())
        except (AdbError, OSError, ValueError) as e:
            raise DeviceError(f"the adb server refused {request!r}: {e}", hint="see `adb devices -l`") from e
        finally:
            connection.conn.close()  # close() of the library sleeps for 10 ms first

    def _stream(self, serial: str, service: str, timeout_s: float) -> bytes:
        """Opens a service of a phone and reads it to its end."""
        deadline = time.monotonic() + timeout_s
        wire: socket.socket | None = None
        chunks: list[bytes] = []
        try:
            wire = self._opened(serial, service, timeout_s)
            while True:
                wire.settimeout(max(0.01, deadline - time.monotonic()))
                chunk = wire.recv(_CHUNK)
                if not chunk:
                    return b"".join(chunks)
                chunks.append(chunk)
        except TimeoutError as e:
            raise self.broken_off(serial, f"no answer to {service[:60]!r} within {timeout_s:.0f} s") from e
        except (AdbError, EOFError, OSError) as e:
            raise self.broken_off(serial, str(e) or type(e).__name__) from e
        finally:
            if wire is not None:
                wire.close()

    def follow(self, serial: str, line: str, *, timeout_s: float = 10.0) -> socket.socket:
        """Starts a line in a terminal of the phone's shell and returns its open output; closing it ends the line.

        In a terminal programs write line by line; elsewhere they hold back what they have to say. Raises as `shell` does.
        """
        try:
            return self._opened(serial, f"shell:{line}", timeout_s)
        except (AdbError, EOFError, OSError) as e:
            raise self.broken_off(serial, str(e) or type(e).__name__) from e

    def dial(self, serial: str, port: int, *, timeout_s: float = 30.0) -> socket.socket:
        """A connection to a TCP port on the phone. Raises OSError where nothing listens there or the phone is away."""
        try:
            wire = self._opened(serial, f"tcp:{port}", timeout_s)
        except (AdbError, EOFError, DeviceError) as e:
            raise ConnectionRefusedError(f"nothing listens on port {port} of {serial}: {e}") from e
        wire.settimeout(timeout_s)
        return wire

    def _opened(self, serial: str, service: str, timeout_s: float) -> socket.socket:
        """A service of a phone, ready to be read."""
        raw = service.encode()
        if len(raw) > 0xFFFF:
            raise WireError(f"a command of {len(raw)} bytes is too long for adb, the limit is 65535")
        connection = self._connection(timeout_s)
        wire: socket.socket = connection.conn
        try:
            if self._version is None:
                self._version = self._client.server_version()
            if self._version >= 41:
                connection.send_command(f"host:tport:serial:{serial}")
                connection.check_okay()
                connection.read_exact(8)
            else:
                connection.send_command(f"host:transport:{serial}")
                connection.check_okay()
            wire.sendall(b"%04x" % len(raw) + raw)
            connection.check_okay()
        except BaseException:
            wire.close()
            raise
        return wire
