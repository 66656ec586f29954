"""Numbers, days and words as people and apps write them. Pure; knows English, Chinese and digits, nothing of apps."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache

NUMBER = re.compile(r"(?<![\w.,])([-−]?)\s?(?:[^\W\d_]{0,3}[$€£¥₹]\s?|[$€£¥₹]\s?)?(\d[\d., \u00a0\u202f']*\d|\d)(?![.,]?\d|[^\W\d_]{4})")
CURRENCY = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CNY|RMB)\b|元")
PHONE = re.compile(r"(?<![\w+])(?<!\d[ -])(?:\+\d|\(?0|1[3-9])(?:[ ()/-]{0,2}\d){6,14}(?![\w:])")
_MONTHS = {name: i % 12 + 1 for i, name in enumerate(
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
)}  # fmt: skip
_MONTHS["sept"] = 9
_WORDS = {word: i for i, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"])}
_HAN = {word: i for i, word in enumerate("零一二三四五六七八九十")} | {"两": 2}
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_CHINESE = re.compile(r"(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_DAY_MONTH = re.compile(r"(?<!\w)(\d{1,2})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?([A-Za-z]{3,9})\.?(?:,?\s+(\d{4}))?(?!\w)(?!,?\s*\d{3})")
_MONTH_DAY = re.compile(r"(?<!\w)([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(\d{4}))?(?!\w)(?!,?\s*\d{3})")
WITHOUT_YEAR = 4
"""A day without a year is read as of this one: year 4, which has a 29 February."""


def normal(text: str) -> str:
    """Text without what does not matter in an answer: width, case, white space, quotes and marks at its ends."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(text.split()).strip(" .,;:!?\"'“”‘’«»()[]{}。，；：！？「」『』《》（）【】·")


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, normalised: runs of letters and digits; each Han character is a word."""
    return tuple(re.findall(r"[㐀-鿿]|[^\W_㐀-鿿]+(?:['’][^\W\d_]+)?", unicodedata.normalize("NFKC", text).casefold()))


def says(text: str, phrase: str) -> bool:
    """True where the words of a phrase stand in a text one after the other, as whole words."""
    part = words(phrase)
    if not part or part[0] not in unicodedata.normalize("NFKC", text).casefold():
        return False
    whole = words(text)
    return bool(part) and any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def numbers_in(text: str) -> tuple[float, ...]:
    """The numbers in a text, in order; as a word too where there is no digit ("seven", "七")."""
    text = unicodedata.normalize("NFKC", text)
    read = [(m[1], _number(m[2])) for m in NUMBER.finditer(text)]
    found = [-number if sign else number for sign, number in read if number is not None]
    if found:
        return tuple(found)
    spoken = [_WORDS[w] if w in _WORDS else _HAN[w] for w in words(text) if w in _WORDS or w in _HAN]
    return tuple(map(float, spoken))


def phone_in(text: str) -> str | None:
    """The one phone number in a text, as it stands there; None where there is none, or several."""
    found = [m.group() for m in PHONE.finditer(text) if not days_in(m.group())]
    return found[0] if len(found) == 1 else None


def called(text: str) -> str | None:
    """The name that a text begins with, where it goes on with a number: “Ines Prado +44 7700 900101”. None where it does not."""
    found = re.match(r"([^\d+(]*[^\W\d_][^\d+(]*?)\s+[+(]?\d", text)
    return found[1] if found else None


def number_in(text: str) -> float | None:
    """The first number in a text as an app writes it ("€ 1,299.00" is 1299); None where there is none."""
    found = numbers_in(text)
    return found[0] if found else None


def _number(digits: str) -> float | None:
    """Digits with marks between them: the last mark is the decimal one where not three digits follow it, or where another kind came before."""
    digits = re.sub(r"[ \u00a0\u202f']", "", digits).rstrip(".,")
    marks = [c for c in digits if c in ".,"]
    if marks:
        last = marks[-1]
        tail = len(digits) - 1 - digits.rindex(last)
        if len(set(marks)) == 2 or (len(marks) == 1 and (tail != 3 or (last == "." and digits.startswith("0")))):
            digits = digits.replace("," if last == "." else ".", "").replace(last, ".")
        else:
            digits = digits.replace(last, "")
    try:
        return float(digits)
    except ValueError:
        return None


def day_in(text: str) -> date | None:
    """The first day in a text; of year 4 where no year is said. None where there is none."""
    return next(iter(days_in(text)), None)


def days_in(text: str) -> tuple[date, ...]:
    """The days in a text, in order; of year 4 where no year is said. What is no day of the calendar is left out."""
    text = unicodedata.normalize("NFKC", text)
    found: dict[int, tuple[int, date | None]] = {}
    for pattern, order in ((_ISO, (1, 2, 3)), (_CHINESE, (1, 2, 3)), (_DAY_MONTH, (3, 2, 1)), (_MONTH_DAY, (3, 1, 2))):
        for m in pattern.finditer(text):
            year, month, day = (m[i] for i in order)
            number = int(month) if month.isdigit() else _MONTHS.get(month.lower())
            if number is not None and not any(start < m.end() and m.start() < end for start, (end, _) in found.items()):
                found[m.start()] = (m.end(), _day(int(year or WITHOUT_YEAR), number, int(day)))
    return tuple(day for _, (_, day) in sorted(found.items()) if day is not None)


def same_day(a: date, b: date) -> bool:
    """True for one day; where one of them has no year, day and month decide."""
    return a == b or (WITHOUT_YEAR in (a.year, b.year) and (a.month, a.day) == (b.month, b.day))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
