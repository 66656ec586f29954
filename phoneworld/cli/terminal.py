"""What the command line prints on: a terminal is written for people, a pipe or a file for programs."""

from __future__ import annotations

import os
import re
from typing import Any

from rich.console import Console, ConsoleDimensions

_WIDE = 100_000
"""As many columns as nothing needs: rich would take 80 where there is no terminal, and break paths and addresses at them."""
_BLANKS = re.compile(r"[ \t]+(?=\n)")


class Terminal(Console):
    """A console that wraps and pads on a terminal only. Elsewhere a line stays a line, unless COLUMNS says how wide it is."""

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet)

    @property
    def size(self) -> ConsoleDimensions:
        if self.is_terminal or os.environ.get("COLUMNS", "").isdigit():
            return super().size
        return ConsoleDimensions(_WIDE, super().size.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints it; without a terminal, no blanks at the end of a line."""
        if self.is_terminal or self.quiet:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(_BLANKS.sub("", captured.get()))
        self.file.flush()


def counted(number: int, what: str, many: str = "") -> str:
    """A number with its noun: `1 screen`, `2 screens`; `many` is the plural where an s does not make it."""
    return f"{number} {what if number == 1 else many or what + 's'}"
