"""Property tests here have no time limit: a busy machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("ui", deadline=None)
settings.load_profile("ui")
