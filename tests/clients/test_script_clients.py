"""Clients in environments of their own, unmodified, on a phone of ours under the real adb program."""

from __future__ import annotations

import pytest

from tests.adbd.fixtures import Attached, needs_adb
from tests.clients.repositories import REPOSITORIES
from tests.clients.script_clients import SCRIPTED

pytestmark = [needs_adb, pytest.mark.slow]


@pytest.mark.parametrize("client", SCRIPTED)
def test_each_call_does_on_the_phone_what_it_should(client: str, attached: Attached) -> None:
    report = SCRIPTED[client](attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 8


@pytest.mark.parametrize("client", REPOSITORIES)
def test_each_call_of_a_repository_does_what_it_should(client: str, attached: Attached) -> None:
    report = REPOSITORIES[client](attached)
    assert "\n".join(report.faults) == ""
    assert len(report.rows) >= 7
