"""A run of training on disk: its last update, and each real episode as soon as it has ended. A run that is begun again in the folder goes on from there.

Mock episodes are not kept: they are played again to the same bytes in less time than it takes to read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phoneworld.agent.play import Decision, Played
from phoneworld.agent.policy import packed_sight, read_whole, unpacked_sight, write_whole
from phoneworld.agent.sight import Choice
from phoneworld.env.record import EpisodeRecord, StepRecord
from phoneworld.errors import FileFormatError, OptionError, WriteError
from phoneworld.graph.file import write_atomically


class Journal:
    """The folder of one run. `about` is all that decides its numbers. Raises OptionError where another run lies in the folder."""

    def __init__(self, folder: str | Path, about: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        told = json.dumps(about, indent=1, sort_keys=True, default=str)
        file = self.folder / "run.json"
        try:
            (self.folder / "real").mkdir(parents=True, exist_ok=True)
            if not file.exists():
                write_atomically(file, told.encode())
            elif file.read_text(encoding="utf-8") != told:
                raise OptionError(f"{self.folder} holds a run that was begun otherwise ({file.name} says how)", hint="name another folder, or begin it as it was")
        except OSError as e:
            raise WriteError(f"cannot write into {self.folder}: {e.strerror or e}", hint="name another folder") from None

    def keep(
        self, updates: int, weights: Any, optimizer: Any, told: list[dict[str, Any]], curricula: Mapping[str, Mapping[str, list[float]]], best: Mapping[str, Any]
    ) -> None:
        """Keeps where the run is after so many updates, in the place of what was kept before."""
        packed = {"weights": weights, "optimizer": optimizer, "updates": told, "curricula": {name: dict(of) for name, of in curricula.items()}, "best": dict(best)}
        write_whole(self.folder / "state.pt", {"done": updates, **packed})

    def last(self) -> dict[str, Any] | None:
        """What was kept last, or None. Raises FileFormatError."""
        file = self.folder / "state.pt"
        return read_whole(file) if file.exists() else None

    def keep_episode(self, update: int, member: int, played: Played) -> None:
        """Keeps a real episode."""
        steps = [{"sight": packed_sight(d.sight), "choice": [d.choice.token, d.choice.verb, d.choice.source], "log": d.log} for d in played.decisions]
        write_whole(self._episode(update, member), {"record": json.dumps(played.record.to_json()), "decisions": steps})

    def episode(self, update: int, member: int) -> Played | None:
        """A real episode that was kept, or None. Raises FileFormatError."""
        file = self._episode(update, member)
        if not file.exists():
            return None
        packed = read_whole(file)
        try:
            decisions = tuple(Decision(unpacked_sight(d["sight"]), Choice(*d["choice"]), d["log"]) for d in packed["decisions"])
            return Played(_record(json.loads(packed["record"])), decisions)
        except (KeyError, TypeError, ValueError) as e:
            raise FileFormatError(f"{file} is no episode of a run: {e}", hint="delete it: it will be played again") from None

    def _episode(self, update: int, member: int) -> Path:
        return self.folder / "real" / f"{update:05d}-{member:03d}.pt"


def _record(told: dict[str, Any]) -> EpisodeRecord:
    told = told | {name: tuple(told[name]) for name in ("side_effects", "violations")}
    return EpisodeRecord(**(told | {"steps": tuple(StepRecord(**step) for step in told["steps"])}))
