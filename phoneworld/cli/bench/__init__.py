"""`phoneworld bench`: how fast a compiled app runs, in figures that carry the command that measures them."""

from __future__ import annotations

from phoneworld.cli.bench.verb import register

__all__ = ["register"]
