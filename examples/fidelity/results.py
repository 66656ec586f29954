"""What was measured, as JSON lines: one for an app, a number of actions and a way of recording, with what it was measured on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import phoneworld
from phoneworld.graph.file import dumps
from phoneworld.graph.graph import StateGraph, Trace

RESULTS = Path(__file__).with_name("results.jsonl")
_ROOMS = ("ui", "graph", "program", "sim", "compiler", "fidelity")
"""What a figure depends on, besides the recordings."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a result is of. `recording` and `held` are digests of the traces, `code` of the rooms that a figure depends on."""

    app: str
    actions: int
    policy: str
    recording: str
    held: str
    code: str


def prefix(graph: StateGraph, actions: int) -> StateGraph:
    """The first actions of a recording; the trace in which they end is cut."""
    traces: list[Trace] = []
    left = actions
    for trace in graph.traces:
        if left <= 0:
            break
        traces.append(replace(trace, transitions=trace.transitions[:left], unfinished=None))
        left -= len(trace.transitions)
    kept = {name for trace in traces for name in trace.captures}
    kept |= {name for trace in traces for t in trace.transitions for name in t.transients}
    return replace(graph, traces=tuple(traces), captures={name: c for name, c in graph.captures.items() if name in kept})


def digest(graph: StateGraph) -> str:
    """A short name for exactly these traces."""
    return hashlib.sha256(dumps(graph)).hexdigest()[:12]


def code_digest() -> str:
    """A short name for the source as it lies on the disk."""
    package = Path(phoneworld.__file__).parent
    sha = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            sha.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes() + b"\0")
    return sha.hexdigest()[:12]


def row_of(key: Key, figures: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of the results."""
    names = ("app", "actions", "policy", "recording", "held", "code")
    return {**{name: getattr(key, name) for name in names}, "version": phoneworld.__version__, **more, "figures": figures}


def is_of(row: dict[str, Any], key: Key) -> bool:
    """True where a line is of that key."""
    return all(row[name] == getattr(key, name) for name in ("app", "actions", "policy", "recording", "held", "code"))


def load(path: Path) -> list[dict[str, Any]]:
    """The lines, oldest first."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line] if path.is_file() else []


def append(row: dict[str, Any], path: Path) -> None:
    """Adds a line; an older one of the same app, number of actions and policy goes: git keeps it."""
    kept = [r for r in load(path) if any(r[name] != row[name] for name in ("app", "actions", "policy"))]
    lines = sorted([*kept, row], key=lambda r: (r["app"], r["policy"], r["actions"]))
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(json.dumps(r, ensure_ascii=False, sort_keys=True) + "\n" for r in lines), encoding="utf-8")
    fresh.replace(path)


def table(rows: Iterable[dict[str, Any]], order: Sequence[str]) -> list[tuple[str, ...]]:
    """The cells of each line, over the steps that changed the real screen; plain replay's faithful share beside."""
    place = {name: i for i, name in enumerate(order)}
    cells: list[tuple[str, ...]] = []
    for row in sorted(rows, key=lambda r: (place.get(r["app"], len(place)), r["policy"], r["actions"])):
        mock, plain = row["figures"]["mock"], row["figures"].get("plain replay")
        f = mock["changing"]
        cells.append(
            (
                row["app"], str(row["actions"]), row["policy"], f"{f['faithful']:.1%}", f"{f['effect_exact']:.1%}", f"{f['exact']:.1%}",
                f"{f['f1']:.3f}", f"{f['layout']:.1%}", f"{mock['faithful_traces']}/{mock['traces']}", f"{mock['exact_steps_before_divergence']:.1f}",
                f"{plain['changing']['faithful']:.1%} / {plain['changing']['exact']:.1%}" if plain else "",
            )
        )  # fmt: skip
    return cells


COLUMNS = ("app", "actions", "policy", "faithful", "effect", "exact", "F1", "layout", "traces", "first off", "plain replay")
