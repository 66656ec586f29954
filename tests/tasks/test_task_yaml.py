"""Task files: what is written reads back the same; what is wrong is told with its line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.errors import FileFormatError, TaskError
from phoneworld.sim.phone import Phone
from phoneworld.tasks.checker import (
    OPERATORS,
    AllOf,
    Answer,
    AnyOf,
    Checker,
    Comparison,
    Custom,
    InOrder,
    Never,
    NotSo,
    RowChange,
    Rows,
    Sql,
    State,
    Unchanged,
    Visible,
    Visited,
)
from phoneworld.tasks.file import load_tasks, save_tasks
from phoneworld.tasks.names import Names, TableName
from phoneworld.tasks.task import Day, Found, OneOf, RowOf, Seen, Setting, Start, Tags, Task, Whole
from phoneworld.tasks.task_yaml import dumps, loads
from phoneworld.ui.action import PressKey, Tap
from tests.sim.shop import shop
from tests.tasks.shop_tasks import BUY, NAMES, tasks

words = st.text(st.characters(codec="utf-8", exclude_characters="{}$\x00", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
scalars = st.one_of(words, st.integers(-(10**6), 10**6), st.booleans(), st.none(), st.sampled_from(["yes", "no", "1", "2026-11-30", "null", "~", "0x1", "1e3"]))
data = st.one_of(scalars, st.lists(scalars, max_size=3).map(tuple))
comparisons = st.builds(Comparison, st.sampled_from([op for op in OPERATORS if op != "one_of"]), data) | st.builds(
    Comparison, st.just("one_of"), st.lists(scalars, max_size=3).map(tuple)
)
cells = st.dictionaries(words, comparisons, min_size=1, max_size=3).map(lambda d: tuple(d.items()))
rows = st.builds(
    Rows, words, st.lists(cells, min_size=1, max_size=2).map(tuple),
    st.lists(st.builds(RowChange, cells, cells, st.lists(words, max_size=2).map(tuple)), max_size=2).map(tuple), st.lists(cells, max_size=2).map(tuple),
)  # fmt: skip
paths = st.sampled_from(["variables.bargains", "length(tables.goods)", "tables.goods[?name=='Apples'] | [0].liked"])
leaves: st.SearchStrategy[Checker] = st.one_of(
    st.builds(State, paths, comparisons),
    st.builds(Sql, words, comparisons),
    rows,
    st.builds(Answer, st.sampled_from(["text", "number", "date", "choice", "set", "list"]), words, st.sampled_from([0.0, 0.5]), words, st.lists(words, max_size=2).map(tuple)),
    st.builds(Visible, words, st.none() | words, st.none() | words, st.none() | words, st.none() | words, st.none() | words, st.none() | st.booleans()),
    st.builds(Visited, st.lists(words, min_size=1, max_size=3).map(tuple)),
    st.builds(Custom, words, st.dictionaries(words, scalars, max_size=2).map(lambda d: tuple(d.items()))),
)  # fmt: skip
checkers = st.recursive(
    leaves,
    lambda inner: st.one_of(
        *(st.builds(kind, st.lists(inner, min_size=1, max_size=3).map(tuple)) for kind in (AllOf, AnyOf, InOrder)),
        *(st.builds(kind, inner) for kind in (Never, NotSo)),
    ),
    max_leaves=5,
)
row_lists = st.lists(st.dictionaries(words, scalars, min_size=1, max_size=2).map(lambda d: tuple(d.items())), min_size=1, max_size=2).map(tuple)
starts = st.builds(
    Start, st.sampled_from(["", "browsing"]), st.dictionaries(words, scalars, max_size=2).map(lambda d: tuple(d.items())),
    st.dictionaries(words, row_lists, max_size=2).map(lambda d: tuple(d.items())), st.dictionaries(words, row_lists, max_size=1).map(lambda d: tuple(d.items())),
    st.sampled_from(["", "2026-08-19T23:30:00+02:00"]), st.sampled_from([(), (Tap(1, 2), PressKey("back"))]),
)  # fmt: skip
parameters = st.dictionaries(
    st.from_regex(r"[a-z]{1,5}", fullmatch=True),
    st.one_of(
        st.builds(RowOf, words, st.sampled_from(["", "cost > `2`"])), st.builds(OneOf, st.lists(scalars, min_size=1, max_size=3).map(tuple)), st.builds(Seen, words),
        st.builds(Whole, st.integers(-5, 0), st.integers(0, 5)), st.builds(Day, st.just((1, 9)), st.sampled_from(["", "monday"]), st.sampled_from(["YYYY-MM-DD", "D Mon"])),
        st.builds(Found, st.just("length(tables.goods)")),
    ),
    max_size=2,
)  # fmt: skip
names = Names({"goods": TableName("products", {"name": "title"})}, {"bargains": "cheap"}, {"home": "list"})
whole_tasks = st.builds(
    Task, st.just("shop/a-v1"), st.dictionaries(st.sampled_from(["en", "zh"]), st.lists(words.filter(str.strip), min_size=1, max_size=2).map(tuple), min_size=1), checkers,
    parameters, starts, st.one_of(st.just(Unchanged()), st.just(Unchanged(on=False)), st.just(Unchanged(("goods",), ("note",)))), st.integers(1, 99),
    st.builds(Tags, st.sampled_from(["app", "mini-app"]), st.lists(words, max_size=2).map(tuple), st.none() | st.integers(1, 9)), st.just(names),
    st.none() | leaves, st.none() | leaves, st.sampled_from(["", "org.example.shop"]),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(whole_tasks)
def test_a_task_that_is_written_reads_back_as_it_was(task: Task) -> None:
    assert loads(dumps([task])) == (task,)


def test_a_file_and_a_folder_of_files_are_read(tmp_path: Path) -> None:
    first, second = tasks(BUY), tasks(BUY.replace("buy-v1", "get-v1"))
    save_tasks(first, tmp_path / "tasks" / "a.yaml")
    save_tasks(second, tmp_path / "tasks" / "b.yaml")
    assert load_tasks(tmp_path) == load_tasks(tmp_path / "tasks") == (*first, *second)
    assert load_tasks(tmp_path / "tasks" / "b.yaml") == second
    save_tasks(first, tmp_path / "tasks" / "c.yaml")
    with pytest.raises(FileFormatError, match="another file"):
        load_tasks(tmp_path)
    with pytest.raises(FileFormatError, match="cannot read"):
        load_tasks(tmp_path / "none.yaml")


TASK = "tasks:\n- id: shop/a-v1\n  say: {en: do it}\n  check: {visited: [page]}\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (TASK + "  budgte: 3\n", 5, "did you mean budget?"),
        (TASK + "  budget: many\n", 5, "whole number"),
        (TASK + "  budget: 0\n", 5, "from 1"),
        (TASK.replace("shop/a-v1", "Shop"), 2, "an id such as"),
        (TASK.replace("{en: do it}", "{}"), 3, "wording"),
        (TASK.replace("do it", "'do {what}'"), 3, "no parameter"),
        (TASK.replace("{visited: [page]}", "{visted: [page]}"), 4, "visited"),
        (TASK.replace("{visited: [page]}", "{visited: [page], answer: {text: x}}"), 4, "one checker"),
        (TASK.replace("{visited: [page]}", "{answer: {text: ''}}"), 4, "empty"),
        (TASK.replace("{visited: [page]}", "{state: {'variables[': 1}}"), 4, "no path"),
        (TASK.replace("{visited: [page]}", "{state: {a: {les: 1}}}"), 4, "did you mean less?"),
        (TASK.replace("{visited: [page]}", "{state: {a: '{what}'}}"), 4, "no parameter"),
        (TASK.replace("{visited: [page]}", "{rows: {table: goods}}"), 4, "added, changed or deleted"),
        (TASK + "  parameters:\n    n: {whole: [3, 1]}\n", 6, "lowest, highest"),
        (TASK + "  parameters:\n    n: {row: goods, form: x}\n", 6, "no field 'form'"),
        (TASK + "  parameters:\n    n: {row: goods, where: \"a == $m\"}\n", 6, "no parameter"),
        (TASK + "  start:\n    on_phone: [{kind: tapp}]\n", 6, "tapp"),
        (TASK + "  id: shop/b-v1\n", 5, "twice"),
        (TASK + TASK.partition("\n")[2], 5, "already"),
        (TASK + "  tags: {category: game}\n", 5, "mini-app"),
        ("tasks: [\n", 2, "not YAML"),
        ("- a\n", 1, "a mapping"),
        ("", 1, "empty"),
        ("tasks:\n- {id: !!binary aGk=}\n", 2, "JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(FileFormatError) as e:
        loads(text, "shop.yaml")
    assert e.value.message.startswith(f"shop.yaml:{line}:"), e.value.message
    assert says in f"{e.value.message} {e.value.hint}"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(rest: str) -> None:
    with contextlib.suppress(FileFormatError):
        assert isinstance(loads(TASK + rest), tuple)


def test_yaml_that_unfolds_without_end_is_refused() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    with pytest.raises(FileFormatError, match="more than"):
        loads(bomb)


def test_the_start_of_a_task_is_what_it_says() -> None:
    text = """
