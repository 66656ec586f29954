"""Words as numbers, and what of an instruction can be copied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phoneworld.agent.words import VOCABULARY, name_ids, read_instruction, word_ids


def test_words_are_the_same_in_any_case_and_width() -> None:
    assert word_ids("Add a NOTE") == word_ids("add a note") == word_ids("ADD, a “note”!")
    assert word_ids("noté") == word_ids("note\u0301") and word_ids("note") != word_ids("noté")


def test_each_chinese_character_is_a_word() -> None:
    assert len(word_ids("新建一条标题为“Rent”的笔记")) == 11
    assert word_ids("笔记") == word_ids("笔") + word_ids("记")


def test_a_resource_id_is_its_words_without_package_and_numbers() -> None:
    assert name_ids("org.example:id/note-save_12") == name_ids("noteSave") == word_ids("note save")
    assert name_ids("") == ()


@pytest.mark.parametrize(
    ("instruction", "whole"),
    [
        ("Call it “Guest list” and save.", "Guest list"),
        ('Call it "Guest list, for six".', "Guest list, for six"),
        ("新建一条标题为「花园 水管」的笔记", "花园 水管"),
        ("Ouvre « Réglages »", "Réglages"),
        ("„Miete“ abhaken", "Miete"),
    ],
)
def test_what_stands_in_quotation_marks_is_copied_as_a_whole(instruction: str, whole: str) -> None:
    said = read_instruction(instruction, 72)
    first, last, text = said.spans[0]
    assert text == whole and all(said.quoted[first : last + 1])
    assert [t for i, j, t in said.spans if i <= last and j >= first] == [whole], "nothing of it, and nothing across its marks"


def test_outside_quotation_marks_every_short_stretch_is_copied_as_it_is_written() -> None:
    texts = [text for _, _, text in read_instruction("Add Rent, due Monday", 72).spans]
    assert texts == ["Add", "Add Rent", "Add Rent, due", "Add Rent, due Monday", "Rent", "Rent, due", "Rent, due Monday", "due", "due Monday", "Monday"]


@given(st.text(max_size=200))
def test_every_span_is_a_part_of_the_instruction(text: str) -> None:
    said = read_instruction(text, 72)
    assert len(said.words) == len(said.quoted) <= 72 and all(0 < w < VOCABULARY for w in said.words)
    assert all(0 <= i <= j < len(said.words) and span and span in text for i, j, span in said.spans)
