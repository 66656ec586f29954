"""The report of a compilation as one HTML page that needs no network and no browser to be written. Knows no rule.

For three screens the recorded picture stands beside the mock as it is served, and beside its drawing of the tree alone, so that
a person sees what is lost where no pixel is recorded.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image, UnidentifiedImageError

from phoneworld.graph.graph import StateGraph
from phoneworld.program.effect import SetVar
from phoneworld.program.program import STRENGTH, Layout, Program, Rule
from phoneworld.program.words import effect_in_words, trigger_in_words
from phoneworld.render.html import data_uri, tree_page, view_page
from phoneworld.render.rule_words import shortened, widget_words
from phoneworld.render.templates import environment
from phoneworld.sim.view import View

if TYPE_CHECKING:
    from phoneworld.compiler.compile import Compilation

SHOWN_WIDTH = 300
SIDE_BY_SIDE = 3
_MOMENT = "moment"
"""The variable by which the compiler tells moments of the recording apart."""
_LONGEST_EFFECT = 240
LINES_SHOWN = 60
"""Lines of one screen: of its rules, and of its widgets that were never tried. The rest is counted."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Rules of a screen that do the same after the same action, at as many moments."""

    on: str
    then: tuple[str, ...]
    kind: str
    moments: int
    cases: int
    support: str


@dataclass(frozen=True, slots=True)
class _Group:
    """What is told of one screen. `more` lines are not shown."""

    screen: str
    count: int
    by_kind: str
    lines: tuple[Any, ...]
    more: int


@dataclass(frozen=True, slots=True)
class _Pair:
    title: str
    picture: str
    mock: str
    page: str
    width: int
    height: int
    scale: float


def report_page(graph: StateGraph, compiled: Compilation, pixels: Mapping[str, bytes]) -> str:
    """The page. `pixels` maps screenshot hashes to PNG bytes."""
    program = compiled.program
    names = _told_apart({s.id: s.name for s in program.screens.values()})
    screen_of = {lay.id: names[s.id] for s in program.screens.values() for lay in s.layouts}
    return environment().get_template("report/build.html").render(
        program=program,
        source=graph.source,
        compiled=compiled,
        evidence=[(kind, compiled.rules_by_evidence().get(kind, 0)) for kind in STRENGTH if kind != "unrecorded"],
        pairs=_pairs(program, pixels),
        screens=[(s, thumbnail(_picture(s.layouts, pixels))) for s in program.screens.values()],
        rules=rule_groups(program.rules, names),
        question_count=len(compiled.open_questions),
        questions=_question_groups([(names[q.screen], widget_words(q.node, q.label)) for q in compiled.open_questions]),
        ambiguities=[
            (f"{screen_of[a.layout]} ({a.layout})", trigger_in_words(a.on), [(f"{screen_of[to]} ({to})", count) for to, count in a.outcomes])
            for a in compiled.ambiguities
        ],
        faults=compiled.replay.faults[:50],
        shown_width=SHOWN_WIDTH,
    )


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """The same names by id, numbered from the second of a name on."""
    seen: Counter[str] = Counter()
    found = {}
    for key, name in names.items():
        seen[name] += 1
        found[key] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return found


def _picture(layouts: Sequence[Layout], pixels: Mapping[str, bytes]) -> bytes | None:
    return next((pixels[lay.screenshot] for lay in layouts if lay.screenshot and lay.screenshot in pixels), None)


def thumbnail(png: bytes | None, width: int = 150) -> str:
    """A small JPEG of a picture as a URI; empty where there is none or it cannot be read."""
    if png is None:
        return ""
    try:
        with Image.open(io.BytesIO(png)) as image:
            small = image.convert("RGB")
            small.thumbnail((width, width * 4))
            out = io.BytesIO()
            small.save(out, "JPEG", quality=78)
    except (UnidentifiedImageError, OSError, ValueError):
        return ""
    return data_uri(out.getvalue())


def _smaller(png: bytes) -> bytes:
    """The same picture at the same size in fewer bytes; the PNG itself where it cannot be read."""
    try:
        with Image.open(io.BytesIO(png)) as image:
            out = io.BytesIO()
            image.convert("RGB").save(out, "JPEG", quality=70)
    except (UnidentifiedImageError, OSError, ValueError):
        return png
    return out.getvalue()


def _pairs(program: Program, pixels: Mapping[str, bytes]) -> list[_Pair]:
    pairs: list[_Pair] = []
    layouts = sorted(
        (lay for s in program.screens.values() for lay in s.layouts if lay.screenshot in pixels),
        key=lambda lay: -sum(1 for n in lay.hierarchy.nodes() if n.label),
    )
    seen: set[str] = set()
    for layout in layouts:
        screen = next(s for s in program.screens.values() if layout in s.layouts)
        if screen.id in seen or len(pairs) == SIDE_BY_SIDE:
            continue
        seen.add(screen.id)
        scale = SHOWN_WIDTH / layout.size.width
        page = tree_page(layout.hierarchy, layout.size, program.device.density)
        height = round(layout.size.height * scale)
        png = pixels[layout.screenshot or ""]
        view = View(
            layout.hierarchy, layout.size, program.device.density, layout.state, layout.id, layout.hierarchy, layout.screenshot
        )
        mock = view_page(view, {layout.screenshot or "": _smaller(png)})
        pairs.append(_Pair(screen.name, thumbnail(png, SHOWN_WIDTH), mock, page, layout.size.width, height, scale))
    return pairs


def rule_groups(rules: Sequence[Rule], names: Mapping[str, str]) -> list[_Group]:
    """The rules by screen; those of one screen that differ only in the moment they hold at are one line."""
    of_screen: dict[str, dict[tuple[str, tuple[str, ...], str], list[Rule]]] = {}
    for rule in rules:
        # Which moment comes next is bookkeeping: a reader wants to know what is seen.
        seen = [e for e in rule.then if not (isinstance(e, SetVar) and e.name == _MOMENT)]
        then = tuple(shortened(effect_in_words(e, names), _LONGEST_EFFECT) for e in seen) or ("the screen changes as it was recorded" if rule.then else "nothing changes",)
        of_screen.setdefault(names[rule.screen], {}).setdefault((trigger_in_words(rule.on), then, rule.evidence.kind), []).append(rule)
    groups = []
    for screen, found in of_screen.items():
        lines = []
        for (on, then, kind), same in found.items():
            support = list(dict.fromkeys(s for r in same for s in r.evidence.support))
            lines.append(
                _Line(on, then, kind, len(same), sum(r.evidence.cases for r in same), ", ".join(support[:4]) + (" …" if len(support) > 4 else ""))
            )
        counts = Counter(r.evidence.kind for same in found.values() for r in same)
        words = ", ".join(f"{counts[kind]} {kind}" for kind in STRENGTH if counts[kind])
        groups.append(_Group(screen, counts.total(), words, tuple(lines[:LINES_SHOWN]), max(0, len(lines) - LINES_SHOWN)))
    return groups


def _question_groups(questions: Sequence[tuple[str, str]]) -> list[_Group]:
    """What was never tried, by screen, the screen with most first."""
    of_screen: dict[str, list[str]] = {}
    for screen, widget in questions:
        of_screen.setdefault(screen, []).append(widget)
    ranked = sorted(of_screen.items(), key=lambda item: -len(item[1]))
    return [_Group(screen, len(found), "", tuple(found[:LINES_SHOWN]), max(0, len(found) - LINES_SHOWN)) for screen, found in ranked]
