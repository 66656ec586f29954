"""Plausible text for a field: unique, seeded, and never a real person's. Knows no device and no memory.

`text_for(field, seed=…, number=…)` is a pure function: the n-th text of a recording is always the same, so a resumed
recording goes on where it was, and a password that was typed can be found again without being stored. Unique two-word
phrases let the compiler tell rows apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from phoneworld.ui.node import Node

# fmt: off
FIRST = (
    "amber", "brisk", "calm", "dusty", "early", "faded", "gentle", "hollow", "ivory", "jolly", "keen", "lively", "mellow", "narrow",
    "olive", "plain", "quiet", "rapid", "silver", "tidy", "upper", "velvet", "warm", "young", "zesty", "copper", "distant", "frosty",
    "golden", "humble", "little", "modest", "northern", "polished", "rustic", "simple", "sturdy", "thirsty", "wooden", "yellow",
)
SECOND = (
    "anchor", "basket", "candle", "drawer", "easel", "feather", "garden", "hammer", "island", "jacket", "kettle", "ladder", "mirror",
    "needle", "orchard", "pepper", "quilt", "ribbon", "saddle", "teapot", "umbrella", "valley", "window", "yarn", "bridge", "cellar",
    "dinner", "engine", "forest", "harbor", "kitchen", "lantern", "market", "notebook", "parcel", "river", "shelf", "ticket", "walnut", "zipper",
)
GIVEN = ("Nora", "Emil", "Ines", "Tomas", "Lena", "Oskar", "Mira", "Jonas", "Talia", "Victor", "Ada", "Felix", "Greta", "Hugo", "Iris", "Kofi")
FAMILY = ("Lindqvist", "Moreau", "Castell", "Brandt", "Okafor", "Ferreira", "Novak", "Hayashi", "Keller", "Marsh", "Petrov", "Quint")
CITIES = ("Lisbon", "Bergen", "Graz", "Osaka", "Turku", "Leeds", "Porto", "Gdansk", "Nantes", "Bologna")

FIELD_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (  # the first that matches wins
    ("email", ("email", "e-mail", "mail", "邮箱", "郵箱", "电子邮件", "correo", "メール", "이메일")),
    ("phone", ("phone", "mobile", "tel", "telephone", "手机", "手機", "电话", "teléfono", "téléphone", "telefon", "電話", "전화")),
    ("url", ("url", "website", "link", "网址", "链接", "homepage")),
    ("date", ("date", "birthday", "日期", "生日", "fecha", "datum", "yyyy")),
    ("time", ("time", "hh:mm", "时间")),
    ("code", ("zip", "postcode", "postal", "otp", "pin", "code", "邮编", "验证码")),
    ("number", ("amount", "price", "quantity", "qty", "number", "count", "age", "year", "total", "cost", "weight", "height", "minutes",
                "hours", "金额", "数量", "价格", "年龄", "importe", "betrag", "anzahl", "montant", "0.00", "123")),
    ("city", ("city", "town", "城市", "ciudad", "stadt", "ville", "location")),
    ("person", ("name", "username", "nickname", "person", "author", "contact", "姓名", "昵称", "用户名", "nombre", "nom", "名前", "이름")),
    ("search", ("search", "find", "filter", "query", "搜索", "查找", "搜尋", "buscar", "suche", "suchen", "rechercher", "検索", "검색", "поиск")),
)
# fmt: on

_ID_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TITLED = ("title", "note", "task", "list", "file", "project", "folder")


def field_kind(field: Node) -> str:
    """What a field asks for, from its hint, description and id: `password`, `email`, ..., `text` where nothing tells."""
    if field.password:
        return "password"
    spoken = f"{field.hint or ''} {field.content_desc}".casefold()
    named = {w.casefold() for w in _ID_WORDS.findall(field.resource_id.rpartition("/")[2])}
    spoken_words = set(re.findall(r"[\w.:-]+", spoken))
    said = spoken_words | named
    for kind, words in FIELD_KINDS:
        if any(word in said or (not word.isascii() and word in spoken) for word in words):
            # "Task name" and "File name" ask for no person.
            if kind == "person" and not said.isdisjoint(_TITLED):
                return "text"
            return kind
    return "text"


def phrase(seed: int, number: int) -> str:
    """The n-th two-word phrase of a recording; the first 1,600 are all different."""
    pairs = len(FIRST) * len(SECOND)
    order = Random(f"phrases:{seed}")
    offset = order.randrange(pairs)
    # A stride that shares no factor with 1600 visits every pair once before it repeats.
    stride = order.choice([s for s in range(3, pairs, 2) if s % 5])
    i = (offset + number * stride) % pairs
    repeat = number // pairs
    return f"{FIRST[i // len(SECOND)]} {SECOND[i % len(SECOND)]}" + (f" {repeat + 1}" if repeat else "")


def text_for(field: Node, *, seed: int, number: int, seen: Sequence[str] = (), earlier: Sequence[str] = ()) -> str:
    """What to type as the n-th text of a recording.

    `seen` are words on the screens so far (a search for one of them finds something), `earlier` the texts typed before (one
    in twelve is typed again: duplicates are worth a recording). One in sixteen is a space only.
    """
    kind = field_kind(field)
    dice = Random(f"text:{seed}:{number}")
    first, second = phrase(seed, number).split()[:2]
    match kind:
        case "password":
            return password(seed, number)
        case "email":
            return f"{first}.{second}{number}@example.com"
        case "phone":
            return f"555010{dice.randrange(10_000):04d}"
        case "url":
            return f"https://example.com/{first}-{second}"
        case "date":
            return f"2026-{dice.randrange(1, 13):02d}-{dice.randrange(1, 29):02d}"
        case "time":
            return f"{dice.randrange(24):02d}:{dice.randrange(0, 60, 5):02d}"
        case "code":
            return f"{dice.randrange(100_000):05d}"
        case "number":
            return str(dice.choice((dice.randrange(1, 10), dice.randrange(10, 100), dice.randrange(100, 2000))))
        case "city":
            return dice.choice(CITIES)
        case "person":
            return f"{dice.choice(GIVEN)} {dice.choice(FAMILY)}"
        case "search" if seen and dice.random() < 0.6:
            return dice.choice(list(seen))
    roll = dice.random()
    if roll < 1 / 16:
        return " "
    if earlier and roll < 1 / 16 + 1 / 12:
        return dice.choice(list(earlier))
    return phrase(seed, number)


def password(seed: int, number: int) -> str:
    """A made-up password that most rules take: upper and lower case, digits, a sign."""
    dice = Random(f"password:{seed}:{number}")
    return f"{dice.choice(FIRST).capitalize()}-{dice.choice(SECOND)}{dice.randrange(1000, 10_000)}"
