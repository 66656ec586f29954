"""Device to StateGraph: exploring, settling, journalling. Knows no compiler and no simulator.

`record` is the way in; on the command line it is `phoneworld record`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recorder.run import Recorded, record, run_recording

MARKER = "phoneworld-recorder"
"""Lets the command line tell this package from an unrelated `recorder` on PyPI."""

__all__ = ["MARKER", "Recorded", "record", "run_recording"]


def __getattr__(name: str) -> Any:
    # Late, so that reading the marker of the right package costs nothing and fails on nothing.
    if name in ("Recorded", "record", "run_recording"):
        from recorder import run

        return getattr(run, name)
    raise AttributeError(f"module 'recorder' has no attribute {name!r}")
