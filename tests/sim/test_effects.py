"""The rules of one trigger are asked in their order, also where a dictionary finds them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phoneworld.program.expr import TRUE, Const, Equal, Expr, Not, OneOf, Value, Var
from phoneworld.program.program import Evidence, Rule, Trigger
from phoneworld.sim.effects import RulesByValue, SameRows, ready_rules
from phoneworld.sim.evaluate import NO_ROW, Scope, evaluate
from phoneworld.sim.values import Values

_names = st.sampled_from(["moment", "mode"])
_values: st.SearchStrategy[Value] = st.sampled_from([None, 1, 2, "a"])
_asks = st.builds(OneOf, _names, st.lists(_values, min_size=1, max_size=3).map(tuple))
_guards: st.SearchStrategy[Expr] = _asks | st.builds(lambda name, value: Not(Equal(Var(name), Const(value))), _names, _values) | st.just(TRUE)


@given(st.lists(_guards, max_size=8), _values, _values)
@settings(deadline=None)
def test_the_first_rule_whose_guard_holds_is_found(guards: list[Expr], moment: Value, mode: Value) -> None:
    variables = Values({"moment": moment, "mode": mode})
    rules = [Rule(str(i), "s", Trigger("tap"), guard, (), Evidence("recorded")) for i, guard in enumerate(guards)]
    found = (r.find(variables, {}, "", NO_ROW) for r in ready_rules(rules))
    first = next((ready.rule for ready in found if ready is not None), None)
    assert first is next((rule for rule in rules if evaluate(rule.when, Scope(variables))), None)


def test_rules_that_ask_for_the_moment_are_one_look_up() -> None:
    rules = [Rule(str(i), "s", Trigger("tap"), OneOf("moment", (i, -i)), (), Evidence("recorded")) for i in range(9)]
    (ready,) = ready_rules(rules)
    assert isinstance(ready, RulesByValue) and len(ready.rules) == 17


def test_equal_tables_are_one_object_and_so_are_their_equal_rows() -> None:
    same = SameRows()
    first = same.table(({"#": 1, "done": True}, {"#": 2, "done": False}))
    assert same.table(({"#": 1, "done": True}, {"#": 2, "done": False})) is first
    other = same.table(({"#": 1, "done": 1}, {"#": 2, "done": False}))
    assert other is not first and other[0] is not first[0] and other[1] is first[1], "True is not 1"
    assert same.table(({"done": True, "#": 1}, first[1]))[0] is not first[0], "columns in another order"
    assert same.table(first) is first and same.table(()) == ()
