"""The oracle finds a shortest way on a small shop: through lists, pages, fields, scrolling; and says why where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.program.expr import Const, Join, Var
from phoneworld.sim.phone import Phone
from phoneworld.tasks.episode import run
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.oracle import GivenUp, Oracle, Solution
from phoneworld.tasks.task import Setting
from phoneworld.ui.action import Action, Answer, Finish, PressKey, Swipe, Tap, TypeText
from tests.sim.shop import list_template, shop, slot
from tests.sim.test_scrolling import scrolling_shop
from tests.tasks.shop_tasks import BUY, tasks

PHONE = Phone([shop()])
ORACLE = Oracle(PHONE)


def judge(text: str, seed: int = 0) -> Judge:
    setting = Setting(tasks(text)[0], PHONE)
    return Judge(setting, setting.instance(seed))


def task(check: str, more: str = "") -> str:
    return f"- {{id: shop/it-v1, say: {{en: do it}}, start: {{at: browsing{more}}}, check: {check}}}\n"


def solved(text: str, seed: int = 0) -> tuple[Action, ...]:
    one = judge(text, seed)
    found = ORACLE.solve(one)
    assert isinstance(found, Solution), found
    assert run(one, found.actions).verdict.success is True
    return found.actions


@pytest.mark.parametrize(
    ("check", "length"),
    [
        ("{state: {variables.bargains: true}}", 2),
        ("{rows: {table: basket, added: [{what: Bread}]}}", 3),
        ("{rows: {table: basket, added: [{what: Bread, many: 2}]}}", 5),
        ("{rows: {table: basket, added: [{what: Bread, note: two loaves}]}}", 4),
        ("{rows: {table: basket, added: [{what: Bread}, {what: Eggs}]}}", 5),
        ("[{rows: {table: goods, changed: [{where: {name: Figs}, to: {liked: true}}]}}, {visited: [basket]}]", 3),
        ("{rows: {table: goods, deleted: [{name: Dates}]}}", 2),
        ("{in_order: [{state: {variables.bargains: true}}, {state: {variables.bargains: false}}]}", 3),
        ("{visited: [page, basket]}", 4),
        ("{visible: {text: Empty}}", 2),
        ("{sql: {query: 'select sum(many) from basket', is: 2}}, unchanged: {allow: [basket]}", 5),
    ],
)
def test_the_shortest_way_is_found(check: str, length: int) -> None:
    assert len(solved(task(check))) == length


def test_words_of_the_goal_are_typed_into_the_field_that_keeps_them() -> None:
    opened, typed, added, said = solved(task("{rows: {table: basket, added: [{what: Eggs, note: brown ones}]}}"))
    assert isinstance(typed, TypeText) and typed.text == "brown ones" and typed.y is not None and 60 <= typed.y < 100
    assert isinstance(opened, Tap) and isinstance(added, Tap) and isinstance(said, Finish)


def test_what_is_out_of_sight_is_scrolled_to() -> None:
    phone = Phone([scrolling_shop(products=60)])
    setting = Setting(tasks(task("{rows: {table: goods, changed: [{where: {name: Product 40}, to: {liked: true}}]}}"))[0], phone)
    found = Oracle(phone).solve(Judge(setting, setting.instance()))
    assert isinstance(found, Solution) and isinstance(found.actions[0], Swipe)
    swipes = [a for a in found.actions if isinstance(a, Swipe)]
    assert [type(a) for a in found.actions] == [*[Swipe] * len(swipes), Tap, Finish]


def test_an_answer_is_given_once_it_has_been_seen() -> None:
    text = """
- id: shop/price-v1
  say: {en: "What does {product.name} cost?"}
  start: {at: browsing}
  parameters: {product: {row: goods, where: "cost > `5`"}}
  look: {visited: [page]}
  check: {answer: {number: "{product.cost}"}}
"""
    actions = solved(text)
    assert isinstance(actions[0], Tap) and isinstance(actions[-1], Answer) and len(actions) == 2


def test_what_has_to_be_read_is_read_and_not_typed() -> None:
    """An app that says back what was searched for has not told it: the words of the cart are read in the cart."""
    program = shop()
    template = list_template()
    (window,) = template.windows
    echo = slot("echo", "TextView", (0, 80, 360, 120), attributes=(("text", Join((Const("You look for "), Var("query")))),))
    echoing = replace(program.screens["list"], template=replace(template, windows=(replace(window, children=(*window.children, echo)),)))
    phone = Phone([replace(program, screens={**program.screens, "list": echoing})])
    said = "- {id: shop/it-v1, say: {en: Tell what it says}, start: {at: browsing}, check: {answer: {text: %s}}}"
    for words, there in (("Empty", True), ("Sold out", False)):
        setting = Setting(tasks(said % words)[0], phone)
        found = Oracle(phone).solve(Judge(setting, setting.instance()), effort=60)
        assert isinstance(found, Solution if there else GivenUp), found


def test_every_seed_of_a_task_is_solved() -> None:
    for seed in range(6):
        assert len(solved(BUY, seed)) == 3


def test_back_leads_out_of_a_wrong_start() -> None:
    setting = Setting(tasks(task("{state: {variables.bargains: true}}"))[0], PHONE)
    one = setting.instance()
    inside = PHONE.step(one.start, Tap(150, 180)).state
    found = ORACLE.solve(Judge(setting, one.__class__(*[inside if name == "start" else getattr(one, name) for name in one.__slots__])))
    assert isinstance(found, Solution) and found.actions[0] == PressKey("back")


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("{rows: {table: goods, added: [{name: Bread}]}}", "ever does this"),
        ("{state: {'length(tables.goods)': 40}}", "states were looked at"),
        ("[{state: {variables.bargains: true}}, {never: {state: {variables.bargains: true}}}]", "states were looked at"),
    ],
)
def test_where_there_is_no_way_it_says_so(check: str, says: str) -> None:
    found = ORACLE.solve(judge(task(check)), effort=60)
    assert isinstance(found, GivenUp) and says in found.reason


def test_what_was_not_recorded_is_no_way() -> None:
    found = ORACLE.solve(judge(task("{visible: {text: nowhere at all}}")), effort=40)
    assert isinstance(found, GivenUp) and "not recorded" in found.reason
