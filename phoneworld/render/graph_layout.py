"""A layered layout for the drawing of a state graph. Knows boxes and lines, nothing of phones.

Boxes stand in columns by their distance from the start; lines that span several columns are led between the boxes of the
columns on their way; the order within a column follows the neighbours, so that few lines cross.

    column 0      column 1      column 2
    ┌─────┐ tap A  ┌─────┐       ┌─────┐
    │start│──────► │     │──────►│     │
    └─────┘        └─────┘       └─────┘
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 6
_LANE = 18
_PORT = 18
_DROP = 120
"""How far down a column may begin. In the middle of a high drawing nobody would find the start."""


@dataclass(frozen=True, slots=True)
class Box:
    """A placed box, by its top left corner."""

    x: float
    y: float
    width: float
    height: float
    column: int


@dataclass(frozen=True, slots=True)
class Line:
    """A placed line: the points it goes through, the first at the source's side, the last at the target's."""

    source: str
    target: str
    points: tuple[tuple[float, float], ...]
    backwards: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything placed, within 0..width and 0..height."""

    boxes: Mapping[str, Box]
    lines: tuple[Line, ...]
    width: float
    height: float


def layered(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[tuple[str, str]],
    roots: Sequence[str],
    *,
    column_gap: float,
    row_gap: float,
) -> Layout:
    """Places boxes of these sizes. `edges` have distinct ends and no repetition; `roots` start the first column.

    Deterministic. The first root stands at the top of its column, so that a drawing is seen from its start. Boxes grow taller where more lines meet a side than it has room for.
    """
    columns = _columns(list(sizes), edges, roots)
    forward = [(a, b) if columns[a] < columns[b] else (b, a) for a, b in edges if columns[a] != columns[b]]
    level = [(a, b) for a, b in edges if columns[a] == columns[b]]
    lanes: dict[tuple[str, str], list[str]] = {}
    stacks: dict[int, list[str]] = defaultdict(list)
    for name in sizes:
        stacks[columns[name]].append(name)
    neighbours: dict[str, set[str]] = defaultdict(set)
    for a, b in dict.fromkeys(forward):
        chain = [a]
        for column in range(columns[a] + 1, columns[b]):
            lane = f"\0{a}\0{b}\0{column}"
            stacks[column].append(lane)
            chain.append(lane)
        lanes[a, b] = chain[1:]
        for left, right in pairwise([*chain, b]):
            neighbours[left].add(right)
            neighbours[right].add(left)
    _order(stacks, neighbours)
    if roots and (first := stacks[columns[roots[0]]]) and roots[0] in first:
        first.remove(roots[0])
        first.insert(0, roots[0])
    return _place(sizes, columns, stacks, edges, level, lanes, column_gap, row_gap)


def _columns(names: list[str], edges: Sequence[tuple[str, str]], roots: Sequence[str]) -> dict[str, int]:
    """The distance of each box from the nearest root; what no root reaches starts from its own first box."""
    following: dict[str, list[str]] = defaultdict(list)
    for a, b in edges:
        following[a].append(b)
    columns: dict[str, int] = {}
    for start in [*roots, *names]:
        if start in columns:
            continue
        columns[start] = 0
        queue = deque([start])
        while queue:
            name = queue.popleft()
            for after in following[name]:
                if after not in columns:
                    columns[after] = columns[name] + 1
                    queue.append(after)
    return columns


def _order(stacks: dict[int, list[str]], neighbours: Mapping[str, set[str]]) -> None:
    """Orders each column by the middle of the neighbours' places in the column beside it, to and fro."""
    last = max(stacks, default=0)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        for column in range(1, last + 1) if forwards else range(last - 1, -1, -1):
            beside = {name: i for i, name in enumerate(stacks[column - 1 if forwards else column + 1])}
            here = {name: i for i, name in enumerate(stacks[column])}

            def middle(name: str, beside: dict[str, int] = beside, here: dict[str, int] = here) -> tuple[float, int]:
                places = sorted(beside[n] for n in neighbours[name] if n in beside)
                return (sum(places) / len(places) if places else here[name], here[name])

            stacks[column].sort(key=middle)


def _place(
    sizes: Mapping[str, tuple[float, float]],
    columns: Mapping[str, int],
    stacks: Mapping[int, list[str]],
    edges: Sequence[tuple[str, str]],
    level: Sequence[tuple[str, str]],
    lanes: Mapping[tuple[str, str], list[str]],
    column_gap: float,
    row_gap: float,
) -> Layout:
    left: dict[str, list[tuple[str, str]]] = defaultdict(list)
    right: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge in edges:
        a, b = edge
        (right if columns[b] >= columns[a] else left)[a].append(edge)
        (left if columns[b] > columns[a] else right)[b].append(edge)
    heights = {n: max(h, _PORT * (1 + max(len(left[n]), len(right[n])))) for n, (_, h) in sizes.items()}
    tall = {c: sum(heights.get(n, _LANE) + row_gap for n in names) - row_gap for c, names in stacks.items()}
    height = max(tall.values(), default=0)
    widths = {c: max((sizes[n][0] for n in names if n in sizes), default=0) for c, names in stacks.items()}
    starts: dict[int, float] = {}
    x = 0.0
    for column in sorted(stacks):
        starts[column] = x
        x += widths[column] + column_gap
    boxes: dict[str, Box] = {}
    middles: dict[str, float] = {}
    for column, names in stacks.items():
        y = min((height - tall[column]) / 2, _DROP)
        for name in names:
            tallness = heights.get(name, _LANE)
            if name in sizes:
                boxes[name] = Box(starts[column], y, sizes[name][0], tallness, column)
            middles[name] = y + tallness / 2
            y += tallness + row_gap

    def towards(name: str, side: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The lines of one side in the order of where they go next, so that they do not cross at the box."""

        def next_stop(edge: tuple[str, str]) -> float:
            a, b = edge
            ends = (a, b) if columns[a] < columns[b] else (b, a)
            chain = [ends[0], *lanes.get(ends, []), ends[1]]
            i = chain.index(name)
            return middles[chain[i + 1]] if i == 0 else middles[chain[i - 1]]

        return sorted(side, key=lambda e: (next_stop(e), e))

    ports: dict[tuple[tuple[str, str], str], tuple[float, float]] = {}
    for name, box in boxes.items():
        for side, at in ((left[name], box.x), (right[name], box.x + box.width)):
            for i, edge in enumerate(towards(name, side)):
                end = "source" if edge[0] == name else "target"
                ports[edge, end] = (at, box.y + box.height * (i + 1) / (len(side) + 1))
    lines = []
    for edge in edges:
        a, b = edge
        backwards = columns[b] <= columns[a]
        ends = (a, b) if columns[a] < columns[b] else (b, a)
        between = [
            point
            for lane in lanes.get(ends, [])
            for point in (
                (starts[int(lane.rpartition("\0")[2])], middles[lane]),
                (starts[int(lane.rpartition("\0")[2])] + widths[int(lane.rpartition("\0")[2])], middles[lane]),
            )
        ]
        if ends != edge:
            between.reverse()
        lines.append(Line(a, b, (ports[edge, "source"], *between, ports[edge, "target"]), backwards or edge in level))
    return Layout(boxes, tuple(lines), max(0.0, x - column_gap), height)
