"""What changed between two recordings of an app: screens, widgets, words, and where actions lead. Knows no file.

Screens are matched first: those of one identity, then those that are alike enough (`_ALIKE` of what names them in common,
best pairs first). On matched screens widgets are compared by what they are (class and id, else class and words), words by
the widget they stand in; list rows are content and only compared as a kind. A transition is broken where an action that
always led to one screen in the first recording always leads to another one in the second; what had several outcomes in
either is named apart. What was done in one recording only is no change, it is *not seen again*. A screen without a match is
gone (or new) where what led to it was done in the other recording too, or cannot be done there any more; else it was just not
reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from phoneworld.graph.features import Features, features, plain_words, shown_package, visible_nodes
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.identity import same_screen, screens_of
from phoneworld.graph.merge import renamed_app
from phoneworld.graph.views import Outcomes, outcomes, title_of
from phoneworld.ui.node import Node
from phoneworld.ui.selector import node_keys

_ALIKE = 0.34
"""Found on runs of one app before and after small changes: below it pairs are of different screens."""


@dataclass(frozen=True, slots=True)
class Side:
    """One screen of one recording. `shown` is the capture to look at."""

    id: str
    title: str
    captures: tuple[str, ...]
    shown: Capture


@dataclass(frozen=True, slots=True)
class WordChange:
    """A text that stands in the same widget and differs: `before` and `after` are all that was seen there."""

    widget: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScreenChange:
    """One matched pair. `gone` and `new` are widgets in words; nothing in any of the three is no change."""

    before: Side
    after: Side
    likeness: float
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    words: tuple[WordChange, ...] = ()
    marks: Mapping[str, tuple[tuple[int, int, int, int], ...]] | None = None
    """Bounds of what is gone (`before`) and new (`after`) on the two captures shown, for drawing."""

    @property
    def is_changed(self) -> bool:
        """True where a widget came or went, or a text changed."""
        return bool(self.gone or self.new or self.words)


@dataclass(frozen=True, slots=True)
class Broken:
    """An action that leads elsewhere: from the matched screen `at`; titles of where it led before and leads now."""

    at: ScreenChange
    words: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """All of it. `matched` holds every pair, changed or not."""

    package: str
    matched: tuple[ScreenChange, ...]
    gone: tuple[Side, ...]
    new: tuple[Side, ...]
    broken: tuple[Broken, ...]
    uncertain: tuple[Broken, ...]
    not_reached: tuple[Side, ...] = ()
    """Screens of the first recording whose ways were not tried in the second."""
    first_reached: tuple[Side, ...] = ()
    """Screens of the second recording whose ways were not tried in the first."""
    not_seen_again: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[ScreenChange, ...]:
        """The matched screens that are not as they were."""
        return tuple(pair for pair in self.matched if pair.is_changed)

    @property
    def is_empty(self) -> bool:
        """True where nothing differs that one recording can tell from the other."""
        return not (self.gone or self.new or self.changed or self.broken)


def diff(before: StateGraph, after: StateGraph) -> GraphDiff:
    """What changed from one recording to the other. Quadratic in the screens that differ."""
    warnings = tuple(_warnings(before, after))
    before = renamed_app(before, after.app.package)  # ids and packages name one app by one name
    screens = screens_of(before), screens_of(after)
    sides = tuple(
        {name: _side(graph, name, members) for name, members in found.items()}
        for graph, found in zip((before, after), screens, strict=True)
    )
    pairs = _matched(before, after, screens)
    changes = {a: _compare(before, after, sides[0][a], sides[1][b], likeness) for a, (b, likeness) in pairs.items()}
    taken = {b for b, _ in pairs.values()}
    forward = {a: b for a, (b, _) in pairs.items()}
    recordings = (_Recording(before, screens[0], sides[0]), _Recording(after, screens[1], sides[1]))
    broken, uncertain, unseen = _transitions(*recordings, forward, changes)
    lost = [name for name in sides[0] if name not in pairs]
    found_now = [name for name in sides[1] if name not in taken]
    gone = _surely(lost, *recordings, forward)
    new = _surely(found_now, recordings[1], recordings[0], {b: a for a, b in forward.items()})
    return GraphDiff(
        after.app.package or before.app.package,
        tuple(changes.values()),
        tuple(sides[0][name] for name in lost if name in gone),
        tuple(sides[1][name] for name in found_now if name in new),
        tuple(broken),
        tuple(uncertain),
        tuple(sides[0][name] for name in lost if name not in gone),
        tuple(sides[1][name] for name in found_now if name not in new),
        unseen,
        warnings,
    )


def _warnings(before: StateGraph, after: StateGraph) -> Iterable[str]:
    if before.app.package != after.app.package:
        yield f"these are recordings of different apps: {before.app.package} and {after.app.package}"
    if before.device.size != after.device.size:
        yield "these were recorded on screens of different sizes: what lies outside one of them counts as gone or new"
    if before.device.locale and after.device.locale and before.device.locale != after.device.locale:
        yield f"these were recorded in different languages ({before.device.locale}, {after.device.locale}): all words differ"


def _side(graph: StateGraph, name: str, members: tuple[str, ...]) -> Side:
    captures = [graph.captures[m] for m in members]
    shown = next((c for c in captures if c.screenshot and c.settled), captures[0])
    return Side(name, title_of(shown), members, shown)


# ---- which screen is which


def _matched(
    before: StateGraph, after: StateGraph, screens: tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
) -> dict[str, tuple[str, float]]:
    """The screen of the second recording for each of the first, with how alike they are; each is taken once."""
    of_before = {name: _features(before, members) for name, members in screens[0].items()}
    of_after = {name: _features(after, members) for name, members in screens[1].items()}
    scored = []
    for i, (a, seen_a) in enumerate(of_before.items()):
        for j, (b, seen_b) in enumerate(of_after.items()):
            likeness = 1.0 if any(same_screen(x, y) for x in seen_a for y in seen_b) else 0.0
            alike = max((_likeness(x, y) for x in seen_a for y in seen_b), default=0.0)
            if max(likeness, alike) >= _ALIKE:
                scored.append((-(likeness + alike), i, j, a, b, max(alike, likeness * _ALIKE)))
    pairs: dict[str, tuple[str, float]] = {}
    taken: set[str] = set()
    for *_, a, b, alike in sorted(scored):
        if a not in pairs and b not in taken:
            pairs[a] = (b, round(alike, 3))
            taken.add(b)
    order = list(of_before)
    return dict(sorted(pairs.items(), key=lambda p: order.index(p[0])))


def _features(graph: StateGraph, members: tuple[str, ...]) -> list[Features]:
    """The different features of a screen's captures; a few say enough."""
    return list(dict.fromkeys(features(graph.captures[m]) for m in members))[:6]


