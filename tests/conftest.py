"""What holds for the whole run: it ends by saying what was skipped, and why."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for the number of skipped tests, and one for each reason."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        where = report.longrepr
        reasons[str(where[2]).removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)] += 1
    terminalreporter.write_line(f"skipped: {sum(reasons.values())}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"  {count} x {reason}")
