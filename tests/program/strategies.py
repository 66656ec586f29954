"""Hypothesis strategies for parts of Programs: expressions, effects, rules, templates. They may refer to what no program has."""

from __future__ import annotations

from typing import get_args

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from phoneworld.program.effect import DeleteRows, GoBack, InsertRow, SetNode, SetVar, Show, UpdateRows
from phoneworld.program.expr import (
    Acted,
    All,
    Any,
    Blank,
    Calc,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
    Fixed,
    Join,
    Less,
    Not,
    OneOf,
    Piece,
    Plus,
    Sum,
    Trim,
    Typed,
    Var,
    Widgets,
)  # fmt: skip
from phoneworld.program.program import Evidence, Rule, Trigger, TriggerKind
from phoneworld.program.template import Rows, Slot, SlotAttribute, Template
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Node

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For what is drawn from large strategies: how long that takes says how busy the machine is."""

SIZE = Size(100, 200)
KEYS = ("window", "a", "b", "c", "d", "e", "f", "g")

values = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
names = st.text("abc_", min_size=1, max_size=4)
few_names = st.sampled_from(["a", "b", "c"])


def expressions_over(names: st.SearchStrategy[str], leaves: int = 8) -> st.SearchStrategy[Expr]:
    """Every kind of expression."""
    return st.recursive(
        st.builds(Const, values) | st.builds(Var, names) | st.builds(Column, names) | st.builds(Acted, names) | st.just(Typed())
        | st.builds(OneOf, names, st.lists(values, max_size=3).map(tuple)) | st.builds(Widgets, names, st.none() | st.booleans()),
        lambda e: st.builds(Not, e) | st.builds(Blank, e) | st.builds(Trim, e) | st.builds(Equal, e, e) | st.builds(Less, e, e)
        | st.builds(Contains, e, e) | st.builds(Piece, e, st.text(max_size=2), st.text(max_size=2)) | st.builds(Plus, e, st.integers(-3, 3) | st.sampled_from([0.5, -1.5])) | st.builds(Cell, names, names, e)
        | st.builds(Calc, e, st.sampled_from(["+", "-", "*"]), e) | st.builds(Fixed, e, st.none() | st.integers(-1, 9), st.sampled_from(["", ",", " "]))
        | st.builds(Sum, names, e, e) | st.builds(Count, names, e) | st.builds(Case, e, e, e) | st.lists(e, max_size=3).map(tuple).flatmap(
            lambda parts: st.sampled_from([All(parts), Any(parts), Join(parts)])
        ),
        max_leaves=leaves,
    )  # fmt: skip


def rules_over(
    names: st.SearchStrategy[str], screens: st.SearchStrategy[str], nodes: st.SearchStrategy[str], kinds: tuple[TriggerKind, ...]
) -> st.SearchStrategy[Rule]:
    """Rules with every kind of effect."""
    exprs = expressions_over(names, 4)
    cells = st.lists(st.tuples(names, exprs), max_size=2).map(tuple)
    effects = (
        st.builds(SetVar, names | st.sampled_from(["focus", "keyboard", "moment"]), exprs)
        | st.builds(SetNode, screens, nodes, st.sampled_from(["text", "checked"]), exprs)
        | st.builds(Show, screens, st.booleans()) | st.builds(GoBack, st.lists(screens, max_size=2).map(tuple))
        | st.builds(InsertRow, names, cells, st.sampled_from(["first", "last", "after_acted"]), exprs)
        | st.builds(UpdateRows, names, cells, exprs) | st.builds(DeleteRows, names, exprs)
    )  # fmt: skip
    evidence = st.builds(Evidence, st.sampled_from(["recorded", "inferred", "assumed"]), st.just(("t:1",)), st.integers(0, 9))
    trigger = st.builds(Trigger, st.sampled_from(kinds), nodes, st.none() | st.sampled_from(["enter", "back", "x"]))
    return st.builds(Rule, st.uuids().map(str), screens, trigger, exprs, st.lists(effects, max_size=3).map(tuple), evidence)


expressions = expressions_over(names)
rules = rules_over(names, names, names, ("tap", "type", "key"))

_CLASSES = ("android.widget.TextView", "android.widget.EditText", "android.widget.CheckBox", "android.widget.RadioButton", "android.view.View")


@st.composite
def templates(draw: st.DrawFn, names: st.SearchStrategy[str] = few_names) -> Template:
    """A template of a few slots, some in rows, whose attributes are of every kind."""
    exprs = expressions_over(names, 3)
    keys = iter(KEYS)

    def slot(depth: int) -> Slot | None:
        key = next(keys, None)
        if key is None:
            return None
        x, y = draw(st.integers(0, 60)), draw(st.integers(0, 160))
        kind = draw(st.sampled_from(_CLASSES)) if depth else "android.widget.FrameLayout"
        node = Node(
            kind, draw(st.text(max_size=3)), bounds=Bounds(0, 0, 100, 200) if not depth else Bounds(x, y, x + 40, y + 40),
            clickable=draw(st.booleans()), checkable=kind.endswith(("CheckBox", "RadioButton")), scrollable=draw(st.booleans()),
            long_clickable=draw(st.booleans()), hint=draw(st.none() | st.just("hint")), focused=draw(st.booleans()),
        )  # fmt: skip
        attributes = draw(st.dictionaries(st.sampled_from(get_args(SlotAttribute)), exprs | st.builds(Var, names) | st.builds(Column, names), max_size=3))
        children: list[Slot | Rows] = []
        for _ in range(draw(st.integers(0, 3)) if depth < 3 else 0):
            child = slot(depth + 1)
            if child is not None:
                children.append(Rows(draw(names), child, draw(exprs)) if draw(st.booleans()) else child)
        return Slot(key, node, draw(st.just(All()) | exprs) if depth else All(), tuple(sorted(attributes.items())), tuple(children))

    window = slot(0)
    assert window is not None
    return Template((window,), SIZE)
