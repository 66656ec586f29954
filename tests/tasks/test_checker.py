"""Each kind of checker holds where it should, does not where it should not, and says why; what else changed is told apart."""

from __future__ import annotations

import pytest

from phoneworld.errors import CheckerError, TaskError
from phoneworld.sim.phone import Phone
from phoneworld.tasks.checker import Answer, Comparison
from phoneworld.tasks.episode import Episode, run
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.task import Setting
from phoneworld.ui.action import Action, Finish, PressKey, Tap, TypeText, Wait
from phoneworld.ui.action import Answer as Say
from tests.sim.shop import PACKAGE, shop
from tests.tasks.shop_tasks import BUY, judge_of, tasks

CHEAP, CART, ADD = Tap(300, 20), Tap(300, 60), Tap(100, 360)
BREAD = (Tap(150, 180), ADD)


def after(judge: Judge, *actions: Action) -> Episode:
    return run(judge, (*actions, Finish()))


@pytest.mark.parametrize(
    ("check", "before", "actions"),
    [
        ("{state: {variables.bargains: true}}", False, (CHEAP,)),
        ("{state: {'length(tables.basket)': {at_least: 1}}}", False, BREAD),
        ("{state: {\"tables.goods[?name=='Apples'].liked | [0]\": true}}", False, (Tap(20, 140),)),
        ("{sql: {query: 'select sum(many) from basket', is: 1}}", False, BREAD),
        ("{rows: {table: basket, added: [{what: Bread}]}}", False, BREAD),
        ("{rows: {table: goods, changed: [{where: {name: Apples}, to: {liked: true}}]}}", False, (Tap(20, 140),)),
        ("{visible: {text: Empty}}", False, (CART,)),
        ("{visible: {class: Switch, checked: true}}", False, (CHEAP,)),
        ("{visited: [page]}", False, (Tap(150, 180),)),
        ("{not: {state: {variables.bargains: false}}}", False, (CHEAP,)),
        ("{any: [{state: {variables.bargains: true}}, {visited: [basket]}]}", False, (CART,)),
        ("[{state: {variables.bargains: true}}, {visited: [basket]}]", False, (CHEAP, CART)),
    ],
)
def test_a_checker_holds_when_what_it_asks_is_so_and_not_before(check: str, before: bool, actions: tuple[Action, ...]) -> None:
    judge = judge_of(check, more="unchanged: false")
    assert after(judge).verdict.success is before
    verdict = after(judge, *actions).verdict
    assert verdict.success is True and verdict.progress == 1.0, verdict.explain()


def test_what_was_passed_through_is_no_success() -> None:
    judge = judge_of("{state: {variables.bargains: true}}")
    assert after(judge, CHEAP, CHEAP).verdict.success is False


def test_a_policy_that_says_it_failed_has_not_succeeded() -> None:
    judge = judge_of("{state: {variables.bargains: true}}")
    assert run(judge, (CHEAP, Finish("infeasible"))).verdict.success is False


def test_screens_and_parts_must_come_in_their_order() -> None:
    judge = judge_of("{visited: [page, basket]}")
    assert after(judge, CART, PressKey("back"), Tap(150, 180)).verdict.success is False
    assert after(judge, Tap(150, 180), PressKey("back"), CART).verdict.success is True
    order = judge_of("{in_order: [{state: {variables.bargains: true}}, {state: {variables.bargains: false}}]}")
    assert after(order).verdict.success is False
    half = after(order, CHEAP).verdict
    assert half.success is False and half.progress == 0.5
    assert after(order, CHEAP, CHEAP).verdict.success is True


def test_what_must_never_be_is_not_forgotten() -> None:
    judge = judge_of("[{visited: [basket]}, {never: {state: {variables.bargains: true}}}]")
    clean, dirty = after(judge, CART).verdict, after(judge, CHEAP, CHEAP, CART).verdict
    assert clean.success is True and not clean.violations
    assert dirty.success is False and len(dirty.violations) == 1 and dirty.progress == 1.0


def test_anything_else_that_changed_is_a_side_effect() -> None:
    judge = judge_of("{rows: {table: basket, added: [{what: Bread}]}}")
    assert after(judge, *BREAD).verdict.success is True
    for extra, words in (((CHEAP,), "bargains"), ((Tap(20, 140),), "goods"), ((Tap(150, 140), ADD), "basket")):
        verdict = after(judge, *extra, *BREAD).verdict if words != "bargains" else after(judge, *BREAD, *extra).verdict
        assert verdict.goal and verdict.success is False
        assert len(verdict.side_effects) == 1 and words in verdict.side_effects[0]


