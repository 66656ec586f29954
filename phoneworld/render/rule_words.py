"""Names and phrases cut to what fits on a line of a page; the phrases themselves are `program/words.py`."""

from __future__ import annotations

LONGEST = 60


def widget_words(node: str, label: str = "") -> str:
    """A widget in a person's words: its label, else the last part of its name, on one line."""
    return shortened(label or node.rsplit("/", 1)[-1])


def shortened(words: str, length: int = LONGEST) -> str:
    """The words on one line, cut where they are long."""
    line = " ".join(words.split())
    return line if len(line) <= length else line[: length - 1] + "…"
