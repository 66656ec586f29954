"""Tasks of the shop tried on shops that are as the mock, look otherwise, or do otherwise."""

from __future__ import annotations

import pytest

from phoneworld.tasks.stored import from_json, to_json
from phoneworld.transfer.run import Transferred
from tests.transfer.shops import StoringShop, learned, one_more_above, only_acorns, transfer_to, without


def by_id(change: object = lambda p: p, device: type = StoringShop) -> dict[str, Transferred]:
    transfer, listed = transfer_to(change, device)  # type: ignore[arg-type]
    return {task.id.removeprefix("shop/").removesuffix("-v1"): transfer.again(transfer.one(task), learned()) for task in listed}


def test_an_app_that_does_what_its_mock_does_holds_all_tasks() -> None:
    told = by_id()
    assert {name: (one.aimed.success, one.blind.success) for name, one in told.items()} == dict.fromkeys(told, (True, True))
    assert all(one.aimed.steps == one.aimed.faithful_steps and not one.aimed.why for one in told.values())
    assert {name for name, one in told.items() if one.aimed.by == "checker"} == {"look", "read"}


def test_what_lies_elsewhere_is_found_again_and_the_same_pixels_are_not_enough() -> None:
    told = by_id(one_more_above)
    assert {name: one.aimed.success for name, one in told.items()} == dict.fromkeys(told, True)
    # The row above is bought, liked and deleted.
    assert {name for name, one in told.items() if one.blind.success is not True} == {"buy", "like", "gone"}


def test_a_button_that_does_nothing_is_told_as_such() -> None:
    told = by_id(without("add"))
    assert told["buy"].aimed.success is not True and told["buy"].aimed.kind == "wrong screen"
    assert "step 2" in told["buy"].aimed.why
    assert told["look"].aimed.success is True


def test_a_widget_that_is_not_there_is_named() -> None:
    told = by_id(only_acorns)["like"]
    assert told.aimed.success is False and told.aimed.kind == "other start" and "Acorns" in told.aimed.why and "not in sight" in told.aimed.why


def test_without_storage_what_both_show_decides_and_never_more_than_that() -> None:
    told = by_id(device=type("Shop", (StoringShop.__bases__[0],), {}))
    assert {name: one.aimed.by for name, one in told.items() if one.aimed.success} == {
        "buy": "screens", "cheap": "screens", "like": "screens", "gone": "screens", "look": "checker", "read": "checker"
    }  # fmt: skip


def test_how_the_app_stores_things_is_found_out_and_kept() -> None:
    storage = learned()
    goods = storage.tables["products"]
    assert (goods.place, goods.key) == (("shop/v1/items",), "id") and len(goods.rows) == 12
    assert {name: of.place for name, of in goods.columns.items()} == {"title": ("label",), "price": ("cents",), "liked": ("fav",)}
    assert storage.variables["cheap"].place == ("shop/v1/view", "only")
    assert from_json(to_json(storage)) == storage


def test_an_app_that_shows_it_and_does_not_keep_it_has_not_done_it() -> None:
    class Forgetful(StoringShop):
        def stored(self, package: str) -> dict[str, str]:
            return {key: text for key, text in super().stored(package).items()} | (
                {"shop/v1/view": '{"only": "all"}'} if self.now.steps > 1 else {}
            )

    told = by_id(device=Forgetful)["cheap"]
    assert (told.aimed.success, told.aimed.by, told.aimed.kind) == (False, "storage", "kept otherwise")


@pytest.mark.parametrize("rule", ["open", "cart"])
def test_no_change_of_the_app_is_taken_for_success_of_what_it_is_needed_for(rule: str) -> None:
    told = by_id(without(rule))
    assert told["buy" if rule == "open" else "look"].aimed.success is not True
    assert isinstance(told["like"], Transferred) and told["like"].aimed.success is True


