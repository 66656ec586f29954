"""What there is to learn from: what was seen, and what was then done, from episodes on disk and from recorded traces.

Episodes of a mock are played again, so that what a dialect has no word for can be done in parts (a tap, then the text) and seen in between;
one that does not succeed when it is said so is left out, and that is counted. Recorded traces and episodes of real phones are taken as they
lie there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Literal

from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.dialects.speaking import sayable
from phoneworld.env.elements import list_screen
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.parsing import parse_action
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.episodes.folder import EpisodeFolder, Kept
from phoneworld.episodes.replay import phones_of
from phoneworld.episodes.trace import Hit, Trace, hit_of
from phoneworld.errors import ActionError, FileFormatError
from phoneworld.graph.file import load_graph, screenshot_bytes
from phoneworld.graph.graph import Capture, StateGraph
from phoneworld.graph.graph import Trace as Recorded
from phoneworld.ui.action import (
    Action,
    Answer,
    Clear,
    DoubleTap,
    Drag,
    Finish,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TypeText,
    Wait,
    kind_of,
    points_of,
)
from phoneworld.ui.geometry import Point, Size
from phoneworld.ui.node import Gesture, Hierarchy
from phoneworld.ui.xml import parse_hierarchy

Source = Literal["mock", "real"]
_TEXT_LIMIT = 16_384


@dataclass(frozen=True, slots=True)
class Shown:
    """One look: its size, and where picture and tree are had from when they are needed."""

    size: Size
    png: Callable[[], bytes]
    tree: Callable[[], Hierarchy]

    @property
    def text(self) -> str:
        """What can be acted on, one a line, as policies are shown it."""
        return list_screen(self.tree(), self.size).text(_TEXT_LIMIT)

    def text_with(self, where: Callable[[Point], str]) -> str:
        """The same with places, as policies are shown it that see no picture."""
        return list_screen(self.tree(), self.size).text(_TEXT_LIMIT, where)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, on which look, in a plain sentence."""

    look: Shown
    action: Action
    words: str


@dataclass(frozen=True, slots=True)
class Demonstration:
    """How something was done, to the end; `last` is what was seen after it."""

    id: str
    source: Source
    app: str
    task: str
    instruction: str
    language: str
    seed: int | None
    deeds: tuple[Deed, ...]
    last: Shown


@dataclass(frozen=True, slots=True)
class Found:
    """A demonstration that can be had: `make` plays or reads it."""

    id: str
    make: Callable[[], Demonstration] = field(compare=False)


