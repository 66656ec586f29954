"""Slots of which no whole widget was ever seen, for they begin below the rim of what scrolls: placed as others of their kind are.

The panel that was unfolded at the foot of a page is as high as its content, as the panel at its head; the items of it that were
never in sight follow each other as the first ones do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from phoneworld.compiler.edges import Seen, Slots, Y
from phoneworld.compiler.fitting import stands_on_floor
from phoneworld.compiler.siblings import kind_of
from phoneworld.program.placement import Axis, Placement


def like_twins(found: Mapping[str, Placement], slots: Slots, inside: set[str], *, without: Collection[int] = ()) -> dict[str, Placement]:
    """The placements, where those of slots that were never seen whole are their twins' as far as nobody saw better.

    A twin is the nearest sibling of the same kind that was seen whole; without one, what lies in a twin of the parent. `inside`
    are the slots in what scrolls, `without` the numbers of samples that prove nothing. Linear in the widgets, times the siblings of one kind.
    """
    below = _below_the_rim(slots)
    sure = {key for key, seen in slots.by_key.items() if any(_is_whole(s) and s.number not in without for s in seen)}
    # What moves with the rim is whole, though it touches it wherever it is.
    sure |= {key for key, seen in slots.by_key.items() if (shown := [s for s in seen if not s.blank]) and stands_on_floor(shown, shown[0].sample.tolerance)}
    unsure = {key for key in inside - sure if any(not s.blank for s in slots.by_key[key]) or key in below}
    parent = {key: _parent(seen[0]) for key, seen in slots.by_key.items()}
    kids: dict[str, list[str]] = {}
    for key, above in parent.items():
        kids.setdefault(above, []).append(key)
    for below_one in kids.values():
        below_one.sort(key=lambda k: min(s.place for s in slots.by_key[k]))
    kind = {key: kind_of(seen[0].drawn.node) for key, seen in slots.by_key.items()}
    twin: dict[str, str] = {}
    made = dict(found)
    for key in slots.by_key:  # parents before their children
        above = parent[key]
        if key not in inside:
            continue
        at = kids[above].index(key)
        alike = [k for k in kids[above] if k != key and kind[k] == kind[key] and k in sure]
        alike.sort(key=lambda k: (_shape(slots, k, kids, kind) != _shape(slots, key, kids, kind), abs(kids[above].index(k) - at)))
        if not alike and above in twin:
            others = [k for k in kids.get(twin[above], ()) if kind[k] == kind[key] and k in sure]
            alike = others[at : at + 1] or others[-1:]
        if not alike or key not in unsure:
            if alike:
                twin[key] = alike[0]
            continue
        twin[key] = other = alike[0]
        model, own = found[other], found[key]
        if all(s.blank for s in slots.by_key[key]):
            made[key] = replace(model, clips=own.clips, scrolls=False)
        elif _shape(slots, other, kids, kind) & _shape(slots, key, kids, kind) or not kids.get(key):
            made[key] = replace(own, y=Axis(own.y.position, model.y.extent))
    return made


def _is_whole(seen: Seen) -> bool:
    return not seen.blank and not seen.cut_start(Y) and not seen.cut_end(Y)


def _parent(seen: Seen) -> str:
    return seen.parent.drawn.key if seen.parent is not None else ""


def _shape(slots: Slots, key: str, kids: Mapping[str, list[str]], kind: Mapping[str, object]) -> frozenset[object]:
    """The kinds of what lies in a slot."""
    return frozenset(kind[k] for k in kids.get(key, ()))


def _below_the_rim(slots: Slots) -> set[str]:
    """The slots that have no area wherever they are, and are always behind all that has, in a page that goes on below."""
    below: set[str] = set()
    before: set[str] = set()
    for every in slots.by_sample:
        scrollable = any(s.drawn.node.scrollable for s in every)
        last = max((i for i, s in enumerate(every) if not s.blank and s.clipped), default=-1)
        for i, seen in enumerate(every):
            if seen.clipped and seen.blank:
                (below if i > last and scrollable else before).add(seen.drawn.key)
    return below - before
