"""The network: a small transformer over the tokens of a sight that scores verbs on things, then the words for them.

Left out of what is published on transformers: dropout, learned positions of things (their places are traits), key-value caches, mixed precision.
Put in: attention is biased by how far two tokens share words, by a learned weight a head, so that words never trained on can be found on the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from phoneworld.agent.screen import ANSWER, ROLES, TYPE, VERBS
from phoneworld.agent.sight import KINDS, MOST_POSITIONS, NUMBERS, TRAITS, Choice, Sight
from phoneworld.agent.words import VOCABULARY

_NEVER = -1e9


@dataclass(frozen=True, slots=True)
class Shape:
    """How big the network is."""

    width: int = 64
    heads: int = 4
    layers: int = 2

    def to_json(self) -> dict[str, int]:
        """As JSON has it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Batch:
    """Sights side by side, padded to the longest: b sights, n tokens, s sources of words."""

    words: Tensor
    word_starts: Tensor
    near: Tensor
    near_starts: Tensor
    at: Tensor
    kinds: Tensor
    roles: Tensor
    positions: Tensor
    traits: Tensor
    there: Tensor
    match: Tensor
    verbs: Tensor
    source_ends: Tensor
    source_kinds: Tensor


def batch_of(sights: Sequence[Sight]) -> Batch:
    """Puts sights together."""
    sizes = [len(s.kinds) for s in sights]
    b, n = len(sights), max(sizes)
    starts = np.arange(b) * n
    at = np.concatenate([start + np.arange(size) for start, size in zip(starts, sizes, strict=True)])

    def joined(name: str) -> Tensor:
        return torch.from_numpy(np.concatenate([getattr(s, name) for s in sights]))

    def firsts(name: str) -> Tensor:
        counts = np.concatenate([getattr(s, name) for s in sights])
        return torch.from_numpy(np.cumsum(counts) - counts)

    there = np.zeros((b, n), bool)
    match = np.zeros((b, n, n), np.float32)
    verbs = np.zeros((b, n, len(VERBS)), bool)
    most = max(len(s.spans) + len(s.copies) for s in sights) + len(NUMBERS)
    ends = np.zeros((b, most, 2), np.int64)
    source_kinds = np.zeros((b, most), np.int64)
    for i, (s, size) in enumerate(zip(sights, sizes, strict=True)):
        there[i, :size] = True
        match[i, :size, :size] = s.match
        verbs[i, :size] = s.verbs
        a, c = len(s.spans), len(s.spans) + len(s.copies)
        ends[i, :a], ends[i, a:c] = s.spans, s.copies[:, None]
        ends[i, c : c + len(NUMBERS), 0] = np.arange(len(NUMBERS))
        source_kinds[i, :a], source_kinds[i, a:c], source_kinds[i, c : c + len(NUMBERS)] = 1, 2, 3
    return Batch(
        joined("words"), firsts("word_counts"), joined("near"), firsts("near_counts"), torch.from_numpy(at), joined("kinds"), joined("roles"),
        joined("positions"), joined("traits"), torch.from_numpy(there), torch.from_numpy(match) / 255, torch.from_numpy(verbs),
        torch.from_numpy(ends), torch.from_numpy(source_kinds),
    )  # fmt: skip


class _Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.pull = nn.Parameter(torch.linspace(0.0, 4.0, shape.heads))

    def forward(self, x: Tensor, match: Tensor, away: Tensor) -> Tensor:
        b, n, width = x.shape
        q, k, v = self.into(self.before(x)).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        bias = match[:, None] * self.pull[:, None, None] + away
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(b, n, width))
        return x + self.narrow(F.gelu(self.wide(self.after(x))))


