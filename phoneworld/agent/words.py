"""Words as numbers, without a vocabulary to download; and what of an instruction can be copied. Knows no screens.

Left out of what language models do: sub-words and pretrained embeddings. A word is the hash of its letters, so words that were never trained on
are told apart but mean nothing by themselves; what makes them usable is that equal words match (`sight.py`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

VOCABULARY = 4096
"""How many different words there can be; 0 is no word. Of some hundred words of an app two in a hundred share a number with another."""
LONGEST_COPY = 6
"""Words of the longest stretch outside quotation marks that can be copied."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|\d+")
_OPENS, _CLOSES = "“„«「『", "”“»」』"


@lru_cache(maxsize=65_536)
def word_ids(text: str) -> tuple[int, ...]:
    """The words of a text as numbers, in order; upper and lower case are one, each Chinese or Japanese character is a word."""
    return tuple(_id(word) for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


@lru_cache(maxsize=16_384)
def name_ids(resource_id: str) -> tuple[int, ...]:
    """The words of a resource id, without package and numbers: of `org.example:id/note-save_12` those of "note save"."""
    return word_ids(" ".join(_HUMPS.sub(" ", resource_id.rpartition("/")[2]).replace("_", " ").split()))


def _id(word: str) -> int:
    return crc32(word.encode()) % (VOCABULARY - 1) + 1


@dataclass(frozen=True, slots=True)
class Said:
    """An instruction, read: its words as numbers, which stand between quotation marks, and the stretches that can be copied.

    A span is its first and last word and its text: everything between a pair of quotation marks, and outside them up to `LONGEST_COPY` words.
    """

    text: str
    words: tuple[int, ...]
    quoted: tuple[bool, ...]
    spans: tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=4096)
def read_instruction(text: str, limit: int) -> Said:
    """The first `limit` words of an instruction."""
    found = list(_WORD.finditer(text))[:limit]
    quotes = _quotes(text)
    inside = [next((q for q in quotes if q[0] <= w.start() and w.end() <= q[1]), None) for w in found]
    spans: list[tuple[int, int, str]] = []
    for start, end in quotes:
        held = [i for i, w in enumerate(found) if start <= w.start() and w.end() <= end]
        if held:
            spans.append((held[0], held[-1], text[start:end].strip()))
    for i in range(len(found)):
        for j in range(i, min(i + LONGEST_COPY, len(found))):
            if inside[j] is not None:
                break
            spans.append((i, j, text[found[i].start() : found[j].end()]))
    return Said(text, tuple(_id(unicodedata.normalize("NFKC", w[0]).casefold()) for w in found), tuple(q is not None for q in inside), tuple(spans))


def _quotes(text: str) -> list[tuple[int, int]]:
    """Where quoted text begins and ends, without the marks: “ ”, „ “, « », 「 」, 『 』 and straight double ones."""
    quotes: list[tuple[int, int]] = []
    start, closing = -1, ""
    for i, mark in enumerate(text):
        if start >= 0 and mark == closing:
            quotes.append((start, i))
            start = -1
        elif start < 0 and (mark == '"' or mark in _OPENS):
            start, closing = i + 1, mark if mark == '"' else _CLOSES[_OPENS.index(mark)]
    return quotes
