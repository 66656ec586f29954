"""What must not reach any file: passwords always, other kinds by rule. Pure: values in, values out.

A password is never stored as it was typed: the action holds as many bullets as it had characters, which is also what the
field shows. Should the app show the password later ("show password"), its text becomes bullets in the tree and the node's
pixels are covered. Further kinds (addresses, numbers) are `Mask` rules over the words of trees and actions.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from PIL import Image

from phoneworld.ui.action import Action, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node

BULLET = "•"
_BULLETS = {BULLET, "*", "●", "·", "\u2219"}
# Older Android reports the hint of an empty field as its text.
_HINTS = re.compile(
    r"((re-?)?enter|type|your|new|confirm|repeat|current|old|the|a| )*(password|passcode|passphrase|passwort|pin|pin code|contraseña|"
    r"mot de passe|senha)[\s.…:*]*|(请?输入|请?再次输入|确认|新|旧)*(登录|支付)?(密码|密碼|口令)|パスワード|비밀번호|пароль",
    re.I,
)
_COVER = (128, 128, 128)


@dataclass(frozen=True, slots=True)
class Mask:
    """Every match of `pattern` in a word of the screen or of an action becomes bullets. `name` says what it is (`email`)."""

    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A tree without secrets, and where secrets stood in it: these pixels must be covered."""

    hierarchy: Hierarchy
    covered: tuple[Bounds, ...] = ()


@dataclass(slots=True)
class Redactor:
    """Remembers the secrets of a recording and takes them out of everything that is stored."""

    masks: tuple[Mask, ...] = ()
    secrets: set[str] = field(default_factory=set)
    count: int = 0

    def learn(self, secret: str) -> None:
        """A text that must be in no file. What is too short or blank would cover half of the screen: it stays as it is."""
        if len(secret.strip()) >= 4:
            self.secrets.add(secret)

    def action(self, action: Action, target: Node | None) -> Action:
        """The action as it may be stored; typing into a password field makes the text a secret."""
        if not isinstance(action, TypeText):
            return action
        if target is not None and target.password:
            self.learn(action.text)
            self.count += 1
            return replace(action, text=BULLET * len(action.text))
        return replace(action, text=self.text(action.text))

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            if secret in text:
                text = text.replace(secret, BULLET * len(secret))
        for mask in self.masks:
            text = mask.pattern.sub(lambda m: BULLET * len(m.group()), text)
        return text

    def hierarchy(self, hierarchy: Hierarchy) -> Redacted:
        """The tree without secrets. A password field shows bullets whatever the dumper reports."""
        covered: list[Bounds] = []
        for path, node in hierarchy.walk():
            clean = self._node(node)
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

    def _node(self, node: Node) -> Node:
        text = self.text(node.text)
        if node.password and node.value and set(node.text) - _BULLETS and not _HINTS.fullmatch(node.text.strip()):
            text = BULLET * len(node.text)
        content_desc = self.text(node.content_desc)
        hint = node.hint if node.hint is None else self.text(node.hint)
        resource_id = self.text(node.resource_id)
        extra = tuple((name, self.text(value)) for name, value in node.extra)
        if (text, content_desc, hint, resource_id, extra) == (
            node.text, node.content_desc, node.hint, node.resource_id, node.extra,
        ):  # fmt: skip
            return node
        return replace(node, text=text, content_desc=content_desc, hint=hint, resource_id=resource_id, extra=extra)
