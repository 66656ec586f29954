"""Numbers that follow from others: found where they give what was said each time, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from phoneworld.compiler.arithmetic import numbers_that_follow, sums_of
from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.program.expr import TRUE, Calc, Column, Const, Expr, Fixed, Sum, Value, Var
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.handmade import record

A, B = Var("a"), Var("b")


@pytest.mark.parametrize(
    ("texts", "sources", "expected"),
    [
        (["$7.00", "$9.50", "$12.00"], {A: ["$7.00 each", "$9.50 each", "$12.00 each"]}, Fixed(A, 2)),
        (["$53.00", "$50.50", "$48.00"], {A: ["$7.00", "$9.50", "$12.00"]}, Fixed(Calc(Const(60.0), "-", A), 2)),
        (["9", "11", "14"], {A: [7, 9, 12]}, Fixed(Calc(A, "+", Const(2)), 0)),
        (["¥18", "¥36", "¥54"], {A: ["1", "2", "3"], B: ["¥18", "¥18", "¥18"]}, Fixed(Calc(B, "*", A), 0)),
        (["$11.50", "$4.00", "$16.00"], {A: ["$7.00", "$4.00", "$12.00"], B: ["$4.50", "Free", "$4.00"]}, Fixed(Calc(A, "+", B), 2)),
        (["€1,006.00", "€90.00", "€12.50"], {A: ["€1,000.00", "€100.00", "€20.00"], B: ["€6.00", "−€10.00", "−€7.50"]}, Fixed(Calc(A, "+", B), 2, ",")),
    ],
)  # fmt: skip
def test_the_simplest_that_gives_the_number_each_time(texts: list[Value], sources: dict[Expr, list[Value]], expected: Expr) -> None:
    assert next(iter(numbers_that_follow(texts, sources))) == expected


@pytest.mark.parametrize(
    ("texts", "sources"),
    [
        (["$7.00", "$9.50"], {A: ["$9.00", "$11.50"]}),  # two are soon told right by chance
        (["$7.00", "$9.50", "$12.00"], {A: ["$7.00", "$9.50", "$13.00"]}),
        (["12,50 €", "13,50 €", "14,50 €"], {A: ["12.5", "13.5", "14.5"]}),  # not written so by us
        (["2 of 3", "3 of 4", "4 of 5"], {A: ["2", "3", "4"]}),
        (["$7.00", "$9.50", "$12.00"], {A: ["$7.00", None, "$12.00"]}),
    ],
)
def test_what_does_not_fit_or_could_be_chance_is_not_taken(texts: list[Value], sources: dict[Expr, list[Value]]) -> None:
    assert numbers_that_follow(texts, sources) == {}


def test_two_numbers_are_enough_where_another_is_the_same_each_time() -> None:
    assert list(numbers_that_follow(["Cart", "Cart", "Cart, 2"], {A: [0, 0, 2], B: ["1", "1", "2"]})) == [Fixed(A, 0)]


def test_texts_without_a_number_say_nothing_against_it() -> None:
    found = numbers_that_follow(["Empty", "$7.00", "$9.50", "$12.00"], {A: [0, 7.0, 9.5, 12.0]})
    assert next(iter(found.items())) == (Fixed(A, 2), ["0.00", "7.00", "9.50", "12.00"])


def test_sums_are_of_columns_of_numbers_and_of_their_products() -> None:
    rows = [{"name": "Tea 2", "price": "$3.00", "count": "2", "rest": "2 of 3"}, {"name": "Rice", "price": "$4.00", "count": "1", "rest": "1 of 3"}]
    found = sums_of("cart", ["name", "price", "count", "rest"], rows, TRUE)
    assert Sum("cart", Column("price")) in found and Sum("cart", Calc(Column("price"), "*", Column("count"))) in found
    assert not any("rest" in repr(s) for s in found)


PACKAGE = "org.example.till"
PRICES = {"Tea": 3.5, "Rice": 4.0, "Soup": 6.25}
MORE, BACK, TILL = Tap(350, 620), PressKey("back"), Tap(200, 740)


def node(kind: str, name: str, top: int, text: str = "", *kids: Node, height: int = 40, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(0, top, 400, top + height), children=kids, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Till:
    """The app: dishes; the sheet of each with how many and what that costs."""

    opened: str = ""
    count: int = 1

    def tree(self) -> Hierarchy:
        if self.opened:
            kids = [
                node("TextView", "name", 0, self.opened), node("TextView", "each", 50, f"${PRICES[self.opened]:.2f} each"),
                node("TextView", "count", 560, str(self.count)), node("Button", "more", 600, "More", clickable=True),
                node("TextView", "cost", 660, f"Costs ${PRICES[self.opened] * self.count:.2f}"),
            ]  # fmt: skip
        else:
            rows = [node("LinearLayout", "row", 100 + 60 * i, "", node("TextView", "what", 110 + 60 * i, name), height=60, clickable=True) for i, name in enumerate(PRICES)]
            kids = [node("TextView", "heading", 0, "Dishes"), replace(node("ListView", "dishes", 100, "", *rows), bounds=Bounds(0, 100, 400, 700))]
        return Hierarchy((node("FrameLayout", "content", 0, "", *kids, height=800),))

    def act(self, action: Action) -> Till:
        match action:
            case PressKey("back"):
                return Till()
            case Tap(_, y) if self.opened:
                return replace(self, count=self.count + 1) if 600 <= y < 640 else self
            case Tap(_, y) if 100 <= y < 280:
                return Till(list(PRICES)[(y - 100) // 60])
            case _:
                return self


def opens(row: int) -> Tap:
    return Tap(200, 130 + 60 * row)


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    return record(Till(), *scripts, package=PACKAGE)


def test_what_so_many_cost_holds_for_numbers_never_seen() -> None:
    graph = recorded([opens(0), MORE, MORE, BACK, opens(1), MORE, BACK], [opens(1), BACK, opens(2), MORE, BACK, opens(0), BACK])
    phone, app = Phone([compile_graph(graph).program]), Till()
    state = phone.reset()
    for action in (opens(2), MORE, MORE, MORE, BACK, opens(1), MORE, MORE, MORE, MORE):
        state, app = phone.step(state, action).state, app.act(action)
        assert [n.text for n in phone.view(state).hierarchy.nodes() if n.text] == [n.text for n in app.tree().nodes() if n.text], action
