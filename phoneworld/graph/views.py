"""Views of a StateGraph under an identity: the networkx graph of its screens, and what each action led to.

Nothing is left out: an action that led to several screens has all of them, with how often each was seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import networkx as nx  # type: ignore[import-untyped]

from phoneworld.graph.graph import Capture, StateGraph, Transition
from phoneworld.graph.identity import screens_of
from phoneworld.ui.action import (
    Action,
    Answer,
    Ask,
    Clear,
    CloseApp,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    Pinch,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    kind_of,
    points_of,
)
from phoneworld.ui.node import Hierarchy, Node, Path
from phoneworld.ui.selector import Selector, node_keys

ScreenGraph: TypeAlias = Any
"""A `networkx.MultiDiGraph` of strings; networkx ships no types."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Where one action on one screen led. `target` names the widget or place; `counts` are by screen, most frequent first."""

    screen: str
    kind: str
    target: str
    words: str
    counts: Mapping[str, int]

    @property
    def is_certain(self) -> bool:
        """True where every time led to the same screen."""
        return len(self.counts) == 1

    @property
    def most_frequent(self) -> str:
        """The screen seen most often; of equals the one seen first."""
        return next(iter(self.counts))


def outcomes(graph: StateGraph, *, screens: Mapping[str, tuple[str, ...]] | None = None) -> tuple[Outcomes, ...]:
    """Every action of every screen with all that it led to, in the order of first sight.

    Two actions are one where their kind, their widget (see `node_keys`) and what they carry (key, text, app, direction)
    agree. `screens` is the identity, `screens_of(graph)` where None.
    """
    home = _homes(graph, screens)
    keys = _Keys(graph)
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    words: dict[tuple[str, str, str], str] = {}
    for transition in graph.transitions():
        what = (home[transition.source], kind_of(transition.action), keys.target(transition))
        counts.setdefault(what, Counter())[home[transition.target]] += 1
        words.setdefault(what, action_words(transition, graph.captures[transition.source]))
    return tuple(
        Outcomes(screen, kind, target, words[screen, kind, target], dict(count.most_common()))
        for (screen, kind, target), count in counts.items()
    )


def nondeterministic(
    graph: StateGraph, *, screens: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Outcomes, ...]:
    """The actions that led to more than one screen."""
    return tuple(o for o in outcomes(graph, screens=screens) if not o.is_certain)


def networkx_view(
    graph: StateGraph, *, mask: tuple[Selector, ...] = (), keep: tuple[Selector, ...] = ()
) -> ScreenGraph:
    """The screens as a `networkx.MultiDiGraph`.

    A node is a screen id with `captures` (ids), `package`, `activity` and `title`. An edge is one action that led from
    one screen to another, keyed by kind and target, with `words`, `kind`, `target` and `count`.
    """
    screens = screens_of(graph, mask=mask, keep=keep)
    view: ScreenGraph = nx.MultiDiGraph(package=graph.app.package)
    for name, members in screens.items():
        first = graph.captures[members[0]]
        view.add_node(
            name, captures=members, package=first.state.package, activity=first.state.activity, title=title_of(first)
        )
    for outcome in outcomes(graph, screens=screens):
        for to, count in outcome.counts.items():
            view.add_edge(
                outcome.screen,
                to,
                key=f"{outcome.kind} {outcome.target}",
                words=outcome.words,
                kind=outcome.kind,
                target=outcome.target,
                count=count,
            )
    return view


def title_of(capture: Capture) -> str:
    """What a person would call this screen: the title of its dialog or bar, else its activity, else its app."""
    tree = capture.hierarchy
    named = [n for n in tree.nodes() if n.visible and n.text.strip()]
    for end in ("/alertTitle", "/toolbar_title", "/action_bar_title", "/collapsing_toolbar"):
        if title := next((n.text for n in named if n.resource_id.endswith(end)), ""):
            return _one_line(title)
    for bar in tree.nodes():
        in_bar = _texts_below(bar) if bar.visible and "toolbar" in bar.resource_id.lower() else []
        if in_bar:
            return _one_line(in_bar[0].text)
    if page := next((n.text for n in named if n.class_name.endswith("WebView")), ""):
        return _one_line(page)
    if capture.state.activity:
        return capture.state.activity.rpartition(".")[2]
    heading = min(
        (n for n in named if not n.is_editable and not n.clickable and len(n.text) <= 40 and not n.bounds.is_empty),
        key=lambda n: (n.bounds.top, n.bounds.left),
        default=None,
    )
    return _one_line(heading.text) if heading else capture.state.package or "a screen"


