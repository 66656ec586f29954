"""What a study found, worked out from its raw lines alone: tables, differences, what carries over, speed. Pure but for reading the lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phoneworld.errors import FileFormatError
from phoneworld.study.conduct import read_study
from phoneworld.study.figures import carried, correlation, difference, share, transfer
from phoneworld.study.scores import Score, ScoreFile
from phoneworld.train.sources import MOCK, REAL

BASE = "sft"
NEW = ("held_out", "unseen")
"""The parts that no policy has trained on."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The raw lines of a study, and what is said of it."""

    study: dict[str, Any]
    scores: list[Score]
    updates: list[dict[str, Any]]
    times: list[dict[str, Any]]

    @property
    def policies(self) -> list[str]:
        """The policy that all began with, and the arms in their order."""
        return [BASE, *self.study["about"]["numbers"]["arms"]]

    def of(self, *, part: str = "", kind: str = "", app: str = "", source: str = "") -> list[Score]:
        """Scores of tasks of a part (`new` for those never trained on), kind or app."""
        tasks, wanted = self.study["tasks"], NEW if part == "new" else (part,)
        return [
            s for s in self.scores
            if (not part or tasks[s.task]["part"] in wanted) and (not kind or tasks[s.task]["kind"] == kind)
            and (not app or s.task.partition("/")[0] == app) and (not source or s.source == source)
        ]  # fmt: skip


def read_lines(folder: Path) -> Lines:
    """The lines of a study. Raises FileFormatError where it has not ended."""
    study = read_study(folder)
    for name in ("scores.jsonl", "updates.jsonl", "times.jsonl"):
        if not (folder / name).exists():
            raise FileFormatError(f"{folder} has no {name}: the study has not ended", hint="`phoneworld train study` goes on with it")
    scores = list(ScoreFile(folder / "scores.jsonl").scores.values())
    if strange := next((s.task for s in scores if s.task not in study["tasks"]), None):
        raise FileFormatError(f"{folder}/scores.jsonl has a task that the study does not: {strange}", hint="both are of one study only")
    return Lines(study, scores, _jsonl(folder / "updates.jsonl"), _jsonl(folder / "times.jsonl"))


def report(lines: Lines) -> dict[str, Any]:
    """All figures, as JSON has them."""
    parts = [part for part in ("trained", "held_out", "unseen") if lines.of(part=part)]
    first = lines.policies[1]
    new = lines.of(part="new")
    return {
        "study": lines.study,
        "steps": {policy: _steps(lines, policy) for policy in lines.policies[1:]},
        "success": [
            {"policy": policy, "source": source, "part": part, **share(_by(lines.of(part=part, source=source), policy))}
            for policy in lines.policies for source in (REAL, MOCK) for part in (*parts, "new")
        ],
        "gain": {part: {p: _against(lines, part, p, BASE) for p in lines.policies[1:]} for part in (*parts, "new")},
        "against_first": {part: {p: _against(lines, part, p, first) for p in lines.policies[2:]} for part in (*parts, "new")},
        "kinds": [
            {"kind": kind, "policy": policy, **share(_by(lines.of(kind=kind, part="new", source=REAL), policy))}
            for kind in sorted({t["kind"] for t in lines.study["tasks"].values()}) for policy in lines.policies
        ],
        "failures": {policy: share(_by(lines.of(source=REAL), policy))["ended"] for policy in lines.policies},
        "unrecorded": {policy: share(_by(lines.of(source=MOCK), policy))["unrecorded"] for policy in lines.policies},
        "mock_and_real": {policy: transfer(lines.scores, policy, by_seed=True) for policy in lines.policies},
        "carried": {policy: {"all": carried(lines.scores, policy, BASE), "new": carried(new, policy, BASE)} for policy in lines.policies[1:]},
        "apps": _apps(lines),
        "speed": _speed(lines),
        "curves": {policy: _curves(lines, policy) for policy in lines.policies[1:]},
    }  # fmt: skip


def _by(scores: Iterable[Score], policy: str) -> list[Score]:
    return [s for s in scores if s.policy == policy]


