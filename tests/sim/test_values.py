"""The variables of an app: a value that is never changed, compared and named by its mark."""

from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.program.expr import Value
from phoneworld.sim.values import Values

_values: st.SearchStrategy[Value] = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 2.5]) | st.sampled_from(["", "a", "1"])
_held = st.dictionaries(st.sampled_from("abcd"), _values)


@given(_held, st.lists(_held, max_size=4))
@settings(deadline=None)
def test_updated_step_by_step_they_are_the_values_made_at_once(first: dict[str, Value], steps: list[dict[str, Value]]) -> None:
    values, wanted = Values(first), dict(first)
    for changes in steps:
        values, wanted = values.update(changes), {**wanted, **changes}
        at_once = Values(wanted)
        assert values == at_once == wanted and values.mark == at_once.mark and hash(values) == hash(at_once)
        assert [type(values[name]) for name in wanted] == [type(value) for value in wanted.values()]
        assert pickle.loads(pickle.dumps(values)) == values


@given(_held, _held)
@settings(deadline=None)
def test_marks_are_equal_where_values_are(one: dict[str, Value], other: dict[str, Value]) -> None:
    assert (Values(one).mark == Values(other).mark) == (one == other) == (Values(one) == Values(other))


def test_what_changes_nothing_is_the_same_object_and_what_changes_leaves_it_alone() -> None:
    values = Values({"a": 1, "b": None})
    assert values.update({"a": 1}) is values and values.set("b", None) is values
    changed = values.set("a", True)
    assert changed["a"] is True and values["a"] == 1 and type(values["a"]) is int
    assert dict(values.set("c", "new")) == {"a": 1, "b": None, "c": "new"} and "c" not in values and len(values) == 2


def test_marks_are_the_same_in_every_process() -> None:
    assert Values({"a": 1, "words": "é"}).mark == 148017633368848902696491326954773104665
