"""How an app stores things is read off moments at which it and its mock were alike; what does not agree is not read, what was never seen is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from immutables import Map

from phoneworld.errors import FileFormatError
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import AppState
from phoneworld.tasks.stored import StorageMap, from_json, learn, stored_document, to_json
from tests.sim.shop import PACKAGE, shop
from tests.tasks.shop_tasks import judge_of

START = Phone([shop()]).reset(0, "browsing").apps[PACKAGE]


def app(*rows: tuple[int, str, bool], cheap: bool = False, query: str = "") -> AppState:
    """The shop with these products."""
    table = tuple({"#": number, "title": title, "price": 1, "liked": liked} for number, title, liked in rows)
    return START._replace(tables=Map(START.tables).set("products", table), variables=START.variables.update({"cheap": cheap, "query": query}))


def stored(*items: tuple[str, str, int], only: str = "all", **more: Any) -> Any:
    return {"v1/items": [{"uid": key, "name": name, "star": star, "rank": 7} for key, name, star in items], "v1/view": {"only": only}} | more


MILK, BREAD, EGGS = ("a", "Milk", 0), ("b", "Bread", 0), ("c", "Eggs", 0)
FIRST = app((1, "Milk", False), (2, "Bread", False))
SAMPLES = (
    (FIRST, stored(MILK, BREAD, ("z", "Hidden", 0))),
    (app((1, "Milk", True), (2, "Bread", False)), stored(("a", "Milk", 1), BREAD, ("z", "Hidden", 0))),
    (app((2, "Bread", False), (3, "Eggs", False), cheap=True), stored(BREAD, EGGS, ("z", "Hidden", 0), only="cheap")),
)


def test_lists_are_tables_and_what_changes_along_is_a_variable() -> None:
    found = learn(FIRST, SAMPLES)
    table = found.tables["products"]
    assert (table.place, table.key, dict(table.rows), table.others) == (("v1/items",), "uid", {1: '"a"', 2: '"b"'}, {'"z"'})
    assert table.columns["title"].place == ("name",) and table.columns["liked"].means == {"0": False, "1": True}
    assert "price" not in table.columns  # always 1 here, and no field was
    assert {name: of.place for name, of in found.variables.items()} == {"cheap": ("v1/view", "only")}


def test_it_is_read_over_the_start_and_rows_that_are_gone_have_come_or_were_never_any_are_told_apart() -> None:
    known = learn(FIRST, SAMPLES).read(FIRST, stored(("b", "Rye", 1), ("n", "New", 0), ("z", "Hidden", 0), only="cheap"))
    assert [(row["#"], row["title"], row.get("liked")) for row in known.app.tables["products"]] == [(2, "Rye", True), (3, "New", False)]
    assert known.app.variables["cheap"] is True and known.variables == {"cheap"}
    assert known.columns == {("products", "title"), ("products", "liked")} and known.tables == {"products"}


def test_what_was_there_when_the_episode_began_has_not_come_by_itself() -> None:
    at_first = stored(MILK, BREAD, ("q", "Quince", 0))
    known = learn(FIRST, SAMPLES).read(FIRST, stored(MILK, BREAD, ("q", "Quince", 0), ("n", "New", 0)), at_first)
    assert [row["title"] for row in known.app.tables["products"]] == ["Milk", "Bread", "New"]


def test_values_that_were_never_seen_and_what_is_not_stored_are_unknown() -> None:
    found = learn(FIRST, SAMPLES)
    known = found.read(FIRST, stored(("a", "Milk", 5), BREAD, only="dear"))
    assert known.variables == set() and ("products", "liked") not in known.columns and ("products", "title") in known.columns
    nothing = found.read(FIRST, {})
    assert nothing.tables == set() and nothing.app.tables["products"] == FIRST.tables["products"]


def test_what_contradicts_itself_is_not_taken() -> None:
    other = (app((1, "Milk", True), (2, "Bread", False)), stored(MILK, BREAD, only="cheap"))
    found = learn(FIRST, (*SAMPLES, other))
    assert "liked" not in found.tables["products"].columns and "cheap" not in found.variables
    assert learn(FIRST, ((FIRST, stored(EGGS, BREAD)), *SAMPLES[1:])).tables == {}


def test_a_phone_is_judged_by_it_and_what_it_does_not_tell_stays_unknown() -> None:
    found = learn(START, [(START, {"items": [{"k": row["#"], "t": row["title"], "f": row["liked"]} for row in START.tables["products"]]})])
    assert {"title"} == set(found.tables["products"].columns)  # nothing was liked yet: a tick that never changed is not known
    judge = judge_of("{rows: {table: goods, deleted: [{name: Apples}]}}")
    tree, size = judge.setting.phone.look(judge.instance.start).hierarchy, judge.setting.phone.size
    rest = [{"k": row["#"], "t": row["title"], "f": row["liked"]} for row in START.tables["products"][1:]]

    def told(items: list[dict[str, Any]], of: Any = judge) -> Any:
        return of.verdict_on_phone(of.begin(), tree, size, known=found.read(START, {"items": items}))

    assert told(rest).success is True
    assert told(rest[1:]).success is False and told(rest[1:]).side_effects == ("goods: “Bread” deleted",)
    assert told([{"k": 0, "t": "Apples", "f": False}, *rest]).success is False
    liking = judge_of("{rows: {table: goods, changed: [{where: {name: Apples}, to: {liked: true}}]}}")
    assert told([{"k": 0, "t": "Apples", "f": True}, *rest], liking).success is None


def test_texts_under_keys_are_read_as_json_where_they_are() -> None:
    assert stored_document({"a": "[1]", "b": "plain", "c": "true"}) == {"a": [1], "b": "plain", "c": True}


def test_a_map_comes_back_from_its_file_and_what_is_none_is_refused() -> None:
    found = learn(FIRST, SAMPLES)
    assert from_json(to_json(found)) == found and from_json(to_json(StorageMap())) == StorageMap()
    for wrong in ({}, [], {"format": "other/1"}, {"format": "phoneworld-storage/1", "tables": {"x": {}}, "variables": {}}):
        with pytest.raises(FileFormatError, match="storage map"):
            from_json(wrong)
