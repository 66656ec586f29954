"""What a policy looks at in one step: screen, instruction, what it did and read before, as arrays; and what it can choose. Knows no network.

    things of the screen | words of the instruction | last actions | words read before | verbs that need no thing

Each token has words, near words, a kind and traits; `match` says how far any two share words. Left out of what agents do: pixels, and a memory beyond the
last actions and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phoneworld.agent.screen import ON_THINGS, ROLES, STATIC_TRAITS, VERBS, Screen, action_of, choice_of
from phoneworld.agent.words import Said, read_instruction, word_ids
from phoneworld.ui.action import Action, Answer, TypeText

KINDS = ("thing", "said", "done", "read", "verb")
TRAITS = STATIC_TRAITS + 5 + 5 + 3
"""Of things as they are; of things in this episode; of words of the instruction; of actions done."""
_ALONE = len(VERBS) - ON_THINGS
NUMBERS = tuple(str(n) for n in range(13))
"""What can be typed and answered besides what is copied."""
MOST_SAID, MOST_DONE, MOST_READ = 72, 12, 32
MOST_POSITIONS = 80
_ONE_THREAD = 200_000
_SAID, _DONE = STATIC_TRAITS + 5, STATIC_TRAITS + 10
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sight:
    """One step as arrays, for n tokens, s spans of the instruction and c tokens that can be copied.

    `words` and `near` are flat, with so many a token; `verbs` (n, 10) says what can be chosen; `match` (n, n) is 0 to 255.
    """

    words: Ints
    word_counts: Ints
    near: Ints
    near_counts: Ints
    kinds: Ints
    roles: Ints
    positions: Ints
    traits: Floats
    match: NDArray[np.uint8]
    verbs: NDArray[np.bool_]
    spans: Ints
    copies: Ints


@dataclass(frozen=True, slots=True)
class Choice:
    """A token and a verb for it, and the number of the words: of a span, a copied token, a number, in that order; -1 for none."""

    token: int
    verb: int
    source: int = -1


@dataclass(frozen=True, slots=True)
class Seen:
    """A sight with what its choices mean."""

    sight: Sight
    screen: Screen
    texts: tuple[str, ...]

    def action(self, choice: Choice) -> Action:
        """What a choice means on this screen."""
        return action_of(self.screen, choice.verb, choice.token, self.texts[choice.source] if choice.source >= 0 else "")

    def choice(self, action: Action) -> Choice | None:
        """The choice that means an action, or None where there is none: then this policy cannot do it."""
        found = choice_of(self.screen, action)
        if found is None:
            return None
        verb, token = found
        token = token if verb < ON_THINGS else len(self.sight.kinds) - len(VERBS) + verb
        if not isinstance(action, TypeText | Answer):
            return Choice(token, verb)
        return Choice(token, verb, self.texts.index(action.text)) if action.text in self.texts else None


@dataclass(slots=True)
class Memory:
    """What one episode remembers: its last actions, and the words it read on screens that are no longer there.

    Of many words those are kept that were read last for the first time: what stands on every page is not what was looked for.
    """

    done: list[tuple[int, tuple[int, ...], bool]] = field(default_factory=list)
    acted: dict[tuple[object, ...], int] = field(default_factory=dict)
    last: tuple[object, ...] | None = None
    texts: dict[str, None] = field(default_factory=dict)
    before: tuple[Screen, int, tuple[int, ...]] | None = None

    def look(self, screen: Screen, instruction: str) -> Seen:
        """Takes in a screen, and gives what there is to choose from."""
        if self.before is not None:
            shown, verb, words = self.before
            self.done.append((verb, words, not screen.shows_the_same(shown)))
            del self.done[:-MOST_DONE]
            self.before = None
        here = dict.fromkeys(t.text for t in screen.things if t.text)
        read = [text for text in self.texts if text not in here][-MOST_READ:]
        self.texts.update(here)
        return _sight(screen, read_instruction(instruction, MOST_SAID), self, read)

    def did(self, seen: Seen, choice: Choice) -> None:
        """Remembers what was chosen."""
        words = word_ids(seen.texts[choice.source])[:12] if choice.source >= 0 else ()
        self.last = None
        if choice.verb < ON_THINGS:
            thing = seen.screen.things[choice.token]
            self.last = (choice.verb, *thing.key)
            self.acted[self.last] = self.acted.get(self.last, 0) + 1
            words = (*thing.words[:12], *(thing.near[:12] if not thing.words or thing.traits[9] else ()), *words)
        self.before = (seen.screen, choice.verb, words)


def _sight(screen: Screen, said: Said, memory: Memory, read: Sequence[str]) -> Seen:
    things, done = screen.things, memory.done
    own = [t.words for t in things] + [(w,) for w in said.words] + [words for _, words, _ in done] + [word_ids(text)[:12] for text in read] + [()] * _ALONE
    near = [t.near for t in things] + [()] * (len(own) - len(things))
    n, first_said = len(own), len(things)
    first_done = first_said + len(said.words)
    first_read = first_done + len(done)
    first_verb = first_read + len(read)
    kinds = np.repeat(np.arange(len(KINDS)), [first_said, len(said.words), len(done), len(read), _ALONE])
    roles = np.zeros(n, np.int64)
    roles[:first_said] = [t.role for t in things]
    roles[first_done:first_read] = [len(ROLES) + verb for verb, _, _ in done]
    roles[first_verb:] = len(ROLES) + ON_THINGS + np.arange(_ALONE)
    positions = np.zeros(n, np.int64)
    positions[first_said:first_done] = np.arange(len(said.words))
    positions[first_done:first_read] = np.arange(len(done))[::-1]
    positions[first_read:first_verb] = np.arange(len(read))[::-1]
    flat, counts = _flat(own)
    near_flat, near_counts = _flat(near)
    match = _matches(flat, counts, near_flat, near_counts, n)
    traits = np.zeros((n, TRAITS), np.float32)
    if things:
        traits[:first_said, :STATIC_TRAITS] = [t.traits for t in things]
        asked = match[:first_said, first_said:first_done]
        traits[:first_said, STATIC_TRAITS : STATIC_TRAITS + 3] = [
            _told(t.words, t.near, said, memory, t.key) for t in things
        ]
        traits[:first_said, STATIC_TRAITS + 3] = asked.max(1, initial=0.0)
        traits[:first_said, STATIC_TRAITS + 4] = [float(memory.last is not None and memory.last[1:] == t.key) for t in things]
        traits[first_said:first_done, _SAID] = asked.max(0, initial=0.0)
    traits[first_said:first_done, _SAID + 1] = said.quoted
    if done:
        ago = np.maximum(0.0, 1 - np.arange(len(done))[::-1] / MOST_DONE)
        traits[first_done:first_read, _DONE] = [changed for _, _, changed in done]
        traits[first_done:first_read, _DONE + 1] = ago
        touched = match[first_done:first_read, first_said:first_done]
        traits[first_said:first_done, _SAID + 2] = touched.max(0)
        traits[first_said:first_done, _SAID + 3] = (touched * ago[:, None]).max(0)
    if read:
        traits[first_said:first_done, _SAID + 4] = match[first_read:first_verb, first_said:first_done].max(0)
    traits[:, _DONE + 2] = min(1.0, len(done) / MOST_DONE)
    verbs = np.zeros((n, len(VERBS)), bool)
    for i, thing in enumerate(things):
        verbs[i, list(thing.verbs)] = True
    for verb in range(ON_THINGS, len(VERBS)):
        verbs[first_verb + verb - ON_THINGS, verb] = True
    copied = [i for i, t in enumerate(things) if t.text]
    copies = np.array([*copied, *range(first_read, first_verb)], np.int64)
    spans = np.array([(first_said + i, first_said + j) for i, j, _ in said.spans], np.int64).reshape(-1, 2)
    texts = (*(text for _, _, text in said.spans), *(things[i].text for i in copied), *read, *NUMBERS)
    sight = Sight(flat, counts, near_flat, near_counts, kinds, roles, positions, traits, (match * 255).astype(np.uint8), verbs, spans, copies)
    return Seen(sight, screen, texts)


def _told(words: tuple[int, ...], near: tuple[int, ...], said: Said, memory: Memory, key: tuple[object, ...]) -> tuple[float, float, float]:
    """Of a thing: the share of its words that the instruction has, of the words beside it, and how often it was acted on."""
    spoken = frozenset(said.words)
    acted = sum(times for (_, *other), times in memory.acted.items() if tuple(other) == key) if memory.acted else 0
    return _share(words, spoken), _share(near, spoken), min(1.0, acted / 3)


def _share(words: tuple[int, ...], spoken: frozenset[int]) -> float:
    return sum(w in spoken for w in words) / len(words) if words else 0.0


def _flat(words: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
    return np.array([w for of in words for w in of], np.int64), np.array([len(of) for of in words], np.int64)


def _matches(flat: Ints, counts: Ints, near: Ints, near_counts: Ints, n: int) -> Floats:
    """The cosine of the bags of words of any two tokens; near words count half."""
    rows = np.concatenate([np.repeat(np.arange(n), counts), np.repeat(np.arange(n), near_counts)])
    names, columns = np.unique(np.concatenate([flat, near]), return_inverse=True)
    bags = np.zeros((n, max(1, len(names))), np.float32)
    bags[rows[len(flat) :], columns[len(flat) :]] = 0.5
    bags[rows[: len(flat)], columns[: len(flat)]] = 1.0
    bags /= np.maximum(np.sqrt((bags * bags).sum(1, keepdims=True)), 1e-6)
    there = bags.any(1)
    # A word of one token alone matches nothing but that token itself, which is 1 anyway.
    bags = bags[:, (bags > 0).sum(0) > 1]
    matched = np.empty((n, n), np.float32)
    # In pieces that BLAS does on one thread: for so small a product two that wait for each other take ten times as long.
    step = max(1, _ONE_THREAD // max(1, n * bags.shape[1]))
    for i in range(0, n, step):
        matched[i : i + step] = bags[i : i + step] @ bags.T
    np.fill_diagonal(matched, there)
    out: Floats = np.minimum(matched, 1.0)
    return out
