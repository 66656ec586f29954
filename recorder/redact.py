"""What must not reach any file, and what stands in its place. Pure: values in, values out.

A password is never stored as it was typed: the action holds as many bullets as it had characters, which is also what the
field shows. Should the app show the password later ("show password"), its text becomes bullets in the tree and the node's
pixels are covered.

E-mail addresses, phone, card and id numbers, PINs and codes, and what `Redactor.listed` names, become placeholders of the same shape: a
digit for a digit, a letter for a letter, all else kept. Equal values get equal placeholders for as long as the `salt` is the
same, so a screen still shows what was typed. What stands for a letter or digit follows from the letters and digits up to it
alone: a number is the same number with and without spaces, and what is typed piece by piece is the whole in pieces. Without
the salt nothing can be tried out against a placeholder.
"""

from __future__ import annotations

import hmac
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
_SHORTEST_OF_ITS_OWN = 3  # with a digit, and looked for as a word of its own: a card's security code
# ASCII letters only: in "验证码642" the number stands by itself.
_BEGINS, _ENDS = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_GAP = "[ \u00a0\u202f\u2013./()-]{0,2}"
_NUMBERS = ("code", "card", "phone", "id")
_SHORTEST_IN_GROUPS = 6  # "482 913" is 482913; "64 2" is not 642
# Containers that draw none of their own words: a page's title, the name of a list or dialog.
_PANES = ("WebView", "Dialog", "ListView", "GridView", "RecyclerView", "ScrollView", "ViewPager")
_GROUPS = ("Layout", "ViewGroup")
TEXTS_OF_ACTIONS = ("text", "url")


