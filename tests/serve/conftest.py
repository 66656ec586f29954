"""The sample app behind the real FastAPI app, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient

from phoneworld.program.bundle import Bundle
from phoneworld.serve.app import create_app
from phoneworld.testing.samples import sample_bundle

BASE = "http://127.0.0.1:7600"


@dataclass
class Clock:
    """Seconds; moves only when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return sample_bundle(tmp_path_factory.mktemp("apps") / "groceries")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(bundle: Bundle, clock: Clock) -> Iterator[TestClient]:
    app = create_app({"groceries": bundle, "<b>&": bundle}, session_limit=4, idle_s=60, clock=clock)
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as made:
        yield made
