"""State merging: every walk replays, what cannot be told apart stays apart, what can be one is one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phoneworld.compiler.moments import Walk, find_moments
from phoneworld.program.program import Trigger

A, B = Trigger("tap", "a"), Trigger("tap", "b")


def walk(name: str, layouts: str, triggers: str) -> Walk:
    """A walk over layouts named by letters, with triggers named by letters."""
    return Walk(name, tuple(layouts), tuple(Trigger("tap", t) for t in triggers))


def test_a_toggle_seen_twice_is_two_moments() -> None:
    moments = find_moments([walk("t", "xyxyx", "aaaa")])
    assert len(moments.layout) == 2
    assert moments.of["t"] == (1, 2, 1, 2, 1)


def test_equal_looks_with_different_outcomes_stay_apart() -> None:
    moments = find_moments([walk("t", "xyxz", "aba")])
    first, _, third, _ = moments.of["t"]
    assert first != third
    assert moments.layout[first] == moments.layout[third] == "x"


def test_a_difference_far_ahead_keeps_the_start_apart() -> None:
    moments = find_moments([walk("one", "xyz", "ab"), walk("two", "xyw", "ab")])
    assert moments.of["one"][0] != moments.of["two"][0]


def test_walks_with_one_story_share_all_moments() -> None:
    moments = find_moments([walk("one", "xyz", "ab"), walk("two", "xyz", "ab")])
    assert moments.of["one"] == moments.of["two"]


@given(
    st.lists(
        st.integers(0, 5).flatmap(
            lambda n: st.tuples(st.text("xyz", min_size=n + 1, max_size=n + 1), st.text("ab", min_size=n, max_size=n))
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_walk_replays_deterministically(raw: list[tuple[str, str]]) -> None:
    walks = [walk(str(i), layouts, triggers) for i, (layouts, triggers) in enumerate(raw)]
    moments = find_moments(walks)
    step: dict[tuple[int, Trigger], int] = {}
    for w in walks:
        for source, trigger, target in zip(moments.of[w.trace][:-1], w.triggers, moments.of[w.trace][1:], strict=True):
            assert step.setdefault((source, trigger), target) == target
    for w in walks:
        assert tuple(moments.layout[m] for m in moments.of[w.trace]) == w.layouts
