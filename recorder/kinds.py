"""Which texts are personal: e-mail addresses, phone, card and id numbers, and fields that ask for one or for a PIN. Pure.

Numbers are only taken for what they can be shown to be (check digits, country codes, the ways people write them), so that
dates, prices, counters and time stamps stay. A field that says what it is for is believed: all it holds is of that kind,
also half typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from phoneworld.ui.node import Node


@dataclass(frozen=True, slots=True)
class Found:
    """A personal text within a text: `kind` is `email`, `phone`, `card` or `id`."""

    kind: str
    start: int
    end: int


_EMAIL = re.compile(r"[\w.+%-]{1,64}@(?:[\w-]{1,63}(?:\.[\w-]{1,63}){0,6})")
_CARD = re.compile(r"(?<![\w.,+-])(?:\d[ -]?){12,18}\d(?![\w]|[.,]\d)")
# With a country code; or a national number in groups, as people write it; or the eleven digits of a Chinese mobile.
_PHONE = re.compile(
    r"(?<![\w.+])(?:"
    r"(?:\+|00)[1-9]\d{0,2}[ .\-]?(?:\(0?\d{1,5}\)[ .\-]?)?\d(?:[ .\-]?\d){5,12}"
    r"|\(\d{2,5}\)[ .\-]?\d{3,4}[ .\-]?\d{3,5}"
    r"|0\d{1,4}[ /\-.]\d{3,4}(?:[ \-.]?\d{2,5}){1,3}"
    r"|[2-9]\d{2}[ .\-][2-9]\d{2}[ .\-]\d{4}"
    r"|1[3-9]\d[ \-]?\d{4}[ \-]?\d{4}"
    r")(?![\w]|[.,]\d)"
)
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_CHINESE = re.compile(r"(?<!\w)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx](?!\w)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_CPF = re.compile(r"(?<!\w)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)")
_DNI = re.compile(r"(?<!\w)(?:[XYZ]-?)?\d{7,8}-?[A-HJ-NP-TV-Z](?!\w)")
_CARD_BEGINNINGS = re.compile(r"4|5[1-5]|2[2-7]|3[0456789]|6[02-9]")
_DATE = re.compile(r"\d{4}[-. /]\d{1,2}[-. /]\d{1,2}|\d{1,2}[-. /]\d{1,2}[-. /]\d{4}")

# A field that shows what is typed into it, as a password's does while it is to be seen, does not call itself one.
_PASSWORD = re.compile(
    r"\b(passwords?|passcode|passphrase|pass ?phrase|pwd|passwort|kennwort|contrase[nñ]a|mot de passe|senha|wachtwoord|has[lł]o)\b|"
    r"密码|密碼|口令|パスワード|비밀번호|пароль",
    re.I,
)
_FIELDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "code",
        re.compile(
            r"\b(pin|(pin|cvv2?|cvc2?|csc|otp|tan) ?(code|number)?|puk|totp|one[- ]?time ?(code|pin)|"
            r"(security|verification|confirmation|authentication|auth|access|login|sms|2fa|mfa|recovery|backup) ?code)\b|"
            r"安全码|验证码|驗證碼|校验码|認証コード|暗証番号|인증번호",
            re.I,
        ),
    ),
    ("email", re.compile(r"e-?mail|correo|courriel|邮箱|電子郵件|メール", re.I)),
    ("card", re.compile(r"\b(card ?(number|no)|credit ?card|debit ?card|cc ?number|kartennummer|num[eé]ro de (carte|tarjeta))\b|卡号", re.I)),
    ("phone", re.compile(r"\b(phone|mobile|cell|tel|telephone|telefon|telefono|teléfono|téléphone|handy)\b|电话|手机|電話", re.I)),
    (
        "id",
        re.compile(
            r"\b(passport|ssn|social security|iban|tax (id|number)|national id|id (card|number)|identity (card|number)|ausweis|dni|cpf|nif|"
            r"driver'?s? licen[cs]e|insurance number|account number)\b|身份证|护照",
            re.I,
        ),
    ),
)
_ID_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def personal(text: str) -> tuple[Found, ...]:
    """What is personal in a text, from left to right, without overlaps; of two that overlap the longer, then the earlier kind."""
    if len(text) < 4:
        return ()
    found = sorted(_all(text), key=lambda f: (f.start - f.end, f.start))
    kept: list[Found] = []
    for one in found:
        if all(one.end <= k.start or one.start >= k.end for k in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda f: f.start))


def kind_of_field(node: Node) -> str | None:
    """What a field asks for, by its hint, description and id; None for one that asks for nothing personal."""
    if not node.is_editable:
        return None
    said = _said(node)
    return next((kind for kind, words in _FIELDS if words.search(said)), None)


def asks_for_password(node: Node) -> bool:
    """True for a field that holds a password: it is marked as one, or says so while it shows what is typed ("show password")."""
    return node.password or (node.is_editable and _PASSWORD.search(_said(node)) is not None)


def _said(node: Node) -> str:
    return " ".join((node.hint or "", node.content_desc, " ".join(_ID_WORDS.findall(node.resource_id.rpartition("/")[2]))))


def _all(text: str) -> Iterator[Found]:
    if "@" in text:
        for m in _EMAIL.finditer(text):
            yield Found("email", *m.span())
    if sum(c.isdigit() for c in text) < 7:
        return
    for m in _CARD.finditer(text):
        digits = re.sub(r"\D", "", m.group())
        if _CARD_BEGINNINGS.match(digits) and luhn(digits):
            yield Found("card", *m.span())
    for m in _CHINESE.finditer(text):
        if _chinese_id(m.group().upper()):
            yield Found("id", *m.span())
    for m in _IBAN.finditer(text):
        if _iban(m.group().replace(" ", "")):
            yield Found("id", *m.span())
    for m in _DNI.finditer(text):
        if _dni(m.group().replace("-", "")):
            yield Found("id", *m.span())
    for m in (*_SSN.finditer(text), *_CPF.finditer(text)):
        yield Found("id", *m.span())
    for m in _PHONE.finditer(text):
        if not _DATE.match(m.group()):
            yield Found("phone", *m.span())


def luhn(digits: str) -> bool:
    """The check digit of card numbers (ISO/IEC 7812-1)."""
    total = 0
    for i, digit in enumerate(reversed(digits)):
        n = int(digit) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def _chinese_id(text: str) -> bool:
    """GB 11643: ISO 7064 mod 11-2."""
    total = sum(int(c) * pow(2, 17 - i, 11) for i, c in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17]


def _iban(text: str) -> bool:
    """ISO 13616: mod 97."""
    turned = text[4:] + text[:4]
    return 15 <= len(text) <= 34 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _dni(text: str) -> bool:
    """The Spanish DNI and NIE: the letter is the number mod 23."""
    number = text[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return len(number) == 8 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]
