"""What a task names and its mock does not have is told with file, line and the nearest names, before anything is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from phoneworld.errors import TaskError
from phoneworld.sim.phone import Phone
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.task import Setting
from phoneworld.tasks.task_yaml import loads
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop
from tests.sim.shop import shop
from tests.tasks.shop_tasks import NAMES

PHONE = Phone([shop()])
FIRST = len(NAMES.splitlines()) + 2
"""The line of the first task."""
PLAIN = "- id: shop/it-v1\n  say: {en: do it}\n"
CHECK = "  check: {visited: [page]}\n"


def setting(task: str, names: str = NAMES) -> Setting:
    return Setting(loads(f"{names}tasks:\n{task}", "shop.yaml")[0], PHONE)


@pytest.mark.parametrize(
    ("more", "line", "name", "near"),
    [
        ("  check: {state: {variables.bargain: true}}\n", 2, "'bargain'", "bargains"),
        ("  check:\n  - {visited: [page]}\n  - {state: {variables.bargain: true}}\n", 4, "'bargain'", "bargains"),
        ("  check: {state: {bargains: true}}\n", 2, "'bargains'", "variables.bargains"),
        ("  check: {state: {'length(tables.good)': 1}}\n", 2, "'good'", "goods"),
        ("  check: {state: {'tables.goods[0].nam': 1}}\n", 2, "goods.nam", "name"),
        ("  check: {state: {'max_by(tables.goods, &cots).name': 1}}\n", 2, "goods.cots", "cost"),
        ("  check: {state: {'length(tables.goods[?lked])': 1}}\n", 2, "goods.lked", "liked"),
        ("  check: {state: {'tables.goods.name': 1}}\n", 2, "'name'", "goods[*].name"),
        ("  check: {state: {screen: hme}}\n", 2, "'hme'", "home"),
        ("  check: {state: {screen: {one_of: [home, pge]}}}\n", 2, "'pge'", "page"),
        ("  check: {never: {not: {state: {screen: hme}}}}\n", 2, "'hme'", "home"),
        ("  check: {visited: [home, baskte]}\n", 2, "'baskte'", "basket"),
        ("  check:\n    all:\n    - {rows: {table: good, deleted: [{name: Figs}]}}\n", 4, "'good'", "goods"),
        ("  check: {rows: {table: goods, added: [{nmae: Figs}]}}\n", 2, "goods.nmae", "name"),
        ("  check: {rows: {table: goods, changed: [{where: {name: Figs}, to: {likd: true}}]}}\n", 2, "goods.likd", "liked"),
        ("  check: {rows: {table: goods, changed: [{where: {name: Figs}, to: {liked: true}, free: [cots]}]}}\n", 2, "goods.cots", "cost"),
        ("  check: {sql: {query: 'select count(*) from good', is: 1}}\n", 2, "'good'", "goods"),
        ("  check: {sql: {query: 'select max(cots) from goods', is: 1}}\n", 2, "'cots'", "cost"),
        ("  check: {sql: {query: 'select cost from goods where name = :thing', is: 1}}\n", 2, ":thing", "none"),
        ("  check: {visible: {id: no-such-widget, shows: x}}\n", 2, "'no-such-widget'", ""),
        ("  check: {visible: {class: Buton}}\n", 2, "'Buton'", "Button"),
        ("  check: {custom: {name: nobody}}\n", 2, "'nobody'", ""),
        (CHECK + "  look: {visited: [hme]}\n", 3, "'hme'", "home"),
        (CHECK + "  start:\n    at: brwsing\n", 4, "'brwsing'", "browsing"),
        (CHECK + "  start:\n    at: browsing\n    variables:\n      bargain: true\n", 6, "'bargain'", "bargains"),
        (CHECK + "  start:\n    add: {good: [{name: Figs}]}\n", 4, "'good'", "goods"),
        (CHECK + "  start:\n    tables:\n      goods: [{nmae: Figs}]\n", 5, "goods.nmae", "name"),
        (CHECK + "  unchanged: {allow: [goods.cots]}\n", 3, "goods.cots", "cost"),
        (CHECK + "  unchanged: {watch: [bargain]}\n", 3, "'bargain'", "bargains"),
        (CHECK + "  parameters:\n    p: {row: good}\n", 4, "'good'", "goods"),
        (CHECK + "  parameters:\n    p: {row: goods, where: 'cots > `1`'}\n", 4, "goods.cots", "cost"),
        (CHECK + "  parameters:\n    q: {row: goods}\n    p: {row: goods, unlike: [k]}\n", 5, "'k'", "q"),
        (CHECK + "  parameters:\n    p: {seen: bargain}\n", 4, "'bargain'", "bargains"),
        (CHECK + "  parameters:\n    p: {find: 'length(tables.good)'}\n", 4, "'good'", "goods"),
        (CHECK + "  parameters:\n    p: {row: goods}\n  package: org.example.shp\n", 5, "org.example.shp", "org.example.shop"),
    ],
)
def test_a_name_that_the_mock_does_not_have_is_told_with_its_line(more: str, line: int, name: str, near: str) -> None:
    with pytest.raises(TaskError) as e:
        made = setting(PLAIN + more)
        Judge(made, made.instance())
    assert e.value.message.startswith(f"shop.yaml:{FIRST + line}: "), e.value.message
    assert name in e.value.message and near in e.value.hint, f"{e.value.message}; {e.value.hint}"


@pytest.mark.parametrize(
    ("right", "wrong", "told"), [("is: cart", "is: crt", "cart"), ("what: title", "what: titel", "title"), ("bargains: cheap", "bargains: chap", "cheap"), ("page: product", "page: prodct", "product")]
)
def test_a_name_that_stands_for_nothing_is_told_with_its_line(right: str, wrong: str, told: str) -> None:
    names = NAMES.replace(right, wrong)
    (line,) = (i for i, text in enumerate(names.splitlines(), 1) if wrong in text)
    with pytest.raises(TaskError) as e:
        setting(PLAIN + CHECK, names)
    assert e.value.message.startswith(f"shop.yaml:{line}: ") and told in e.value.hint


@pytest.mark.parametrize(
    "check",
    [
        "{state: {'tables.goods[?cost > `2` && !liked] | [0].name': x}}",
        "{state: {'sort_by(tables.goods, &cost)[-1].name': x}}",
        "{state: {'tables.goods[].{n: name, c: cost}': x}}",
        "{state: {'length(tables.basket[*].what)': 1}}",
        "{state: {'map(&cost, tables.goods)[0]': 1}}",
        "{state: {variables.cheap: true}}",
        "{state: {screen: '{p.name}'}}",
        "{sql: {query: 'select name from goods where name = :p.name', is: x}}",
        "{visible: {text: Whatever}}",
        "{rows: {table: products, deleted: [{title: Figs}]}}",
        "{visited: [list]}",
    ],
)
def test_what_the_mock_has_is_taken_by_either_name(check: str) -> None:
    setting(f"{PLAIN}  parameters: {{p: {{row: goods}}}}\n  check: {check}\n")


def test_a_screen_is_the_same_by_either_name() -> None:
    for check in ("{state: {screen: list}}", "{state: {screen: home}}", "{state: {screen: {one_of: [page, list]}}}", "{not: {state: {screen: {not: list}}}}"):
        made = setting(f"{PLAIN}  start: {{at: browsing}}\n  check: {check}\n")
        judge = Judge(made, made.instance())
        assert judge.verdict(judge.begin(), judge.instance.start).goal is True, check


@pytest.mark.parametrize(
    ("more", "line", "told"),
    [
        ("  check: {rows: {table: goods, deleted: [{name: Nobody}]}}\n", 2, "no row of goods"),
        (CHECK + "  parameters:\n    p: {row: goods, where: 'cost > `1000`'}\n", 4, "no row of goods is left"),
        (CHECK + "  start:\n    clock: yesterday\n", 4, "no time"),
        (CHECK + "  parameters:\n    p: {find: 'tables.goods'}\n", 4, "a list"),
    ],
)
def test_whatever_does_not_fit_the_mock_is_told_with_its_line(more: str, line: int, told: str) -> None:
    with pytest.raises(TaskError) as e:
        made = setting(PLAIN + more)
        Judge(made, made.instance())
    assert e.value.message.startswith(f"shop.yaml:{FIRST + line}: ") and told in e.value.message


def test_list_prove_and_eval_tell_it_and_nothing_is_played(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    (tmp_path / "mine.yaml").write_text(f"{NAMES}tasks:\n{PLAIN}  check: {{state: {{variables.bargain: true}}}}\n")
    says = f"mine.yaml:{FIRST + 2}: the mock has no variable 'bargain'"
    for verb in (("tasks", "list"), ("eval", "--policy", "random", "--out", "runs")):
        ran = phoneworld(*verb, "shop", "--tasks", "mine.yaml", cwd=tmp_path)
        assert ran.returncode == 3 and says in ran.stderr and "did you mean bargains" in ran.stderr, ran.stderr
    assert not (tmp_path / "runs").exists()
    ran = phoneworld("tasks", "prove", "shop", "--tasks", "mine.yaml", cwd=tmp_path)
    assert ran.returncode == 1 and says in ran.stdout and "did you mean bargains" in ran.stdout
    (tmp_path / "mine.yaml").write_text(f"{NAMES}tasks:\n{PLAIN}  check: {{custom: {{name: nobody}}}}\n")
    for words in (("tasks", "list"), ("eval", "--policy", "random", "--out", "runs")):
        ran = phoneworld(*words, "shop", "--tasks", "mine.yaml", cwd=tmp_path)
        assert ran.returncode == 3 and f"mine.yaml:{FIRST + 2}: no plug-in has a checker 'nobody'" in ran.stderr
