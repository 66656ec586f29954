"""Texts to type: plausible for their field, unique, and the same on every run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.words import field_kind, password, phrase, text_for
from tests.recorder.screens import entry


def test_phrases_are_unique_for_a_whole_recording() -> None:
    for seed in (0, 1, 7):
        texts = [phrase(seed, n) for n in range(3200)]
        assert len(set(texts)) == len(texts)
        assert all(len(t.split()) == 2 for t in texts[:1600])


@given(st.integers(0, 2**31), st.integers(0, 5000))
def test_a_text_follows_from_seed_and_number_alone(seed: int, number: int) -> None:
    field = entry(hint="Title")
    assert text_for(field, seed=seed, number=number) == text_for(field, seed=seed, number=number)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (entry(hint="E-mail"), "email"),
        (entry(hint="Your email address"), "email"),
        (entry(resource_id="app:id/userEmail"), "email"),
        (entry(hint="手机号"), "phone"),
        (entry(resource_id="phone-number"), "phone"),
        (entry(hint="Amount"), "number"),
        (entry(hint="Full name"), "person"),
        (entry(hint="Task name"), "text"),
        (entry(content_desc="Search notes"), "search"),
        (entry(hint="搜索"), "search"),
        (entry(hint="Due date"), "date"),
        (entry(hint="Password", password=True), "password"),
        (entry(), "text"),
    ],
)
def test_a_field_is_known_by_its_words(field: object, kind: str) -> None:
    assert field_kind(field) == kind  # type: ignore[arg-type]


def test_texts_suit_their_fields() -> None:
    assert text_for(entry(hint="Email"), seed=1, number=3).endswith("@example.com")
    assert text_for(entry(hint="Phone"), seed=1, number=3).isdecimal()
    assert text_for(entry(hint="Quantity"), seed=1, number=3).isdecimal()
    assert text_for(entry(password=True), seed=1, number=3) == password(1, 3)


def test_a_search_mostly_looks_for_what_is_there() -> None:
    texts = [text_for(entry(hint="Search"), seed=2, number=n, seen=["groceries"]) for n in range(100)]
    assert 40 <= texts.count("groceries") <= 80


def test_blank_and_repeated_texts_occur() -> None:
    texts = [text_for(entry(hint="Title"), seed=3, number=n, earlier=["amber kettle"]) for n in range(300)]
    assert 5 <= texts.count(" ") <= 40
    assert 5 <= texts.count("amber kettle") <= 60