class Network(nn.Module):
    """Scores the choices of sights. The same seed gives the same weights."""

    def __init__(self, shape: Shape = Shape(), *, seed: int = 0) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.words = nn.EmbeddingBag(VOCABULARY, width, mode="mean")
            self.near = nn.Linear(width, width, bias=False)
            self.kinds = nn.Embedding(len(KINDS), width)
            self.roles = nn.Embedding(len(ROLES) + len(VERBS), width)
            self.positions = nn.Embedding(MOST_POSITIONS, width)
            self.traits = nn.Linear(TRAITS, width)
            self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
            self.last = nn.LayerNorm(width)
            self.verbs = nn.Linear(width, len(VERBS))
            self.asks = nn.Embedding(len(VERBS), width)
            self.query = nn.Linear(width, width)
            self.first_word, self.last_word, self.copied = (nn.Linear(width, width) for _ in range(3))
            self.numbers = nn.Embedding(len(NUMBERS), width)
            for table in (self.words, self.kinds, self.roles, self.positions, self.asks, self.numbers):
                nn.init.normal_(table.weight, std=0.1)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The tokens' states (b, n, width), and the log-probabilities of each verb on each token (b, n * verbs)."""
        x = self.words(batch.words, batch.word_starts) + self.near(self.words(batch.near, batch.near_starts))
        x = x + self.kinds(batch.kinds) + self.roles(batch.roles) + self.positions(batch.positions) + self.traits(batch.traits)
        b, n = batch.there.shape
        states = x.new_zeros(b * n, self.shape.width).index_copy(0, batch.at, x).view(b, n, -1)
        away = torch.zeros(b, 1, 1, n).masked_fill(~batch.there[:, None, None], _NEVER)
        for layer in self.layers:
            states = layer(states, batch.match, away)
        states = self.last(states)
        scores = self.verbs(states).masked_fill(~batch.verbs, _NEVER).flatten(1)
        return states, F.log_softmax(scores, -1)

    def sources(self, batch: Batch, states: Tensor, tokens: Tensor, verbs: Tensor) -> Tensor:
        """The log-probabilities of the words to type or answer (b, sources), where these verbs are done on these tokens."""
        rows = torch.arange(len(tokens))
        query = self.query(states[rows, tokens] + self.asks(verbs))
        first, second = (states[rows[:, None], batch.source_ends[:, :, i].clamp(max=states.shape[1] - 1)] for i in (0, 1))
        kinds = batch.source_kinds[:, :, None]
        keys = torch.where(kinds == 1, self.first_word(first) + self.last_word(second), self.copied(first))
        keys = torch.where(kinds == 3, self.numbers(batch.source_ends[:, :, 0].clamp(max=len(NUMBERS) - 1)), keys)
        scores = (keys @ query[:, :, None]).squeeze(-1) / self.shape.width**0.5
        return F.log_softmax(scores.masked_fill(batch.source_kinds == 0, _NEVER), -1)

    def judged(self, batch: Batch, choices: Sequence[Choice]) -> tuple[Tensor, Tensor]:
        """The log-probability of each choice, and the entropy of the choice of verb and token, both (b,)."""
        states, scores = self(batch)
        tokens = torch.tensor([c.token for c in choices])
        verbs = torch.tensor([c.verb for c in choices])
        chosen = scores[torch.arange(len(choices)), tokens * len(VERBS) + verbs]
        worded = torch.tensor([i for i, c in enumerate(choices) if c.source >= 0], dtype=torch.long)
        if len(worded):
            part = Batch(*(getattr(batch, name)[worded] if name in _ROWED else getattr(batch, name) for name in Batch.__slots__))
            said = self.sources(part, states[worded], tokens[worded], verbs[worded])
            sources = torch.tensor([c.source for c in choices if c.source >= 0])
            chosen = chosen.index_add(0, worded, said[torch.arange(len(worded)), sources])
        return chosen, -(scores.exp() * scores.clamp(min=-50)).sum(-1)


_ROWED = frozenset(("source_ends", "source_kinds"))


@torch.no_grad()
def choose(network: Network, sights: Sequence[Sight], dice: Sequence[NDArray[np.float64] | None]) -> list[tuple[Choice, float]]:
    """A choice for each sight with its log-probability: the likeliest where its dice are None, else drawn by two numbers from 0 to 1."""
    batch = batch_of(sights)
    states, scores = network(batch)
    first = [_drawn(row, None if d is None else d[0]) for row, d in zip(scores, dice, strict=True)]
    tokens, verbs = [i // len(VERBS) for i in first], [i % len(VERBS) for i in first]
    logs = [float(row[i]) for row, i in zip(scores, first, strict=True)]
    sources = [-1] * len(sights)
    if any(verb in (TYPE, ANSWER) for verb in verbs):
        said = network.sources(batch, states, torch.tensor(tokens), torch.tensor(verbs))
        for i, verb in enumerate(verbs):
            if verb in (TYPE, ANSWER):
                d = dice[i]
                sources[i] = _drawn(said[i], None if d is None else d[1])
                logs[i] += float(said[i, sources[i]])
    return [(Choice(t, v, s), log) for t, v, s, log in zip(tokens, verbs, sources, logs, strict=True)]


def _drawn(logs: Tensor, dice: float | None) -> int:
    if dice is None:
        return int(logs.argmax())
    sums = logs.double().exp().cumsum(0)
    return min(int(torch.searchsorted(sums, dice * float(sums[-1]), right=True)), int(logs.exp().nonzero()[-1]))
