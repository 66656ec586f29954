"""Plays kept episodes again on their mock: checks that they come out the same to the byte, and shows what was seen on the way."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.policy import Actor
from phoneworld.env.rewards import Rewards
from phoneworld.env.rollout import Job, Phones, Player
from phoneworld.episodes.folder import EpisodeFolder, Kept
from phoneworld.episodes.keeping import KeepTraces
from phoneworld.episodes.trace import Line, Step, Trace, write_line
from phoneworld.errors import FileFormatError, PhoneWorldError
from phoneworld.sim.state import PhoneState

Outcome = Literal["same", "same steps", "differs"]
"""`same steps`: what ended it (a fault of phone or policy, the clock) does not come again, but all its steps did."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of playing an episode again; where it differs, the first line that does, as it was and as it is now."""

    name: str
    outcome: Outcome
    line: int = 0
    was: str = ""
    now: str = ""


def mock_digest(bundles: Sequence[str | Path]) -> str:
    """SHA-256 of the program of a bundle, which names its trees and pictures by their hashes; of several, that of all. Raises FileFormatError."""
    found: list[str] = []
    for bundle in bundles:
        try:
            found.append(sha256((Path(bundle) / "program.json").read_bytes()).hexdigest())
        except OSError as e:
            raise FileFormatError(f"cannot read {bundle}/program.json: {e.strerror or e}", hint="a bundle is the folder that `phoneworld build` writes") from None
    return found[0] if len(found) == 1 else sha256("".join(found).encode()).hexdigest()


def env_words(phones: Phones) -> dict[str, Any]:
    """What headers say of an environment."""
    rewards = phones.rewards
    return {"rewards": [rewards.kind, rewards.cap, rewards.gamma], "on_unrecorded": phones.on_unrecorded, "max_steps": phones.max_steps}


def phones_of(folder: EpisodeFolder, bundles: Sequence[str | Path] = (), *, observe: ObservationSpec = ObservationSpec()) -> Phones:
    """How phones are made on which a folder's episodes happen again. `bundles` where the mock lies elsewhere by now.

    Raises FileFormatError where the mock is another, or the episodes were played on a real phone.
    """
    about = folder.about
    where = folder.path
    if about.get("phone", "mock") != "mock":
        raise FileFormatError(f"{where} was played on a real phone ({about['phone']}), which does not do the same again", hint="its frames and trees are in the folder")
    try:
        places = [str(b) for b in bundles] or [os.path.normpath(where / str(place)) for place in about["places"]["bundles"]]
        kind, cap, gamma = about["env"]["rewards"]
        phones = Phones(
            tuple(places), tasks=folder.tasks(), observe=observe, max_steps=about["env"]["max_steps"],
            rewards=Rewards(kind, cap, gamma), on_unrecorded=about["env"]["on_unrecorded"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise FileFormatError(f"{where}/episodes.json does not say what was played on ({type(e).__name__}: {e})", hint="run the episodes again") from None
    missing = [place for place in places if not (Path(place) / "program.json").is_file()]
    if missing:
        raise FileFormatError(f"the mock is not at {missing[0]} any more", hint="say where it is: --bundle PATH")
    if mock_digest(places) != about.get("mock"):
        raise FileFormatError(f"{', '.join(places)} is another mock than the episodes were played on", hint="name the one they were played on: --bundle PATH; or run them again")
    return phones


@dataclass(frozen=True, slots=True)
class Redo:
    """A policy that does what an episode did, and then raises: whoever asks further does not do the same."""

    steps: tuple[Step, ...]

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor at the first step."""
        return _Again(self.steps)


class _Again:
    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._left = list(reversed(steps))
        self.said: str | None = None

    def act(self, observation: Observation, info: Info) -> Any:
        if not self._left:
            raise IndexError("no step is left")
        step = self._left.pop()
        self.said = step.said
        return step.action


def replay(kept: Kept, env: PhoneEnv) -> Replayed:
    """Plays an episode again with what acts replaced by its record, writes it down, and holds the two beside each other byte by byte."""
    trace = kept.trace
    head = trace.header
    if not head.start:
        # It could not be begun: there is nothing that could come again.
        return Replayed(kept.name, "same steps")
    with TemporaryDirectory() as place:
        folder = EpisodeFolder(Path(place))
        keep = KeepTraces(
            folder, app=head.app, mock=head.mock, policy=head.policy, env=head.env, frames=head.frame is not None, trees=head.tree is not None
        )
        job = Job(head.task, head.seed, head.language, head.attempt)
        player = Player(env, job, Redo(trace.steps), keep)
        while player.record is None:
            player.step()
        now = folder.read(keep.name(job))
    repeats = _repeats(trace)
    was_lines, now_lines = list(_compared(trace, repeats)), list(_compared(replace(now, header=replace(now.header, versions=head.versions)), repeats))
    for n, (was, is_now) in enumerate(zip(was_lines, now_lines, strict=False), 1):
        if was != is_now:
            return Replayed(kept.name, "differs", n, was.decode().strip(), is_now.decode().strip())
    if len(was_lines) != len(now_lines):
        longer = max(was_lines, now_lines, key=len)
        n = min(len(was_lines), len(now_lines))
        told = longer[n].decode().strip()
        return Replayed(kept.name, "differs", n + 1, *((told, "") if longer is was_lines else ("", told)))
    return Replayed(kept.name, "same" if repeats else "same steps")


def _repeats(trace: Trace) -> bool:
    """True where the ending is decided by the steps."""
    end = trace.end
    return end is not None and end.termination != "time_limit" and not (end.termination == "error" and end.error_class in ("infra", "agent", "env"))


def _compared(trace: Trace, repeats: bool) -> Iterator[bytes]:
    lines: list[Line] = [trace.header, *trace.steps]
    if trace.end is not None and repeats:
        lines.append(trace.end)
    for line in lines:
        if isinstance(line, Step) and line.action is None:
            # What was done could not be written, so that its refusal has other words.
            line = replace(line, invalid_action="")
        yield write_line(line)


@dataclass(frozen=True, slots=True)
class Look:
    """One look of an episode that is played again: at its start, and after each step."""

    observation: Observation
    state: PhoneState


def looks(trace: Trace, env: PhoneEnv) -> Iterator[Look]:
    """What was seen at the start of an episode and after each of its steps. Raises what `reset` raises; FileFormatError where it goes otherwise than it went."""
    head = trace.header
    try:
        observation, _ = env.reset(head.seed, task=head.task, language=head.language)
    except PhoneWorldError:
        if not trace.steps:
            return
        raise
    yield Look(observation, env.state)
    for step in trace.steps:
        observation, *_, info = env.step(step.action or {"kind": "none"})
        if info["state_id"] != step.state_id:
            raise FileFormatError(f"step {step.n} leads elsewhere than it led", hint="`phoneworld episodes replay` says where they differ")
        yield Look(observation, env.state)