@dataclass(frozen=True, slots=True)
class Mask:
    """Every match of `pattern` in a word of the screen or of an action becomes bullets. `name` says what it is."""

    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A tree without secrets, and where secrets were drawn: these pixels must be covered. `changed` counts the cleaned nodes."""

    hierarchy: Hierarchy
    covered: tuple[Bounds, ...] = ()
    changed: int = 0


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
    _issued: dict[str, str] = field(default_factory=dict)
    _stands: dict[str, str] = field(default_factory=dict)
    _learned: dict[str, str] = field(default_factory=dict)
    _counted: set[str] = field(default_factory=set)
    _hidden: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in self.listed:
            self._learned[text] = "listed"

    def learn(self, secret: str) -> None:
        """A text that must be in no file. What is too short or blank would cover half of the screen: it stays as it is."""
        if len(secret.strip()) >= _SHORTEST:
            self.secrets.add(secret)
        elif _can_be_found(secret, "code"):
            self.secrets.add(secret.strip())

    @property
    def known(self) -> int:
        """How many texts are known that must be in no file: what was stored before the last of them has to be looked at again."""
        return len(self.secrets) + len(self._learned)

    def made_up(self, text: str) -> None:
        """A text that the recorder typed by itself: nobody's, so it is stored as it is."""
        self.own.add(text)

    def action(self, action: Action, target: Node | None) -> Action:
        """The action as it may be stored; typing into a password field makes the text a secret.

        `target` is the node as the phone showed it before the action: what it holds is what the text is added to.
        """
        if isinstance(action, TypeText) and target is not None:
            if self._hides(target, action.text):
                self._learn_typed(action, target)
                self.count += 1
                self.kinds["password"] += 1
                return replace(action, text=BULLET * len(action.text))
            kind = self._kind_of(target)
            if kind is not None and action.text not in self.own:
                return replace(action, text=self._piece(action, target, kind))
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
                text = re.sub(_wherever(secret, "" if len(secret) >= _SHORTEST else "code"), BULLET * len(secret), text)
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
                if len(words.strip()) >= _SHORTEST and not self._is_placeholder(words):
                    self._learned.setdefault(words, "listed")
        covered: list[Bounds] = []
        changed = 0
        pages: list[tuple[int, ...]] = []
        for path, node in hierarchy.walk():
            if node.class_name.endswith("WebView"):
                pages.append(path)
            clean = self._node(node, "listed" if path in named else None)
            if clean is not node:
                # Built on what was cleaned before: the children of this node in the new tree, not the old ones.
                hierarchy = hierarchy.replace_at(path, replace(clean, children=hierarchy.at(path).children))
                changed += 1
                if path in named or _draws_its_words(node, in_page=any(path[: len(page)] == page for page in pages)):
                    covered.append(node.bounds)
        self.count += changed
        return Redacted(hierarchy, tuple(covered), changed)

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

    def _learn_typed(self, action: TypeText, field: Node) -> None:
        """A password that is typed piece by piece is a secret as a whole too; the field shows only how much of it there is."""
        place = (field.resource_id, field.hint or "", field.content_desc)
        before = "" if action.mode == "replace" or _HINTS.fullmatch(field.value.strip()) else field.value
        if not set(before) - _BULLETS:
            before = self._hidden.get(place, "")[: len(before)]
        self._hidden[place] = whole = before + action.text
        self.learn(whole)
        if len(action.text.strip()) >= _SHORTEST:
            self.learn(action.text)

    def _piece(self, action: TypeText, field: Node, kind: str) -> str:
        """What stands for a text that is added to a field: the next piece of what stands for all that the field then holds."""
        text, before = action.text, "" if action.mode == "replace" else field.value
        if [(found.start, found.end) for found in personal(text)] == [(0, len(text))]:
            before = ""  # an address or a number by itself: what the field showed may have been its hint
        if kind in _NUMBERS and not any(c.isdigit() for c in before):
            before = ""
        if not before:
            return self._placeholder(text, kind, live=True)
        piece = self._placeholder(before + text, kind, live=True, grown_from=before)[len(before) :]
        if len(piece) >= _SHORTEST:
            self._issued.setdefault(_bare(piece), _bare(text))
        return piece

    def _node(self, node: Node, kind: str | None) -> Node:
        text = self.text(node.text)
        if self._hides(node, node.text):
            if node.value and set(node.text) - _BULLETS and not _HINTS.fullmatch(node.text.strip()):
                self.learn(node.text)
                text = BULLET * len(node.text)
        elif node.value and node.text not in self.own and (kind := kind or self._kind_of(node)) is not None:
            text = self._placeholder(node.text, kind, live=True)
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
        if not self.personal or self._is_placeholder(text) or text in self.own:
            return text
        out, at = [], 0
        if not (all_found := personal(text)):
            return text
        # A part of a placeholder may look like a number of some kind: "7310 0265 0020 1765" holds a phone number of a kind.
        standing = [m.span() for made in self._stand_ins.values() if made in text for m in re.finditer(re.escape(made), text)]
        for found in all_found:
            if any(start <= found.start and found.end <= end for start, end in standing):
                continue
            value = text[found.start : found.end]
            out += [text[at : found.start], value if value in self.own else self._placeholder(value, found.kind)]
            at = found.end
        return "".join((*out, text[at:]))

    def _stand_in_learned(self, value: str) -> str:
        return self._placeholder(value, self._learned.get(value) or next(k for v, k in self._learned.items() if _bare(v) == _bare(value)))

    def _placeholder(self, value: str, kind: str, *, live: bool = False, grown_from: str = "") -> str:
        """What stands for a value. `live` where it comes from the phone and so is no placeholder, whatever it looks like."""
        if value in self._stand_ins:
            return self._stand_ins[value]
        if (self._is_placeholder(value) and not live) or not any(c.isalnum() for c in value):
            return value
        if (bare := _bare(value)) not in self._counted:
            self.kinds[kind] += _bare(grown_from) not in self._counted
            self._counted.add(bare)
        self._stand_ins[value] = made = self._made(value, grown_from)
        self._issued[_bare(made)] = bare
        self._stands.setdefault(bare, _bare(made))
        if _can_be_found(value, kind):
            # Elsewhere it may stand without the form by which it was known, as in a greeting.
            self._learned.setdefault(value, kind)
        return made

    def _is_placeholder(self, value: str) -> bool:
        return _bare(value) in self._issued

    def _made(self, value: str, grown_from: str) -> str:
        """What stands for a value: for one that grew from another, what stands for that and then more; for a number in other groups, the same number."""
        if (standing := self._stands.get(_bare(value))) is not None:
            return _filled(value, standing)
        made, bare, head = value, _bare(value), self._stand_ins.get(grown_from, "")
        for number in range(64):
            made = head + shaped(value, self.salt + number.to_bytes(2, "big"))[len(head) :]
            if made != value and self._issued.get(_bare(made), bare) == bare and re.search(_any_of(made, self._learned), made) is None:
                break
        return made