def action_words(transition: Transition, source: Capture) -> str:
    """The action in a person's words: `tap “Save”`, `type “milk” into Title`, `back`."""
    action = transition.action
    widget = widget_words(source.hierarchy, transition.hit)
    match action:
        case Tap(x, y):
            return f"tap {widget or f'({x}, {y})'}"
        case DoubleTap(x, y):
            return f"double tap {widget or f'({x}, {y})'}"
        case LongPress(x, y):
            return f"long press {widget or f'({x}, {y})'}"
        case Swipe():
            return f"swipe {_direction(action)}" + (f" on {widget}" if widget else "")
        case Drag():
            return f"drag {widget} {_direction(action)}" if widget else f"drag {_direction(action)}"
        case Pinch(scale=scale):
            return "spread" if scale > 1 else "pinch"
        case TypeText(text):
            return f"type “{_one_line(text)}”" + (f" into {widget}" if widget else "")
        case Clear():
            return f"clear {widget or 'the field'}"
        case PressKey(key):
            return key.replace("_", " ")
        case OpenApp(package, url=url):
            return f"open {url or package}"
        case CloseApp(package):
            return f"close {package}"
        case Wait(duration_ms):
            return f"wait {duration_ms / 1000:g} s"
        case Answer(text) | Ask(text):
            return f"{kind_of(action)} “{_one_line(text)}”"
        case Finish(status):
            return f"finish: {status}"
        case _:
            assert_never(action)


def widget_words(hierarchy: Hierarchy, path: Path | None) -> str:
    """What a person would call a widget: its words in quotes, or those inside it, else its id, else its class."""
    if path is None:
        return ""
    node = hierarchy.at(path)
    label = node.hint or "" if node.is_editable else node.label
    if not label.strip():
        label = next((n.text or n.content_desc for n in _below(node) if not n.is_editable and n.label.strip()), "")
    if label.strip():
        return f"“{_one_line(label)}”"
    return node.resource_id.rpartition("/")[2] or node.class_name.rpartition(".")[2]


def _homes(graph: StateGraph, screens: Mapping[str, tuple[str, ...]] | None) -> dict[str, str]:
    return {capture: name for name, members in (screens or screens_of(graph)).items() for capture in members}


class _Keys:
    """What an action is aimed at, by a name that lasts; the names of a tree are made once."""

    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        self._of_tree: dict[int, dict[Path, str]] = {}

    def target(self, transition: Transition) -> str:
        action = transition.action
        source = self._graph.captures[transition.source]
        parts: list[str] = []
        if transition.hit is not None:
            tree = source.hierarchy
            if id(tree) not in self._of_tree:
                self._of_tree[id(tree)] = node_keys(tree)
            parts.append(self._of_tree[id(tree)][transition.hit])
        elif points := points_of(action):
            parts.append(f"({points[0].x}, {points[0].y})")
        match action:
            case PressKey(key):
                parts.append(key)
            case TypeText(text) | Answer(text) | Ask(text):
                parts.append(repr(text))
            case OpenApp(package, activity, url):
                parts.append(" ".join(p for p in (package, activity, url) if p))
            case CloseApp(package):
                parts.append(package)
            case Finish(status):
                parts.append(status)
            case Swipe() | Drag():
                parts.append(_direction(action))
            case Tap() | DoubleTap() | LongPress() | Pinch() | Clear() | Wait():
                pass
            case _:
                assert_never(action)
        return " ".join(parts)


def _direction(action: Action) -> str:
    """Where the finger went: up, down, left or right."""
    begin, end = points_of(action)
    dx, dy = end.x - begin.x, end.y - begin.y
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def _texts_below(node: Node) -> list[Node]:
    return [n for n in _below(node) if n.visible and n.text.strip() and not n.clickable]


def _below(node: Node) -> list[Node]:
    found, stack = [], [node]
    while stack:
        top = stack.pop()
        found.append(top)
        stack.extend(reversed(top.children))
    return found


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:39] + "…"
