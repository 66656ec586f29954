"""Answers: strict about what matters, easy about how it is said."""

from __future__ import annotations

import json

import pytest

from phoneworld.tasks.answers import answers
from phoneworld.tasks.checker import Answer
from phoneworld.tasks.reading_values import day_in, number_in, numbers_in
from tests.shared import SHARED

TITLES = ("Milk", "Oat milk", "Eggs", "Call the dentist")


@pytest.mark.parametrize(
    ("asked", "given", "right"),
    [
        (Answer("text", "Call the dentist"), "call the dentist.", True),
        (Answer("text", "Call the dentist"), "“Call the Dentist”", True),
        (Answer("text", "Call the dentist"), "I should call the dentist or buy eggs", False),
        (Answer("text", "Call the dentist", among=TITLES), "It is Call the dentist", True),
        (Answer("text", "Call the dentist", among=TITLES), "Call the dentist and Eggs", False),
        (Answer("choice", "Milk", among=TITLES), "Oat milk", False),
        (Answer("choice", "Milk", among=TITLES), "The milk", True),
        (Answer("choice", "Oat milk", among=TITLES), "The oat milk", True),
        (Answer("choice", "Oat milk", among=TITLES), "oat milk, not milk", False),
        (Answer("choice", "cancelled", among=("cancelled", "delivered"), also=("canceled",)), "Order 170 is Canceled", True),
        (Answer("text", "viewed", among=("viewed", "sent")), "viewedasdf", False),
        (Answer("text", "10:30"), "10:30", True),
        (Answer("text", "10:30"), "10:300", False),
        (Answer("number", 170), "000000170", True),
        (Answer("number", 170), "Order 170 is canceled", True),
        (Answer("number", 10), "I looked at 2010 items", False),
        (Answer("number", 10), "10 or 11", False),
        (Answer("number", 3), "three", True),
        (Answer("number", 3), "三个", True),
        (Answer("number", 12.5), "€ 12,50", True),
        (Answer("number", 1299), "$1,299.00", True),
        (Answer("number", 20, tolerance=0.5), "20.4", True),
        (Answer("number", 20), "20.4", False),
        (Answer("number", 20, unit="€"), "20 dollars", False),
        (Answer("number", 20, unit="€"), "20 euros", True),
        (Answer("number", 20, unit="€"), "20", True),
        (Answer("number", -5), "-5", True),
        (Answer("date", "28 Nov 2026"), "November 28th, 2026", True),
        (Answer("date", "28 Nov 2026"), "2026-11-28", True),
        (Answer("date", "28 Nov 2026"), "11月28日", True),
        (Answer("date", "28 Nov 2026"), "28 November 2025", False),
        (Answer("date", "28 Nov 2026"), "29 Nov 2026", False),
        (Answer("set", ("Milk", "Eggs")), "Eggs and Milk", True),
        (Answer("set", ("Milk", "Eggs")), "- eggs\n- milk", True),
        (Answer("set", ("Milk", "Eggs")), "Eggs", False),
        (Answer("set", ("Milk", "Eggs")), "Eggs, Milk, Bread", False),
        (Answer("list", ("Milk", "Eggs")), "Milk, Eggs", True),
        (Answer("list", ("Milk", "Eggs")), "Eggs, Milk", False),
        (Answer("set", ("Bread, white", "Eggs")), "eggs, bread, white", True),
        (Answer("text", "x"), "", False),
        (Answer("text", ""), "anything", False),
    ],
)  # fmt: skip
def test_an_answer_is_right_or_wrong(asked: Answer, given: str, right: bool) -> None:
    assert answers(asked, given) is right


def test_numbers_and_days_as_apps_write_them() -> None:
    assert [number_in(t) for t in ("€ 1.299,00", "1 299", "0.125", "12%", "none", "v2x", "US$ 4.50")] == [1299.0, 1299.0, 0.125, 12.0, None, None, 4.5]
    assert numbers_in("3 of 12") == (3.0, 12.0)
    assert str(day_in("Edited 28 Nov 2026, 15:53")) == "2026-11-28" and day_in("31 Feb 2026") is None and day_in("Nothing") is None


@pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="no shared folder with field cases (set PHONEWORLD_SHARED to its path)")
def test_the_answers_of_the_field() -> None:
    asked = {
        "170: cancelled": (Answer("number", 170), Answer("choice", "cancelled", among=("cancelled", "open"), also=("canceled",))),
        "10": (Answer("number", 10),),
        "/report/viewed": (Answer("text", "/report/viewed"),),
        "170": (Answer("number", 170),),
        "Oct 21": (Answer("date", "Oct 21"),),
        "": (Answer("text", ""),),
    }
    cases = json.loads((SHARED / "cases" / "inputs" / "54-answer-match.json").read_text())["cases"]
    for case in cases:
        assert all(answers(a, case["answer"]) for a in asked[case["ref"]]) is case["pass"], case
