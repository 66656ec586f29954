"""Where the shared folder with the corpus and the cases lies, for the tests that use it in place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("PHONEWORLD_SHARED", _ROOT.parent / "shared"))
CORPUS = SHARED / "corpus"
CASES = SHARED / "cases" / "inputs"

needs_shared = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="no shared folder with recordings (set PHONEWORLD_SHARED to its path)"
)
