"""Figures: known values, laws, and what is no score never counts."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.env.record import EpisodeRecord, lost_episode
from phoneworld.evaluate.figures import Scored, pass_at, passes, report, summary, wilson
from phoneworld.evaluate.junit import junit

WON = EpisodeRecord("a/t-v1", 0, "", "", (), "success", "none", "", True, 1.0, None, (), (), 0)
MISSED = replace(WON, termination="failed", success=False, progress=0.5)
RAISED = replace(WON, termination="error", error_class="agent", success=None, progress=0.0, message="the policy raised")


@pytest.mark.parametrize(("k", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (8, 10, 0.4902, 0.9433), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)])
def test_wilson_gives_the_values_of_the_books(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 500), st.data())
def test_wilson_holds_the_share_and_mirrors(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_pass_at_k_is_the_chance_that_one_of_k_succeeds() -> None:
    assert pass_at(1, 3, 10) == pytest.approx(0.3) and pass_at(2, 1, 2) == 1.0 and pass_at(2, 0, 5) == 0.0
    assert pass_at(2, 2, 4) == pytest.approx(1 - (2 * 1) / (4 * 3))


def test_what_is_no_score_is_told_apart_and_a_policy_that_raised_has_failed() -> None:
    each = [WON, MISSED, RAISED, *(lost_episode("a/t-v1", 0, kind, kind) for kind in ("infra", "infra", "checker", "env")), replace(WON, termination="unknown", success=None)]
    told = summary([Scored(str(i), record) for i, record in enumerate(each)])
    assert (told["episodes"], told["scored"], told["succeeded"], told["success"]) == (8, 3, 1, pytest.approx(1 / 3))
    assert told["without_score"] == {"infra": 2, "checker": 1, "env": 1, "unknown": 1} and told["progress"] == 0.5
    assert told["ended"] == {"checker": 1, "env": 1, "failed": 1, "infra": 2, "raised": 1, "success": 1, "unknown": 1}
    nothing = summary([Scored("x", lost_episode("a/t-v1", 0, "infra", "gone"))])
    assert nothing["success"] is None and nothing["interval"] == [0.0, 1.0] and nothing["unrecorded_steps"] is None


def test_tries_are_attempts_at_one_seed_where_there_are_several_else_the_seeds_of_a_task() -> None:
    seeds = [Scored(str(i), replace(r, seed=i)) for i, r in enumerate((WON, MISSED, MISSED, MISSED))]
    assert passes(seeds) == {"1": 0.25, "2": 0.5, "4": 1.0}
    attempts = [Scored(f"{s}-{a}", replace(WON if (s, a) == (0, 1) else MISSED, seed=s), a) for s in (0, 1) for a in (0, 1)]
    assert passes(attempts) == {"1": 0.25, "2": 0.5}


def test_junit_counts_failures_and_errors_apart_and_holds_any_text() -> None:
    each = [Scored("a/t-v1/seed-0", WON), Scored("a/t-v1/seed-1", MISSED), Scored("b/<&>/seed-0", lost_episode("b/x-v1", 0, "infra", "gone \x00 & \ud83d <"))]
    root = ElementTree.fromstring(junit(report(each, {}), {"a/t-v1/seed-0": 1.25}))
    suites = {suite.get("name"): suite.attrib for suite in root}
    assert suites["a/t-v1"] | {"tests": "2", "failures": "1", "errors": "0", "skipped": "0", "time": "1.250"} == suites["a/t-v1"]
    assert suites["b/<&>"]["errors"] == "1" and len(root.findall(".//error")) == 1 and len(root.findall(".//failure")) == 1
