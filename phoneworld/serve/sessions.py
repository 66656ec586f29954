"""Sessions: phones of many users at once, each on its own, with a limit and an idle time-out. Knows no HTTP.

A session is a value (the PhoneState) and what was done to it. All sessions of the same bundles share one `Phone`, which
holds only caches; its lock is held for the microseconds of a step.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from phoneworld.errors import FileFormatError, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.sim.phone import Phone, Step
from phoneworld.sim.state import PhoneState, state_from_json, state_to_json
from phoneworld.sim.view import View
from phoneworld.ui.action import Action

LOG_KEPT = 200
SNAPSHOTS_KEPT = 500
_NAME_LENGTH = 80


class UnknownSession(SessionError):
    """No session, snapshot or bundle has this name, or it has expired."""


class TooManySessions(SessionError):
    """The limit is reached."""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One action and what it did; `screen` is the screen it left the phone on."""

    number: int
    action: Action
    step: Step
    screen: str


@dataclass(slots=True)
class Apartment:
    """The phone that all sessions of the same bundles share."""

    names: tuple[str, ...]
    bundles: tuple[Bundle, ...]
    phone: Phone
    lock: threading.RLock = field(default_factory=threading.RLock)


@dataclass(slots=True)
class Session:
    """One phone in use. `version` grows with every change, so that a page knows when to look again."""

    id: str
    home: Apartment
    state: PhoneState
    seed: int
    start: str | None
    used: float
    version: int = 0
    count: int = 0
    log: deque[LoggedStep] = field(default_factory=lambda: deque(maxlen=LOG_KEPT))
    snapshots: dict[str, PhoneState] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def view(self) -> View:
        """What the phone shows now."""
        with self.lock, self.home.lock:
            return self.home.phone.view(self.state)

    def screen(self) -> str:
        """The name of the screen in front."""
        with self.lock, self.home.lock:
            return self.home.phone.screen_name(self.state)

    def step(self, action: Action) -> Step:
        """Does one action."""
        with self.lock, self.home.lock:
            step = self.home.phone.step(self.state, action)
            self.state = step.state
            self.count += 1
            self.version += 1
            self.log.append(LoggedStep(self.count, action, step, self.home.phone.screen_name(step.state)))
            return step

    def reset(self, *, seed: int | None = None, start: str | None = None) -> None:
        """Back to the start; seed and start stay as they were where they are not given. Raises SessionError for an unknown start."""
        with self.lock, self.home.lock:
            seed, start = self.seed if seed is None else seed, self.start if start is None else start
            self._put(self.home.phone.reset(seed, start))
            self.seed, self.start = seed, start

    def patch(self, merge: Mapping[str, Any]) -> None:
        """Merges a JSON merge patch (RFC 7396) into the state. Raises FileFormatError or ProgramError and changes nothing
        where the result is no state of this phone."""
        with self.lock, self.home.lock:
            state = state_from_json(merged(state_to_json(self.state), dict(merge)))
            self.home.phone.check(state)
            for package, app in self.state.apps.items():
                for kind, old, new in (
                    ("variable", app.variables, state.apps[package].variables), ("table", app.tables, state.apps[package].tables),
                ):  # fmt: skip
                    if gone := sorted(set(old) - set(new)):
                        raise FileFormatError(f"{kind} {gone[0]!r} of {package} cannot be removed", hint="set it instead: null removes in a merge patch, but for variables")
            self.home.phone.view(state)
            self._put(state)

    def snapshot(self, name: str | None = None) -> str:
        """Keeps the state under a name, which is made up where none is given; a name taken is given anew."""
        with self.lock:
            number = len(self.snapshots) + 1
            while name is None and f"snapshot-{number}" in self.snapshots:
                number += 1
            name = name or f"snapshot-{number}"
            if len(name) > _NAME_LENGTH or not name.isprintable():
                raise SessionError(f"a snapshot's name has up to {_NAME_LENGTH} printable characters", hint="leave the name out")
            if len(self.snapshots) >= SNAPSHOTS_KEPT and name not in self.snapshots:
                raise SessionError(f"a session keeps {SNAPSHOTS_KEPT} snapshots", hint="give an old name again")
            self.snapshots[name] = self.state
            return name

    def restore(self, name: str) -> None:
        """Goes back to a snapshot. Raises UnknownSession where there is none of this name."""
        with self.lock:
            if name not in self.snapshots:
                known = ", ".join(list(self.snapshots)[-10:])
                raise UnknownSession(f"no snapshot {name!r} in session {self.id}", hint=f"there are {known}" if known else "make one first")
            self._put(self.snapshots[name])

    def _put(self, state: PhoneState) -> None:
        self.state = state
        self.version += 1
        self.count = 0
        self.log.clear()


