"""A study of a few minutes' work at most: the hand-written shop twice, once never trained on, and the simulator of each in the place of its real app."""

from __future__ import annotations

from pathlib import Path

from phoneworld.program.bundle import save_bundle
from tests.sim.shop import shop
from tests.tasks.shop_tasks import NAMES
from tests.transfer.shops import starting_at_the_list

TASKS = "".join(
    f"""
- {{id: APP/read-{n}-v1, say: {{en: "What does {{p.name}} cost?"}}, parameters: {{p: {{row: goods, where: "cost > `{n}`"}}}}, check: {{answer: {{number: "{{p.cost}}", unit: "€"}}}}, look: {{visible: {{says: "{{p.cost}} €"}}}}, budget: 5}}
- {{id: APP/look-{n}-v1, say: {{en: "Leave the cart open, number {n}."}}, check: {{visible: {{text: Empty}}}}, budget: 5}}"""
    for n in range(1, 7)
)
PLAN = """
format: phoneworld-study/1
trained: [{app: shop, device: "mock:shop/bundle", fidelity: 1.0}]
unseen: [{app: store, device: "mock:store/bundle"}]
hold_out: 0.3
validation: 0.2
sft: {seeds: 1, real_seeds: 1, epochs: 2}
rl: {groups: 2, members: 2, validate_every: 1}
sizes:
  tiny:
    seeds: 2
    workers: 2
    pages: 2
    scored: {trained: 2, held_out: 3, unseen: 3}
    arms:
      real: {real_fraction: 1, real_steps: 40}
      mock: {steps: 40}
      mixed: {real_fraction: 0.5, real_steps: 20}
"""


def write_study(folder: Path) -> Path:
    """The plan in a folder, with both apps beside it."""
    for app in ("shop", "store"):
        save_bundle(starting_at_the_list(shop()), folder / app / "bundle", {})
        (folder / app / "tasks").mkdir()
        (folder / app / "tasks" / "shop.yaml").write_text(NAMES + "tasks:" + TASKS.replace("APP", app) + "\n", encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN.replace("\"mock:", f"\"mock:{folder}/"), encoding="utf-8")
    return folder / "plan.yaml"
