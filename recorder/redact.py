"""What must not reach any file, and what stands in its place. Pure: values in, values out.

A password is never stored as it was typed: the action holds as many bullets as it had characters, which is also what the
field shows. Should the app show the password later ("show password"), its text becomes bullets in the tree and the node's
pixels are covered.

E-mail addresses, phone, card and id numbers, PINs and codes, and what `Redactor.listed` names, become placeholders of the same shape: a
digit for a digit, a letter for a letter, all else kept. Equal values get equal placeholders for as long as the `salt` is the
same, so a screen still shows what was typed. Without the salt nothing can be tried out against a placeholder.
"""

from __future__ import annotations

import hmac
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from PIL import Image

from phoneworld.ui.action import Action, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from phoneworld.ui.selector import Selector, find
from recorder.kinds import asks_for_password, kind_of_field, personal
from recorder.selectors import parse_redact

BULLET = "•"
_BULLETS = {BULLET, "*", "●", "·", "\u2219"}
# Older Android reports the hint of an empty field as its text.
_HINTS = re.compile(
    r"((re-?)?enter|type|your|new|confirm|repeat|current|old|the|a| )*(password|passcode|passphrase|passwort|pin|pin code|contraseña|"
    r"mot de passe|senha)[\s.…:*]*|(请?输入|请?再次输入|确认|新|旧)*(登录|支付)?(密码|密碼|口令)|パスワード|비밀번호|пароль",
    re.I,
)
_COVER = (128, 128, 128)
_SHORTEST = 4  # a shorter secret would blacken half of the screen
TEXTS_OF_ACTIONS = ("text", "url")


@dataclass(frozen=True, slots=True)
class Mask:
    """Every match of `pattern` in a word of the screen or of an action becomes bullets. `name` says what it is."""

    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A tree without secrets, and where secrets stood in it: these pixels must be covered."""

    hierarchy: Hierarchy
    covered: tuple[Bounds, ...] = ()


@dataclass(slots=True)
class Redactor:
    """Remembers the secrets of a recording and takes them out of everything that is stored.

    `personal` switches the kinds of `kinds.py` on; passwords are taken out in any case. `listed` are further texts,
    `selectors` name nodes whose words are secret wherever they turn up. `kinds` counts what was redacted: distinct values
    where they got placeholders.
    """

    masks: tuple[Mask, ...] = ()
    secrets: set[str] = field(default_factory=set)
    count: int = 0
    personal: bool = True
    listed: tuple[str, ...] = ()
    selectors: tuple[Selector, ...] = ()
    salt: bytes = b""
    kinds: Counter[str] = field(default_factory=Counter)
    own: set[str] = field(default_factory=set)
    _stand_ins: dict[str, str] = field(default_factory=dict)
    _issued: set[str] = field(default_factory=set)
    _learned: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in self.listed:
            self._learned[text] = "listed"

    def learn(self, secret: str) -> None:
        """A text that must be in no file. What is too short or blank would cover half of the screen: it stays as it is."""
        if len(secret.strip()) >= _SHORTEST:
            self.secrets.add(secret)

    @property
    def known(self) -> int:
        """How many texts are known that must be in no file: what was stored before the last of them has to be looked at again."""
        return len(self.secrets) + len(self._learned)

    def made_up(self, text: str) -> None:
        """A text that the recorder typed by itself: nobody's, so it is stored as it is."""
        self.own.add(text)

    def action(self, action: Action, target: Node | None) -> Action:
        """The action as it may be stored; typing into a password field makes the text a secret."""
        if isinstance(action, TypeText) and target is not None and self._hides(target, action.text):
            self.learn(action.text)
            self.count += 1
            self.kinds["password"] += 1
            return replace(action, text=BULLET * len(action.text))
        kind = self._kind_of(target) if isinstance(action, TypeText) and target is not None else None
        if isinstance(action, TypeText) and kind is not None and action.text not in self.own:
            return replace(action, text=self._placeholder(action.text, kind))
        changed: dict[str, Any] = {
            f.name: self.text(getattr(action, f.name)) for f in fields(action) if f.name in TEXTS_OF_ACTIONS
        }
        return replace(action, **changed) if changed else action

    def text(self, text: str) -> str:
        """The text without secrets."""
        if not text:
            return text
        for secret in sorted(self.secrets, key=len, reverse=True):
            if secret in text:
                text = text.replace(secret, BULLET * len(secret))
        text = "".join(part if done else self._words(part) for part, done in _apart(text, self._learned, self._stand_in_learned))
        for mask in self.masks:
            text = mask.pattern.sub(lambda m: BULLET * len(m.group()), text)
        return text

    def hierarchy(self, hierarchy: Hierarchy) -> Redacted:
        """The tree without secrets. A password field shows bullets whatever the dumper reports."""
        named = {path for selector in self.selectors for path in find(hierarchy, selector)}
        for path in named:
            node = hierarchy.at(path)
            for words in (node.value, node.content_desc):
                if len(words.strip()) >= _SHORTEST and words not in self._issued:
                    self._learned.setdefault(words, "listed")
        covered: list[Bounds] = []
        for path, node in hierarchy.walk():
            clean = self._node(node, "listed" if path in named else None)
            if clean is not node:
                # Built on what was cleaned before: the children of this node in the new tree, not the old ones.
                hierarchy = hierarchy.replace_at(path, replace(clean, children=hierarchy.at(path).children))
                covered.append(node.bounds)
                self.count += 1
        return Redacted(hierarchy, tuple(covered))

    def picture(self, png: bytes, covered: Iterable[Bounds]) -> bytes:
        """The picture with the given places covered; the same bytes where there are none, no picture where it cannot be read."""
        places = [b for b in covered if not b.is_empty]
        if not places or not png:
            return png
        try:
            with Image.open(io.BytesIO(png)) as opened:
                picture = opened.convert("RGB")
        except OSError:
            return b""
        for place in places:
            picture.paste(_COVER, (max(0, place.left), max(0, place.top), place.right, place.bottom))
        out = io.BytesIO()
        picture.save(out, "PNG")
        return out.getvalue()

    def _hides(self, field: Node, text: str) -> bool:
        """True where a field's text is a password; one that the recorder made up is nobody's where the field shows it."""
        return field.password or (text not in self.own and asks_for_password(field))

    def _kind_of(self, node: Node) -> str | None:
        return kind_of_field(node) if self.personal else None

    def _node(self, node: Node, kind: str | None) -> Node:
        text = self.text(node.text)
        if self._hides(node, node.text):
            if node.value and set(node.text) - _BULLETS and not _HINTS.fullmatch(node.text.strip()):
                self.learn(node.text)
                text = BULLET * len(node.text)
        elif node.value and node.text not in self.own and (kind := kind or self._kind_of(node)) is not None:
            text = self._placeholder(node.text, kind)
        content_desc = self.text(node.content_desc)
        if kind == "listed" and content_desc == node.content_desc and content_desc:
            content_desc = self._placeholder(content_desc, kind)
        hint = node.hint if node.hint is None else self.text(node.hint)
        resource_id = self.text(node.resource_id)
        extra = tuple((name, self.text(value)) for name, value in node.extra)
        if (text, content_desc, hint, resource_id, extra) == (
            node.text, node.content_desc, node.hint, node.resource_id, node.extra,
        ):  # fmt: skip
            return node
        return replace(node, text=text, content_desc=content_desc, hint=hint, resource_id=resource_id, extra=extra)

    def _words(self, text: str) -> str:
        """A text without what is personal by its form. What stands for something already is left as it is."""
        if not self.personal or text in self._issued or text in self.own:
            return text
        out, at = [], 0
        for found in personal(text):
            value = text[found.start : found.end]
            out += [text[at : found.start], value if value in self._issued or value in self.own else self._placeholder(value, found.kind)]
            at = found.end
        return "".join((*out, text[at:])) if out else text

    def _stand_in_learned(self, value: str) -> str:
        return self._placeholder(value, self._learned[value])

    def _placeholder(self, value: str, kind: str) -> str:
        if value in self._issued or not any(c.isalnum() for c in value):
            return value
        if value not in self._stand_ins:
            self.kinds[kind] += 1
            self._stand_ins[value] = made = self._made(value)
            self._issued.add(made)
            if len(value.strip()) >= _SHORTEST:
                # Elsewhere it may stand without the form by which it was known, as in a greeting.
                self._learned.setdefault(value, kind)
        return self._stand_ins[value]

    def _made(self, value: str) -> str:
        made = value
        for number in range(64):
            made = shaped(value, self.salt + number.to_bytes(2, "big"))
            if made != value and made not in self._issued and not any(known in made for known in self._learned):
                break
        return made


