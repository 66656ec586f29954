"""The report of a compilation as one HTML page that needs no network and no browser to be written. Knows no rule.

For three screens the recorded picture stands beside the mock as it is served, and beside its drawing of the tree alone, so that
a person sees what is lost where no pixel is recorded.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image, UnidentifiedImageError

from phoneworld.graph.graph import StateGraph
from phoneworld.program.effect import Effect, GoBack, SetVar, Show
from phoneworld.program.program import STRENGTH, Layout, Program, Rule, Trigger
from phoneworld.render.html import data_uri, tree_page, view_page
from phoneworld.render.templates import environment
from phoneworld.sim.view import View

if TYPE_CHECKING:
    from phoneworld.compiler.compile import Compilation

SHOWN_WIDTH = 300
SIDE_BY_SIDE = 3
RULES_SHOWN = 400


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
    names = {s.id: s.name for s in program.screens.values()}
    return environment().get_template("report/build.html").render(
        program=program,
        source=graph.source,
        compiled=compiled,
        evidence=[(kind, compiled.rules_by_evidence().get(kind, 0)) for kind in STRENGTH if kind != "unrecorded"],
        pairs=_pairs(program, pixels),
        screens=[(s, thumbnail(_picture(s.layouts, pixels))) for s in program.screens.values()],
        rules=[_rule_row(r, names) for r in program.rules[:RULES_SHOWN]],
        more_rules=max(0, len(program.rules) - RULES_SHOWN),
        questions=[(names[q.screen], q.label or q.node.rsplit("/", 1)[-1]) for q in compiled.open_questions],
        ambiguities=[(a.layout, trigger_words(a.on), a.outcomes) for a in compiled.ambiguities],
        faults=compiled.replay.faults[:50],
        shown_width=SHOWN_WIDTH,
    )


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


def trigger_words(on: Trigger) -> str:
    """A trigger in words: what is done, to which widget."""
    node = on.node.rsplit("/", 1)[-1] if ":id/" in on.node or len(on.node) > 60 else on.node
    words = on.kind.replace("_", " ")
    if on.argument is not None:
        words += f" “{on.argument}”"
    return f"{words} on {node}" if node else words


def _rule_row(rule: Rule, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "screen": names[rule.screen],
        "on": trigger_words(rule.on),
        "then": ", ".join(_effect_words(e, names) for e in rule.then) or "nothing changes",
        "kind": rule.evidence.kind,
        "cases": rule.evidence.cases,
        "support": ", ".join(rule.evidence.support[:4]) + (" …" if len(rule.evidence.support) > 4 else ""),
        "settle_ms": rule.settle_ms,
    }


def _effect_words(effect: Effect, names: Mapping[str, str]) -> str:
    match effect:
        case SetVar(name, value):
            return f"{name} := {getattr(value, 'value', 'what was typed')}"
        case Show(screen):
            return f"show {names[screen]}"
        case GoBack(to):
            return "go back" + (f" to {' or '.join(names[s] for s in to)}" if to else "")
        case _:
            return type(effect).__name__
