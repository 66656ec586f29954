"""Seeds of episodes that follow one another: the k-th after a seed is decided by the two, whatever happened between."""

from __future__ import annotations

from hashlib import blake2b


def episode_seed(seed: int, number: int) -> int:
    """The seed of the episode with this number, 0 for the one that was seeded itself. Below 2**31."""
    if number == 0:
        return seed
    return int.from_bytes(blake2b(f"{seed}\0{number}".encode(), digest_size=4).digest()) >> 1
