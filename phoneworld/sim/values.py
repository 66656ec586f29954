"""The variables of an app as an immutable value that knows its own mark, so that comparing and naming states reads no variable.

A step changes a few variables of some tens: the others are copied as one dictionary, and the mark follows from what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b

from phoneworld.program.expr import Value

_NOTHING = object()


class Values(Mapping[str, Value]):
    """Values by name. Equal where names and values are, as in Python (True is 1).

    `mark` is a number of 128 bits that equal Values share, in every process. `get` is that of a dictionary.
    """

    __slots__ = ("_held", "get", "mark")

    get: Callable[..., Value]
    mark: int

    def __init__(self, held: Mapping[str, Value] | None = None) -> None:
        self._held: dict[str, Value] = dict(held or {})
        self.get = self._held.get
        self.mark = 0
        for name, value in self._held.items():
            self.mark ^= _mark(name, value)

    def update(self, changes: Mapping[str, Value]) -> Values:
        """These values with others in place of some; itself where nothing changes. Costs what changes, and one copy."""
        get, mark = self.get, self.mark
        changed = False
        for name, value in changes.items():
            old = get(name, _NOTHING)
            if old is value or (old == value and type(old) is type(value)):
                continue
            changed = True
            mark ^= _mark(name, value)
            if old is not _NOTHING:
                mark ^= _mark(name, old)
        if not changed:
            return self
        new = object.__new__(Values)
        new._held = held = {**self._held, **changes}
        new.get, new.mark = held.get, mark
        return new

    def set(self, name: str, value: Value) -> Values:
        """These values with another in place of one."""
        return self.update({name: value})

    def __getitem__(self, name: str) -> Value:
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Values):
            return self is other or (self.mark == other.mark and self._held == other._held)
        return self._held == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.mark)

    def __reduce__(self) -> tuple[type[Values], tuple[dict[str, Value]]]:
        return Values, (self._held,)

    def __repr__(self) -> str:
        return f"Values({self._held!r})"


@lru_cache(maxsize=16_384)
def _mark(name: str, value: Value) -> int:
    """The share of one value in the mark of all. Equal values have one mark, for the cache and the name know no types."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    return int.from_bytes(blake2b(repr((name, value)).encode(), digest_size=16).digest())
