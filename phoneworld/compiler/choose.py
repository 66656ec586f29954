"""The simplest expression that explains examples: a default, and exceptions to it under conditions, found by enumeration.

Costs are in bits: those of the expressions and conditions chosen, and a fine for each example left unexplained (minimum
description length). Examples are bits of a number, so that a candidate costs a few operations whatever the examples are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    Value,
    Var,
    Widgets,
)  # fmt: skip
from phoneworld.program.template import FOCUS, KEYBOARD
from phoneworld.sim.compiled import compiled
from phoneworld.sim.evaluate import Scope

ERROR_BITS = 14.0
EXCEPTION_BITS = 3.0
_EXPECTED_BITS = 0.5
_DEVICE_BITS = 9.0
"""Whether the keyboard is up goes along with much and is the reason of little."""
_WORD_BITS, _MOST_WORD_BITS = 0.8, 9.0
_DEFAULTS_TRIED, _CONDITIONS_PAIRED, _CONDITIONS_TRIED, _VALUES_TRIED = 8, 24, 160, 40


@dataclass(frozen=True, slots=True)
class Example:
    """What was to be read before, and the value found after."""

    scope: Scope
    value: Value


@dataclass(frozen=True, slots=True)
class Choice:
    """The expression chosen, what it costs, and the indexes of the examples it does not explain.

    `informative` counts the examples that another value than the default's would have contradicted.
    """

    expr: Expr
    bits: float
    wrong: tuple[int, ...]
    informative: int


def choose(
    examples: Sequence[Example],
    values: Iterable[Expr],
    conditions: Iterable[Expr] = (),
    exceptions: int = 2,
    expected: Expr | None = None,
) -> Choice | None:
    """The best list of a default and up to `exceptions` exceptions; None where no value explains any example.

    `expected` is a value that costs next to nothing, for it is known from elsewhere.
    """
    whole = (1 << len(examples)) - 1
    right: dict[int, tuple[float, Expr]] = {}
    found = [_typed(e.value) for e in examples]
    for expr in (*values, *(() if expected is None else (expected,))):
        mask = _mask(examples, found, expr)
        if mask:
            cost = _EXPECTED_BITS if expr is expected else bits(expr)
            if mask not in right or cost < right[mask][0]:
                right[mask] = (cost, expr)
    if not right:
        return None
    options = sorted(
        ((m, c, e) for m, (c, e) in right.items()), key=lambda o: (ERROR_BITS * _ones(whole & ~o[0]) + o[1], repr(o[2]))
    )
    best = [(ERROR_BITS * _ones(whole & ~m) + c, m, e) for m, c, e in options[:_DEFAULTS_TRIED]]
    if best[0][1] != whole and exceptions:
        guards = _guards(examples, conditions, whole)
        for rounds in range(exceptions):
            improved = _excepted(best, options[:_VALUES_TRIED], guards[:_CONDITIONS_TRIED], whole)
            if improved[0][0] >= best[0][0] and rounds == 0 and guards:
                pairs = _paired(best, guards, whole)
                improved = _excepted(best, options[:_VALUES_TRIED], pairs, whole)
            if improved[0][0] >= best[0][0]:
                break
            best = improved[:_DEFAULTS_TRIED]
            if best[0][1] == whole:
                break
    cost, mask, expr = best[0]
    wrong = tuple(i for i in range(len(examples)) if not mask >> i & 1)
    usual = best[0][1] if len({_typed(e.value) for e in examples}) > 1 else 0
    return Choice(expr, cost, wrong, _ones(usual))


Option = tuple[float, int, Expr]


def _excepted(
    best: Sequence[Option],
    options: Sequence[tuple[int, float, Expr]],
    guards: Sequence[tuple[int, float, Expr]],
    whole: int,
) -> list[Option]:
    found: list[Option] = []
    for cost, mask, expr in best:
        wrong = whole & ~mask
        own = cost - ERROR_BITS * _ones(wrong)
        for guard, guard_cost, condition in guards:
            if not wrong & guard:
                continue
            kept = mask & ~guard
            for right, value_cost, value in options:
                after = kept | (right & guard)
                if _ones(after) <= _ones(mask):
                    continue
                total = own + guard_cost + value_cost + EXCEPTION_BITS + ERROR_BITS * _ones(whole & ~after)
                if total < cost:
                    found.append((total, after, Case(condition, value, expr)))
    found.sort(key=lambda o: (o[0], repr(o[2])))
    return found or [(float("inf"), 0, Const(None))]


def _guards(examples: Sequence[Example], conditions: Iterable[Expr], whole: int) -> list[tuple[int, float, Expr]]:
    seen: dict[int, tuple[float, Expr]] = {}
    for condition in conditions:
        mask, function = 0, compiled(condition)
        for i, example in enumerate(examples):
            s = example.scope
            if function(s.variables, s.tables, s.typed, s.row, s.acted):
                mask |= 1 << i
        cost = bits(condition)
        sides = ((mask, cost, condition), (whole & ~mask, cost + 1, Not(condition)))
        for m, c, e in sides[: 1 if _is_of_the_known(condition) else 2]:
            if m and m != whole and (m not in seen or c < seen[m][0]):
                seen[m] = (c, e)
    return sorted(((m, c, e) for m, (c, e) in seen.items()), key=lambda g: (g[1], repr(g[2])))


def _is_of_the_known(condition: Expr) -> bool:
    """True for "it was seen what stands there": that it was not is no reason for anything."""
    match condition:
        case Not(Blank(Acted(name) | Column(name))):
            return name.startswith("@")
        case _:
            return False


def _paired(
    best: Sequence[Option], guards: Sequence[tuple[int, float, Expr]], whole: int
) -> list[tuple[int, float, Expr]]:
    """Two conditions at once, of those that hold in most of what is wrong."""
    wrong = whole & ~best[0][1]
    near = sorted(guards, key=lambda g: (-_ones(g[0] & wrong) + _ones(g[0] & ~wrong), g[1]))[:_CONDITIONS_PAIRED]
    return [
        (a[0] & b[0], a[1] + b[1] + 1, All((a[2], b[2])))
        for i, a in enumerate(near)
        for b in near[i + 1 :]
        if a[0] & b[0] and a[0] & b[0] not in (a[0], b[0])
    ]


def _mask(examples: Sequence[Example], found: Sequence[tuple[bool, Value]], expr: Expr) -> int:
    """The examples that an expression gives right."""
    function = compiled(expr)
    mask = 0
    for i, example in enumerate(examples):
        s = example.scope
        value = function(s.variables, s.tables, s.typed, s.row, s.acted)
        if value == found[i][1] and isinstance(value, bool) == found[i][0]:
            mask |= 1 << i
    return mask


def _typed(value: Value) -> tuple[bool, Value]:
    """True is not 1."""
    return isinstance(value, bool), value


def _ones(mask: int) -> int:
    return mask.bit_count()


def bits(expr: Expr) -> float:
    """What an expression costs."""
    match expr:
        case Const(value):
            if value is None or isinstance(value, bool):
                return 3.0
            return 4.0 + (min(_MOST_WORD_BITS, _WORD_BITS * len(value)) if isinstance(value, str) else 0.0)
        case Column():
            return 3.0
        case Typed():
            return 2.5
        case Acted():
            return 3.0
        case Var(name):
            return _DEVICE_BITS if name in (FOCUS, KEYBOARD) else 5.0
        case Cell(_, _, where):
            return 4.5 + bits(where) * 0.2
        case Not(of):
            return 1.0 + bits(of)
        case Trim(of) | Plus(of, _):
            return 2.0 + bits(of)
        case Calc(left, _, right):
            return 3.0 + bits(left) * 0.5 + bits(right) * 0.5
        case Fixed(of):
            return 2.0 + bits(of)
        case Piece(of, before, after):
            return 3.0 + bits(of) + min(_MOST_WORD_BITS, _WORD_BITS * (len(before) + len(after)))
        case Blank(of):
            return 2.0 + bits(of)
        case Equal(left, right) | Less(left, right) | Contains(left, right):
            return bits(left) + bits(right) * 0.5
        case Count(_, where):
            return 4.0 + (0.0 if where == All() else bits(where) * 0.5)
        case Sum(_, of, where):
            return 6.0 + bits(of) * 0.5 + (0.0 if where == All() else bits(where) * 0.5)
        case All(of) | Any(of):
            return 1.0 + sum(map(bits, of))
        case Join(of):
            return max(2.0 + sum(0.5 * bits(e) for e in of), 0.5 + max((bits(e) for e in of), default=0.0))
        case Case(when, then, otherwise):
            return EXCEPTION_BITS + bits(when) + bits(then) + bits(otherwise)
        case OneOf(_, values):
            return 5.0 + len(values)
        case Widgets():
            return 6.0
