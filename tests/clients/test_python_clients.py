"""adbutils and uiautomator2, unmodified, on a phone of ours under the real adb program."""

from __future__ import annotations

from tests.adbd.fixtures import Attached, needs_adb
from tests.clients.conversation import Report
from tests.clients.python_clients import talk_adbutils, talk_uiautomator2
from tests.clients.table import README, blocks_of

pytestmark = needs_adb


def assert_written_down(report: Report) -> None:
    """The README's table says of each call what the run says; mended by `python -m tests.clients.table`."""
    written = blocks_of(README.read_text())[report.client]
    assert [row.call for row in report.rows if f"`{row.call}`" not in written] == []


def test_adbutils_does_what_it_says(attached: Attached) -> None:
    report = talk_adbutils(attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 27
    assert_written_down(report)


def test_uiautomator2_does_what_it_says(attached: Attached) -> None:
    report = talk_uiautomator2(attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 40
    assert_written_down(report)
