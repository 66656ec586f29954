"""What could be done on a screen: every action a careful person might try, named by class. Pure; knows no memory.

An action class is a kind on a kind of widget: the checkboxes of all rows of a list are one class, so that exploring is not
drowned by long lists. Members of a class are told apart by their words (`instance`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from phoneworld.device.settle import package_of
from phoneworld.graph.graph import Capture
from phoneworld.ui.action import Action, Clear, LongPress, PressKey, Swipe, Tap
from phoneworld.ui.geometry import Bounds, Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path
from recorder.attribute import focused_field
from recorder.safety import Forbidden, Guard

# Sensible weights explore well for the first hundreds of steps; novelty is laid over them by the policy.
WEIGHTS = {
    "tap": 10.0, "focus": 8.0, "long_press": 3.0, "scroll": 4.0, "scroll_back": 1.5, "back": 2.5, "enter": 2.0, "submit": 12.0,
    "clear": 1.5, "type": 12.0, "type_first": 30.0, "home": 0.2,
}  # fmt: skip
PERMISSION_PACKAGES = (
    "com.android.permissioncontroller", "com.google.android.permissioncontroller", "com.android.packageinstaller",
)  # fmt: skip
_SMALLEST_PX = 4
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to try. `action` is None for typing (the text is chosen later) and for what has a place still to be found."""

    kind: str
    action_class: str
    instance: str = ""
    path: Path | None = None
    action: Action | None = None

    @property
    def weight(self) -> float:
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A node that was left alone, and why."""

    action_class: str
    instance: str
    kind: Forbidden


def candidates(capture: Capture, *, guard: Guard) -> tuple[tuple[Candidate, ...], tuple[Skipped, ...]]:
    """What could be done on this screen, and what was left alone because the guard forbids it. No place is checked yet."""
    hierarchy, size = capture.hierarchy, capture.size
    reach = reachable(capture)
    found: list[Candidate] = []
    skipped: list[Skipped] = []
    focus = focused_field(hierarchy)
    for path, node in visible(hierarchy):
        seen = node.bounds.intersect(reach)
        if not node.enabled or seen.width < _SMALLEST_PX or seen.height < _SMALLEST_PX:
            continue
        widget, words = widget_class(hierarchy, path), instance_of(node)
        taps, presses = node.takes("tap"), node.takes("long_press")
        forbidden = guard.forbids(hierarchy, path, size) if taps or presses else None
        if forbidden is not None:
            skipped.append(Skipped(widget, words, forbidden))
        else:
            if taps and node.is_editable:
                if path != focus or not capture.state.keyboard:
                    found.append(Candidate("focus", f"tap {widget}", words, path))
            elif taps:
                found.append(Candidate("tap", f"tap {widget}", words, path))
            if presses and not node.is_editable:
                found.append(Candidate("long_press", f"long_press {widget}", words, path))
        if node.takes("scroll"):
            found.extend(_scrolls(node, seen, widget, path))
    found.extend(_typing(capture, focus, guard))
    found.append(Candidate("back", "back keyboard" if capture.state.keyboard else "back", action=PressKey("back")))
    found.append(Candidate("home", "home", action=PressKey("home")))
    return tuple(found), tuple(skipped)


def located(candidate: Candidate, capture: Capture) -> Candidate | None:
    """The candidate with its action, at a point that really hits its node; None where the node cannot be reached."""
    if candidate.action is not None or candidate.path is None or candidate.kind in ("type", "type_first"):
        return candidate
    gesture: Gesture = "long_press" if candidate.kind == "long_press" else "tap"
    point = reachable_point(capture, candidate.path, gesture)
    if point is None:
        return None
    action = LongPress(point.x, point.y) if gesture == "long_press" else Tap(point.x, point.y)
    return Candidate(candidate.kind, candidate.action_class, candidate.instance, candidate.path, action)


def reachable(capture: Capture) -> Bounds:
    """The part of the screen that a touch can reach: above the keyboard where it is shown."""
    bounds = capture.size.bounds
    # No phone tells where its keyboard begins; none we know takes more than two fifths of the screen.
    return Bounds(0, 0, bounds.right, bounds.bottom * 3 // 5) if capture.state.keyboard else bounds


def reachable_point(capture: Capture, path: Path, gesture: Gesture) -> Point | None:
    """A point of the node where a touch goes to it: its middle, or else one of a grid of others. None where it is covered."""
    *above, node = capture.hierarchy.chain(path)
    seen = node.bounds.intersect(reachable(capture))
    for ancestor in above:
        if ancestor.scrollable:
            seen = seen.intersect(ancestor.bounds)
    if seen.is_empty:
        return None
    tried: set[Point] = set()
    for down, right in ((4, 4), (4, 1), (4, 7), (1, 4), (7, 4), (1, 1), (1, 7), (7, 1), (7, 7)):
        point = Point(seen.left + seen.width * right // 8, seen.top + seen.height * down // 8)
        if point not in tried and seen.contains(point):
            tried.add(point)
            hit = capture.hierarchy.hit_test(point, gesture, capture.size)
            if hit is not None and hit.target == path:
                return point
    return None


def visible(hierarchy: Hierarchy) -> Iterator[tuple[Path, Node]]:
    """The nodes that are shown, with their ancestors, in document order."""
    stack: list[tuple[Path, Node]] = [((i,), w) for i, w in reversed(list(enumerate(hierarchy.windows)))]
    while stack:
        path, node = stack.pop()
        if node.visible:
            yield path, node
            stack.extend(((*path, i), node.children[i]) for i in range(len(node.children) - 1, -1, -1))


def widget_class(hierarchy: Hierarchy, path: Path) -> str:
    """The kind of a widget, the same for every row of a list: its id without numbers, else the classes on the way to it."""
    parts: list[str] = []
    for node in reversed(hierarchy.chain(path)):
        name = _DIGITS.sub("#", node.resource_id.rpartition("/")[2])
        parts.append(name or node.class_name.rpartition(".")[2])
        if name or len(parts) == 4:
            break
    return "/".join(reversed(parts))


def instance_of(node: Node) -> str:
    """The words that tell a widget from others of its class: its own, else those inside it. A field's value is not one."""
    if node.is_editable:
        return node.hint or node.content_desc
    words = [node.label] if node.label else []
    stack = list(reversed(node.children))
    while stack and len(words) < 3:
        child = stack.pop()
        if child.visible:
            words.extend([child.label] if child.label else [])
            stack.extend(reversed(child.children))
    return " ".join(words)[:80]


