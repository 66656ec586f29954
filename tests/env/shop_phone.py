"""The hand-written shop of `tests/sim/shop.py` with tasks, as environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phoneworld.env.phone_env import PhoneEnv
from phoneworld.program.bundle import save_bundle
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, Tap
from tests.sim.shop import shop
from tests.tasks.shop_tasks import BUY, NAMES, tasks

MORE = BUY + """
- id: shop/cheap-v1
  say: {en: "Show what is cheap only."}
  start: {at: browsing}
  check:
    - {state: {variables.bargains: true}}
    - {visited: [basket]}
  budget: 6
- id: shop/broken-v1
  say: {en: "Nobody can tell."}
  start: {at: browsing}
  check: {state: {"sum(tables.goods[*].name)": 1}}
- id: shop/told-v1
  say: {en: "How many things are shown?"}
  start: {at: browsing}
  check: {answer: {number: 12}}
"""
CHEAP, CART, ADD, BREAD = Tap(300, 20), Tap(300, 60), Tap(100, 360), Tap(150, 180)


def buying(instruction: str) -> tuple[Action, ...]:
    """How the task `shop/buy-v1` is done: the row that the instruction names, and the button on its page."""
    names = ("Apples", "Bread", "Cheese", "Dates", "Eggs", "Figs", "Grapes", "Honey", "Ice", "Jam", "Kale", "Lemons")
    number = next(i for i, name in enumerate(names) if name in instruction)
    return Tap(150, 140 + 40 * number), ADD


def shop_env(**options: Any) -> PhoneEnv:
    """The shop with its tasks."""
    return PhoneEnv(Phone([shop()]), tasks=tasks(MORE), **options)


def write_shop(folder: Path) -> tuple[str, str]:
    """The shop as a bundle and its tasks as a file, for what runs in other processes: their paths."""
    save_bundle(shop(), folder / "bundle", {})
    (folder / "tasks").mkdir()
    (folder / "tasks" / "shop.yaml").write_text(NAMES + "tasks:\n" + MORE, encoding="utf-8")
    return str(folder / "bundle"), str(folder / "tasks")