def redactor_of(redact: Iterable[str] = (), *, personal: bool = True, masks: tuple[Mask, ...] = ()) -> Redactor:
    """A redactor from a `--redact` list. Raises RecordingError for an empty entry."""
    texts, selectors = parse_redact(redact)
    return Redactor(masks, personal=personal, listed=texts, selectors=selectors)


def shaped(value: str, key: bytes) -> str:
    """A text of the same shape that says nothing of the value without the key: digits for digits, letters for letters."""
    stream = _stream(key, value)
    out = []
    for character in value:
        n = next(stream)
        if character.isdigit():
            out.append(str(n % 10))
        elif character.isalpha():
            letter = "abcdefghijklmnopqrstuvwxyz"[n % 26]
            out.append(letter.upper() if character.isupper() else letter)
        else:
            out.append(character)
    return "".join(out)


def _stream(key: bytes, value: str) -> Iterator[int]:
    block = 0
    while True:
        yield from hmac.digest(key, block.to_bytes(4, "big") + value.encode("utf-8", "surrogatepass"), "sha256")
        block += 1


def _wherever(value: str, kind: str) -> str:
    """A PIN is looked for as a number of its own: 2024 is not in 120245."""
    return rf"(?<!\w){re.escape(value)}(?!\w)" if kind == "code" else re.escape(value)


def _apart(text: str, known: dict[str, str], stand_in: Any) -> Iterator[tuple[str, bool]]:
    """The text in parts: known values replaced (True), and what lies between them (False). Longer values first."""
    inside = sorted((k for k in known if k in text), key=len, reverse=True)
    if not inside:
        yield text, False
        return
    at = 0
    for match in re.finditer("|".join(_wherever(k, known[k]) for k in inside), text):
        yield text[at : match.start()], False
        yield stand_in(match.group()), True
        at = match.end()
    yield text[at:], False
