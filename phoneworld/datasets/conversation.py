"""Demonstrations as conversations in a dialect: how to speak, what is asked, what is seen, what is said. One a step, or one an episode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from phoneworld.datasets.demonstrations import Deed, Demonstration, Shown
from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.dialects.speaking import how_to_speak

Per = Literal["step", "episode"]
See = Literal["picture", "text", "both"]
Role = Literal["system", "user", "assistant"]
_MARKS = re.compile(r"<(?=/?(?:image|video|audio|bbox|ref-object|cot-process)\b)")
"""What trainers put pictures, boxes and names in the place of: words of an app must not look like it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message: words, and before them so many of the sample's pictures, in their order."""

    role: Role
    words: str
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One conversation to learn from. `step` is None for a whole episode. `pictures` are those of all messages."""

    of: Demonstration
    step: int | None
    messages: tuple[Said, ...]
    pictures: tuple[Shown, ...]

    @property
    def id(self) -> str:
        """A name of its own."""
        return self.of.id if self.step is None else f"{self.of.id}/step-{self.step}"


@dataclass(frozen=True, slots=True)
class Style:
    """How samples are put.

    `see`: the picture, the elements in words, or both. `pictures` is how many of the last looks are shown; what was done before them is
    told in words. `reasons` puts a plain sentence before each action, where the dialect has a place for it.
    """

    dialect: Dialect
    apps: dict[str, str]
    per: Per = "step"
    see: See = "picture"
    pictures: int = 1
    reasons: bool = False

    def samples(self, demonstration: Demonstration) -> Iterator[Sample]:
        """The samples of a demonstration."""
        if self.per == "episode":
            yield self._episode(demonstration)
        else:
            for n in range(len(demonstration.deeds)):
                yield self._step(demonstration, n)

    def _step(self, of: Demonstration, n: int) -> Sample:
        """One action: the last looks, the last of them to be acted on."""
        first = max(0, n + 1 - max(1, self.pictures))
        told = [of.instruction]
        if n:
            told.append("Done so far:\n" + "\n".join(f"{i}. {deed.words}" for i, deed in enumerate(of.deeds[:n], 1)))
        shown = [deed.look for deed in of.deeds[first : n + 1]]
        if self.see != "picture":
            told.append(self._words(shown[-1]))
        pictures = tuple(shown) if self.see != "text" else ()
        user = Said("user", _plain("\n\n".join(told)), len(pictures))
        return Sample(of, n + 1, (self._system(of), user, self._spoken(of.deeds[n])), pictures)

    def _episode(self, of: Demonstration) -> Sample:
        """All actions as one conversation, the last looks shown."""
        messages, pictures = [self._system(of)], list[Shown]()
        for n, deed in enumerate(of.deeds):
            whole = n >= len(of.deeds) - max(1, self.pictures)
            told = [of.instruction] if n == 0 else []
            if self.see != "picture" and whole:
                told.append(self._words(deed.look))
            seen = int(whole and self.see != "text")
            pictures += [deed.look] * seen
            messages += [Said("user", _plain("\n\n".join(told) or ("" if seen else "Done.")), seen), self._spoken(deed)]
        return Sample(of, None, tuple(messages), tuple(pictures))

    def _words(self, look: Shown) -> str:
        return look.text_with(self.dialect.where(look.size)) if self.see == "text" else look.text

    def _system(self, of: Demonstration) -> Said:
        return Said("system", _plain(how_to_speak(self.dialect, self._screen(of.deeds[0]))))

    def _spoken(self, deed: Deed) -> Said:
        thought = deed.words if self.reasons else ""
        return Said("assistant", _plain(self.dialect.emit(deed.action, self._screen(deed), thought=thought, tree=deed.look.tree())))

    def _screen(self, deed: Deed) -> Screen:
        return Screen(deed.look.size, self.apps)


def _plain(words: str) -> str:
    """Words that no trainer takes for its marks, and that can be encoded."""
    return _MARKS.sub("< ", words.encode("utf-8", "replace").decode())
