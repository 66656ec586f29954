"""What an accessibility service of the phone is told: the difference of two moments as Android's events, each as one line.

Web views and custom views tell less on a phone than these do, and events carry no resource id: a hint, never ground truth.
The rules are those of `AccessibilityEvent`, the line that of its `toString`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from phoneworld.ui.action import Action, DoubleTap, Drag, LongPress, Pinch, Swipe, Tap
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy, Node, Path


@dataclass(frozen=True, slots=True)
class Moment:
    """The tree and who is in front, at one moment."""

    tree: Hierarchy
    state: DeviceState


@dataclass(frozen=True, slots=True)
class AccessibilityEvent:
    """One event, with what of Android's record says something here. `before` and the counts belong to a text that changed."""

    type: str
    package: str
    class_name: str
    text: tuple[str, ...] = ()
    description: str = ""
    enabled: bool = True
    password: bool = False
    checked: bool = False
    full_screen: bool = False
    scrollable: bool = False
    changes: tuple[str, ...] = ()
    before: str | None = None
    from_index: int = -1
    added: int = -1
    removed: int = -1


def events_between(before: Moment, after: Moment, action: Action | None, size: Size) -> tuple[AccessibilityEvent, ...]:
    """What is told when one moment becomes the other, by an action or by itself, in Android's order."""
    return tuple(_events(before, after, action, size))


def _events(before: Moment, after: Moment, action: Action | None, size: Size) -> Iterator[AccessibilityEvent]:
    if action is not None:
        yield from _of_action(before.tree, after.tree, action, size)
    if _window(before) != _window(after):
        yield _of_window(after, size)
    if (focused := _focused(after.tree)) is not None and focused != _focused(before.tree):
        yield _of_node("TYPE_VIEW_FOCUSED", after.tree.at(focused))
    written = list(_written(before.tree, after.tree))
    yield from written
    changed = _changed(before.tree, after.tree)
    if changed is not None and _window(before) == _window(after):
        path, kinds = changed
        if not (written and kinds == ("CONTENT_CHANGE_TYPE_TEXT",)):
            yield replace(_of_node("TYPE_WINDOW_CONTENT_CHANGED", after.tree.at(path)), text=(), changes=kinds)


def _of_action(before: Hierarchy, after: Hierarchy, action: Action, size: Size) -> Iterator[AccessibilityEvent]:
    def target(x: int, y: int, gesture: Gesture) -> Node | None:
        hit = before.hit_test(Point(x, y), gesture, size)
        return before.at(hit.target) if hit is not None and hit.target is not None else None

    match action:
        case Tap(x, y) | DoubleTap(x, y):
            if (node := target(x, y, "tap")) is not None and node.enabled:
                yield _of_node("TYPE_VIEW_CLICKED", node)
        case LongPress(x, y):
            if (node := target(x, y, "long_press")) is not None and node.enabled:
                yield _of_node("TYPE_VIEW_LONG_CLICKED", node)
        case Swipe(x, y) | Drag(x, y) | Pinch(x, y):
            if before != after and (node := target(x, y, "scroll")) is not None:
                yield replace(_of_node("TYPE_VIEW_SCROLLED", node), text=())


def _window(moment: Moment) -> tuple[object, ...]:
    """What stays the same while a window does."""
    windows = tuple((w.class_name, w.package, w.bounds) for w in moment.tree.windows)
    return moment.state.package, moment.state.activity, windows if not moment.state.keyboard else windows[:1]


def _of_window(after: Moment, size: Size) -> AccessibilityEvent:
    top = after.tree.windows[-1] if after.tree.windows else Node("android.view.View")
    fills = top.bounds.area * 2 >= size.width * size.height
    package, activity = after.state.package, after.state.activity
    name = (package + activity if activity.startswith(".") else activity) if fills and activity else top.class_name
    title = next((n.label for n in Hierarchy((top,)).nodes() if n.label), "")
    return AccessibilityEvent(
        "TYPE_WINDOW_STATE_CHANGED", top.package or package, name, (title,) if title else (), full_screen=fills
    )


