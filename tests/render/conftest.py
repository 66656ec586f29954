"""One Chromium for the tests of this folder that need one of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from phoneworld.render.browser import Browser
from phoneworld.render.frames import Renderer
from tests.render import scenes


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with Browser.launch() as launched:
        yield launched


@pytest.fixture(scope="module")
def kept_chromium() -> Iterator[None]:
    """Keeps the process's painter in use, so that not every renderer starts a Chromium anew."""
    keeper = Renderer({})
    keeper.png(scenes.view(scenes.tree(), "kept", recorded=False))
    yield
    keeper.close()


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    made = Renderer({scenes.SHA: scenes.png()})
    yield made
    made.close()
