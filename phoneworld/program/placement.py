"""Where a widget of a template lies: rules that place it from what lies around it. Data only; `sim/arrange.py` gives it meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """The rule of one slot."""
