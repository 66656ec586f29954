"""The sample app as a bundle, once a session."""

from __future__ import annotations

import pytest

from phoneworld.program.bundle import Bundle
from phoneworld.testing.samples import sample_bundle


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return sample_bundle(tmp_path_factory.mktemp("sample") / "groceries.bundle")
