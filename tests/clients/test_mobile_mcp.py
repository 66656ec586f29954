"""mobile-mcp, unmodified, on a phone of ours under the real adb program."""

from __future__ import annotations

import pytest

from tests.adbd.fixtures import Attached, needs_adb
from tests.clients.mcp_client import talk_mobile_mcp

pytestmark = [needs_adb, pytest.mark.slow]


@pytest.mark.parametrize("legacy", [True, False], ids=["adb", "mobilecli"])
def test_each_tool_does_on_the_phone_what_it_should(legacy: bool, attached: Attached) -> None:
    report = talk_mobile_mcp(attached, legacy=legacy)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 17
