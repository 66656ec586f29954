"""The report as one HTML page that needs no network: figures in words, pictures inside. Works nothing out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from phoneworld.render.templates import environment
from phoneworld.study.report import BASE
from phoneworld.train.sources import MOCK, REAL

_PARTS = {"trained": "trained tasks, new seeds", "held_out": "held-out tasks", "unseen": "apps never trained on", "new": "new, all"}


def page(figures: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """The page."""
    study, policies = figures["study"], [BASE, *figures["steps"]]
    parts = [part for part in _PARTS if any(s["part"] == part and s["scored"] for s in figures["success"])]
    shares = {(s["policy"], s["source"], s["part"]): s for s in figures["success"]}
    return environment().get_template("report/study.html").render(
        study={"size": study["about"]["size"], "runs": study["about"]["numbers"]["seeds"], "notes": study.get("notes", []), "begun": _begun(study["sft"])},
        pictures={name: Markup(svg) for name, svg in pictures.items()}, policies=policies, base=BASE, parts=[{"words": _PARTS[part]} for part in parts],
        success=[
            {"policy": p, "cells": [_share(shares[p, REAL, part]) for part in parts], **_steps(figures["steps"].get(p))} for p in policies
        ],
        differences=[
            {"policy": p, "base": base, "cells": [_difference(figures[of][part][p]) for part in parts], "runs": " ".join(_points(d) for d in figures[of]["new"][p]["by_run"])}
            for of, base in (("gain", BASE), ("against_first", policies[1])) for p in figures[of]["new"]
        ],
        carried=[_carried(p, figures) for p in policies],
        apps=[_app(name, app) for name, app in figures["apps"]["each"].items()],
        correlation=_correlation(figures["apps"]),
        kinds=[[kind, *(_share(_of(figures["kinds"], kind, p)) for p in policies)] for kind in dict.fromkeys(k["kind"] for k in figures["kinds"])],
        failures=[[end, *(figures["failures"][p].get(end, 0) for p in policies)] for end in sorted({end for of in figures["failures"].values() for end in of})]
        + [["unrecorded steps, on the mock", *(f"{figures['unrecorded'][p]:.1%}" for p in policies)]],
        holding=[(app, of["tried"], of["hold"], ", ".join(f"{n} {why}" for why, n in of["why_not"].items())) for app, of in study["holding"].items()],
        speed=[_speed(source, figures["speed"][source]) for source in (REAL, MOCK)],
        busy=_busy(figures["speed"], study), made_with=_made_with(study),
    )  # fmt: skip


def _begun(sft: Mapping[str, Any]) -> str:
    shown, steps = sft["demonstrations"], sft["steps"]
    told = f"{shown[MOCK]} demonstrations of {steps[MOCK]:,} steps on mocks and {shown[REAL]} of {steps[REAL]:,} steps on the real apps, which no arm's steps count"
    return f"{told}; {len(sft['never_shown'])} trained tasks could not be shown, for the policy cannot say what they need." if sft["never_shown"] else f"{told}."


def percent(share: float | None) -> str:
    """A share in words."""
    return "–" if share is None else f"{share:.0%}"


def _share(s: Mapping[str, Any]) -> str:
    if not s["scored"]:
        return "–"
    return f"{percent(s['success'])} [{s['interval'][0] * 100:.0f}, {s['interval'][1] * 100:.0f}] of {s['scored']}"


def _points(difference: float | None) -> str:
    return "–" if difference is None else f"{difference * 100:+.0f}"


def _difference(d: Mapping[str, Any]) -> str:
    if d["difference"] is None:
        return "–"
    low, high = d["difference_interval"]
    return f"{_points(d['difference'])} [{_points(low)}, {_points(high)}]"


def _steps(steps: Mapping[str, float] | None) -> dict[str, str]:
    return {"real_steps": "–", "mock_steps": "–"} if steps is None else {"real_steps": f"{steps[REAL]:,.0f}", "mock_steps": f"{steps[MOCK]:,.0f}"}


def _carried(policy: str, figures: Mapping[str, Any]) -> list[str]:
    both = figures["mock_and_real"][policy]
    of = both["episodes"]
    mock, real = ((both["both"] + both[only]) / of if of else None for only in ("only_mock", "only_real"))
    row = [policy, str(of), percent(mock), percent(real), _difference(both)]
    kept = figures["carried"].get(policy)
    if kept is None:
        return [*row, "–", "–", "–"]
    whole = kept["all"]
    words = "–" if whole["kept"] is None or whole["kept_interval"] is None else f"{whole['kept']:.0%} [{whole['kept_interval'][0] * 100:.0f}, {whole['kept_interval'][1] * 100:.0f}]"
    return [*row, _points(whole["mock_gain"]), _points(whole["real_gain"]), words]


def _app(name: str, app: Mapping[str, Any]) -> list[str]:
    return [name, "yes" if app["trained"] else "no", percent(app["fidelity"]), str(app["episodes"]), percent(app["mock"]), percent(app["real"]), percent(app["alike"])]


def _correlation(apps: Mapping[str, Any]) -> str:
    found = apps["fidelity_and_alike"]
    if found is None:
        return "Too few apps have a fidelity figure to correlate it with how often episodes come out alike."
    return f"Fidelity and the share of episodes that come out alike: r = {found:+.2f} over {apps['of']} apps, which is too few to say more."


def _of(kinds: list[Mapping[str, Any]], kind: str, policy: str) -> Mapping[str, Any]:
    return next(k for k in kinds if k["kind"] == kind and k["policy"] == policy)


def _speed(source: str, speed: Mapping[str, Any]) -> list[str]:
    each = speed["steps_a_second"]
    return ["real apps" if source == REAL else "mocks", f"{speed['steps']:,.0f}", "–" if each is None else f"{each:.1f}", *(percent(speed["shares"][n]) for n in ("env", "looking", "network", "update"))]


def _busy(speed: Mapping[str, Any], study: Mapping[str, Any]) -> str:
    busy = "" if speed["busy_core"] is None else f" A run without a phone kept {speed['busy_core']:.0%} of a core busy."
    return f"{study['workers']} processes side by side, each with {study['pages']} pages at once; {speed['wall_s'] / 60:.0f} minutes of training over all processes.{busy}"


def _made_with(study: Mapping[str, Any]) -> str:
    return "Made with " + ", ".join(f"{name} {of}" for name, of in study["with"].items() if of is not None) + "."