@dataclass(slots=True)
class Supply:
    """Where demonstrations come from. Use it as a context: mocks are open while it lasts. `left_out` counts what was not taken, and why."""

    dialect: Dialect
    pictures: bool = True
    apps: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    _open: list[PhoneEnv] = field(default_factory=list)

    def __enter__(self) -> Supply:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.pop().close()

    def screen(self, size: Size) -> Screen:
        """What the dialect speaks of."""
        return Screen(size, self.apps)

    # Episodes

    def of_folder(self, folder: EpisodeFolder, title: str, bundles: Sequence[str] = ()) -> Iterator[Found]:
        """The successful episodes of a folder; `title` is what their names begin with. Raises FileFormatError where neither a mock nor pictures and trees are there."""
        real = folder.about.get("phone", "mock") != "mock"
        env: PhoneEnv | None = None
        for kept in folder.traces():
            record = kept.trace.record()
            if record.success is not True:
                self.left_out["no success"] += 1
                continue
            if not real and env is None:
                env = phones_of(folder, bundles, observe=ObservationSpec(screenshot="png" if self.pictures else "none"))()
                self._open.append(env)
                self.apps.update({package: model.program.label for package, model in env.phone.models.items()})
            name = f"{title}/{kept.name}"
            make = partial(self._as_kept, folder, kept, name) if env is None else partial(self._again, env, kept, name)
            yield Found(name, make)

    def _again(self, env: PhoneEnv, kept: Kept, name: str) -> Demonstration:
        """An episode played again in the words of the dialect."""
        head = kept.trace.header
        observation, info = env.reset(head.seed, task=head.task, language=head.language)
        deeds: list[Deed] = []
        stood = head.start

        def do(part: Action) -> None:
            nonlocal observation, info
            shown = _observed(observation)
            deeds.append(Deed(shown, part, deed_words(part, shown.tree(), shown.size, self.apps)))
            observation, _, _, _, info = env.step(part)

        for step in kept.trace.steps:
            before, stood = stood, step.state_id
            if step.action is None or step.invalid_action is not None:
                # It did nothing, and is nothing to learn.
                continue
            action = parse_action(step.action, env.screen_size)
            if step.hit is not None and info["state_id"] != before:
                # What was done in parts left the phone otherwise, such as with a keyboard: the touch goes to the widget it went to.
                if observation.device.keyboard and touching(action, step.hit, observation.look[2].hierarchy, observation.size) is None:
                    do(PressKey("back"))
                action = touching(action, step.hit, observation.look[2].hierarchy, observation.size) or action
            for part in self._sayable(action, observation.look[2].hierarchy, observation.size):
                if info["termination"] is None:
                    do(part)
        if info["success"] is not True:
            raise FileFormatError(f"an episode does not succeed when it is said in {self.dialect.name}", hint="choose another dialect")
        return _demonstration(kept, name, "mock", deeds, _observed(observation))

    def _as_kept(self, folder: EpisodeFolder, kept: Kept, name: str) -> Demonstration:
        """An episode of a real phone, by its frames and trees."""
        head = kept.trace.header
        size = Size(*(head.screen or (0, 0)))
        seen = [_kept(folder, kept.trace, i, size, self.pictures) for i in range(len(kept.trace.steps) + 1)]
        deeds: list[Deed] = []
        for look, step in zip(seen, kept.trace.steps, strict=False):
            if step.action is None or step.invalid_action is not None:
                continue
            action = parse_action(step.action, lambda: size)
            deeds.append(self._taken(look, action))
        return _demonstration(kept, name, "real", deeds, seen[-1])

    # Recordings

    def of_graph(self, file: Path) -> Iterator[Found]:
        """The traces of a recording that say what they were for."""
        graph = load_graph(file)
        self.apps.setdefault(graph.app.package, graph.app.label or graph.app.package)
        for trace in graph.traces:
            if not trace.instruction:
                self.left_out["a trace without an instruction"] += 1
            elif not trace.transitions:
                self.left_out["a trace without a step"] += 1
            else:
                name = f"{file.name.removesuffix('.json').removesuffix('.graph')}/{trace.id}"
                yield Found(name, partial(self._recorded, file, graph, trace, name))

    def _recorded(self, file: Path, graph: StateGraph, trace: Recorded, name: str) -> Demonstration:
        captures = graph.captures
        deeds = [self._taken(_captured(file, captures[t.source]), t.action) for t in trace.transitions]
        last = _captured(file, captures[trace.transitions[-1].target])
        if not isinstance(deeds[-1].action, Answer | Finish):
            deeds.append(Deed(last, Finish(), "Finish."))
        if self.pictures and any(captures[c].screenshot is None for c in trace.captures):
            raise FileFormatError("a trace with looks of which there is no picture", hint="--see text needs none")
        return Demonstration(name, "real", graph.app.package, "", trace.instruction, "", trace.seed, tuple(deeds), last)

    def _taken(self, look: Shown, action: Action) -> Deed:
        """One step as it was recorded. What would have to be done in parts was not seen in between: that cannot be said."""
        parts = self._sayable(action, look.tree(), look.size)
        if len(parts) > 1:
            raise ActionError(f"{self.dialect.name} says {kind_of(action)} in {len(parts)} steps, and what is between them was not recorded", hint="choose another dialect")
        return Deed(look, parts[0], deed_words(parts[0], look.tree(), look.size, self.apps))

    def _sayable(self, action: Action, tree: Hierarchy, size: Size) -> tuple[Action, ...]:
        return sayable(self.dialect, action, self.screen(size), field_is_empty=_is_empty(action, tree, size))


def chosen(given: Sequence[Demonstration], real_fraction: float) -> list[Demonstration]:
    """Those of which this share of all steps is real: all of one kind and of the other as many as that takes, by the hashes of their names."""
    steps = Counter[str]()
    for one in given:
        steps[one.source] += len(one.deeds)
    if 0 < real_fraction < 1 and not (steps["real"] and steps["mock"]):
        missing = "real phones" if steps["mock"] else "mocks"
        raise FileFormatError(f"a share of {real_fraction:g} real steps takes steps of both, and there are none of {missing}", hint="name more sources, or leave --real-fraction out")
    by_mock = steps["mock"] * real_fraction / (1 - real_fraction) if real_fraction < 1 else float("inf")
    by_real = steps["real"] * (1 - real_fraction) / real_fraction if real_fraction > 0 else float("inf")
    left: dict[str, float] = {"real": by_mock, "mock": by_real}
    taken: set[str] = set()
    for one in sorted(given, key=lambda d: sha256(d.id.encode()).digest()):
        if len(one.deeds) <= left[one.source]:
            left[one.source] -= len(one.deeds)
            taken.add(one.id)
    return [one for one in given if one.id in taken]


