"""A phone without its pictures: where a tree costs a hundredth of a picture, a step is ten times as fast."""

from __future__ import annotations

from phoneworld.device.through import Through


class TreesOnly(Through):
    """The phone, but that a picture of it is empty, which `settle` knows."""

    def screenshot(self) -> bytes:
        """No picture."""
        return b""
