"""Numbers in texts: what is read out of them and how they are written, for any text and any number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.program.expr import Operator, Value
from phoneworld.sim.amounts import calculated, fixed, number_in, token_in, total


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$29.50", 29.5), ("¥28", 28), ("Add · $1,234.00", 1234.0), ("3 items", 3), ("Free", 0), ("", 0), ("12,50 €", 12.5), ("1,234", 1234),
        ("1.234,56 €", 1234.56), ("1,234,567", 1234567), ("−€12.40", -12.4), ("-5", -5), ("+€64.00", 64.0), ("A-12", 12), ("2 × $3", None),
        ("1,23,4", None), ("9" * 40, None), (7, 7), (2.5, 2.5), (True, None), (None, None),
    ],
)  # fmt: skip
def test_the_one_number_in_a_text(text: Value, number: float | None) -> None:
    assert number_in(text) == number


def test_a_token_is_as_it_is_written() -> None:
    assert token_in("Total: $1,234.50") == "1,234.50" and token_in("none") is None and token_in("2 of 3") is None


@pytest.mark.parametrize(
    ("number", "decimals", "comma", "text"),
    [(59.0, 2, "", "59.00"), (1234.5, 2, ",", "1,234.50"), (1234.5, 2, "", "1234.50"), (4, None, "", "4"), (3.5, None, "", "3.5"), (12.0, None, "", "12"),
     (1234, None, " ", "1 234"), (0.1 + 0.2, None, "", "0.3"), ("7 items", 0, "", "7"), (None, 2, "", None), (True, 0, "", None)],
)  # fmt: skip
def test_how_a_number_is_written(number: Value, decimals: int | None, comma: str, text: str | None) -> None:
    assert fixed(number, decimals, comma) == text


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet="0123456789.,-− $€x", max_size=30)


@given(VALUES, st.sampled_from(["+", "-", "*"]), VALUES, st.none() | st.integers(), st.text(max_size=2))
def test_nothing_raises_and_nothing_grows_without_end(left: Value, operator: Operator, right: Value, decimals: int | None, comma: str) -> None:
    result = calculated(left, operator, right)
    assert result is None or abs(result) < 10**15
    written = fixed(left, decimals, comma)
    assert written is None or len(written) < 60
    assert total([left, right]) is not None


@given(st.integers(0, 10**9), st.sampled_from([0, 2]), st.sampled_from(["", ","]))
def test_what_was_written_is_read_again(cents: int, decimals: int, comma: str) -> None:
    number = cents if decimals == 0 else cents / 100
    assert number_in(f"Total {fixed(number, decimals, comma)} due") == pytest.approx(number)