def test_a_second_row_like_the_one_asked_for_is_a_side_effect() -> None:
    twice = judge_of("{rows: {table: basket, added: [{many: 1}]}}")
    verdict = after(twice, *BREAD, Tap(150, 140), ADD).verdict
    assert verdict.goal and len(verdict.side_effects) == 1
    both = judge_of("{rows: {table: basket, added: [{what: Bread}, {many: 1}]}}")
    assert after(both, *BREAD, Tap(150, 140), ADD).verdict.success is True


def test_where_one_is_and_what_a_form_holds_is_no_change() -> None:
    judge = judge_of("{visited: [page]}")
    assert after(judge, TypeText("x", 50, 20), PressKey("back"), Tap(20, 20), TypeText("", 50, 20, "replace")).verdict.side_effects == ()
    noted = after(judge, Tap(150, 180), TypeText("for me", 50, 80))
    assert noted.verdict.success is True
    watched = judge_of("{visited: [page]}", more="unchanged: {watch: [note]}")
    assert after(watched, Tap(150, 180), TypeText("for me", 50, 80)).verdict.success is False


def test_what_is_allowed_to_change_may_change() -> None:
    for allowed in ("goods", "goods.liked"):
        judge = judge_of("{visited: [basket]}", more=f"unchanged: {{allow: [{allowed}]}}")
        assert after(judge, Tap(20, 140), CART).verdict.success is True
    assert after(judge_of("{visited: [basket]}"), Tap(20, 140), CART).verdict.success is False


def test_the_progress_of_rows_counts_what_holds_of_them() -> None:
    judge = judge_of("{rows: {table: basket, added: [{what: Bread, many: 3}]}}")
    assert after(judge).verdict.progress == 0.0
    near = after(judge, *BREAD).verdict
    assert near.success is False and 0 < near.progress < 1
    assert "no new row is so" in near.explain()


def test_a_step_that_only_takes_time_is_judged_by_what_may_have_changed() -> None:
    by_clock = judge_of("{state: {clock_ms: {at_least: CLOCK}}}".replace("CLOCK", str(judge_of("{state: {screen: home}}").instance.start.clock_ms + 1)))
    by_state = judge_of("[{state: {variables.bargains: true}}, {state: {screen: home}}]")
    for judge, asked_again in ((by_clock, True), (by_state, False)):
        phone, start = judge.setting.phone, judge.instance.start
        waited = phone.step(start, Wait(1000)).state
        first, second = (judge.verdict(judge.begin(), state) for state in (start, waited))
        assert waited.apps is start.apps and (second is not first) is asked_again
        assert (first.success, second.success) == (False, asked_again)
    answered = by_state.verdict(by_state.begin(), by_state.instance.start, answer="yes", status="infeasible")
    assert answered is not by_state.verdict(by_state.begin(), by_state.instance.start)


def test_a_side_effect_that_stays_is_told_in_the_same_words_and_another_in_its_own() -> None:
    judge = judge_of("{state: {screen: basket}}")
    phone, start = judge.setting.phone, judge.instance.start
    once = phone.step(start, CHEAP).state
    twice = phone.step(phone.step(once, Tap(150, 180)).state, ADD).state
    told = [judge.verdict(judge.begin(), state).side_effects for state in (once, twice, phone.step(twice, CHEAP).state)]
    fresh = [judge.on(judge.instance).verdict(judge.begin(), state).side_effects for state in (once, twice)]
    assert told[:2] == fresh and len(told[1]) > len(told[0]) and told[2] != told[1]


def test_a_trail_can_be_kept_and_gone_on_from() -> None:
    judge = judge_of("{visited: [page, basket]}")
    phone = judge.setting.phone
    trail = judge.begin()
    state = phone.step(judge.instance.start, Tap(150, 180)).state
    kept = judge.watch(trail, state)
    back = phone.step(state, PressKey("back")).state
    cart = phone.step(back, CART).state
    assert judge.verdict(judge.watch(judge.watch(kept, back), cart), cart).success is True
    assert judge.verdict(judge.watch(kept, back), back).success is False
    assert judge.verdict(judge.watch(trail, cart), cart).success is False


