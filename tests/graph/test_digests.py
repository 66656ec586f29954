"""Digests of recorded steps: equal for the same trees and actions, wherever they lie, and for nothing else."""

from __future__ import annotations

from dataclasses import replace

from phoneworld.graph.digests import trace_digests
from phoneworld.graph.file import dumps, loads
from phoneworld.graph.merge import merge
from phoneworld.ui.action import Tap
from tests.graph.sample import notes_graph


def test_a_step_has_the_same_digest_after_reading_and_merging() -> None:
    graph, _ = notes_graph()
    digests = trace_digests(graph)
    assert [len(steps) for steps in digests.values()] == [3, 0]
    assert trace_digests(loads(dumps(graph))) == digests
    twice = trace_digests(merge([graph, graph]).graph)
    assert sorted(twice.values()) == sorted([*digests.values(), *digests.values()])


def test_what_was_done_or_seen_before_changes_all_that_follows_and_nothing_before() -> None:
    graph, _ = notes_graph()
    trace = graph.traces[0]
    first, second, third = trace.transitions
    other = replace(graph, traces=(replace(trace, transitions=(first, replace(second, action=Tap(1, 2)), third)),))
    before, after = trace_digests(graph)[trace.id], trace_digests(other)[trace.id]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, False]
    shorter = replace(graph, traces=(replace(trace, transitions=(first, second)),))
    assert trace_digests(shorter)[trace.id] == before[:2]
    renamed = replace(graph, traces=(replace(trace, seed=9, transitions=(replace(first, settle_ms=1, transients=()), second, third)),))
    assert trace_digests(renamed)[trace.id] == before


def test_what_is_seen_in_passing_is_not_unsettled() -> None:
    graph, _ = notes_graph()
    unrest = replace(graph, captures={name: replace(c, settled=name not in ("c2", "c3")) for name, c in graph.captures.items()})
    assert unrest.unsettled() == {"c2", "c3"}
    passing = replace(unrest, traces=(replace(unrest.traces[0], transitions=unrest.traces[0].transitions[:2]),))
    assert passing.unsettled() == {"c2"}
