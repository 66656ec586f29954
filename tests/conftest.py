"""What holds for the whole run: one adb server for a process of it, and at the end what was skipped, and why."""

from __future__ import annotations

from collections import Counter

import pytest

from phoneworld.render import painter
from tests.adbd.fixtures import adb_server, attached, desk

# Known from here only: imported once more elsewhere they would be other fixtures, each with an adb server of its own,
# and whichever was started last would be the one that the process asks.
__all__ = ["adb_server", "attached", "desk"]


@pytest.fixture
def own_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    """A painter that no other test uses: none that was left running draws where Chromium is to be missing."""
    monkeypatch.setattr(painter, "_shared", painter._Shared())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for the number of skipped tests, and one for each reason."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        where = report.longrepr
        reasons[str(where[2]).removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)] += 1
    terminalreporter.write_line(f"skipped: {sum(reasons.values())}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"  {count} x {reason}")
