"""adbutils and uiautomator2, unmodified, on a phone of ours under the real adb program."""

from __future__ import annotations

from tests.adbd.fixtures import Attached, needs_adb
from tests.clients.python_clients import talk_adbutils, talk_uiautomator2

pytestmark = needs_adb


def test_adbutils_does_what_it_says(attached: Attached) -> None:
    report = talk_adbutils(attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 27


def test_uiautomator2_does_what_it_says(attached: Attached) -> None:
    report = talk_uiautomator2(attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 40