def redactor_of(redact: Iterable[str] = (), *, personal: bool = True, masks: tuple[Mask, ...] = ()) -> Redactor:
    """A redactor from a `--redact` list. Raises RecordingError for an empty entry."""
    texts, selectors = parse_redact(redact)
    return Redactor(masks, personal=personal, listed=texts, selectors=selectors)


def shaped(value: str, key: bytes) -> str:
    """A text of the same shape that says nothing of the value without the key: digits for digits, letters for letters.

    What stands for a character follows from the letters and digits up to it. The first never stands for itself, so no value does.
    """
    out = []
    state, is_first = b"", True
    for character in value:
        if not (character.isdigit() or character.isalpha()):
            out.append(character)
            continue
        after = hmac.digest(key, state + character.encode("utf-8", "surrogatepass"), "sha256")
        # One shift for all characters that may come here keeps different values apart; letters of other scripts have no such order.
        by = int.from_bytes(hmac.digest(key, state or b"first", "sha256")[:8] if character.isascii() else after[:8])
        if character.isdigit():
            out.append(str((unicodedata.digit(character) + _shift(by, 10, is_first)) % 10))
        else:
            at = ord(character.lower()) - ord("a") if character.isascii() else 0
            letter = "abcdefghijklmnopqrstuvwxyz"[(at + _shift(by, 26, is_first)) % 26]
            out.append(letter.upper() if character.isupper() else letter)
        state, is_first = after, False
    return "".join(out)


def _shift(by: int, of: int, is_first: bool) -> int:
    return 1 + by % (of - 1) if is_first else by % of


def _bare(value: str) -> str:
    """The letters and digits of a value: what it is whatever stands between them."""
    return "".join(c for c in value if c.isalnum())


def _filled(value: str, characters: str) -> str:
    """The value with other letters and digits in the places of its own."""
    following = iter(characters)
    return "".join(next(following) if c.isalnum() else c for c in value)


def _can_be_found(value: str, kind: str) -> bool:
    """True where a value can be looked for in other texts without replacing ordinary words."""
    bare = value.strip()
    return len(bare) >= _SHORTEST or (kind == "code" and len(bare) >= _SHORTEST_OF_ITS_OWN and any(c.isdigit() for c in bare))


def _draws_its_words(node: Node, *, in_page: bool) -> bool:
    """False for a container: what is seen in its box is drawn by its children. In a web page only what has no children draws words."""
    if not node.children or node.is_editable:
        return True
    if node.scrollable or node.class_name.endswith(_PANES):
        return False
    if node.clickable or node.checkable or node.long_clickable:
        return True  # a row whose words are read as one may draw what is in no child of it
    return not (in_page or (node.class_name.endswith(_GROUPS) and any(child.label or child.children for child in node.children)))


def _wherever(value: str, kind: str) -> str:
    """A PIN is looked for as a number of its own: 2024 is not in 120245. A number is one however it is grouped."""
    exact = f"{_BEGINS}{re.escape(value)}{_ENDS}" if kind == "code" else re.escape(value)
    if not _may_be_grouped(value, kind):
        return exact
    return f"(?:{exact}|{_BEGINS}{_GAP.join(map(re.escape, _bare(value)))}{_ENDS})"


def _may_be_grouped(value: str, kind: str) -> bool:
    return kind in _NUMBERS and sum(c.isdigit() for c in value) >= _SHORTEST_IN_GROUPS


def _any_of(text: str, known: dict[str, str]) -> str:
    """A pattern of the known values that a text may hold, longer ones first; one that never matches where it holds none."""
    bare = _bare(text)
    inside = sorted((k for k, kind in known.items() if k in text or (_may_be_grouped(k, kind) and _bare(k) in bare)), key=len, reverse=True)
    return "|".join(_wherever(k, known[k]) for k in inside) or "(?!)"


def _apart(text: str, known: dict[str, str], stand_in: Callable[[str], str]) -> Iterator[tuple[str, bool]]:
    """The text in parts: known values replaced (True), and what lies between them (False)."""
    at = 0
    for match in re.finditer(_any_of(text, known), text):
        yield text[at : match.start()], False
        yield stand_in(match.group()), True
        at = match.end()
    yield text[at:], False
