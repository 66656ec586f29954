"""The recordings of the corpus, each imported once for all tests of a process."""

from __future__ import annotations

from functools import cache

from phoneworld.graph.importers import import_recording
from phoneworld.graph.importers.recording import ImportedRecording
from tests.shared import CORPUS


@cache
def imported(name: str) -> ImportedRecording:
    """A folder of the corpus' traces."""
    return import_recording(CORPUS / "traces" / name)
