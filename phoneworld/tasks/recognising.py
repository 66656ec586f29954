"""Which of the mock's screens a phone shows: told by what identity goes by, never by words that are content. Pure."""

from __future__ import annotations

from phoneworld.graph.features import Features, features
from phoneworld.graph.graph import Capture
from phoneworld.graph.identity import same_screen
from phoneworld.program.program import Program
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy

_KEPT = 8
_known: dict[int, tuple[Program, dict[str, tuple[Features, ...]]]] = {}
"""By the Program's id; the Program is kept too, so that no other can come by it."""


def is_on(screen: str, program: Program, tree: Hierarchy, size: Size) -> bool | None:
    """True where a tree is that screen as it was recorded and no other, False where it is another; None where neither can be told.

    Costs a look at every recorded layout: about 10 ms.
    """
    seen = features(Capture("seen", tree, size))
    shown = {name for name, layouts in _screens(program).items() if any(same_screen(seen, layout) for layout in layouts)}
    if screen not in shown:
        return False if shown else None
    return True if len(shown) == 1 else None


def _screens(program: Program) -> dict[str, tuple[Features, ...]]:
    known = _known.get(id(program))
    if known is None:
        if len(_known) >= _KEPT:
            _known.clear()
        of = {name: tuple(features(Capture(lay.id, lay.hierarchy, lay.size)) for lay in screen.layouts) for name, screen in program.screens.items()}
        known = _known[id(program)] = (program, of)
    return known[1]
