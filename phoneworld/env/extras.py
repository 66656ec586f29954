"""Packages that not everybody needs, and what to say where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from phoneworld.errors import MissingDependency


def need(module: str, extra: str) -> Any:
    """A module of an optional package. Raises MissingDependency that says what to install."""
    try:
        return import_module(module)
    except ImportError as e:
        missing = e.name or module
        raise MissingDependency(f"{missing} is not installed, and this needs it", hint=f'pip install "phoneworld[{extra}]"') from None
