"""Waits until a phone's screen is at rest, and reads it so that tree and picture show the same moment.

The rule: tree, picture, tree, picture, ... until two in a row are equal. The second tree is then held between two equal
pictures. Equality alone is no proof of rest, so the wait is longer where

- a progress widget is on the screen (it looks the same twice while the app still loads),
- the tree is still what it was before the action (the app may not have reacted yet),
- there is nothing on the screen at all (a blank page that still loads), or a nameless pane has come to lie over all of it (apps
  catch touches with one while they change pages),
- the picture has changed and the tree has not: the dump may be an old one, or tell nothing of a pop-up (`picture-only` where it
  stays so to the end).

At the limit the last look is kept and marked: never a guess, never an empty screen. `Watch` holds the rules and knows no
device and no clock; `settle` is the loop around it.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol, runtime_checkable

from PIL import Image, ImageChops

from phoneworld.device.device import Device
from phoneworld.errors import CaptureFailed, DumpError
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

MAX_TRANSIENTS = 8
STATUS_BAR_DP = 24
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BUSY_CLASSES = ("ProgressBar", "ProgressIndicator", "LoadingView", "ShimmerFrameLayout")
_BUSY_ID_WORDS = {"progress", "loading", "loader", "shimmer", "skeleton", "refreshing"}
_BUSY_TEXTS = {"loading", "please wait", "加载中", "正在加载", "載入中", "cargando", "chargement", "wird geladen", "読み込み中"}
_DOUBTED_LOOKS, _UNCHANGED_LOOKS = 3, 4
"""How many equal looks in a row are believed where the picture has changed and the tree has not; more where it is still the one
from before the action."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@runtime_checkable
class Retrying(Protocol):
    """A phone that asks again by itself where a tree or a picture could not be had."""

    def take_retried(self) -> tuple[str, ...]:
        """Why, since this was called last: codes in order."""
        ...


@runtime_checkable
class Stillable(Protocol):
    """A phone whose animations can be switched off; its `close` puts them back."""

    def hold_still(self) -> None:
        """Switches them off."""
        ...