def in_front(capture: Capture) -> str:
    """The package in front: of the topmost window, else what the phone says."""
    return package_of(capture.hierarchy) or capture.state.package


def is_inside(capture: Capture, app: str) -> bool:
    """True where the app is in front, or a permission dialog of the system over it."""
    return in_front(capture) in (app, *PERMISSION_PACKAGES) or capture.state.package == app


def _scrolls(node: Node, seen: Bounds, widget: str, path: Path) -> list[Candidate]:
    sideways = node.class_name.endswith(("HorizontalScrollView", "ViewPager", "ViewPager2")) or seen.width > 4 * seen.height
    extent = seen.width if sideways else seen.height
    near, far = extent // 5, extent * 4 // 5
    if far - near < 2 * _SMALLEST_PX:
        return []
    c = seen.center
    if sideways:
        on = Swipe(seen.left + far, c.y, seen.left + near, c.y, 400)
        back = Swipe(seen.left + near, c.y, seen.left + far, c.y, 400)
    else:
        on = Swipe(c.x, seen.top + far, c.x, seen.top + near, 400)
        back = Swipe(c.x, seen.top + near, c.x, seen.top + far, 400)
    return [
        Candidate("scroll", f"scroll {widget}", path=path, action=on),
        Candidate("scroll_back", f"scroll_back {widget}", path=path, action=back),
    ]


def _typing(capture: Capture, focus: Path | None, guard: Guard) -> list[Candidate]:
    """Typing goes to the focused field, as on a phone: first a tap on it, then the keyboard."""
    if focus is None:
        return []
    hierarchy, size = capture.hierarchy, capture.size
    node = hierarchy.at(focus)
    if not node.enabled or not _on_screen(node.bounds, size) or guard.forbids(hierarchy, focus, size) is not None:
        return []
    widget, words = widget_class(hierarchy, focus), instance_of(node)
    found = [Candidate("type" if node.value else "type_first", f"type {widget}", words, focus)]
    if node.value:
        found.append(Candidate("clear", f"clear {widget}", words, focus, Clear()))
    if guard.forbids_enter(hierarchy, focus, size) is None:
        kind = "submit" if node.value else "enter"
        found.append(Candidate(kind, f"{kind} {widget}", words, focus, PressKey("enter")))
    return found


def _on_screen(bounds: Bounds, size: Size) -> bool:
    return not bounds.intersect(size.bounds).is_empty
