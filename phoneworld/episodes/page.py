"""A page that shows episodes: the phone with the touch drawn on it, what came of it, the tree, what changed in the state, the verdict.

One file that needs no network: pictures are in it, each once. Two folders stand side by side, task by task and seed by seed. What is not
kept in a folder is found by playing its episodes again. Everything that was recorded enters the page as data, never as HTML.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.episodes.folder import EpisodeFolder
from phoneworld.episodes.replay import Look, looks, phones_of
from phoneworld.episodes.trace import Trace
from phoneworld.errors import BrowserError, FileFormatError, PhoneWorldError
from phoneworld.program.program import all_variables
from phoneworld.render.report_page import thumbnail
from phoneworld.render.templates import environment
from phoneworld.sim.state import PhoneState
from phoneworld.tasks.differences import differences
from phoneworld.tasks.kept import kept_variables
from phoneworld.tasks.names import Names
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from phoneworld.ui.xml import parse_hierarchy

SHOWN_WIDTH = 360
_WORDS = 160
_CHANGES = 40
_SYSTEM = ("moment",)
"""Variables that say where in the recording one is: of no interest to who looks."""

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Things:
    """Pictures and trees of the page, each once."""

    pictures: list[str] = field(default_factory=list)
    trees: list[dict[str, Any]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def picture(self, png: bytes) -> int | None:
        """The place of a picture; None where it is none."""
        key = hashlib.sha256(png).hexdigest()
        if key not in self._places:
            uri = thumbnail(png, SHOWN_WIDTH)
            if not uri:
                return None
            self.pictures.append(uri)
            self._places[key] = len(self.pictures) - 1
        return self._places[key]

    def tree(self, key: str, tree: Callable[[], Hierarchy], size: Size) -> int:
        """The place of a tree, known by its key."""
        key = f"tree {key} {size.width}x{size.height}"
        if key not in self._places:
            self.trees.append(_plain_tree(tree(), size))
            self._places[key] = len(self.trees) - 1
        return self._places[key]


@dataclass(frozen=True, slots=True)
class Side:
    """A folder as one side of the page: its name there, the names of the episodes that are shown, and where its mock is now."""

    title: str
    folder: EpisodeFolder
    names: Sequence[str]
    bundles: tuple[str, ...] = ()


def episodes_page(sides: Sequence[Side], *, draw: bool = True, progress: Progress = lambda done, of: None) -> str:
    """The page. Without `draw` only pictures that lie in a folder are shown, and the others drawn as boxes of their trees."""
    things, notes = _Things(), list[str]()
    each: dict[str, list[dict[str, Any] | None]] = {}
    total, done = sum(len(side.names) for side in sides), 0
    for place, side in enumerate(sides):
        with _phone(side, draw, notes) as env:
            teller = _Teller(side, env, things, notes, draw)
            for name in side.names:
                each.setdefault(name, [None] * len(sides))[place] = teller.tell(name)
                done += 1
                progress(done, total)
    columns = [{"title": side.title, "policy": _policy(side), **_counts([s[i] for s in each.values()])} for i, side in enumerate(sides)]
    data = {
        "columns": columns, "episodes": [{"name": name, "sides": of} for name, of in each.items()], "pictures": things.pictures, "trees": things.trees,
        "notes": list(dict.fromkeys(notes)),
    }  # fmt: skip
    # As JSON in a script that is not run: "<" is written otherwise, so that nothing recorded can end it.
    text = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    return environment().get_template("episodes/page.html").render(title=" against ".join(side.title for side in sides), data=Markup(text))


def _phone(side: Side, draw: bool, notes: list[str]) -> Any:
    """The mock to play again on, where it is there."""
    try:
        return closing(phones_of(side.folder, side.bundles, observe=ObservationSpec(screenshot="png" if draw else "none"))())
    except PhoneWorldError as e:
        notes.append(f"{side.title}: only what lies in the folder is shown, for {e.message}")
        return nullcontext(None)


@dataclass(slots=True)
class _Teller:
    """Tells the episodes of one folder as JSON."""

    side: Side
    env: PhoneEnv | None
    things: _Things
    notes: list[str]
    draw: bool
    _names: dict[str, Names] = field(default_factory=dict)
    _kept: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = {task.id: task.names for task in self.side.folder.tasks()}
        if self.env is not None:
            self._kept = {package: kept_variables(model.program) for package, model in self.env.phone.models.items()}

    def tell(self, name: str) -> dict[str, Any]:
        trace = self.side.folder.read(name)
        record = trace.record()
        times = self.side.folder.times(name).get("steps", [])
        seen, changes = self._seen(name, trace)
        steps = [
            {
                "action": s.action, "said": s.said, "hit": None if s.hit is None else {"id": s.hit.id, "class": s.hit.class_name, "words": s.hit.words, "bounds": s.hit.bounds},
                "changed": s.changed, "evidence": s.evidence, "rules": s.rules[:12], "message": s.message, "invalid": s.invalid_action, "state": s.state_id,
                "reward": s.reward, "progress": s.progress, "changes": changes[i] if i < len(changes) else None,
                "took": times[i] if i < len(times) and isinstance(times[i], list) else None,
            }
            for i, s in enumerate(trace.steps)
        ]  # fmt: skip
        head, end = trace.header, trace.end
        return {
            "task": head.task, "seed": head.seed, "attempt": head.attempt, "language": head.language, "instruction": head.instruction, "app": head.app,
            "parameters": head.parameters, "screen": head.screen, "start": head.start, "looks": seen, "steps": steps, "ended": _ended(trace),
            "success": record.success, "message": record.message, "progress": record.progress, "answer": record.answer, "unrecorded": record.unrecorded,
            "side_effects": record.side_effects, "violations": record.violations, "explanation": () if end is None else end.explanation,
        }  # fmt: skip

    def _seen(self, name: str, trace: Trace) -> tuple[list[dict[str, Any]], list[list[str]]]:
        """What each look shows, and what each step changed in the state, as far as that can be known."""
        again: list[Look] = []
        if self.env is not None and trace.header.start:
            try:
                for look in looks(trace, self.env):
                    again.append(look)
            except PhoneWorldError as e:
                self.notes.append(f"{name}: {e.message}")
        names = self._names.get(trace.header.task or "", Names())
        changes = [list(self._changes(a.state, b.state, names)) for a, b in pairwise(again)]
        kept = [(trace.header.frame, trace.header.tree), *((s.frame, s.tree) for s in trace.steps)]
        return [self._look(again[i] if i < len(again) else None, *of, trace) for i, of in enumerate(kept)], changes

    def _look(self, look: Look | None, frame: str | None, tree: str | None, trace: Trace) -> dict[str, Any]:
        told: dict[str, Any] = {"picture": None, "tree": None}
        try:
            if frame is not None:
                told["picture"] = self.things.picture(self.side.folder.content("png", frame))
            elif look is not None and self.draw:
                told["picture"] = self.things.picture(look.observation.png)
        except FileFormatError as e:
            self.notes.append(e.message)
        except BrowserError as e:
            self.draw = False
            self.notes.append(f"screens are drawn as boxes, for {e.message}")
        try:
            if look is not None:
                reading = look.observation.look[2]
                told["tree"] = self.things.tree(hashlib.sha256(reading.xml).hexdigest(), lambda: reading.hierarchy, look.observation.size)
            elif tree is not None:
                xml = self.side.folder.content("xml", tree)
                told["tree"] = self.things.tree(tree, lambda: parse_hierarchy(xml), Size(*(trace.header.screen or (1080, 2400))))
        except PhoneWorldError as e:
            self.notes.append(e.message)
        return told

    def _changes(self, before: PhoneState, after: PhoneState, names: Names) -> Iterator[str]:
        """What a step changed, in words: rows and settings first, then where one is and what is passing."""
        assert self.env is not None
        if before.foreground != after.foreground:
            yield f"in front: {before.foreground} became {after.foreground}"
        count = 0
        for package, app in after.apps.items():
            was = before.apps.get(package)
            if was is None or was is app:
                continue
            called = {own: name for name, own in names.screens.items()}
            if was.screen != app.screen:
                yield f"screen: {called.get(was.screen, was.screen)} became {called.get(app.screen, app.screen)}"
            first = self._kept[package]
            rest = set(all_variables(self.env.phone.models[package].program)) - first - set(_SYSTEM)
            for difference in (*differences(was, app, sorted(first)), *differences(was._replace(tables=app.tables, edits=app.edits), app, sorted(rest))):
                count += 1
                if count > _CHANGES:
                    yield "and more"
                    return
                yield difference.words(names)


def _ended(trace: Trace) -> str:
    record = trace.record()
    if record.error_class in ("infra", "checker", "env"):
        return record.error_class
    return "raised" if record.termination == "error" else record.termination or "error"


def _policy(side: Side) -> str:
    return str(side.folder.about.get("policy", {}).get("name", ""))


def _counts(told: Sequence[dict[str, Any] | None]) -> dict[str, int]:
    there = [one for one in told if one is not None]
    return {"episodes": len(there), "succeeded": sum(one["success"] is True for one in there)}


def _plain_tree(tree: Hierarchy, size: Size) -> dict[str, Any]:
    """A tree as rows: depth, class, id, words, bounds, what it takes and is."""
    rows = []
    for path, node in tree.walk():
        b = node.bounds
        flags = [
            word
            for word, holds in (
                ("clickable", node.clickable), ("long", node.long_clickable), ("scrolls", node.scrollable), ("checked", node.checked),
                ("selected", node.selected), ("focused", node.focused), ("disabled", not node.enabled), ("hidden", not node.visible),
            )
            if holds
        ]  # fmt: skip
        words = node.text or node.content_desc or node.hint or ""
        rows.append([len(path) - 1, node.class_name.rpartition(".")[2], node.resource_id.rpartition("/")[2], words[:_WORDS], b.left, b.top, b.right, b.bottom, " ".join(flags)])
    return {"width": size.width, "height": size.height, "rows": rows}
