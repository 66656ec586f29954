"""The shop with its tasks on disk, as the doors are given it."""

from __future__ import annotations

import pytest

from phoneworld.env.rollout import Phones
from tests.env.shop_phone import write_shop


@pytest.fixture(scope="session")
def phones(tmp_path_factory: pytest.TempPathFactory) -> Phones:
    bundle, tasks = write_shop(tmp_path_factory.mktemp("shop"))
    return Phones(bundle, tasks=tasks)