def demonstrations(found: Sequence[Found], left_out: Counter[str]) -> Iterator[Demonstration]:
    """The demonstrations of these; what cannot be had is left out and counted."""
    for one in found:
        try:
            yield one.make()
        except (ActionError, FileFormatError) as e:
            left_out[e.message] += 1


def deed_words(action: Action, tree: Hierarchy, size: Size, apps: Mapping[str, str] = {}) -> str:
    """A plain sentence: `Tap “New note”.`"""
    points = points_of(action)
    hit = hit_of(tree, points[0], _gesture(action), size) if points else None
    there = "" if hit is None or not hit.words else f" “{hit.words}”"
    match action:
        case Tap():
            return f"Tap{there}." if there else "Tap here."
        case LongPress():
            return f"Press{there} for long." if there else "Press here for long."
        case TypeText(text):
            return f"Type “{text}”{f' into{there}' if there else ''}."
        case Clear():
            return f"Clear{there}." if there else "Clear the field."
        case Swipe(x, y, x2, y2) | Drag(x, y, x2, y2):
            way = ("right" if x2 > x else "left") if abs(x2 - x) > abs(y2 - y) else "down" if y2 > y else "up"
            return f"{'Swipe' if isinstance(action, Swipe) else 'Drag'} {way}."
        case PressKey(key):
            return "Go back." if key == "back" else "Go home." if key == "home" else f"Press {key}."
        case OpenApp(package):
            return f"Open {apps.get(package, package)}."
        case Wait():
            return "Wait."
        case Answer(text):
            return f"Answer “{text}”."
        case Finish(status):
            return "Finish." if status == "success" else "Say that it cannot be done."
        case _:
            return kind_of(action).replace("_", " ").capitalize() + "."


def touching(action: Action, hit: Hit, tree: Hierarchy, size: Size) -> Action | None:
    """The action on the widget that it landed on, where that lies now; None where no touch finds it."""
    if not isinstance(action, Tap | DoubleTap | LongPress | TypeText | Clear) or action.x is None or action.y is None:
        return action
    there = hit_of(tree, Point(action.x, action.y), _gesture(action), size)
    if there is not None and (there.id, there.class_name, there.words) == (hit.id, hit.class_name, hit.words):
        return action
    left, top = hit.bounds[:2]
    found: list[tuple[int, Point]] = []
    for path, node in tree.walk():
        if (node.resource_id, node.class_name) == (hit.id, hit.class_name) and (point := tree.tap_point(path, size)) is not None:
            other = hit_of(tree, point, _gesture(action), size)
            if other is not None and other.words == hit.words:
                found.append((abs(node.bounds.left - left) + abs(node.bounds.top - top), point))
    return replace(action, x=min(found)[1].x, y=min(found)[1].y) if found else None


def _gesture(action: Action) -> Gesture:
    return "long_press" if isinstance(action, LongPress) else "scroll" if isinstance(action, Swipe) else "type" if isinstance(action, TypeText | Clear) else "tap"


def _is_empty(action: Action, tree: Hierarchy, size: Size) -> bool:
    """True where what is typed replaces nothing."""
    if not isinstance(action, TypeText):
        return False
    if action.x is not None and action.y is not None:
        hit = tree.hit_test(Point(action.x, action.y), "type", size)
        return hit is not None and hit.target is not None and not tree.at(hit.target).value
    return any(node.focused and not node.value for node in tree.nodes())


def _demonstration(kept: Kept, name: str, source: Source, deeds: Sequence[Deed], last: Shown) -> Demonstration:
    head = kept.trace.header
    if not deeds:
        raise FileFormatError("an episode without a step", hint="an episode that succeeds without doing anything teaches nothing")
    return Demonstration(name, source, head.app, head.task or "", head.instruction, head.language, head.seed, tuple(deeds), last)


def _observed(observation: Observation) -> Shown:
    return Shown(observation.size, lambda: observation.png, lambda: observation.look[2].hierarchy)


def _captured(file: Path, capture: Capture) -> Shown:
    return Shown(capture.size, lambda: screenshot_bytes(file, capture.screenshot or ""), lambda: capture.hierarchy)


def _kept(folder: EpisodeFolder, trace: Trace, place: int, size: Size, pictures: bool) -> Shown:
    """A look of an episode that cannot be played again."""
    frame, tree = (trace.header.frame, trace.header.tree) if place == 0 else (trace.steps[place - 1].frame, trace.steps[place - 1].tree)
    if tree is None or (pictures and frame is None):
        raise FileFormatError("an episode of a real phone whose frames and trees were not kept", hint="keep them: KeepTraces(frames=True, trees=True)")
    return Shown(size, lambda: folder.content("png", frame or ""), lambda: parse_hierarchy(folder.content("xml", tree)))