def take_retried(device: Device) -> tuple[str, ...]:
    """What a phone has asked for again since it was last taken; nothing where it does not count."""
    return device.take_retried() if isinstance(device, Retrying) else ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the phone.

    `screenshot` is a PNG, empty where the phone gives no picture (then `notes` holds `no-picture`). `waited_ms` is how long
    after the start this look was first seen: the settling time of the screen, not the time spent to be sure of it.
    `transients` are other looks seen on the way, oldest first; they are not at rest themselves. `busy` names the progress
    widgets that were still shown; pass them as `calm` next time and they no longer prolong the wait. `retries` counts
    trees or pictures that could not be had at first, `retried` says why, one code each time.
    """

    hierarchy: Hierarchy
    screenshot: bytes
    state: DeviceState
    settled: bool
    waited_ms: int
    transients: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    busy: frozenset[str] = frozenset()
    retries: int = 0
    retried: tuple[str, ...] = ()

    @property
    def size(self) -> Size:
        """The screen as it is rotated now: from the picture, else from the windows."""
        return png_size(self.screenshot) or self.hierarchy.extent


@dataclass(frozen=True, slots=True)
class Look:
    """A tree and the picture taken right after it. `at_ms` is when the tree was asked for, `until_ms` when the picture came."""

    hierarchy: Hierarchy
    screenshot: bytes
    at_ms: int
    until_ms: int
    digest: str = ""
    busy: frozenset[str] = frozenset()


@dataclass(slots=True)
class Watch:
    """The rules of rest, over looks that are handed in. Times are milliseconds since the start."""

    quiet_ms: int
    unchanged_quiet_ms: int
    blank_quiet_ms: int
    before: str = ""
    calm: frozenset[str] = frozenset()
    density: int = 420
    before_picture: bytes = b""
    panes_before: int = 0
    run: list[Look] = field(default_factory=list)
    gone: list[Look] = field(default_factory=list)
    looks: int = 0
    wanted: int = 2

    def see(self, look: Look) -> None:
        """Takes in one more look: it either confirms the one before, or starts anew."""
        last = self.run[-1] if self.run else None
        if last is not None and not (self._fits(look) and self._same(last, look)):
            self.gone.append(last)
            self.run = []
        if not self.run:
            self.looks, self.wanted = 0, 2
            if self.is_picture_only(look):
                self.wanted = _UNCHANGED_LOOKS
            elif last is not None and last.digest == look.digest:
                self.wanted = _DOUBTED_LOOKS
        self.looks += 1
        # The first look of a run tells since when, the last one is kept: memory stays small on a long wait.
        self.run = [self.run[0], look] if self.run else [look]

    def interrupt(self) -> None:
        """A look could not be had: what was seen so far proves nothing about what comes."""
        if self.run:
            self.gone.append(self.run[-1])
            self.run = []

    def is_picture_only(self, look: Look) -> bool:
        """True where the picture is not what it was before the action, and the tree says that nothing has changed."""
        return (
            look.digest == self.before
            and bool(look.screenshot and self.before_picture)
            and not same_picture(look.screenshot, self.before_picture, unsteady_regions(look.hierarchy, self.density))
        )

    @property
    def latest(self) -> Look | None:
        return self.run[-1] if self.run else None

    @property
    def is_busy(self) -> bool:
        return bool(self.run and self.run[-1].busy - self.calm)

    @property
    def rested(self) -> bool:
        """True where the latest look may be kept as settled."""
        return self.looks >= self.wanted and self.is_at_rest

    @property
    def is_at_rest(self) -> bool:
        """True where nothing moves any more; a doubt whether the tree belongs to the picture may be left."""
        if self.looks < 2 or self.is_busy or not self._fits(self.run[-1]):
            return False
        first, last = self.run[0], self.run[-1]
        quiet = self.quiet_ms
        if last.digest == self.before:
            quiet = self.unchanged_quiet_ms
        if is_blank(last.hierarchy) or nameless_panes(last.hierarchy) > self.panes_before:
            quiet = max(quiet, self.blank_quiet_ms)
        return last.until_ms - first.at_ms >= quiet

    def transients(self) -> tuple[Look, ...]:
        """What was seen on the way, each look once: neither the screen before the action nor the one at the end."""
        known = {self.before, self.run[-1].digest if self.run else ""}
        looks: list[Look] = []
        for look in self.gone:
            if look.digest not in known:
                known.add(look.digest)
                looks.append(look)
        return tuple(looks[-MAX_TRANSIENTS:])

    def _same(self, a: Look, b: Look) -> bool:
        return a.digest == b.digest and same_picture(a.screenshot, b.screenshot, unsteady_regions(b.hierarchy, self.density))

    def _fits(self, look: Look) -> bool:
        """False where the tree is of another rotation than the picture."""
        size = png_size(look.screenshot)
        extent = look.hierarchy.extent
        return size is None or (extent.width <= size.width and extent.height <= size.height)


def settle(
    device: Device,
    *,
    timeout_s: float = 5.0,
    quiet_s: float = 0.1,
    unchanged_quiet_s: float = 0.35,
    blank_quiet_s: float = 1.0,
    busy_timeout_s: float = 12.0,
    before: Hierarchy | None = None,
    before_picture: bytes = b"",
    calm: frozenset[str] = frozenset(),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Reading:
    """The screen once it is at rest, or as it is at the limit, marked `settled=False`.

    `timeout_s` is the limit, `busy_timeout_s` the one while a progress widget is shown; a slow phone gets at least two looks
    whatever they say. `before` is the tree before the action, `before_picture` the picture that belongs to it. Raises CaptureFailed where no tree could be had within the
    limit and one retry, DeviceLost where the phone went away.
    """
    start = clock()

    def now_ms() -> int:
        return round((clock() - start) * 1000)

    watch = Watch(
        round(quiet_s * 1000),
        round(unchanged_quiet_s * 1000),
        round(blank_quiet_s * 1000),
        before=tree_digest(before) if before is not None else "",
        calm=calm,
        density=device.info.density,
        before_picture=before_picture,
        panes_before=nameless_panes(before) if before is not None else 0,
    )
    state: DeviceState | None = None
    retried: list[str] = []
    looks, failures = 0, 0
    busy_until_s = 0.0
    while True:
        at = now_ms()
        failure: CaptureFailed | DumpError | None = None
        try:
            hierarchy = device.hierarchy()
        except (CaptureFailed, DumpError) as e:
            failure = e
            failures += 1
            retried += take_retried(device) or (_code(e),)
            watch.interrupt()
        else:
            digest = tree_digest(hierarchy)
            confirms = watch.latest is not None and watch.latest.digest == digest
            # Between two equal pictures the state is of the same moment as the tree; before that it is not worth asking.
            state = device.state() if confirms else None
            screenshot = b""
            try:
                screenshot = device.screenshot()
            except CaptureFailed as e:
                retried += take_retried(device) or (e.code,)
            retried += take_retried(device)
            watch.see(Look(hierarchy, screenshot, at, now_ms(), digest, busy_widgets(hierarchy)))
            looks += 1
            if state is not None and watch.rested:
                return _reading(watch, state, settled=True, retried=retried)
        if watch.is_busy:
            busy_until_s = now_ms() / 1000
        if now_ms() >= min(busy_until_s + timeout_s, max(timeout_s, busy_timeout_s)) * 1000:
            if failure is not None and failures > 1:
                raise _capture_failed(failure)
            if failure is None and looks > 1:
                # No time is left for the looks that a doubt would want: a slow phone must not be called restless for that.
                return _reading(watch, state or device.state(), settled=watch.is_at_rest, retried=retried)
        sleep(max(0.0, quiet_s - (now_ms() - at) / 1000))


def _capture_failed(failure: CaptureFailed | DumpError) -> CaptureFailed:
    if isinstance(failure, CaptureFailed):
        return failure
    return CaptureFailed(failure.message, code=_code(failure), hint=failure.hint)


def _code(failure: CaptureFailed | DumpError) -> str:
    return failure.code if isinstance(failure, CaptureFailed) else type(failure).__name__


def _reading(watch: Watch, state: DeviceState, *, settled: bool, retried: Sequence[str]) -> Reading:
    last = watch.run[-1]
    notes = () if settled else ("unsettled",)
    if not last.screenshot:
        notes = (*notes, "no-picture")
    elif is_black(last.screenshot) and not is_blank(last.hierarchy):
        notes = (*notes, "secure")
    elif is_blank(last.hierarchy):
        notes = (*notes, "opaque")
    if watch.is_picture_only(last) and "secure" not in notes:
        notes = (*notes, "picture-only")
    return Reading(
        last.hierarchy,
        last.screenshot,
        state,
        settled,
        watch.run[0].at_ms,
        transients=tuple(
            Reading(
                look.hierarchy,
                look.screenshot,
                DeviceState(package=package_of(look.hierarchy), rotation=look.hierarchy.rotation),
                settled=False,
                waited_ms=look.at_ms,
                busy=look.busy,
            )
            for look in watch.transients()
        ),
        notes=notes,
        busy=last.busy,
        retries=len(retried),
        retried=tuple(retried),
    )


def tree_digest(hierarchy: Hierarchy) -> str:
    """A name for exactly this tree: equal trees, equal names."""
    h = blake2b(digest_size=16)
    h.update(repr((hierarchy.rotation, hierarchy.attributes)).encode("utf-8", "surrogatepass"))
    for path, n in hierarchy.walk():
        h.update(repr((path, *_own(n))).encode("utf-8", "surrogatepass"))
    return h.hexdigest()


def sight_digest(hierarchy: Hierarchy) -> str:
    """A name for what a tree holds in sight: nodes without area, in which apps announce things to screen readers, are left out."""
    seen = {path[:depth] for path, node in hierarchy.walk() if not node.bounds.is_empty for depth in range(1, len(path) + 1)}
    h = blake2b(repr(hierarchy.rotation).encode(), digest_size=16)
    for path, n in hierarchy.walk():
        if path in seen:
            h.update(repr((len(path), *_own(n))).encode("utf-8", "surrogatepass"))
    return h.hexdigest()


def _own(n: Node) -> tuple[object, ...]:
    return (
        n.class_name, n.text, n.resource_id, n.package, n.content_desc, n.hint, n.checkable, n.checked,
        n.clickable, n.enabled, n.focusable, n.focused, n.scrollable, n.long_clickable, n.password, n.selected,
        n.visible, str(n.bounds), n.drawing_order, n.extra,
    )  # fmt: skip


def shown(hierarchy: Hierarchy) -> Iterable[Node]:
    """The nodes that are visible, whatever the viewport."""
    stack = [w for w in reversed(hierarchy.windows)]
    while stack:
        node = stack.pop()
        if node.visible:
            yield node
            stack.extend(reversed(node.children))


def busy_widgets(hierarchy: Hierarchy) -> frozenset[str]:
    """The progress widgets on the screen, each named by class, id and place.

    Where there is nothing to touch, words that end in an ellipsis are one: what they say is going on.
    """
    nodes = [n for n in shown(hierarchy) if not n.bounds.is_empty]
    idle = not any(n.clickable or n.checkable or n.is_editable for n in nodes)
    return frozenset(
        f"{n.class_name}|{n.resource_id}|{n.bounds}" for n in nodes if _is_busy(n) or (idle and n.text.rstrip().endswith(("…", "...")))
    )


def _is_busy(node: Node) -> bool:
    if node.class_name.endswith(_BUSY_CLASSES):
        return True
    if node.text and node.text.strip(" .…").casefold() in _BUSY_TEXTS:
        return True
    name = node.resource_id.rpartition("/")[2]
    return bool(name) and not _BUSY_ID_WORDS.isdisjoint(w.casefold() for w in _WORDS.findall(name)) and not node.clickable


def is_blank(hierarchy: Hierarchy) -> bool:
    """True where the tree has no word and nothing to touch: a page that still loads, or one that draws itself."""
    return not any(n.label or n.clickable or n.checkable or n.is_editable for n in shown(hierarchy))


def nameless_panes(hierarchy: Hierarchy) -> int:
    """How many nodes without content, words or id cover at least four fifths of the screen and lie above something with words."""
    enough, above, panes = hierarchy.extent.bounds.area * 0.8, False, 0
    for node in shown(hierarchy):
        if node.label or node.resource_id or node.scrollable or node.is_editable:
            above = above or bool(node.label)
        elif above and not node.children and node.bounds.area >= enough:
            panes += 1
    return panes


def package_of(hierarchy: Hierarchy) -> str:
    """The package of the topmost window that names one: the smaller window lies above, of equal ones the later."""
    for window in sorted(reversed(hierarchy.windows), key=lambda w: w.bounds.area):
        if window.package:
            return window.package
    return next((n.package for n in hierarchy.nodes() if n.package), "")


def png_size(png: bytes) -> Size | None:
    """Width and height from a PNG's header, None where it has none."""
    if len(png) < 24 or not png.startswith(_PNG_SIGNATURE):
        return None
    return Size(int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big"))


def unsteady_regions(hierarchy: Hierarchy, density: int) -> tuple[Bounds, ...]:
    """Where pixels may differ on a screen at rest: the status bar (clock, signal) and a focused field (blinking caret)."""
    extent = hierarchy.extent
    bar = Bounds(0, 0, max(extent.width, extent.height), STATUS_BAR_DP * density // 160)
    return (bar, *(n.bounds for n in shown(hierarchy) if n.focused and n.is_editable))


def same_picture(a: bytes, b: bytes, besides: Iterable[Bounds] = ()) -> bool:
    """True where two PNGs show the same pixels outside the given regions. Decodes only what is not equal to the byte."""
    if a == b:
        return True
    if png_size(a) is None or png_size(a) != png_size(b):
        return False
    try:
        with Image.open(io.BytesIO(a)) as first, Image.open(io.BytesIO(b)) as second:
            difference = ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
    except OSError:
        return False
    for region in besides:
        inside = region.intersect(Size(*difference.size).bounds)
        if not inside.is_empty:
            difference.paste((0, 0, 0), (inside.left, inside.top, inside.right, inside.bottom))
    return difference.getbbox() is None


def is_black(png: bytes) -> bool:
    """True for an all-black picture: what a phone gives for a screen that forbids screenshots."""
    size = png_size(png)
    # An even picture packs to almost nothing; anything larger need not be decoded to know that it is not black.
    if size is None or len(png) > 1024 + size.width * size.height // 50:
        return False
    try:
        with Image.open(io.BytesIO(png)) as picture:
            return picture.convert("RGB").getbbox() is None
    except OSError:
        return False