- id: shop/a-v1
  say: {en: "{n} of {row.what} by {day}"}
  parameters:
    n: {whole: [1, 3]}
    row: {row: basket}
    day: {day: [1, 7], weekday: monday, form: Weekday D Month}
    all: {find: "length(tables.basket)"}
    other: {row: goods, where: "cost == $n", unlike: [row]}
  start:
    at: browsing
    clock: "2026-08-19T23:30:00+02:00"
    variables: {bargains: true}
    add: {basket: [{what: Pears, many: "{n}"}]}
  check: {visited: [page]}
"""
    setting = Setting(tasks(text)[0], Phone([shop()]))
    one = setting.instance(5)
    app = setting.exporter.app(one.start)
    n = one.values["n"]
    assert app.variables["cheap"] is True and app.variables["moment"] is None and app.departed
    assert [dict(r) for r in app.tables["cart"]] == [{"title": "Pears", "quantity": n, "memo": None, "#": 1}]
    assert one.values["all"] == 1 and one.values["other.cost"] == n
    assert one.instruction == f"{n} of Pears by Monday 24 August" and one.values["day.iso"] == "2026-08-24"
    assert setting.phone.step(one.start, Tap(300, 60)).state.apps[setting.package].screen == "cart"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("parameters: {p: {row: basket}}", "no row of basket"),
        ("parameters: {p: {row: gods}}", "goods"),
        ("parameters: {p: {row: goods, where: 'name > `1`'}}", "worked out"),
        ("parameters: {p: {find: 'tables.goods'}}", "a list"),
        ("parameters: {p: {seen: bargains}}", "one value"),
        ("start: {variables: {colour: red}}", "colour"),
        ("start: {add: {basket: [{colour: red}]}}", "basket.colour"),
        ("start: {clock: yesterday}", "no time"),
        ("start: {clock: '2026-08-19T23:30:00'}", "UTC"),
        ("unchanged: {watch: [colour]}", "colour"),
    ],
)
def test_what_the_app_does_not_have_is_told(more: str, says: str) -> None:
    with pytest.raises(TaskError) as e:
        Setting(tasks(f"- {{id: shop/a-v1, say: {{en: do}}, check: {{visited: [page]}}, {more}}}\n")[0], Phone([shop()])).instance()
    assert says in f"{e.value.message} {e.value.hint}"


def test_names_that_stand_for_nothing_are_told() -> None:
    wrong = NAMES.replace("title", "tilte") + "tasks:\n" + BUY
    with pytest.raises(TaskError, match="tilte"):
        Setting(loads(wrong)[0], Phone([shop()]))
