"""The hand-written shop of `tests/sim/shop.py` as a real app: a phone that tells what it stores, and ways in which the app is another than its mock."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from phoneworld.device.mock import MockDevice
from phoneworld.env.device_env import DeviceEnv
from phoneworld.program.bundle import Bundle
from phoneworld.program.program import Program, Start
from phoneworld.sim.phone import Phone
from phoneworld.tasks.stored import StorageMap
from phoneworld.tasks.task import Task
from phoneworld.transfer.run import Transfer
from tests.sim.shop import PACKAGE, shop
from tests.tasks.shop_tasks import tasks

TASKS = """
- {id: shop/buy-v1, say: {en: "Put the {p.name} into the cart."}, parameters: {p: {row: goods, where: "cost > `2`"}}, check: {rows: {table: basket, added: [{what: "{p.name}", many: 1}]}}}
- {id: shop/cheap-v1, say: {en: Show what is cheap only.}, check: {state: {variables.bargains: true}}}
- {id: shop/like-v1, say: {en: "I like {p.name}."}, parameters: {p: {row: goods}}, check: {rows: {table: goods, changed: [{where: {name: "{p.name}"}, to: {liked: true}}]}}}
- {id: shop/gone-v1, say: {en: "Delete {p.name}."}, parameters: {p: {row: goods}}, check: {rows: {table: goods, deleted: [{name: "{p.name}"}]}}}
- {id: shop/look-v1, say: {en: Leave the cart open.}, check: {visible: {text: Empty}}}
- {id: shop/read-v1, say: {en: "What does {p.name} cost?"}, parameters: {p: {row: goods}}, check: {answer: {number: "{p.cost}", unit: "€"}}, look: {visible: {says: "{p.cost} €"}}}
"""


class StoringShop(MockDevice):
    """The shop on a phone that tells what it keeps, in the way that web apps do: lists of objects and settings under keys."""

    def stored(self, package: str) -> Mapping[str, str]:
        app = self.now.apps[package]
        items = [{"id": f"p-{row['title']}", "label": row["title"], "cents": row["price"], "fav": "yes" if row["liked"] else "no"} for row in app.tables["products"]]
        lines = {f"l{row['#']}": {"name": row["title"], "n": row["quantity"]} for row in app.tables["cart"]}
        return {"shop/v1/items": json.dumps(items), "shop/v1/lines": json.dumps(lines), "shop/v1/view": json.dumps({"only": "cheap" if app.variables["cheap"] else "all"})}


def starting_at_the_list(program: Program) -> Program:
    """Without the recorded first moment: what a new start shows is the list."""
    return replace(program, starts={"browsing": Start("list"), **program.starts})


def kept(program: Program) -> Program:
    """What a fresh install of it is; the mock and the app are both so."""
    return starting_at_the_list(program)


def one_more_above(program: Program) -> Program:
    """Another product stands at the top: all others lie lower than on the mock."""
    products = program.tables["products"]
    return replace(program, tables=program.tables | {"products": replace(products, rows=(("Acorns", 99, False), *products.rows))})


def only_acorns(program: Program) -> Program:
    """Nothing of what the mock offers is there."""
    products = program.tables["products"]
    return replace(program, tables=program.tables | {"products": replace(products, rows=(("Acorns", 99, False),))})


def without(*names: str) -> Callable[[Program], Program]:
    """Where these rules do nothing."""

    def change(program: Program) -> Program:
        assert set(names) <= {rule.id for rule in program.rules}
        return replace(program, rules=tuple(r for r in program.rules if r.id not in names))

    return change


def real_shop(change: Callable[[Program], Program] = lambda p: p, device: type[MockDevice] = MockDevice, text: str = TASKS, storage: StorageMap | None = None) -> DeviceEnv:
    """The shop as `change` makes it, in the place of the real app; its tasks are drawn from the mock."""
    phone = device([Bundle(change(kept(shop())), Path("nowhere"))], draw=_no_drawing)
    return DeviceEnv(phone, PACKAGE, tasks=tasks(text), mock=Phone([kept(shop())]), storage=storage)


def transfer_to(change: Callable[[Program], Program] = lambda p: p, device: type[MockDevice] = MockDevice, text: str = TASKS) -> tuple[Transfer, tuple[Task, ...]]:
    """The tasks of the shop, to be tried on the shop as `change` makes it."""
    env, listed = real_shop(change, device, text), tasks(text)
    return Transfer(env, Phone([kept(shop())]), listed), listed


@cache
def learned() -> StorageMap:
    """How the shop stores things, found out on a shop that does as its mock does."""
    transfer, listed = transfer_to(device=StoringShop)
    for task in listed:
        transfer.one(task)
        transfer.one(task, 1)
    return transfer.storage()


def _no_drawing(_: object) -> Any:
    raise AssertionError("no picture is asked for here")