def _likeness(a: Features, b: Features) -> float:
    """How much of what names either is in both, 0 to 1."""
    if (a.package, a.landscape, a.popup) != (b.package, b.landscape, b.popup):
        return 0.0
    ours = _naming(a)
    theirs = _naming(b)
    share = len(ours & theirs) / len(ours | theirs) if ours or theirs else 1.0
    same_activity = bool(a.activity) and a.activity == b.activity
    return min(1.0, share * 0.8 + 0.2) if same_activity and a.selected == b.selected else share * 0.8 + (0.2 if share == 1 else 0)


def _naming(f: Features) -> frozenset[str]:
    return f.controls | f.passive | f.collections | frozenset(words for _, words in f.form) | f.selected


# ---- one screen against another


def _compare(before: StateGraph, after: StateGraph, a: Side, b: Side, likeness: float) -> ScreenChange:
    """What went and came. What one capture of a screen shows and another one does not is no change by itself."""
    ours, theirs = (_widgets(g, s) for g, s in ((before, a), (after, b)))
    gone = {k: v for k, v in ours.always.items() if k not in theirs.ever}
    new = {k: v for k, v in theirs.always.items() if k not in ours.ever}
    words = []
    for key, said in ours.said.items():
        other = theirs.said.get(key)
        if other is None or len(said.texts) > 3 or len(other.texts) > 3:
            continue  # a text that changes all the time is content
        if {plain_words(t) for t in said.texts} & {plain_words(t) for t in other.texts}:
            continue
        words.append(WordChange(said.name, tuple(said.texts), tuple(other.texts)))
    changed_here = {text for change in words for text in change.before + change.after}
    gone, new = (
        {k: v for k, v in part.items() if not (k[2] and k[2] in changed_here)} for part in (gone, new)
    )  # a button whose words changed is one button, not two
    marks = {
        "before": _marks(a.shown, gone, words, 0, before.app.package),
        "after": _marks(b.shown, new, words, 1, after.app.package),
    }
    return ScreenChange(a, b, likeness, tuple(gone.values()), tuple(new.values()), tuple(words), marks)


