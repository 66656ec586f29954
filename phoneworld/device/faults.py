"""Faults of real phones, at will: a phone of ours that dumps, draws and answers as badly as real ones do. Seeded.

`FaultyDevice` wraps any Device and spoils what it shows (no idle state, null root, an old tree, a pop-up that is in no tree, black
pictures, a screen that reacts late). What only bytes on a wire can have (a banner glued to the tree, a warning before the picture,
CRLF, `Killed`, a broken-off connection) is done by the adb face, which asks the same `Faults`. Facts: see `KNOBS`.

The truth log says, for each tree and picture that was asked for, what the phone truly showed, by the SHA-256 that a recorder's
journal gives a tree; so a recording can be held against it. This file knows no wire and no recorder.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from phoneworld.device.device import Device, FreshableDevice, ResettableDevice
from phoneworld.device.through import Through
from phoneworld.errors import CaptureFailed, PhoneWorldError, WriteError
from phoneworld.ui.action import Action, Answer, Ask, Finish, Wait
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import write_hierarchy


@dataclass(frozen=True, slots=True)
class Knob:
    """One fault: what happens, and how many seconds it takes unless told otherwise (None: it takes none)."""

    words: str
    seconds: float | None = None


KNOBS: Mapping[str, Knob] = {
    "idle": Knob("a dump waits, then says `ERROR: could not get idle state.` with status 0 and no file", 10.0),
    "nullroot": Knob("a dump says `ERROR: null root node returned by UiTestAutomationBridge.` with status 0 and no file"),
    "staledump": Knob("a dump says nothing, with status 0, and leaves the file of an earlier one where it lies"),
    "oldtree": Knob("a dump succeeds and holds the tree of the dump before (a stale accessibility cache)"),
    "killed": Knob("a dump is killed: `Killed`, status 137, no file"),
    "banner": Knob("the line `UI hierchary dumped to` is glued to the tree instead of standing on its own"),
    "truncated": Knob("a picture or a tree stops in the middle"),
    "warning": Knob("a warning of several displays stands before the picture, unless a display is named (-d)"),
    "crlf": Knob("each LF of a picture arrives as CR LF"),
    "secure": Knob("a picture is all black, as of a screen that forbids them (FLAG_SECURE)"),
    "slow-screencap": Knob("a picture takes long", 2.0),
    "late-settle": Knob("after an action the old screen stays in tree and picture for a while", 1.0),
    "popup-missing": Knob("a window over the app that opens is in no dump as long as it stands: the dump shows what lies under it"),
}
"""Each is rolled for by itself. Sources: `uiautomator` and `screencap` of Android as reported in public threads."""

WARNING = (
    b"[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, however this "
    b"default is not guaranteed to be consistent across captures. A display id should be specified.\n"
)
_OFFLINE = re.compile(r"offline@(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?|inf))?")
_RATE = re.compile(r"([a-z-]+)(?:=(\d*\.?\d+)(?::(\d+(?:\.\d+)?))?)?")
_CHANCE = 0.05
_SECURE = re.compile(r"secure@(.+)")
_AWAY_S = 5.0
_POPUP_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Which faults, how often (0..1 for each occasion), how long. `secure_words`: screens that show them forbid pictures."""

    chances: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    secure_words: tuple[str, ...] = ()
    offline_at_s: float = math.inf
    offline_for_s: float = _AWAY_S


def parse_faults(text: str) -> FaultPlan:
    """Reads `idle=0.1,nullroot=0.05:2,killed,all=0.01,secure@Account,offline@30:5`. Raises PhoneWorldError, naming what is wrong.

    `NAME=CHANCE[:SECONDS]` sets a knob, `NAME` alone a chance of 0.05, `all=CHANCE` every knob that is not named, `secure@WORDS` forbids pictures of screens that
    show the words, `offline@T[:S]` drops the connection T seconds after the start and refuses it for S (5; 0: it can be had
    again at once; `inf`: never).
    """
    chances: dict[str, float] = {}
    seconds: dict[str, float] = {}
    words: list[str] = []
    everywhere, at_s, for_s = 0.0, math.inf, _AWAY_S
    for part in filter(None, (p.strip() for p in text.split(","))):
        if away := _OFFLINE.fullmatch(part):
            at_s, for_s = float(away[1]), float(away[2] or _AWAY_S)
        elif secure := _SECURE.fullmatch(part):
            words.append(secure[1])
        elif (rate := _RATE.fullmatch(part)) and (chance := float(rate[2] or _CHANCE)) <= 1:
            name = rate[1]
            if name == "all" and not rate[3]:
                everywhere = chance
                continue
            if name not in KNOBS:
                raise PhoneWorldError(f"there is no fault {name!r}", hint="there are: all, " + ", ".join(KNOBS) + ", offline@SECONDS")
            if rate[3] and KNOBS[name].seconds is None:
                raise PhoneWorldError(f"the fault {name!r} takes no time, found {part!r}", hint=f"{name}={rate[2]}")
            chances[name] = chance
            if rate[3]:
                seconds[name] = float(rate[3])
        else:
            raise PhoneWorldError(
                f"{part!r} is no fault", hint="NAME, NAME=CHANCE[:SECONDS] with a chance of 0 to 1, secure@WORDS, or offline@SECONDS[:SECONDS]; the names: all, " + ", ".join(KNOBS)
            )
    return FaultPlan({**dict.fromkeys(KNOBS, everywhere), **chances}, seconds, tuple(words), at_s, for_s)


