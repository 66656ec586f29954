"""The pictures of a report, by matplotlib as SVG: the same figures, the same bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from phoneworld.env.extras import need
from phoneworld.train.sources import MOCK, REAL

_COLOURS = ("#646973", "#2a5bd7", "#0b7a5e", "#b3471d", "#8a4fbf", "#b58900")
_STYLE = {
    "svg.hashsalt": "phoneworld", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e1e3e8", "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": "none", "savefig.facecolor": "none",
}  # fmt: skip


def drawings(figures: Mapping[str, Any]) -> dict[str, str]:
    """All pictures by their names, as SVG. Raises MissingDependency without matplotlib."""
    matplotlib = need("matplotlib", "train")
    need("matplotlib.figure", "train")
    policies = ["sft", *figures["steps"]]
    colours = {policy: _COLOURS[i % len(_COLOURS)] for i, policy in enumerate(policies)}
    with matplotlib.rc_context(_STYLE):
        return {
            "success": _success(matplotlib, figures["success"], policies, colours),
            "by_real_steps": _curve(matplotlib, figures["curves"], colours, "real_steps", "steps on the real apps"),
            "by_steps": _curve(matplotlib, figures["curves"], colours, "steps", "steps, mocks included"),
            "by_wall": _curve(matplotlib, figures["curves"], colours, "wall_s", "seconds by the clock"),
            "apps": _apps(matplotlib, figures["apps"]["each"]),
        }  # fmt: skip


def _success(matplotlib: Any, shares: Sequence[Mapping[str, Any]], policies: Sequence[str], colours: Mapping[str, str]) -> str:
    figure = matplotlib.figure.Figure(figsize=(7.2, 2.8))
    axes = figure.subplots()
    parts = [part for part in ("trained", "held_out", "unseen") if any(s["part"] == part and s["scored"] for s in shares)]
    width = 0.8 / len(policies)
    for i, policy in enumerate(policies):
        for source, filled in ((REAL, True), (MOCK, False)):
            of = {s["part"]: s for s in shares if s["policy"] == policy and s["source"] == source and s["scored"]}
            places = [j + (i + 0.5) * width - 0.4 for j, part in enumerate(parts) if part in of]
            found = [of[part] for part in parts if part in of]
            heights = [s["success"] for s in found]
            if filled:
                errors = [[s["success"] - s["interval"][0] for s in found], [s["interval"][1] - s["success"] for s in found]]
                axes.bar(places, heights, width * 0.86, color=colours[policy], label=policy, yerr=errors, ecolor="#1b1d21", error_kw={"linewidth": 0.8})
            else:
                axes.plot(places, heights, linestyle="none", marker="_", markersize=9, color="#1b1d21", label="on the mock" if i == 0 else None)
    axes.set_xticks(range(len(parts)), [{"held_out": "held-out tasks", "trained": "trained tasks, new seeds", "unseen": "apps never trained on"}[p] for p in parts])
    axes.set_ylim(0, 1)
    axes.set_ylabel("success on the real app")
    axes.legend(ncols=3, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.22))
    return _svg(figure)


def _curve(matplotlib: Any, curves: Mapping[str, Sequence[Mapping[str, Any]]], colours: Mapping[str, str], along: str, words: str) -> str:
    figure = matplotlib.figure.Figure(figsize=(7.2, 2.8))
    axes = figure.subplots()
    for policy, runs in curves.items():
        points = [[(p[along], p["validated"]) for p in run["points"] if p["validated"] is not None] for run in runs]
        for line in points:
            axes.plot([x for x, _ in line], [y for _, y in line], color=colours[policy], linewidth=0.6, alpha=0.35)
        shared = min(map(len, points), default=0)
        if shared:
            mean = [[sum(line[i][axis] for line in points) / len(points) for i in range(shared)] for axis in (0, 1)]
            axes.plot(*mean, color=colours[policy], linewidth=2, marker="o", markersize=3, label=policy)
    axes.set_xlabel(words)
    axes.set_ylabel("success on validation tasks (mock)")
    axes.legend(ncols=3, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.22))
    return _svg(figure)


def _apps(matplotlib: Any, apps: Mapping[str, Mapping[str, Any]]) -> str:
    figure = matplotlib.figure.Figure(figsize=(3.4, 3.0))
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#9aa0ab", linewidth=0.8)
    for name, app in apps.items():
        if app["mock"] is not None:
            axes.plot([app["mock"]], [app["real"]], marker="o", color="#2a5bd7" if app["trained"] else "#b3471d")
            axes.annotate(name, (app["mock"], app["real"]), textcoords="offset points", xytext=(6, -3), fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("success on the mock, all policies")
    axes.set_ylabel("on the real app")
    return _svg(figure)


def _svg(figure: Any) -> str:
    held = io.StringIO()
    figure.savefig(held, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    return held.getvalue()[held.getvalue().index("<svg") :]
