"""Words of apps and files on a terminal: they cannot steer it, or turn the line around."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from phoneworld.cli.terminal import Terminal, harmless

HOSTILE = "Bank\u202egnp.exe\x1b[31m\x1b]0;title\x07\u2066\u200f\x9b2J\ud800"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_words_from_anywhere_cannot_steer_a_terminal(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setenv("FORCE_COLOR" if is_terminal else "NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    console = Terminal()
    console.file = out
    table = Table()
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    console.print("[bold]app[/] ", HOSTILE, table, markup=True)
    assert not set(HOSTILE[4:]) & set("\u202e\x07\u2066\u200f\x9b\ud800") & set(out.getvalue())
    assert "\x1b[31m" not in out.getvalue() and "\x1b]0" not in out.getvalue() and "gnp.exe" in out.getvalue()
    assert ("\x1b[1m" in out.getvalue()) == is_terminal, "our own style stays"


def test_ordinary_words_stay() -> None:
    for words in ("Größe 大小", "نص عربي", "👨‍👩‍👧", "a\tb\nc", "می‌خواهم", "\uf20c Home"):
        assert harmless(words) == words
