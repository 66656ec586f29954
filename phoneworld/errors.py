"""The exceptions of PhoneWorld.

    PhoneWorldError                     every error we raise on purpose; has a `hint` that mends it and an `exit_code`
    ├── DumpError                       bytes that cannot be trusted as one whole widget tree
    │   ├── NotADump                    no hierarchy in it
    │   ├── TruncatedDump               it starts as one and stops in the middle
    │   ├── EmptyDump                   nothing at all, or a hierarchy with no node
    │   └── DumpFailed                  the dumper's own error text (not idle, null root)
    ├── FileFormatError                 a file of ours or of somebody else's that cannot be read
    │   ├── NewerFormat                 written by a newer PhoneWorld
    │   └── UnsafePath                  a path in a file that leaves its folder
    ├── OptionError                     an option or argument that cannot be
    ├── ActionError                     an action that is malformed or outside the screen
    ├── DeviceError                     a phone that cannot do what was asked
    │   ├── DeviceNotFound              no such device, or none at all
    │   ├── DeviceAmbiguous             several devices and none named
    │   ├── DeviceUnusable              offline, unauthorized, no permission
    │   ├── DeviceLost                  it was there and went away
    │   ├── Overdue                     it took longer than it was given
    │   ├── CaptureFailed               screenshot or tree could not be had within the budget
    │   └── WireError                   bytes on a connection that are not the protocol
    ├── RecordingError                  a recording cannot be started or resumed
    ├── WriteError                      a disk that is full, a place that cannot be written, a file that is not ours to replace
    ├── ProgramError                    a Program that contradicts itself
    ├── BrowserError                    Chromium is missing or died
    ├── SessionError                    an unknown, expired or surplus session
    ├── ServeError                      a server cannot be started
    ├── TaskFault                       what is wrong with a task, with file and line where it was read from one
    │   ├── TaskError                   a task contradicts itself, or names what its app does not have
    │   └── CheckerError                a checker could not be worked out: no score
    ├── PolicyLost                      what acts is somewhere else, and does not answer: no score
    ├── ObservationError                a part was asked for that is not observed, or cannot be
    └── MissingDependency               an optional package is needed
"""

from __future__ import annotations

from typing import Self


class PhoneWorldError(Exception):
    """What was expected, what was found and where; `hint` is the command or edit that mends it."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class DumpError(PhoneWorldError):
    """These bytes cannot be trusted as one whole widget tree."""

    exit_code = 3


class NotADump(DumpError):
    """There is no `hierarchy` element in the bytes."""


class TruncatedDump(DumpError):
    """The document starts as a dump and stops before its end."""


class EmptyDump(DumpError):
    """No bytes at all, or a hierarchy without a single node."""


class DumpFailed(DumpError):
    """The dumper printed an error of its own; `line` is what it printed."""

    def __init__(self, message: str, *, line: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.line = line


class FileFormatError(PhoneWorldError):
    """A file cannot be read as what it claims to be."""

    exit_code = 3


class NewerFormat(FileFormatError):
    """The file was written by a newer PhoneWorld than this one."""


class UnsafePath(FileFormatError):
    """A path in a file points outside the folder of that file."""


class OptionError(PhoneWorldError):
    """An option, or what is named by an argument, has a value that it cannot have."""

    exit_code = 2


class ActionError(PhoneWorldError):
    """An action is malformed, or lies outside the screen."""

    exit_code = 2


class DeviceError(PhoneWorldError):
    """A phone cannot do what was asked."""

    exit_code = 4


class DeviceNotFound(DeviceError):
    """No such device is attached."""


class DeviceAmbiguous(DeviceError):
    """Several devices are attached and none was named."""


class DeviceUnusable(DeviceError):
    """The device is attached but offline, unauthorized or without permission."""


class DeviceLost(DeviceError):
    """The device was there and went away."""


class Overdue(DeviceError):
    """A reset or a step took longer than it was given."""


class CaptureFailed(DeviceError):
    """A screenshot or a tree could not be had within the budget; `code` names why (DUMP_NOT_IDLE, NULL_ROOT, NO_PNG, ...)."""

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class WireError(DeviceError):
    """The bytes on a connection break its protocol; the connection is of no more use."""


class RecordingError(PhoneWorldError):
    """A recording cannot be started or resumed."""

    exit_code = 5


class WriteError(PhoneWorldError):
    """A file cannot be written: the disk is full, the place is not ours, or somebody else's file stands there."""

    exit_code = 10


class ProgramError(PhoneWorldError):
    """A Program contradicts itself."""

    exit_code = 6


class BrowserError(PhoneWorldError):
    """Chromium is missing, or it died."""

    exit_code = 7


class SessionError(PhoneWorldError):
    """A session is unknown, expired, or one too many."""

    exit_code = 8


class ObservationError(PhoneWorldError):
    """A part of an observation was asked for that the environment was not told to observe, or cannot be had."""

    exit_code = 2


class ServeError(PhoneWorldError):
    """A server cannot be started: its port is taken, or the address is not ours."""

    exit_code = 11


class PolicyLost(PhoneWorldError):
    """What acts is on another machine or in another process, and does not answer. That is no failure of the policy."""

    exit_code = 11


class MissingDependency(PhoneWorldError):
    """An optional package is needed; `hint` says what to install."""

    exit_code = 9


class TaskFault(PhoneWorldError):
    """What is wrong with a task. `place` is the file and line that say it, "" where the task was not read from a file."""

    def __init__(self, message: str, *, hint: str = "", place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.place = place

    def at(self, place: str) -> Self:
        """The same, told with its place where it has none yet: who finds a fault seldom knows where it is written."""
        return self if self.place or not place else type(self)(self.message, hint=self.hint, place=place)


class TaskError(TaskFault):
    """A task that cannot be: it contradicts itself, names what its app does not have, or cannot be drawn."""

    exit_code = 3


class CheckerError(TaskFault):
    """A checker could not be worked out. That is the checker's fault and no score of the policy."""