def test_a_real_phone_shows_what_it_shows_and_the_rest_is_unknown() -> None:
    judge = judge_of("[{visible: {text: Empty}}, {state: {variables.bargains: true}}]")
    phone = judge.setting.phone
    shows = phone.view(phone.step(judge.instance.start, CART).state)
    unknown = judge.verdict_on_phone(judge.begin(), shows.hierarchy, shows.size)
    assert unknown.success is None and "cannot be seen" in unknown.explain()
    start = phone.view(judge.instance.start)
    assert judge.verdict_on_phone(judge.begin(), start.hierarchy, start.size).success is False


def test_the_parameters_of_a_seed_are_put_in() -> None:
    setting = Setting(tasks(BUY)[0], Phone([shop()]))
    drawn = {setting.instance(seed).values["product.name"] for seed in range(40)}
    assert len(drawn) == 10 and not drawn & {"Apples", "Bread"}
    one = setting.instance(3)
    assert one.instruction in (f"Put the {one.values['product.name']} into the cart.", f"I want {one.values['product.name']}.")
    assert setting.instance(3, "zh").instruction == f"把{one.values['product.name']}放进购物车。"
    assert Setting(tasks(BUY)[0], Phone([shop()])).instance(3) == one


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("{rows: {table: gods, added: [{what: x}]}}", "goods"),
        ("{rows: {table: basket, added: [{whta: x}]}}", "what"),
        ("{rows: {table: goods, deleted: [{name: Nothing}]}}", "no row"),
        ("{visited: [pgae]}", "page"),
        ("{custom: {name: mine}}", "plug-in"),
    ],
)
def test_a_checker_that_names_what_is_not_there_is_refused(check: str, says: str) -> None:
    with pytest.raises(TaskError) as e:
        judge_of(check)
    assert says in e.value.message + e.value.hint


def test_a_checker_that_fails_is_no_score() -> None:
    for check in ("{state: {'sum(tables.goods[].name)': 3}}", "{sql: {query: 'select nothing from goods', is: 1}}", "{sql: {query: 'delete from goods', is: 1}}"):
        judge = judge_of(check)
        with pytest.raises(CheckerError):
            after(judge)


def test_a_plug_in_sees_the_start_and_the_end_and_its_faults_are_its_own() -> None:
    setting = judge_of("{visited: [page]}").setting
    task = tasks("- {id: shop/it-v1, say: {en: do}, start: {at: browsing}, check: {custom: {name: more, arguments: {by: 1}}}, unchanged: false}\n")[0]
    setting = Setting(task, Phone([shop()]))

    def more(start: dict[str, dict[str, list[object]]], now: dict[str, dict[str, list[object]]], given: dict[str, int]) -> bool:
        return len(now["tables"]["basket"]) - len(start["tables"]["basket"]) == given["by"]

    judge = Judge(setting, setting.instance(), custom={"more": more})  # type: ignore[dict-item]
    assert after(judge).verdict.success is False and after(judge, *BREAD).verdict.success is True
    with pytest.raises(CheckerError, match="KeyError"):
        after(Judge(setting, setting.instance(), custom={"more": lambda *_: {}["x"]}))  # type: ignore[dict-item, index]


def test_values_are_compared_with_their_types() -> None:
    assert not Comparison("is", 1).holds(True) and Comparison("is", 1).holds(1.0)
    assert not Comparison("less", 3).holds("2") and Comparison("at_most", 3).holds(3)
    assert Comparison("contains", "oat milk").holds("Fresh OAT  milk") and not Comparison("contains", "a").holds(None)
    assert Comparison("one_of", ("a", None)).holds(None)


def test_an_answer_ends_an_episode_and_is_judged() -> None:
    judge = judge_of("{answer: {number: 12}}")
    assert run(judge, (Say("12"), CHEAP)).verdict.success is True
    assert run(judge, (Say("about 120"),)).verdict.success is False
    assert run(judge, (Finish(),)).verdict.success is False
    assert run(judge, (CHEAP, Say("12"))).verdict.success is False


def test_the_app_of_the_task_is_looked_at() -> None:
    with pytest.raises(TaskError, match=r"org\.example\.other"):
        Setting(tasks("- {id: shop/it-v1, say: {en: do}, package: org.example.other, check: {visited: [page]}}\n")[0], Phone([shop()]))
    assert Setting(tasks(BUY)[0], Phone([shop()])).package == PACKAGE
    assert isinstance(Answer("text", "x"), Answer)