class SessionStore:
    """All sessions of one server. `clock` gives seconds and is replaced in tests."""

    def __init__(
        self, bundles: Mapping[str, Bundle], *, limit: int = 256, idle_s: float = 1800, clock: Callable[[], float] = monotonic
    ) -> None:
        self.bundles = dict(bundles)
        self.limit = limit
        self.idle_s = idle_s
        self._clock = clock
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        self._homes: dict[tuple[str, ...], Apartment] = {}

    def create(self, names: Sequence[str] | None = None, *, seed: int = 0, start: str | None = None) -> Session:
        """A new phone with these bundles on it, the first in front. Raises UnknownSession, TooManySessions, SessionError."""
        with self._lock:
            self.expire()
            home = self.home(tuple(names) if names else tuple(self.bundles)[:1])
            if len(self._sessions) >= self.limit:
                raise TooManySessions(
                    f"{self.limit} sessions are open, which is the limit", hint="close one, or serve with a higher --sessions"
                )
            with home.lock:
                state = home.phone.reset(seed, start)
            session = Session(secrets.token_hex(8), home, state, seed, start, self._clock())
            self._sessions[session.id] = session
            return session

    def get(self, name: str) -> Session:
        """The session of this id; asking keeps it alive. Raises UnknownSession."""
        with self._lock:
            self.expire()
            session = self._sessions.get(name)
            if session is None:
                raise UnknownSession(f"no session {name!r}: it never was, was closed, or was idle for {self.idle_s:g} s", hint="create one: POST /api/sessions")
            session.used = self._clock()
            return session

    def fork(self, name: str) -> Session:
        """A second session that stands where this one stands, with its snapshots and log."""
        with self._lock:
            old = self.get(name)
            with old.lock:
                new = self.create(old.home.names, seed=old.seed, start=old.start)
                new.state, new.count, new.version = old.state, old.count, 1
                new.log.extend(old.log)
                new.snapshots.update(old.snapshots)
            return new

    def list(self) -> tuple[Session, ...]:
        """All open sessions, oldest first."""
        with self._lock:
            self.expire()
            return tuple(self._sessions.values())

    def close(self, name: str) -> None:
        """Ends a session. Raises UnknownSession."""
        with self._lock:
            self.get(name)
            del self._sessions[name]

    def expire(self) -> None:
        """Ends the sessions that nobody has asked for in `idle_s` seconds."""
        with self._lock:
            now = self._clock()
            for name in [n for n, s in self._sessions.items() if now - s.used > self.idle_s]:
                del self._sessions[name]

    def idle_for(self, session: Session) -> float:
        """Seconds since a session was last asked for."""
        return self._clock() - session.used

    def home(self, names: tuple[str, ...]) -> Apartment:
        """The phone with these bundles on it. Raises UnknownSession where one is not served."""
        with self._lock:
            if not names:
                raise UnknownSession("no app is served", hint="build one, then `phoneworld serve BUNDLE`")
            if names not in self._homes:
                for name in names:
                    if name not in self.bundles:
                        raise UnknownSession(f"no bundle {name!r} is served", hint="one of " + (", ".join(self.bundles) or "none"))
                bundles = tuple(self.bundles[name] for name in names)
                self._homes[names] = Apartment(names, bundles, Phone([b.program for b in bundles]))
            return self._homes[names]


def merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch applied: objects merge, null removes (variables and `focus` it sets to null), all else replaces.

    Raises FileFormatError past 64 levels.
    """

    def merge(old: Any, new: Any, depth: int, inside: str) -> Any:
        if depth > 64:
            raise FileFormatError("the patch is nested deeper than 64 levels", hint="patch a state that GET …/state gave")
        if not isinstance(new, dict):
            return new
        out = dict(old) if isinstance(old, dict) else {}
        for key, value in new.items():
            if value is None and not _is_state_null(key, inside):
                out.pop(key, None)
            else:
                out[key] = merge(out.get(key), value, depth + 1, key)
        return out

    return merge(target, patch, 0, "")


def _is_state_null(key: str, inside: str) -> bool:
    """Where null is a value: nothing has the focus, a variable holds nothing. An app's variables are all there, always."""
    return inside == "variables" or key == "focus"
