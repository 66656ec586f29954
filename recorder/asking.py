"""Questions asked of a phone: capture in, what to do next out. Pure: no phone, no clock, no global randomness.

    nothing under way   a question whose circumstances hold on this screen is asked here, or one whose recorded way crosses it; else
                        the app is started over and the way to the best question left is gone; else (`None`) chance acts
    on the way          each recorded step is done again where the screen is the one it was recorded on, its widget found anew
    asking              the action, then what reveals its outcome

Steps at random and steps for questions keep to the share `mix`. Whatever is done, and by whom, may settle questions: `learn` is
told of every step.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from phoneworld.graph.graph import Capture
from phoneworld.graph.plan import Plan, Question, Step, aimed, find_target
from phoneworld.graph.situation import Scene, circumstances, deed_of, recognise, scene_of, words_of
from phoneworld.ui.action import Action, LongPress, PressKey, Swipe, TypeText
from phoneworld.ui.node import Gesture, Hierarchy, Path
from recorder.attribute import attribute, focused_field
from recorder.candidates import reachable_point
from recorder.explore import Choice
from recorder.safety import Guard
from recorder.words import phrase, text_for

MIX = 0.5
_SHORTEST_TRACE = 30
"""So long a trace is, times `mix`, before it is left for a question that cannot be asked in it."""
_FARTHEST = 5
"""So many steps of a recorded way are gone from another place than its start."""
_MISSES = 2
_FRESH = 10_000
"""Where nobody counts texts they are numbered from here."""
_TRIES, _APART = 8, 1000
"""Names and dates come again: so many others are tried, so far apart in number."""


@dataclass(frozen=True, slots=True)
class StartOver:
    """Clear the app's data and open it: the next question is asked from there."""

    question: str
    why: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of a plan: the questions that were asked, those that could not be reached and why, and how many are left."""

    answered: tuple[str, ...]
    not_reached: tuple[tuple[str, str], ...]
    left: int


@dataclass(slots=True)
class Asking:
    """What became of a plan so far. `answered` names questions in order, `lost` those that could not be asked, and why."""

    plan: Plan
    mix: float = MIX
    seed: int = 0
    guard: Guard = field(default_factory=Guard)
    may_start_over: bool = True
    answered: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=lambda: {"asking": 0, "random": 0})
    _left: list[Question] = field(init=False)
    _queue: deque[Step] = field(default_factory=deque)
    _now: Question | None = None
    _said: set[str] = field(default_factory=set)
    _missed: dict[str, int] = field(default_factory=dict)
    _is_awaited: bool = False
    _in_trace: int = 0
    _texts: int = 0
    _number: int | None = None
    _last: Step | None = None
    _scene: tuple[Capture, Scene | None] | None = None

    def __post_init__(self) -> None:
        self._left = list(self.plan.questions)

    def next(self, capture: Capture, *, number: int | None = None) -> Choice | StartOver | None:
        """What to do on this screen; None where somebody else is to act, at random, or, without a `mix`, where nothing is left.

        `number` counts the texts typed so far: a new one follows from it and the seed.
        """
        self._number, self._last = number, None
        scene = self._scene_of(capture)
        if self._queue and (choice := self._going_on(capture, scene)):
            return choice
        self._now = None
        if not self._is_turn_of_chance():
            while self._asked_here(scene):  # one that cannot be asked after all is given up or missed: the next one may be
                if choice := self._going_on(capture, scene):
                    return choice
            if start := self._start_over():
                return start
        self.steps["random"] += 1
        return None

    def begin_trace(self, *, is_fresh: bool) -> None:
        """A trace begins, as `StartOver` says or for another reason. From cleared data the way to a question can be gone at once."""
        self._in_trace = 0 if is_fresh else _SHORTEST_TRACE
        if not self._is_awaited:
            self._give_up("the app was started over on the way")
            if is_fresh and not self._is_turn_of_chance():
                self._set_out()
        self._is_awaited = False

    def learn(self, source: Capture, action: Action, target: Capture) -> None:
        """Takes in a step, whoever chose it: questions about just this are settled."""
        self._in_trace += 1
        if isinstance(action, TypeText):
            self._said.add(action.text)
        scene = self._scene_of(source)
        if scene is None:
            return
        hit = attribute(source.hierarchy, action, source.size)
        deed, told = (scene.sketch.id, deed_of(scene, action, hit)), circumstances(scene, hit)
        for question in [q for q in self._left if _deed(q) == deed and q.given <= told]:
            self._left.remove(question)
            self.answered.append(question.id)
            self.lost.pop(question.id, None)

    def refused(self) -> None:
        """The phone refused the step given last: its question cannot be asked."""
        if self._last is not None:
            self._give_up("the phone refused a step")

    def not_done(self) -> None:
        """The screen moved before the step given last was done: it is given again."""
        if self._last is not None:
            self._queue.appendleft(self._last)

    @property
    def answers(self) -> Answers:
        """What came of the plan so far."""
        words = {q.id: q.why for q in self.plan.questions}
        lost = tuple((words[name], why) for name, why in self.lost.items())
        return Answers(tuple(words[name] for name in self.answered), lost, len(self._left) - len(lost))

    # ---- one question

    def _going_on(self, capture: Capture, scene: Scene | None) -> Choice | None:
        """The next step of the question under way; None where it cannot be done or there is no more."""
        assert self._now is not None
        step = self._queue[0]
        if step.screen and (scene is None or scene.sketch.id != step.screen):
            wanted = self.plan.sketch(step.screen)
            found = "an unknown screen" if scene is None else repr(scene.sketch.name)
            self._give_up(f"expected {wanted.name if wanted else step.screen!r}, found {found}")
            return None
        if len(self._queue) == len(self._now.act) + len(self._now.reveal) and self._now.given:
            # The way may have led to the screen in another state: then it is another question.
            first = None if scene is None else _first_step_here(self._now, scene)
            if first is None:
                self._miss(f"the way led there, but not so: {words_of(self._now.given)}")
                return None
            step = first
        self._queue.popleft()
        choice = self._aimed(step, capture, scene)
        if choice is None:
            return None
        self.steps["asking"] += 1
        self._last = step
        if len(self._queue) == len(self._now.reveal) and self._now in self._left:
            self._left.remove(self._now)
            self.answered.append(self._now.id)
        return choice

    def _aimed(self, step: Step, capture: Capture, scene: Scene | None) -> Choice | None:
        """The step with its place found anew."""
        assert self._now is not None
        action, path = step.action, None
        if step.target is not None and scene is not None:
            path = find_target(scene, step.target)
            if path is None:
                self._give_up(f"no {step.target.mark} on {scene.sketch.name!r}")
                return None
            if self.guard.forbids(capture.hierarchy, path, capture.size) is not None:
                self._give_up(f"{step.target.mark} is left alone as unsafe")
                return None
            if isinstance(action, TypeText) and action.x is None:
                path = focused_field(capture.hierarchy)
            else:
                point = reachable_point(capture, path, _gesture(action)) if _takes(capture.hierarchy, path, action) else None
                place = point or capture.hierarchy.tap_point(path, capture.size)
                if place is None:
                    self._give_up(f"{step.target.mark} cannot be reached on {scene.sketch.name!r}")
                    return None
                action = _kept_on_screen(aimed(action, place.x, place.y), capture)
        focus = focused_field(capture.hierarchy)
        if action == PressKey("enter") and focus and self.guard.forbids_enter(capture.hierarchy, focus, capture.size) is not None:
            self._give_up("Enter is left alone as unsafe")
            return None
        if step.is_fresh and isinstance(action, TypeText):
            action = replace(action, text=self._new_text(capture, path))
        return Choice(action, "", "" if step.target is None else step.target.words, path, f"asks: {self._now.why}")

    def _miss(self, why: str) -> None:
        """Not now: it may come out otherwise from elsewhere, once."""
        question = self._now
        self._give_up(why)
        if question is not None and question.id in self.lost and self._missed.get(question.id, 0) < _MISSES:
            self._missed[question.id] = self._missed.get(question.id, 0) + 1
            del self.lost[question.id]

    def _give_up(self, why: str) -> None:
        if self._now is not None:
            if self._now.id not in self.answered:
                self.lost[self._now.id] = why
            self._now = None
        self._queue.clear()

    def _new_text(self, capture: Capture, path: Path | None) -> str:
        """A text that was not typed yet, of the kind that the field asks for."""
        self._texts += 1
        number = _FRESH + self._texts if self._number is None else self._number
        node = None if path is None else capture.hierarchy.at(path)
        for other in range(_TRIES):
            if node is None:
                break
            text = text_for(node, seed=self.seed, number=number + other * _APART)
            if text.strip() and text not in self._said:
                return text
        return phrase(self.seed, number)

    # ---- which question

    def _asked_here(self, scene: Scene | None) -> bool:
        """Begins the question that settles most per step from here: on this screen as it is, or on the rest of its recorded way."""
        if scene is None:
            return False
        best: tuple[float, Question, tuple[Step, ...]] | None = None
        for question in self._left:
            if question.id in self.lost:
                continue
            way = self._way_from(question, scene)
            if way is None:
                continue
            rate = question.gain / (len(way) + len(question.reveal))
            if best is None or rate > best[0]:
                best = (rate, question, way)
        if best is None:
            return False
        _, self._now, way = best
        self._queue = deque((*way, *self._now.reveal))
        return True

    def _way_from(self, question: Question, scene: Scene) -> tuple[Step, ...] | None:
        """The steps to a question's action and it from this screen; None where there are none."""
        if question.screen == scene.sketch.id and (first := _first_step_here(question, scene)) is not None:
            return (first, *question.act[1:])
        if self._missed.get(question.id):
            return None
        steps = question.start.steps
        for k in range(len(steps) - 1, max(-1, len(steps) - 1 - _FARTHEST), -1):
            if steps[k].screen == scene.sketch.id and _is_possible(steps[k], scene):
                return (*steps[k:], *question.act)
        return None

    def _start_over(self) -> StartOver | None:
        """Where nothing can be asked here: begins the best question that can be reached from a start."""
        if not self.may_start_over or self._in_trace < _SHORTEST_TRACE * min(self.mix, 0.5) or not self._set_out():
            return None
        assert self._now is not None
        self._is_awaited = True
        return StartOver(self._now.id, self._now.why)

    def _set_out(self) -> bool:
        left = [q for q in self._left if q.id not in self.lost]
        if not left:
            return False
        self._now = max(left, key=lambda q: (q.gain / max(1, q.cost), q.id))
        self._queue = deque((*self._now.start.steps, *self._now.act, *self._now.reveal))
        return True

    def _is_turn_of_chance(self) -> bool:
        asked, chance = self.steps["asking"], self.steps["random"]
        return self.mix >= 1 or (self.mix > 0 and chance < self.mix * (asked + chance))

    def _scene_of(self, capture: Capture) -> Scene | None:
        if self._scene is None or self._scene[0] is not capture:
            sketch = recognise(self.plan.screens, capture)
            self._scene = (capture, None if sketch is None else scene_of(capture, sketch))
        return self._scene[1]


