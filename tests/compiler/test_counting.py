"""Numbers that texts say count on beyond what was recorded; a badge that only some rows have stays away from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, Tap
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.handmade import SIZE, record

PACKAGE = "org.example.counter"
DISHES = ((12, "Rice"), (13, "Soup"), (1, "Noodles"), (2, "Dumplings"), (7, "Tea"))
LESS, MORE, RENEW = Tap(50, 740), Tap(350, 740), Tap(200, 660)


def node(kind: str, name: str, bounds: Bounds, text: str = "", *kids: Node, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=bounds, children=kids, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Counter:
    """The app: dishes, of which a tap puts one into the cart (its row says so), and for how many people it is."""

    kept: tuple[int, ...] = ()
    people: int = 1
    renewed: bool = False
    """The menu was put up anew: it is for one again, and a dish has another name, which follows from nothing in sight."""

    def tree(self) -> Hierarchy:
        rows = []
        for i, (number, dish) in enumerate(DISHES):
            top = 100 + 100 * i
            kids = [node("TextView", f"name-{number}", Bounds(0, top, 300, top + 40), "Bisque of the day" if self.renewed and number == 13 else dish)]
            if i in self.kept:
                kids.append(node("TextView", f"badge-dish-{number}", Bounds(300, top, 400, top + 40), "in the cart"))
            rows.append(node("LinearLayout", f"dish-{number}", Bounds(0, top, 400, top + 100), "", *kids, clickable=True))
        shown = [node("Button", "less", Bounds(0, 720, 100, 760), "Less", clickable=True), node("TextView", "people", Bounds(100, 720, 300, 760), str(self.people)),
                 node("Button", "more", Bounds(300, 720, 400, 760), "More", clickable=True), node("ListView", "dishes", Bounds(0, 100, 400, 600), "", *rows)]  # fmt: skip
        shown.append(node("Button", "renew", Bounds(0, 640, 400, 680), "A new menu", clickable=True))
        return Hierarchy((node("FrameLayout", "content", SIZE.bounds, "", *shown),))

    def act(self, action: Action) -> Counter:
        if action == MORE:
            return replace(self, people=self.people + 1)
        if action == LESS:
            return replace(self, people=self.people - 1)
        if action == RENEW:
            return replace(self, people=1, renewed=True)
        assert isinstance(action, Tap)
        row = (action.y - 100) // 100
        return replace(self, kept=tuple(sorted({*self.kept, row})))


def takes(row: int) -> Tap:
    return Tap(200, 150 + 100 * row)


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    return record(Counter(), *scripts, package=PACKAGE)


def shown(graph: StateGraph, *actions: Action) -> set[tuple[str, str]]:
    phone = Phone([compile_graph(graph).program])
    state = phone.reset()
    for action in actions:
        state = phone.step(state, action).state
    return {(n.resource_id.rpartition("/")[2], n.text) for n in phone.view(state).hierarchy.nodes() if n.text}


RECORDED = recorded([MORE, MORE, LESS, takes(0), takes(2)], [takes(2), takes(3), MORE, LESS, MORE])


def test_a_number_that_a_text_says_counts_on() -> None:
    assert ("people", "6") in shown(RECORDED, *[MORE] * 6, LESS)


def test_a_badge_that_only_some_rows_have_stays_away_from_the_others() -> None:
    """Its id says which row it is of: that it could be said for every row does not bring it there."""
    assert not [name for name, _ in shown(RECORDED) if name.startswith("badge")]
    assert {name for name, _ in shown(RECORDED, takes(2)) if name.startswith("badge")} == {"badge-dish-1"}


def test_a_part_of_what_an_action_does_is_better_than_nothing() -> None:
    """Nobody can tell the new dish from one time; that it is for one again can be told."""
    graph = recorded([MORE, MORE, RENEW], [MORE, LESS, MORE, MORE])
    assert ("people", "1") in shown(graph, MORE, takes(1), RENEW)