def _of_node(kind: str, node: Node) -> AccessibilityEvent:
    below = Hierarchy((node,)).nodes() if not node.text else iter((node,))
    texts = tuple(n.text for n in below if n.text)
    return AccessibilityEvent(
        kind, node.package, node.class_name, texts, node.content_desc, node.enabled, node.password, node.checked, scrollable=node.scrollable
    )


def _focused(tree: Hierarchy) -> Path | None:
    return next((path for path, node in tree.walk() if node.focused), None)


def _written(before: Hierarchy, after: Hierarchy) -> Iterator[AccessibilityEvent]:
    """Fields that stayed where they were and hold another text."""
    fields = {path: node for path, node in before.walk() if node.is_editable}
    for path, node in after.walk():
        old = fields.get(path)
        if not node.is_editable or old is None or (old.class_name, old.resource_id) != (node.class_name, node.resource_id):
            continue
        was, now = old.value, node.value
        if was != now:
            same = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
            tail = 0
            while tail < min(len(was), len(now)) - same and was[-1 - tail] == now[-1 - tail]:
                tail += 1
            event = _of_node("TYPE_VIEW_TEXT_CHANGED", node)
            yield replace(
                event, text=(now,), before=was, from_index=same, added=len(now) - same - tail, removed=len(was) - same - tail
            )


def _changed(before: Hierarchy, after: Hierarchy) -> tuple[Path, tuple[str, ...]] | None:
    """The smallest node with all that is different below it, and what kind of difference it is; None where nothing is."""
    if before.windows == after.windows or not after.windows:
        return None
    if len(before.windows) != len(after.windows):
        return (len(after.windows) - 1,), ("CONTENT_CHANGE_TYPE_SUBTREE",)
    path: Path = ()
    old, new = before.windows, after.windows
    while True:
        different = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        if len(different) != 1:
            return path or (different[0],), ("CONTENT_CHANGE_TYPE_SUBTREE",)
        a, b = old[different[0]], new[different[0]]
        path = (*path, different[0])
        if a.children == b.children:
            texts = replace(a, text=b.text) == b
            words = replace(a, content_desc=b.content_desc) == b
            kind = "TEXT" if texts else "CONTENT_DESCRIPTION" if words else "UNDEFINED"
            return path, (f"CONTENT_CHANGE_TYPE_{kind}",)
        if len(a.children) != len(b.children) or replace(a, children=b.children) != b:
            return path, ("CONTENT_CHANGE_TYPE_SUBTREE",)
        old, new = a.children, b.children


def line(event: AccessibilityEvent, *, when: str, uptime_ms: int) -> str:
    """One line as `uiautomator events` prints it; `when` is the wall clock, month first."""

    def flag(value: bool) -> str:
        return "true" if value else "false"

    e = event
    described = e.description or "null"
    before = "null" if e.before is None else e.before
    to = e.from_index + e.added if e.type == "TYPE_VIEW_TEXT_CHANGED" and e.added >= 0 else -1
    return (
        f"{when} EventType: {e.type}; EventTime: {uptime_ms}; PackageName: {e.package}; MovementGranularity: 0; Action: 0; "
        f"ContentChangeTypes: [{', '.join(e.changes)}]; WindowChangeTypes: [] [ ClassName: {e.class_name}; "
        f"Text: [{', '.join(e.text)}]; ContentDescription: {described}; ItemCount: -1; CurrentItemIndex: -1; "
        f"Enabled: {flag(e.enabled)}; Password: {flag(e.password)}; Checked: {flag(e.checked)}; FullScreen: {flag(e.full_screen)}; "
        f"Scrollable: {flag(e.scrollable)}; BeforeText: {before}; FromIndex: {e.from_index}; ToIndex: {to}; ScrollX: 0; ScrollY: 0; "
        f"MaxScrollX: 0; MaxScrollY: 0; ScrollDeltaX: -1; ScrollDeltaY: -1; AddedCount: {e.added}; RemovedCount: {e.removed}; "
        "ParcelableData: null ]; recordCount: 0\n"
    ).replace("\n", " ").rstrip() + "\n"
