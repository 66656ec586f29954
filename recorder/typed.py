"""What a person typed on the phone's keyboard, read from the field and not from the keys. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from phoneworld.device.settle import Reading, sight_digest
from phoneworld.ui.action import Action, Clear, PressKey, Tap, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from recorder.attribute import focused_field
from recorder.windows import without_keyboard


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is known by now: its action, and the reading at which it ended."""

    action: Action
    outcome: Reading
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Typing:
    """A run of taps on the keyboard into one field. `start` is the reading at which it began.

    `unread` counts the last taps after which nothing was read: what they typed, or whether one ended the typing, is not known.
    """

    start: Reading
    latest: Reading | None = None
    last_tap: Tap | None = None
    unread: int = 0

    @property
    def reading(self) -> Reading:
        """The screen as it was read last."""
        return self.latest or self.start

    def tapped(self, tap: Tap) -> None:
        """Another key."""
        self.last_tap = tap
        self.unread += 1

    def see(self, reading: Reading) -> None:
        """Takes in the screen after a tap, while the field still has the focus and its words."""
        self.latest, self.unread = reading, 0

    def stands(self, hierarchy: Hierarchy) -> bool:
        """True where nothing but the keyboard itself has changed since the screen was read last."""
        return sight_digest(without_keyboard(hierarchy)) == sight_digest(without_keyboard(self.reading.hierarchy))

    def is_its_own(self, reading: Reading, region: Bounds) -> bool:
        """True where a change that came some time after the last tap is one of the field's text, with all that hangs on it.

        Another change came by itself. A field with another width is another field, though it may have the id (or none) of this one.
        """
        if not self.goes_on(reading, region):
            return False
        was, now = field_of(self.reading.hierarchy), field_of(reading.hierarchy)
        assert was is not None and now is not None
        sides = [(f.bounds.left, f.bounds.right) for f in (was, now)]
        return was.value != now.value and sides[0] == sides[1]

    def goes_on(self, reading: Reading, region: Bounds) -> bool:
        """False where the last tap has ended the typing: the keyboard is gone, or the field was left or emptied at once."""
        if not reading.state.keyboard:
            return False
        before, after = field_of(self.start.hierarchy), field_of(reading.hierarchy)
        if before is None or after is None or after.resource_id != before.resource_id or after.class_name != before.class_name:
            return False
        was = field_of(self.reading.hierarchy)
        emptied = was is not None and bool(was.value) and not after.value
        return not (emptied and was is not None and (len(was.value) > 1 or self.by_enter(region)))

    def by_enter(self, region: Bounds) -> bool:
        """True where the last tap was on Enter: it lies at the lower right of every keyboard that we know."""
        tap = self.last_tap
        return tap is not None and tap.x >= region.right - region.width / 5 and tap.y >= region.bottom - region.height / 4

    def steps(self, ended: Reading | None, region: Bounds) -> tuple[Step, ...]:
        """What was typed, and, where the last tap ended it (`ended`), the key that did so: Enter, or one that hides the keyboard."""
        found: list[Step] = []
        if (typed := self._typed(ended)) is not None:
            found.append(typed)
        if ended is not None and self.last_tap is not None:
            found.append(Step(PressKey("enter" if self.by_enter(region) else "back"), ended, ("keyboard",)))
        return tuple(found)

    def _typed(self, ended: Reading | None) -> Step | None:
        before = field_of(self.start.hierarchy)
        latest = self.latest
        if before is None:
            return None
        notes: tuple[str, ...] = ("keyboard",)
        after = None if latest is None else field_of(latest.hierarchy)
        if ended is not None and (still := same_field(ended.hierarchy, before)) is not None and (after is None or still.value.startswith(after.value)):
            # Enter left the words where they were: the last letters may have come after the latest look.
            after, latest = still, latest or ended
        if after is None or latest is None or after.value == before.value:
            return None
        was, now = before.value, after.value
        if not now:
            return Step(Clear(), latest, notes)
        if now.startswith(was):
            return Step(TypeText(now[len(was) :]), latest, notes)
        return Step(TypeText(now, mode="replace"), latest, notes)


def field_of(hierarchy: Hierarchy) -> Node | None:
    """The field that has the focus."""
    path = focused_field(hierarchy)
    return None if path is None else hierarchy.at(path)


def same_field(hierarchy: Hierarchy, field: Node) -> Node | None:
    """The field with the id and class of another, in another tree; None where there is none, or several."""
    alike = [n for n in hierarchy.nodes() if n.is_editable and n.resource_id == field.resource_id and n.class_name == field.class_name]
    return alike[0] if len(alike) == 1 else None
