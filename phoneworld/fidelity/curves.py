"""Figures of several apps over the number of recorded actions, as a page with curves. No network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phoneworld.render.templates import environment

WIDTH, HEIGHT, LEFT, TOP = 320, 180, 34, 10
FIGURES = (("faithful", "faithful"), ("effect_exact", "effect-exact"), ("exact", "exact"), ("layout", "layout"))
_PLAIN = "plain replay"


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot: SVG points, and each point with what it says."""

    name: str
    number: int
    points: str
    dots: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """One app: a curve for each way of recording and figure shown, and the ticks of both axes."""

    app: str
    curves: tuple[Curve, ...]
    across: tuple[tuple[float, int], ...]
    up: tuple[tuple[float, int], ...]


def curves_page(rows: Sequence[Mapping[str, Any]], order: Sequence[str]) -> str:
    """The page. A row has `app`, `policy`, `actions`, and by runner in `figures` what `summarise` gives."""
    apps = [name for name in order if any(r["app"] == name for r in rows)]
    apps += sorted({r["app"] for r in rows} - set(apps))
    plots = [_plot(app, [r for r in rows if r["app"] == app]) for app in apps]
    ranked = sorted(rows, key=lambda r: (apps.index(r["app"]), r["policy"], r["actions"]))
    return environment().get_template("report/fidelity_curves.html").render(
        plots=plots, rows=ranked, width=WIDTH, height=HEIGHT, left=LEFT, top=TOP, figures=FIGURES
    )


def _plot(app: str, rows: Sequence[Mapping[str, Any]]) -> Plot:
    numbers = sorted({int(r["actions"]) for r in rows})
    most = max(numbers)

    def x(actions: int) -> float:
        return LEFT + (WIDTH - LEFT - 10) * actions / most

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - 24) * (1 - share)

    curves: list[Curve] = []
    for policy in sorted({str(r["policy"]) for r in rows}):
        mine = sorted((r for r in rows if r["policy"] == policy), key=lambda r: int(r["actions"]))
        for key, name in FIGURES[:3]:
            curves.append(_curve(f"{name} ({policy})", len(curves), ((r["actions"], r["figures"]["mock"]["changing"][key]) for r in mine), x, y))
        plain = [(r["actions"], r["figures"][_PLAIN]["changing"]["faithful"]) for r in mine if _PLAIN in r["figures"]]
        if plain:
            curves.append(_curve(f"{_PLAIN}, faithful ({policy})", len(curves), plain, x, y))
    return Plot(app, tuple(curves), tuple((x(n), n) for n in numbers), tuple((y(p / 100), p) for p in (0, 25, 50, 75, 100)))


def _curve(name: str, number: int, values: Iterable[tuple[int, float]], x: Any, y: Any) -> Curve:
    dots = tuple((round(x(actions), 1), round(y(share), 1), f"{name} after {actions} actions: {share:.1%}") for actions, share in values)
    return Curve(name, number, " ".join(f"{left},{top}" for left, top, _ in dots), dots)
