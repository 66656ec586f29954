"""Tasks for the hand-written shop of `tests/sim/shop.py`, in YAML as a user would write them."""

from __future__ import annotations

from phoneworld.sim.phone import Phone
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.task import Setting, Task
from phoneworld.tasks.task_yaml import loads
from tests.sim.shop import shop

NAMES = """
names:
  tables:
    goods: {is: products, columns: {name: title, cost: price}}
    basket: {is: cart, columns: {what: title, many: quantity, note: memo}}
  variables: {bargains: cheap}
  screens: {home: list, page: product, basket: cart}
"""

BUY = """
- id: shop/buy-v1
  say:
    en: ["Put the {product.name} into the cart.", "I want {product.name}."]
    zh: ["把{product.name}放进购物车。"]
  parameters:
    product: {row: goods, where: "cost > `2`"}
  start: {at: browsing}
  check:
    rows: {table: basket, added: [{what: "{product.name}", many: 1}]}
  budget: 12
"""


def tasks(text: str) -> tuple[Task, ...]:
    """The tasks of a YAML list, with the names above."""
    return loads(NAMES + "tasks:\n" + text, "shop.yaml")


def judge_of(check: str, *, more: str = "", seed: int = 0) -> Judge:
    """The judge of a task that asks just this, in YAML of one line."""
    text = f"- {{id: shop/it-v1, say: {{en: do it}}, start: {{at: browsing}}, check: {check}{', ' + more if more else ''}}}\n"
    setting = Setting(tasks(text)[0], Phone([shop()]))
    return Judge(setting, setting.instance(seed))
