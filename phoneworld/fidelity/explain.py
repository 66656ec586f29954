"""Where a mock leaves the real app, in words: the step, the widget, and which faces are missing, surplus or other. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phoneworld.fidelity.match import TOLERANCE_PX, Face, faces, placed
from phoneworld.fidelity.score import Score, ScoredStep
from phoneworld.graph.graph import Capture, StateGraph, Transition
from phoneworld.ui.action import (
    Action,
    CloseApp,
    DoubleTap,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    action_to_json,
)
from phoneworld.ui.node import Hierarchy, Path

_WORDS_SHOWN = 40
_STEPS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step of a trace at which the mock shows something else.

    `missing` faces only the real app shows, `surplus` only the mock; `other` pairs those of one widget: real, mock. `before` are the
    steps that led there, oldest first.
    """

    step: ScoredStep
    action: str
    before: tuple[str, ...]
    missing: tuple[Face, ...]
    surplus: tuple[Face, ...]
    other: tuple[tuple[Face, Face], ...]
    real: Capture
    reordered: bool


def divergences(score: Score, heldout: StateGraph, steps: Iterable[ScoredStep] | None = None) -> tuple[Divergence, ...]:
    """What each first divergence is (or each of the given steps), in the order of the traces."""
    traces = {t.id: t for t in heldout.traces}
    return tuple(_divergence(s, traces[s.trace].transitions, heldout) for s in (score.first_divergences() if steps is None else steps))


def _divergence(step: ScoredStep, transitions: Sequence[Transition], heldout: StateGraph) -> Divergence:
    told = [describe(t, heldout) for t in transitions[: step.depth]]
    real = heldout.captures[transitions[step.depth - 1].target]
    mine, theirs = faces(real.hierarchy, real.size).counted, faces(step.shown, real.size).counted
    missing, surplus = list((mine - theirs).elements()), list((theirs - mine).elements())
    other: list[tuple[Face, Face]] = []
    for face in list(missing):
        twin = next((f for f in surplus if f[:2] == face[:2]), None)
        if twin is not None:
            missing.remove(face)
            surplus.remove(twin)
            other.append((face, twin))
    reordered = mine == theirs and not step.match.exact
    return Divergence(step, told[-1], tuple(told[:-1]), tuple(missing), tuple(surplus), tuple(other), real, reordered)


