"""Identity against an independent label: the address of the page. Apps of others and ours are walked at random, in process.

Identity never sees the address. Captures of one address may come apart where a menu or a dialog of the page is open (the address
does not tell); captures of two addresses must not come together. Each prints one line; those of the last run are in
`tests/README.md`.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import combinations
from pathlib import Path

import pytest

from phoneworld.device.settle import settle
from phoneworld.device.web import WebDevice
from phoneworld.errors import PhoneWorldError
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph
from phoneworld.graph.identity import screens_of
from phoneworld.ui.action import OpenApp, PressKey, Swipe, Tap, TypeText
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy
from tests.webapps import ROOT, ihatemoney, served, weui

SIZE = Size(540, 1200)
WORDS = ("milk", "Ann", "12", "a@b.org", "2026-01-02", "house")


def _own(name: str) -> Callable[[Path], AbstractContextManager[str]]:
    @contextmanager
    def start(_folder: Path) -> Iterator[str]:
        with served(ROOT / "examples" / "webapps" / name) as url:
            yield url

    return start


APPS: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "weui": lambda _folder: weui(), "ihatemoney": ihatemoney, "shop": _own("shop"), "agenda": _own("agenda"), "messages": _own("messages"),
}  # fmt: skip
RUNS = [pytest.param("shop", 25, 0.35, id="shop-25")] + [
    pytest.param(name, 110, split, id=f"{name}-110", marks=pytest.mark.slow)
    for name, split in {"weui": 0.25, "ihatemoney": 0.1, "shop": 0.25, "agenda": 0.25, "messages": 0.45}.items()
]
ONE_FORM = re.compile(r"#/(?:new|edit)/")
"""Where a thing is made and where it is changed is one form at two addresses."""


def walk(device: WebDevice, steps: int, rng: random.Random) -> Iterator[tuple[Capture, str]]:
    """Captures of a random walk, each with the address of its page, numbers set aside."""
    package = device.state().package
    for i in range(steps):
        reading = settle(device, timeout_s=2)
        capture = Capture(f"c{i}", reading.hierarchy, SIZE, state=reading.state, settled=reading.settled)
        front = device._front()
        window = front.window if front is not None else None
        address = "" if front is None else re.sub(r"#$|\?.*|(?<=#/form/).*", "", ONE_FORM.sub("#/form/", re.sub(r"\d+", "N", front.page.url)))
        here = "elsewhere" if front is None or window is not None else address
        yield capture, f"{here} {type(window).__name__}"
        targets = [n for n in reading.hierarchy.nodes() if n.takes("tap") and n.bounds.area and n.package == package]
        what = rng.random()
        with suppress(PhoneWorldError):
            if front is None:
                device.perform(OpenApp(package))
            elif what < 0.65 and targets:
                target = rng.choice(targets)
                device.perform(Tap(target.bounds.center.x, target.bounds.center.y))
                if target.is_editable:
                    device.perform(TypeText(rng.choice(WORDS)))
            elif what < 0.83:
                device.perform(Swipe(270, 800, 270, 300) if rng.random() < 0.7 else Swipe(270, 400, 270, 900))
            else:
                device.perform(PressKey("back"))


@pytest.mark.parametrize(("name", "steps", "split_limit"), RUNS)
def test_pages_of_other_addresses_are_other_screens(
    name: str, steps: int, split_limit: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with APPS[name](tmp_path) as url, WebDevice(url, size=SIZE, density=240, clock_ms=1_787_563_800_000, seed=1) as device:
        walked = list(walk(device, steps, random.Random(5)))
    shown: dict[Hierarchy, set[str]] = defaultdict(set)
    for capture, label in walked:
        shown[capture.hierarchy].add(label)
    # Where a page lags behind its address, one tree has two labels: neither is right.
    labels = {capture.id: label for capture, label in walked if len(shown[capture.hierarchy]) == 1}
    graph = StateGraph(RecordedApp("walked"), device.info, {capture.id: capture for capture, _ in walked})
    screens = screens_of(graph)
    home = {member: screen for screen, members in screens.items() for member in members}
    pairs = list(combinations(labels, 2))
    same = [home[a] == home[b] for a, b in pairs if labels[a] == labels[b]]
    other = [home[a] == home[b] for a, b in pairs if labels[a] != labels[b]]
    with capsys.disabled():
        print(f"\n| {name} | {len(labels)} of {steps} | {len(set(labels.values()))} | {len(screens)} | {same.count(False)} of {len(same)} | {sum(other)} of {len(other)} |")
    assert len(set(labels.values())) >= 4, "else there was little to tell apart"
    assert sum(other) <= 0.01 * len(other)
    assert same.count(False) <= split_limit * len(same)