class Faults:
    """A plan at work: dice, the connection's fate, and the log of the truth (`truth`: a file, emptied first).

    One die for each knob, so that a knob strikes at the same occasions whatever the others do.
    """

    def __init__(
        self,
        plan: FaultPlan,
        *,
        seed: int = 0,
        truth: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.plan, self.clock, self.sleep = plan, clock, sleep
        self.struck: Counter[str] = Counter()
        """How often each knob has struck so far."""
        self._dice = {knob: Random(f"{seed}:{knob}") for knob in KNOBS}
        self._started_s = clock()
        self._cut = False
        self._truth = truth
        self._lock = threading.Lock()
        self._rows = 0
        if truth is not None:
            try:
                truth.write_text("")
            except OSError as e:
                raise WriteError(f"the truth cannot be written to {truth}: {e.strerror}", hint="name a file in a folder that is there") from e

    @property
    def keeps_truth(self) -> bool:
        return self._truth is not None

    def start(self) -> None:
        """The phone is up: `offline@` counts from now."""
        self._started_s = self.clock()

    def strikes(self, knob: str) -> bool:
        """Rolls for one occasion."""
        if self._dice[knob].random() >= self.plan.chances.get(knob, 0.0):
            return False
        self.struck[knob] += 1
        return True

    def seconds(self, knob: str) -> float:
        """How long that fault takes."""
        return self.plan.seconds.get(knob, KNOBS[knob].seconds or 0.0)

    @property
    def is_offline(self) -> bool:
        """True while nobody is to get a connection."""
        return 0 <= self._away_since_s < self.plan.offline_for_s

    @property
    def _away_since_s(self) -> float:
        return self.clock() - self._started_s - self.plan.offline_at_s

    def cuts(self) -> bool:
        """True where a connection is to be dropped now: while it is offline, and once in any case (`offline@30:0`)."""
        if self._away_since_s < 0 or (self._cut and not self.is_offline):
            return False
        self._cut = True
        return True

    def tell(self, what: str, **fields: object) -> None:
        """Writes one line of the truth: a JSON object with its number, Unix time in ms, and what it is about."""
        if self._truth is None:
            return
        with self._lock:
            self._rows += 1
            row = {"n": self._rows, "time_ms": round(time.time() * 1000), "what": what, **fields}
            with self._truth.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def tree_name(hierarchy: Hierarchy) -> str:
    """The SHA-256 of a tree's XML: what a recorder's journal calls it."""
    return hashlib.sha256(write_hierarchy(hierarchy)).hexdigest()


@dataclass(slots=True)
class _Frozen:
    """What the phone goes on showing though it has already changed."""

    hierarchy: Hierarchy
    screenshot: bytes
    state: DeviceState
    until_s: float


class FaultyDevice(Through):
    """A Device with the faults of a real phone. Whatever else the wrapped one offers can be had through it."""

    def __init__(self, device: Device, faults: Faults) -> None:
        super().__init__(device)
        self._faults = faults
        self._frozen: _Frozen | None = None
        self._beneath: Hierarchy | None = None
        self._popup_hidden: bool | None = None
        self._last: Hierarchy | None = None
        faults.start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def state(self) -> DeviceState:
        frozen = self._held()
        return self._device.state() if frozen is None else frozen.state

    def hierarchy(self) -> Hierarchy:
        """What a dump would say. Raises CaptureFailed (DUMP_NOT_IDLE, NULL_ROOT) where a fault strikes."""
        frozen = self._held()
        true = self._device.hierarchy() if frozen is None else frozen.hierarchy
        served, fault = self._spoiled(true)
        self._faults.tell(
            "tree", tree=tree_name(true), served=None if served is None else tree_name(served),
            fault=fault or ("late-settle" if frozen is not None else None),
        )  # fmt: skip
        if served is None:
            if fault == "idle":
                self._faults.sleep(self._faults.seconds("idle"))
                raise CaptureFailed("could not get idle state.", code="DUMP_NOT_IDLE")
            raise CaptureFailed("null root node returned by UiTestAutomationBridge.", code="NULL_ROOT")
        self._last = true
        return served

    def _spoiled(self, true: Hierarchy) -> tuple[Hierarchy | None, str | None]:
        """The tree that is served in place of the true one, None for none at all, and the fault that did it."""
        hidden = self._hides_popup(true)
        if self._faults.strikes("idle"):
            return None, "idle"
        if self._faults.strikes("nullroot"):
            return None, "nullroot"
        if self._faults.strikes("oldtree") and self._last is not None and self._last != true:
            return self._last, "oldtree"
        if hidden and self._beneath is not None:
            return self._beneath, "popup-missing"
        return true, None

    def _hides_popup(self, true: Hierarchy) -> bool:
        """Rolls once for each pop-up that opens; remembers what lies under it."""
        screen = self.info.size.bounds.area
        if true.extent.bounds.area and max(w.bounds.area for w in true.windows) >= _POPUP_SHARE * screen:
            self._beneath, self._popup_hidden = true, None
            return False
        if self._popup_hidden is None:
            self._popup_hidden = self._faults.strikes("popup-missing")
        return self._popup_hidden

    def screenshot(self) -> bytes:
        """The picture; late, or black, where a fault strikes."""
        frozen = self._held()
        png = self._device.screenshot() if frozen is None else frozen.screenshot
        fault = None
        if self._faults.strikes("slow-screencap"):
            fault = "slow-screencap"
            self._faults.sleep(self._faults.seconds("slow-screencap"))
        words = self._faults.plan.secure_words
        tree: Hierarchy | None = None
        if words or self._faults.keeps_truth:
            tree = self._device.hierarchy() if frozen is None else frozen.hierarchy
        forbidden = tree is not None and any(w in n.label for w in words for n in tree.nodes())
        if self._faults.strikes("secure") or forbidden:
            fault = "secure"
        if tree is not None:
            self._faults.tell("picture", tree=tree_name(tree), picture=hashlib.sha256(png).hexdigest(), fault=fault)
        return _black(png) if fault == "secure" else png

    def perform(self, action: Action) -> None:
        """Does it; where late-settle strikes, the screen goes on showing what it showed."""
        frozen: _Frozen | None = None
        if not isinstance(action, Wait | Answer | Ask | Finish) and self._faults.strikes("late-settle"):
            frozen = _Frozen(self._device.hierarchy(), self._device.screenshot(), self._device.state(), 0.0)
        self._device.perform(action)
        if frozen is not None:
            frozen.until_s = self._faults.clock() + self._faults.seconds("late-settle")
            self._frozen = frozen

    def _held(self) -> _Frozen | None:
        if self._frozen is not None and self._faults.clock() >= self._frozen.until_s:
            self._frozen = None
        return self._frozen

    def clear_app(self, package: str) -> None:
        self._frozen = self._beneath = self._last = None
        self._device.clear_app(package)


class FaultyFreshable(FaultyDevice):
    """The same over a phone that can be put back to its start."""

    def __init__(self, device: FreshableDevice, faults: Faults) -> None:
        super().__init__(device, faults)
        self._freshable = device

    def reset(self, seed: int | None = None) -> None:
        self._frozen = self._beneath = self._last = None
        self._freshable.reset(seed)


class FaultyResettable(FaultyFreshable):
    """The same over a phone whose state can be kept and put back."""

    def __init__(self, device: ResettableDevice, faults: Faults) -> None:
        super().__init__(device, faults)
        self._resettable = device

    def snapshot(self) -> str:
        return self._resettable.snapshot()

    def restore(self, snapshot: str) -> None:
        self._frozen = None
        self._resettable.restore(snapshot)


def faulty(device: Device, faults: Faults) -> Device:
    """The phone with those faults; one that can be put back still can."""
    if isinstance(device, ResettableDevice):
        return FaultyResettable(device, faults)
    return FaultyFreshable(device, faults) if isinstance(device, FreshableDevice) else FaultyDevice(device, faults)


def _black(png: bytes) -> bytes:
    """A picture of the same size without anything in it."""
    with Image.open(io.BytesIO(png)) as picture:
        out = io.BytesIO()
        Image.new("RGB", picture.size).save(out, "PNG")
        return out.getvalue()
