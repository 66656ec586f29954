"""The pattern of each screen of a recording: its captures, with what the recording says of them (words typed, where taps led)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phoneworld.compiler.template import Led, Pattern, find_pattern
from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import Tap, TypeText
from phoneworld.ui.geometry import Point


class Way:
    """The screens that lie under the one that is shown, as far as a recording tells."""

    def __init__(self) -> None:
        self._screens: list[str] = []

    def at(self, screen: str) -> bool:
        """Takes note of the screen that is shown now. True where it is one gone to, not the same one or one come back to."""
        under = self._screens
        if under and under[-1] == screen:
            return False
        if len(under) > 1 and under[-2] == screen:
            under.pop()
            return False
        under.append(screen)
        return len(under) > 1


def find_patterns(graph: StateGraph, screens: Mapping[str, Sequence[str]]) -> dict[str, Pattern]:
    """The pattern of each screen. `screens` are the ids of captures by screen."""
    words, led = _typed_words(graph), _taps_that_led_away(graph, screens)
    return {
        s: find_pattern(s, [graph.captures[c].hierarchy for c in captures], words, led[s]) for s, captures in screens.items()
    }


def _taps_that_led_away(graph: StateGraph, screens: Mapping[str, Sequence[str]]) -> dict[str, list[Led]]:
    """The taps that led to another screen, by the screen they were done on; not those that led back to where one came from."""
    home = {capture: (screen, i) for screen, captures in screens.items() for i, capture in enumerate(captures)}
    found: dict[str, list[Led]] = {screen: [] for screen in screens}
    for trace in graph.traces:
        way = Way()
        for transition in trace.transitions:
            if transition.source not in home or transition.target not in home:
                continue
            (screen, i), (to, _) = home[transition.source], home[transition.target]
            way.at(screen)
            if way.at(to) and isinstance(transition.action, Tap):
                capture = graph.captures[transition.source]
                hit = capture.hierarchy.hit_test(Point(transition.action.x, transition.action.y), "tap", capture.size)
                if hit is not None:
                    found[screen].append((i, hit.target or hit.node, to))
    return found


def _typed_words(graph: StateGraph) -> frozenset[str]:
    """The words that came into the app by being typed: those that no screen had shown before."""
    words: set[str] = set()
    for trace in graph.traces:
        shown: set[str] = set()
        for transition in trace.transitions:
            shown.update(n.label for n in graph.captures[transition.source].hierarchy.nodes() if n.label)
            if isinstance(transition.action, TypeText):
                text = transition.action.text.strip()
                if len(text) > 3 and not any(text in label for label in shown):
                    words.add(text)
    return frozenset(words)
