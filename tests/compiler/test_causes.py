"""What was added out of sight was added by the step that did it, not by going to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.graph import StateGraph
from phoneworld.program.effect import InsertRow
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.handmade import record

PACKAGE = "org.example.stall"
GOODS = ("Apples", "Bread", "Cheese", "Dates", "Eggs")


def node(kind: str, name: str, top: int, text: str = "", *kids: Node, height: int = 40, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(0, top, 400, top + height), children=kids, **more)  # type: ignore[arg-type]


def listed(name: str, texts: Sequence[str]) -> Node:
    rows = [node("LinearLayout", f"{name}_row", 100 + 60 * i, "", node("TextView", f"{name}_what", 110 + 60 * i, text), height=60, clickable=True) for i, text in enumerate(texts)]
    return replace(node("ListView", name, 100, "", *rows), bounds=Bounds(0, 100, 400, 700))


@dataclass(frozen=True)
class Stall:
    """The app: goods, the page of each with a button that puts it into the basket, and the basket, which a button at the bottom of all three leads to."""

    screen: str = "goods"
    opened: str = ""
    basket: tuple[str, ...] = ()

    def tree(self) -> Hierarchy:
        match self.screen:
            case "goods":
                kids = [node("TextView", "heading", 0, "Goods"), listed("goods", GOODS)]
            case "page":
                kids = [node("TextView", "name", 0, self.opened), node("Button", "keep", 50, "Into the basket", clickable=True), node("Button", "share", 100, "Share", clickable=True)]
            case _:
                kids = [node("TextView", "heading", 0, "Basket"), listed("basket", self.basket), node("Button", "pay", 50, "Pay", clickable=True)]
        return Hierarchy((node("FrameLayout", "content", 0, "", *kids, node("Button", "to_basket", 720, "Basket", clickable=True), height=800),))

    def act(self, action: Action) -> Stall:
        match action:
            case Tap(_, y) if y >= 720:
                return replace(self, screen="basket")
            case Tap(_, y) if self.screen == "goods" and 100 <= y < 400:
                return replace(self, screen="page", opened=GOODS[(y - 100) // 60])
            case Tap(_, y) if self.screen == "page" and 50 <= y < 90 and self.opened not in self.basket:
                return replace(self, basket=(*self.basket, self.opened))
            case PressKey("back"):
                return replace(self, screen="goods")
            case _:
                return self


def opens(row: int) -> Tap:
    return Tap(200, 130 + 60 * row)


KEEP, SHARE, BASKET, BACK = Tap(200, 70), Tap(200, 120), Tap(200, 740), PressKey("back")


def recorded(*scripts: Sequence[Action]) -> StateGraph:
    return record(Stall(), *scripts, package=PACKAGE)


SCRIPTS: tuple[list[Action], ...] = (
    [BASKET, BACK, opens(0), KEEP, BASKET, BACK, opens(1), SHARE, BACK, BASKET, BACK],
    [opens(2), KEEP, BACK, BASKET, BACK, opens(1), BASKET, BACK, opens(3), KEEP, BACK, opens(1), KEEP, BACK, BASKET],
    [BASKET, BACK, opens(4), BASKET, BACK, opens(1), KEEP, SHARE, BASKET],
    [opens(3), KEEP],
)


def test_the_button_that_puts_a_thing_into_a_basket_adds_it_not_the_way_there() -> None:
    compiled = compile_graph(recorded(*SCRIPTS))
    assert compiled.replay.whole == compiled.replay.traces
    adding = {r.on.node for r in compiled.program.rules if r.evidence.kind != "recorded" and any(isinstance(e, InsertRow) for e in r.then)}
    assert adding == {"keep"}
    scripts: tuple[list[Action], ...] = (
        [opens(4), KEEP, BACK, opens(0), BACK, opens(2), KEEP, BASKET], [opens(4), BASKET, BACK, opens(3), SHARE, BASKET], [opens(0), KEEP, BASKET, BACK, BASKET, BACK, opens(4), BACK, BASKET],
    )  # fmt: skip
    for script in scripts:
        phone, app = Phone([compiled.program]), Stall()
        state = phone.reset()
        for action in script:
            app, state = app.act(action), phone.step(state, action).state
            assert [n.text for n in phone.view(state).hierarchy.nodes() if n.text] == [n.text for n in app.tree().nodes() if n.text], (script, action)


def test_what_was_put_in_and_never_looked_at_is_no_evidence_against_it() -> None:
    """The last trace ends before the basket is shown; four of those like it are no reason to doubt the rule."""
    compiled = compile_graph(recorded(*SCRIPTS, *[[opens(n), KEEP] for n in (0, 2, 3, 4)]))
    adding = [r for r in compiled.program.rules if r.evidence.kind != "recorded" and r.on.node == "keep"]
    assert any(isinstance(effect, InsertRow) for rule in adding for effect in rule.then)