def _first_step_here(question: Question, scene: Scene) -> Step | None:
    """The first step of a question, on a widget of this screen whose circumstances are those asked for."""
    first, tree = question.act[0], scene.capture.hierarchy
    if first.target is None:
        return first if question.given <= circumstances(scene) else None
    if isinstance(first.action, TypeText | PressKey):
        focus = focused_field(tree)
        if focus is None or scene.mark(focus) != first.target.mark or not scene.capture.state.keyboard:
            return None
        if not question.given <= circumstances(scene, focus):
            return None
        return replace(first, target=replace(first.target, nth=scene.alike(first.target.mark).index(focus), words=""))
    for number, path in enumerate(scene.alike(first.target.mark)):
        if _takes(tree, path, first.action) and question.given <= circumstances(scene, path):
            return replace(first, target=replace(first.target, nth=number, words=""))
    return None


def _is_possible(step: Step, scene: Scene) -> bool:
    """True where a recorded step can be done on this screen: its widget is there, words can be typed."""
    if isinstance(step.action, TypeText) and step.action.x is None:
        return focused_field(scene.capture.hierarchy) is not None and scene.capture.state.keyboard
    return step.target is None or find_target(scene, step.target) is not None


def _deed(question: Question) -> tuple[str, str]:
    """The kind of action that a question is about."""
    return question.screen, question.deed


def _gesture(action: Action) -> Gesture:
    return "long_press" if isinstance(action, LongPress) else "scroll" if isinstance(action, Swipe) else "tap"


def _takes(tree: Hierarchy, path: Path, action: Action) -> bool:
    return tree.at(path).takes(_gesture(action))


def _kept_on_screen(action: Action, capture: Capture) -> Action:
    """A swipe that begins elsewhere than recorded must not end beside the screen."""
    if not isinstance(action, Swipe):
        return action
    width, height = capture.size.width, capture.size.height
    return replace(action, x2=min(max(action.x2, 0), width - 1), y2=min(max(action.y2, 0), height - 1))
