"""Scored episodes as lines of JSON, from which every figure can be made again. What stands there is not played again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from phoneworld.agent.network import Network
from phoneworld.agent.play import Played, Spent
from phoneworld.env.record import EpisodeRecord
from phoneworld.env.rollout import Job
from phoneworld.errors import FileFormatError, WriteError
from phoneworld.train.rl import Place


@dataclass(frozen=True, slots=True)
class Score:
    """One episode: of which policy, where, and how it ended. `success` is None where there is no score."""

    policy: str
    source: str
    task: str
    seed: int
    success: bool | None
    progress: float | None
    steps: int
    unrecorded: int
    ended: str

    @classmethod
    def of(cls, policy: str, source: str, job: Job, record: EpisodeRecord) -> Score:
        """Of an episode."""
        scored = record.trainable
        ended = record.error_class if record.error_class != "none" else record.termination or "error"
        return cls(
            policy, source, job.name or "", job.seed, record.success is True if scored else None, record.progress if scored else None, len(record.steps),
            record.unrecorded, ended,
        )  # fmt: skip

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What it is the score of."""
        return self.policy, self.source, self.task, self.seed


class ScoreFile:
    """A file of scores that grows. Its last line may be cut where a process was killed: that one is played again."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.scores: dict[tuple[str, str, str, int], Score] = {}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole, _, cut = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                score = Score(**json.loads(line))
            except (ValueError, TypeError) as e:
                raise FileFormatError(f"{self.path}:{number}: no score of an episode: {e}", hint="name another file") from None
            self.scores[score.key] = score
        if cut:
            self._write("".join(line + "\n" for line in whole.splitlines()), "w")

    def add(self, score: Score) -> None:
        """Adds one. Raises WriteError."""
        self._write(json.dumps(asdict(score), ensure_ascii=True) + "\n", "a")
        self.scores[score.key] = score

    def _write(self, text: str, mode: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as out:
                out.write(text)
        except OSError as e:
            raise WriteError(f"cannot write {self.path}: {e.strerror or e}", hint="name a file in a folder that is there") from None


def score(
    file: ScoreFile, policy: str, network: Network, source: str, place: Place, jobs: Sequence[Job], tell: Callable[[int], Any] = lambda n: None
) -> Spent:
    """Plays the likeliest choices of a policy where no score stands yet; what the machine lost is played again. `tell` hears of each episode."""
    spent = Spent()
    missing = [job for job in jobs if (known := file.scores.get((policy, source, job.name or "", job.seed))) is None or known.ended == "infra"]
    tell(len(jobs) - len(missing))

    def done(number: int, played: Played) -> None:
        file.add(Score.of(policy, source, missing[number], played.record))
        tell(1)

    if missing:
        place.play(network, [(job, None) for job in missing], spent, done)
    return spent
