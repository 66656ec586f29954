"""Names for what was done and seen in a trace, the same wherever it lies: in a recording, in a merged one, in a held-out set. Pure."""

from __future__ import annotations

import hashlib
import json

from phoneworld.graph.graph import StateGraph
from phoneworld.ui.action import action_to_json
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import write_hierarchy

_LENGTH = 16


def trace_digests(graph: StateGraph) -> dict[str, tuple[str, ...]]:
    """For each trace, a digest for each of its steps: of the trees and actions from its start to there. A trace without steps has none.

    Two traces with an equal digest were the same up to that step. Ids of captures, times and pictures are not looked at.
    """
    trees: dict[int, bytes] = {}  # by identity: the graph holds each tree alive, and equal captures share it

    def tree(hierarchy: Hierarchy) -> bytes:
        if id(hierarchy) not in trees:
            trees[id(hierarchy)] = hashlib.sha256(write_hierarchy(hierarchy)).digest()
        return trees[id(hierarchy)]

    digests: dict[str, tuple[str, ...]] = {}
    for trace in graph.traces:
        so_far = hashlib.sha256(tree(graph.captures[trace.start].hierarchy))
        steps = []
        for step in trace.transitions:
            so_far.update(json.dumps(action_to_json(step.action), sort_keys=True).encode())
            so_far.update(tree(graph.captures[step.target].hierarchy))
            steps.append(so_far.hexdigest()[:_LENGTH])
        digests[trace.id] = tuple(steps)
    return digests
