"""What the command line prints on: a terminal is written for people, a pipe or a file for programs."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Console, ConsoleDimensions
from rich.segment import Segment

_WIDE = 100_000
"""As many columns as nothing needs: rich would take 80 where there is no terminal, and break paths and addresses at them."""
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
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

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        """What goes to the terminal: words of apps and files among it must not steer it, or turn the line around."""
        return super()._render_buffer(one if one.control else Segment(harmless(one.text), one.style) for one in buffer)

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints it; without a terminal, no blanks at the end of a line."""
        if self.is_terminal or self.quiet:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(_BLANKS.sub("", captured.get()))
        self.file.flush()


@contextmanager
def to_stderr() -> Iterator[None]:
    """What is printed in here goes to stderr, by whatever code, also by processes that are started in here: policies of others print as they like."""
    own = sys.stdout
    own.flush()
    try:
        kept = os.dup(1) if own.fileno() == 1 else None
    except (OSError, ValueError):  # no file at all: what is printed is collected
        kept = None
    if kept is not None:
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        own.flush()  # what was printed to it by those who held it goes where the rest went
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def harmless(words: str) -> str:
    """Words from anywhere without the signs that steer a terminal or change the direction of writing; breaks of lines stay."""
    if words.isprintable():
        return words
    return "".join(ch if ch in "\n\t\u200c\u200d" or unicodedata.category(ch) not in _STEERING else "\ufffd" for ch in words)


def counted(number: int, what: str, many: str = "") -> str:
    """A number with its noun: `1 screen`, `2 screens`; `many` is the plural where an s does not make it."""
    return f"{number} {what if number == 1 else many or what + 's'}"