_Kind = tuple[str, str, str]


@dataclass(slots=True)
class _Said:
    name: str
    texts: list[str]


@dataclass(slots=True)
class _Widgets:
    """The widgets of a screen by kind: in each capture of it, in any; and what stands in those that are named by a place."""

    always: dict[_Kind, str]
    ever: set[_Kind]
    said: dict[str, _Said]


def _widgets(graph: StateGraph, side: Side) -> _Widgets:
    counts: Counter[_Kind] = Counter()
    names: dict[_Kind, str] = {}
    said: dict[str, _Said] = {}
    package = graph.app.package
    for member in side.captures:
        capture = graph.captures[member]
        keys = node_keys(capture.hierarchy)
        here: set[_Kind] = set()
        for path, node, in_rows in visible_nodes(capture):
            if not node.bounds.overlaps(capture.size.bounds) or not node.is_drawn:
                continue
            kind = _kind(node, in_rows, package)
            if kind is not None:
                here.add(kind)
                names.setdefault(kind, _name(node, in_rows))
            if not in_rows and not node.is_editable and node.label.strip():
                # Only an id names the same text in two versions; a place moves with what is put before it.
                own = node.resource_id and keys[path] == node.resource_id
                if own:
                    texts = said.setdefault(keys[path].removeprefix(package), _Said(_name(node, False, with_words=False), [])).texts
                    if node.label not in texts:
                        texts.append(node.label)
        counts.update(here)
    total = len(side.captures)
    always = {kind: names[kind] for kind, count in counts.items() if count == total}
    return _Widgets(always, set(counts), said)


def _kind(node: Node, in_rows: bool, package: str) -> _Kind | None:
    """What a widget is, whatever it says where it has an id; by its words where it has none."""
    short = node.class_name.rpartition(".")[2]
    own = node.resource_id.removeprefix(package)
    if in_rows:
        return (short, own, "") if own else None
    if own or node.is_editable:
        return (short, own, "")
    label = " ".join(node.label.split())[:60]
    if label:
        return (short, "", label)
    return (short, "", "") if node.takes("tap") else None


def _name(node: Node, in_rows: bool, *, with_words: bool = True) -> str:
    """A widget in a person's words: `Button “Save” (save)`."""
    short = node.class_name.rpartition(".")[2]
    own = node.resource_id.rpartition("/")[2]
    label = " ".join((node.hint or "" if node.is_editable else node.label).split())
    label = label if len(label) <= 40 else label[:39] + "…"
    words = f" “{label}”" if label and with_words and not in_rows else ""
    return f"{short}{words}" + (f" ({own})" if own else "") + (" in rows" if in_rows else "")