def _against(lines: Lines, part: str, policy: str, base: str) -> dict[str, Any]:
    """The difference on the real apps, pooled and in each pair of runs."""
    scores = lines.of(part=part, source=REAL)
    seeds = sorted({s.seed for s in scores})
    each = [difference([s for s in scores if s.seed == seed], policy, base, REAL)["difference"] for seed in seeds]
    return {**difference(scores, policy, base, REAL, by_seed=True), "by_run": each}


def _steps(lines: Lines, policy: str) -> dict[str, float]:
    """Steps of a run, on the mean of its seeds."""
    runs = _runs(lines.updates, policy)
    return {source: sum(u["steps"].get(source, 0) for of in runs.values() for u in of) / max(1, len(runs)) for source in (MOCK, REAL)} | {
        "updates": sum(len(of) for of in runs.values()) / max(1, len(runs))
    }


def _runs(told: Sequence[Mapping[str, Any]], policy: str) -> dict[int, list[Mapping[str, Any]]]:
    runs: dict[int, list[Mapping[str, Any]]] = {}
    for line in told:
        if line["arm"] == policy:
            runs.setdefault(line["seed"], []).append(line)
    return runs


def _apps(lines: Lines) -> dict[str, Any]:
    """By app, over all policies: success on both, how often an episode comes out alike, and how true the mock is by the plan."""
    found: dict[str, Any] = {}
    for app, about in lines.study["about"]["apps"].items():
        ways: Counter[str] = Counter()
        for policy in lines.policies:
            told = transfer(lines.of(app=app), policy)
            ways.update({way: told[way] for way in ("both", "only_mock", "only_real", "neither")})
        of = ways.total()
        found[app] = {
            "trained": about["trained"], "fidelity": about["fidelity"], "episodes": of, **ways,
            "mock": (ways["both"] + ways["only_mock"]) / of if of else None, "real": (ways["both"] + ways["only_real"]) / of if of else None,
            "alike": (ways["both"] + ways["neither"]) / of if of else None,
        }  # fmt: skip
    pairs = [(one["fidelity"], one["alike"]) for one in found.values() if one["fidelity"] is not None and one["alike"] is not None]
    return {"each": found, "fidelity_and_alike": correlation(pairs), "of": len(pairs)}


def _speed(lines: Lines) -> dict[str, Any]:
    """Steps a second by source while it was played, what the time went into, and how busy a run without a phone keeps its core."""
    told: dict[str, Any] = {}
    for source in (MOCK, REAL):
        parts = {name: sum(t[source][name] for t in lines.times) for name in ("env_s", "looking_s", "network_s", "update_s", "wall_s", "steps")}
        spent = sum(parts[name] for name in ("env_s", "looking_s", "network_s", "update_s"))
        told[source] = {
            "steps": parts["steps"], "steps_a_second": parts["steps"] / parts["wall_s"] if parts["wall_s"] else None,
            "shares": {name.removesuffix("_s"): parts[name] / spent if spent else 0.0 for name in ("env_s", "looking_s", "network_s", "update_s")},
        }  # fmt: skip
    alone = [t for t in lines.times if not t[REAL]["steps"]]
    wall = sum(t["wall_s"] for t in alone)
    return told | {"busy_core": sum(t["processor_s"] for t in alone) / wall if wall else None, "wall_s": sum(t["wall_s"] for t in lines.times)}


def _curves(lines: Lines, policy: str) -> list[dict[str, Any]]:
    """Each run by its updates: steps and seconds so far, success of its episodes, and of the validation's."""
    curves = []
    times = {(t["seed"], t["update"]): t["wall_s"] for t in lines.times if t["arm"] == policy}
    for seed, updates in sorted(_runs(lines.updates, policy).items()):
        real = steps = seconds = 0.0
        points = []
        for u in updates:
            real, steps = real + u["steps"].get(REAL, 0), steps + sum(u["steps"].values())
            seconds += times.get((seed, u["number"]), 0.0)
            episodes = sum(u["episodes"].values())
            won = sum(u["success"].get(source, 0.0) * n for source, n in u["episodes"].items())
            points.append({"real_steps": real, "steps": steps, "wall_s": seconds, "success": won / episodes if episodes else None, "validated": u["validated"]})
        curves.append({"seed": seed, "points": points})
    return curves


def _jsonl(file: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as e:
        raise FileFormatError(f"cannot read {file}: {e}", hint="`phoneworld train study` writes it anew") from None