def on_course(score: Score, heldout: StateGraph) -> list[tuple[str, int, int]]:
    """By kind of action: how many steps were exact, of those before which the mock had shown no fault; the worst first.

    The step at which a trace goes off is counted, what follows is not: so it tells which behaviour is missing, as a test of single
    steps would.
    """
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    scored = score.traces
    for trace in heldout.traces:
        for step, transition in zip(scored.get(trace.id, []), trace.transitions, strict=True):
            kind = _kind(transition, heldout)
            total[kind] += 1
            right[kind] += step.match.exact
            if not step.match.exact:
                break
    return sorted(((k, right[k], n) for k, n in total.items()), key=lambda row: (row[1] - row[2], -row[2], row[0]))


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A kind of face that stood elsewhere on steps that are exact: how often, of how many, and one case with both bounds."""

    kind: str
    times: int
    of: int
    example: str


def misplaced(score: Score, heldout: StateGraph) -> list[Misplaced]:
    """What is out of place where all else is right, the most frequent first: the faults of layout alone."""
    times: Counter[str] = Counter()
    of: Counter[str] = Counter()
    examples: dict[str, str] = {}
    traces = {t.id: t for t in heldout.traces}
    for step in score.steps:
        if not step.match.exact:
            continue
        real = heldout.captures[traces[step.trace].transitions[step.depth - 1].target]
        for face, mine, theirs in placed(faces(real.hierarchy, real.size), faces(step.shown, real.size)):
            kind = face[0].rpartition(".")[2] + (f" #{face[1].rpartition('/')[2]}" if face[1] else "")
            of[kind] += 1
            if mine.largest_edge_distance(theirs) > TOLERANCE_PX:
                times[kind] += 1
                examples.setdefault(kind, f"{step.trace} step {step.depth}: {face_words(face)} at {mine}, in the mock at {theirs}")
    return [Misplaced(kind, n, of[kind], examples[kind]) for kind, n in times.most_common()]


def _kind(transition: Transition, graph: StateGraph) -> str:
    """An action as a kind: what is done, to which class of widget, by which id."""
    verb = "type into" if isinstance(transition.action, TypeText) else _verb(transition.action)
    if transition.hit is None:
        return verb
    node = graph.captures[transition.source].hierarchy.at(transition.hit)
    return f"{verb} {node.class_name.rpartition('.')[2]}" + (f" #{node.resource_id.rpartition('/')[2]}" if node.resource_id else "")


def describe(transition: Transition, graph: StateGraph) -> str:
    """An action in words, with those of its widget."""
    source = graph.captures[transition.source]
    widget = widget_words(source.hierarchy, transition.hit) if transition.hit is not None else ""
    return f"{_verb(transition.action)} {widget}".strip()


def widget_words(tree: Hierarchy, path: Path) -> str:
    """A widget as one would name it: class, id and words, and where it has none those beside it."""
    chain = tree.chain(path)
    node = chain[-1]
    told = node.class_name.rpartition(".")[2] + (f" #{node.resource_id.rpartition('/')[2]}" if node.resource_id else "")
    if node.label:
        return f"{told} {_short(node.label)}"
    for ancestor in reversed(chain[:-1]):
        words = [w for n in Hierarchy((ancestor,)).nodes() if (w := n.text or n.content_desc).strip()]
        if words:
            return f"{told} beside {_short(words[0])}"
    return told


def face_words(face: Face) -> str:
    """A face in one line."""
    class_name, resource_id, text, description, checked, selected, enabled = face
    told = class_name.rpartition(".")[2] + (f" #{resource_id.rpartition('/')[2]}" if resource_id else "")
    states = [name for name, is_set in (("checked", checked), ("selected", selected), ("disabled", not enabled)) if is_set]
    words = [_short(w) for w in (text, description) if w]
    return " ".join([told, *words, *states])


def lines(divergence: Divergence, limit: int = 6) -> list[str]:
    """What a terminal is told of a divergence."""
    step = divergence.step
    told = [
        f"{step.trace} step {step.depth}: {divergence.action}",
        f"  {step.cause} ({step.evidence}), F1 {step.match.f1:.3f}{'' if step.changed else ', the real screen did not change'}",
    ]
    if divergence.before:
        left_out = max(0, len(divergence.before) - _STEPS_SHOWN)
        told.append("  after: " + (f"… {left_out} more; " if left_out else "") + "; ".join(divergence.before[-_STEPS_SHOWN:]))
    told += _counted("missing", [face_words(f) for f in divergence.missing], limit)
    told += _counted("surplus", [face_words(f) for f in divergence.surplus], limit)
    told += _counted("real / mock", [f"{face_words(a)} / {face_words(b)}" for a, b in divergence.other], limit)
    if divergence.reordered:
        told.append("  the same faces in another order")
    return told


def _counted(title: str, words: Sequence[str], limit: int) -> list[str]:
    many = Counter(words)
    told = [f"  {title}: {word}" + (f" ×{n}" if n > 1 else "") for word, n in many.items()]
    return told if len(told) <= limit else [*told[:limit], f"  {title}: and {len(told) - limit} more"]


def _verb(action: Action) -> str:
    match action:
        case Tap():
            return "tap"
        case DoubleTap():
            return "double tap"
        case LongPress():
            return "long press"
        case TypeText(text, _, _, mode):
            return f"type{' instead' if mode == 'replace' else ''} {_short(text)} into"
        case PressKey(key):
            return f"key {key}"
        case Swipe(x, y, x2, y2):
            ways = (("left", x - x2), ("right", x2 - x), ("up", y - y2), ("down", y2 - y))
            return f"swipe {max(ways, key=lambda way: way[1])[0]} on"
        case OpenApp():
            return "open the app"
        case CloseApp():
            return "stop the app"
        case _:
            return str(action_to_json(action)["kind"])


def _short(words: str) -> str:
    flat = " ".join(words.split()) or words
    return f"“{flat if len(flat) <= _WORDS_SHOWN else flat[: _WORDS_SHOWN - 1] + '…'}”"
