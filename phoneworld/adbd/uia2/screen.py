"""What the methods of uiautomator2 look at and touch: one phone's tree now, and its nodes by selector or by name."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from phoneworld.adbd.phone import PhoneSide, screen_size
from phoneworld.adbd.uia2.selecting import describe, find
from phoneworld.errors import ActionError, CaptureFailed, DeviceError, DumpFailed
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Hierarchy, Node, Path

POLL_S = 0.1
_LONGEST_WAIT_S = 600.0
_OBJECTS_KEPT = 1000


class NotFound(DeviceError):
    """No widget that the selector names."""


@dataclass(frozen=True, slots=True)
class Look:
    """One reading of the screen."""

    tree: Hierarchy
    state: DeviceState
    screen: Size

    def shown(self, path: Path) -> Bounds:
        """What of a node can be seen: cut to the screen and to the scrollers around it."""
        seen = self.tree.at(path).bounds.intersect(self.screen.bounds)
        for ancestor in self.tree.chain(path)[:-1]:
            if ancestor.scrollable:
                seen = seen.intersect(ancestor.bounds)
        return seen


@dataclass(frozen=True, slots=True)
class Named:
    """A widget that a `childBy…` call found; the client asks for it by a name later, when it is looked for again."""

    parent: Any
    child: dict[str, Any]
    text: str | None = None
    description: str | None = None
    instance: int | None = None


class Screen:
    """One phone for one server."""

    def __init__(self, phone: PhoneSide) -> None:
        self.phone = phone
        self._named: OrderedDict[str, Named] = OrderedDict()
        self._count = 0

    async def look(self) -> Look:
        tree, state = await self.phone.owner.call(lambda device: (device.hierarchy(), device.state()))
        return Look(tree, state, screen_size(self.phone.info, state))

    async def find_all(self, selector: Any) -> tuple[Look, list[Path]]:
        """Everything that the selector names now. A screen that cannot be read has nothing on it."""
        try:
            look = await self.look()
        except (CaptureFailed, DumpFailed):
            return Look(Hierarchy(()), DeviceState(), self.phone.info.size), []
        return look, self._paths(look, selector)

    def _paths(self, look: Look, selector: Any) -> list[Path]:
        if isinstance(selector, str):
            if selector not in self._named:
                raise NotFound(f"no object is kept under the name {selector[:80]!r}")
            return self._of(look, self._named[selector])
        if not isinstance(selector, dict):
            raise ActionError(f"a selector is an object of fields, found {str(selector)[:60]!r}")
        return find(look.tree, look.screen, selector)

    def _of(self, look: Look, named: Named) -> list[Path]:
        roots = self._paths(look, named.parent)
        children = find(look.tree, look.screen, named.child)
        found = [c for c in children if any(c[: len(r)] == r and c != r for r in roots)]
        if named.instance is not None:
            return found[named.instance : named.instance + 1] if named.instance >= 0 else []

        def says(path: Path) -> bool:
            below = [n for p, n in look.tree.walk() if p[: len(path)] == path]
            if named.text is not None:
                return any(n.text == named.text for n in below)
            return any(n.content_desc == named.description for n in below)

        return [path for path in found if says(path)]

    async def find_one(self, selector: Any) -> tuple[Look, Path, Node]:
        """The first widget that the selector names. Raises NotFound."""
        look, paths = await self.find_all(selector)
        if not paths:
            raise NotFound(describe(selector))
        return look, paths[0], look.tree.at(paths[0])

    async def middle(self, selector: Any) -> Point:
        """Where a finger would touch the widget. Raises NotFound where nothing of it can be seen."""
        look, path, _ = await self.find_one(selector)
        shown = look.shown(path)
        if shown.is_empty:
            raise NotFound(describe(selector))
        return shown.center

    async def wait(self, selector: Any, timeout_ms: float, *, gone: bool = False) -> bool:
        """Looks until the widget is there, or gone; False when the time is over."""
        loop = asyncio.get_running_loop()
        until = loop.time() + min(max(0.0, timeout_ms / 1000), _LONGEST_WAIT_S)
        while True:
            _, paths = await self.find_all(selector)
            if bool(paths) != gone:
                return True
            if loop.time() >= until:
                return False
            await asyncio.sleep(POLL_S)

    async def keep(self, named: Named) -> str:
        """A name for a widget. Raises NotFound where there is none."""
        look = await self.look()
        if not self._of(look, named):
            raise NotFound(f"{describe(named.parent)} has no child {named.text or named.description or named.instance!r}")
        self._count += 1
        name = f"object-{self._count}"
        self._named[name] = named
        if len(self._named) > _OBJECTS_KEPT:
            self._named.popitem(last=False)
        return name