def _marks(
    capture: Capture, kinds: Mapping[_Kind, str], words: Iterable[WordChange], side: int, package: str
) -> tuple[tuple[int, int, int, int], ...]:
    """Where on a capture the changed widgets are."""
    texts = {text for change in words for text in (change.after if side else change.before)}
    found = []
    for _, node, in_rows in visible_nodes(capture):
        if _kind(node, in_rows, package) in kinds or (not in_rows and node.label in texts):
            cut = node.bounds.intersect(capture.size.bounds)
            if not cut.is_empty:
                found.append((cut.left, cut.top, cut.width, cut.height))
    return tuple(found[:40])


# ---- where actions lead


@dataclass(frozen=True, slots=True)
class _Recording:
    """One recording with its screens."""

    graph: StateGraph
    screens: Mapping[str, tuple[str, ...]]
    sides: Mapping[str, Side]

    def led(self) -> dict[tuple[str, str, str], Outcomes]:
        """Each action with where it led, by screen, kind and what it was aimed at; the package, which may differ, left out."""
        package = self.graph.app.package
        return {
            (o.screen, o.kind, o.target.replace(package, "") if package else o.target): o
            for o in outcomes(self.graph, screens=self.screens)
        }

    def home(self, capture: str) -> str:
        return next(name for name, members in self.screens.items() if capture in members)


def _transitions(
    before: _Recording, after: _Recording, forward: Mapping[str, str], changes: Mapping[str, ScreenChange]
) -> tuple[list[Broken], list[Broken], int]:
    """The broken transitions, those of which nothing certain can be said, and how many actions were not done again."""
    leads = after.led()
    broken: list[Broken] = []
    uncertain: list[Broken] = []
    unseen = 0
    for (screen, kind, target), was in before.led().items():
        now = leads.get((forward.get(screen, ""), kind, target))
        if now is None:
            unseen += 1
            continue
        expected = {forward.get(to, f"gone {to}") for to in was.counts}
        if expected & set(now.counts):
            continue
        entry = Broken(
            changes[screen],
            was.words,
            tuple(before.sides[to].title for to in was.counts),
            tuple(after.sides[to].title for to in now.counts),
        )
        (broken if was.is_certain and now.is_certain else uncertain).append(entry)
    return broken, uncertain, unseen


def _surely(names: list[str], here: _Recording, there: _Recording, forward: Mapping[str, str]) -> set[str]:
    """Those of these screens of one recording that the other one would have shown, had they been there.

    A way to such a screen starts at a screen that both have: it was tried there too, or the widget it needs is not there.
    """
    starts = {here.home(trace.start) for trace in here.graph.traces} if there.graph.traces else set()
    sure = {n for n in names if n in starts and shown_package(here.sides[n].shown) == here.graph.app.package}
    done = there.led()
    widgets: dict[str, set[_Kind]] = {}
    home = {capture: name for name, members in here.screens.items() for capture in members}
    package, other = here.graph.app.package, there.graph.app.package
    led = here.led()
    for transition in here.graph.transitions():
        screen, name = home[transition.source], home[transition.target]
        if name not in names or name in sure or screen not in forward:
            continue
        match = forward[screen]
        if transition.hit is None:
            continue
        node = here.graph.captures[transition.source].hierarchy.at(transition.hit)
        kind = _kind(node, False, package)
        if match not in widgets:
            widgets[match] = _everything(there, match, other)
        if kind is not None and kind not in widgets[match]:
            sure.add(name)
    for (screen, kind_of_action, target), outcome in led.items():
        if screen in forward and (forward[screen], kind_of_action, target) in done:
            sure.update(name for name in outcome.counts if name in names)
    return sure


def _everything(recording: _Recording, screen: str, package: str) -> set[_Kind]:
    """All widgets that any capture of a screen has, in rows or not, whether in sight or not."""
    found: set[_Kind] = set()
    for member in recording.screens[screen]:
        found.update(k for n in recording.graph.captures[member].hierarchy.nodes() if (k := _kind(n, False, package)))
    return found
