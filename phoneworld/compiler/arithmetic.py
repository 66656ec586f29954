"""Numbers in texts that follow from other numbers: a sum over rows, a price times how many, what is left up to a limit.

Goal-directed: of what is in sight only that is kept which gives the very number that a text says, each time it was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from phoneworld.compiler.choose import bits
from phoneworld.program.expr import Calc, Column, Const, Expr, Fixed, Operator, Sum, Value
from phoneworld.sim.amounts import calculated, fixed, number_in, token_in
from phoneworld.sim.evaluate import Row

_DISTINCT, _PLAIN = 3, 2
"""So many different numbers have to be told right: two are soon equal by chance, where there is anything to choose; `_PLAIN` where another
number is just the same each time."""
_KEPT = 2
_SOURCES = 40

Numbers = Sequence[int | float | None]


def numbers_that_follow(texts: Sequence[Value], sources: Mapping[Expr, Sequence[Value]]) -> dict[Expr, list[Value]]:
    """Texts of numbers that are what each of `texts` says where it says one, with what they are each time; the simplest first.

    A text without a number may say 0 ("Cart", beside "Cart, 2"), or nothing of the kind ("Empty").
    """
    if not may_follow(texts):
        return {}
    tokens = [token_in(t) if isinstance(t, str) else None for t in texts]
    said = [i for i, token in enumerate(tokens) if token is not None]
    decimals, comma = _form([t for t in tokens if t is not None])
    ordered = sorted(sources.items(), key=lambda s: (bits(s[0]), repr(s[0])))
    written: dict[Expr, list[Value]] = {}
    for there in (list(range(len(texts))), said) if len(said) < len(texts) else (said,):
        target = [number_in(texts[i]) for i in there]
        if len(set(target)) < _PLAIN:
            continue
        numbers = {e: [number_in(vs[i]) for i in there] for e, vs in ordered}
        numbers = {e: ns for e, ns in numbers.items() if None not in ns}
        varying = {e: ns for e, ns in numbers.items() if len(set(ns)) > 1}
        factors = {e: ns for e, ns in numbers.items() if set(ns) - {0, 1}}
        found = _giving(target, dict(list(varying.items())[:_SOURCES]), dict(list(factors.items())[:_SOURCES]))
        for expr in sorted(found, key=lambda e: (bits(e), repr(e)))[:_KEPT]:
            values: list[Value] = [fixed(_number(expr, sources, i), decimals, comma) for i in range(len(texts))]
            if all(values[i] == tokens[i] for i in said):
                written[Fixed(expr, decimals, comma)] = values
        if written:
            break
    return written


def _number(expr: Expr, sources: Mapping[Expr, Sequence[Value]], i: int) -> int | float | None:
    """What an expression over the sources is, the i-th time."""
    if isinstance(expr, Calc):
        return calculated(_number(expr.left, sources, i), expr.operator, _number(expr.right, sources, i))
    return number_in(expr.value if isinstance(expr, Const) else sources[expr][i])


def may_follow(texts: Sequence[Value]) -> bool:
    """True where texts say enough different numbers, at most one each, for an expression to be told right."""
    numbers = {number_in(t) for t in texts if isinstance(t, str)}
    return None not in numbers and len(numbers) >= _PLAIN


def sums_of(table: str, columns: Sequence[str], rows: Sequence[Row], where: Expr) -> list[Expr]:
    """The sums over rows of a table that may be said somewhere: of each column of numbers, and of the products of two."""
    numeric = [c for c in columns if _is_numeric([r.get(c) for r in rows])]
    return [
        *(Sum(table, Column(c), where) for c in numeric),
        *(Sum(table, Calc(Column(a), "*", Column(b)), where) for a, b in combinations(numeric, 2)),
    ]


def _is_numeric(cells: Sequence[Value]) -> bool:
    """True for a column in which every text holds at most one number, and some hold one."""
    known = [c for c in cells if isinstance(c, str | int | float) and not isinstance(c, bool)]
    return any(isinstance(c, int | float) or token_in(c) is not None for c in known) and all(number_in(c) is not None for c in known)


def _giving(target: Numbers, sources: Mapping[Expr, Numbers], factors: Mapping[Expr, Numbers]) -> list[Expr]:
    """The expressions over the sources that give the target: one of them, it and a constant, two of them.

    A factor may have been the same each time: a price of which only how many was changed.
    """
    found: list[Expr] = []
    is_plain = len(set(target)) < _DISTINCT
    for expr, numbers in sources.items():
        if all(a == b for a, b in zip(numbers, target, strict=True)):
            found.append(expr)
        elif is_plain:
            continue
        elif (more := _constant([calculated(t, "-", n) for t, n in zip(target, numbers, strict=True)])) is not None:
            found.append(Calc(expr, "+", Const(more)))
        elif (whole := _constant([calculated(t, "+", n) for t, n in zip(target, numbers, strict=True)])) is not None:
            found.append(Calc(Const(whole), "-", expr))
    if found or is_plain:
        return found
    tried: list[tuple[Expr, Operator, Expr]] = [(f, "*", e) for e in sources for f in factors if f != e]
    tried += [(a, "+", b) for a, b in combinations(sources, 2)] + [(a, "-", b) for a in sources for b in sources if a != b]
    known = {**factors, **sources}
    for left, operator, right in tried:
        if all(calculated(x, operator, y) == t for x, y, t in zip(known[left], known[right], target, strict=True)):
            found.append(Calc(left, operator, right))
    return found


def _constant(numbers: Numbers) -> int | float | None:
    return numbers[0] if len(set(numbers)) == 1 else None


def _form(tokens: Sequence[str]) -> tuple[int | None, str]:
    """How the numbers are written: decimals where all have as many, and what stands between thousands."""
    decimals = {len(t.rpartition(".")[2]) if "." in t else 0 for t in tokens}
    return decimals.pop() if len(decimals) == 1 else None, "," if any("," in t for t in tokens) else ""
