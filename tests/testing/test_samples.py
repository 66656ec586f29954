"""The sample app is what it says: small, whole, with pictures, the same on every run."""

from __future__ import annotations

import hashlib
from pathlib import Path

from phoneworld.compiler.compile import compile_graph
from phoneworld.device.settle import png_size
from phoneworld.program.bundle import load_bundle
from phoneworld.testing.groceries import PACKAGE, SIZE, Groceries
from phoneworld.testing.samples import sample_bundle, sample_graph, sample_program
from phoneworld.ui.action import PressKey, Tap, TypeText


def test_every_recorded_step_replays() -> None:
    graph, pictures = sample_graph()
    compiled = compile_graph(graph, pictures)
    assert compiled.replay.faults == ()
    assert compiled.replay.whole == len(graph.traces) == 3


def test_every_capture_has_its_picture_at_the_screens_size() -> None:
    graph, pictures = sample_graph()
    assert graph.screenshots() == set(pictures)
    for name, png in pictures.items():
        assert hashlib.sha256(png).hexdigest() == name and png_size(png) == SIZE


def test_a_bundle_of_it_can_be_read_back(tmp_path: Path) -> None:
    bundle = sample_bundle(tmp_path / "sample.bundle")
    assert load_bundle(bundle.path).program == sample_program()
    assert all(bundle.asset(sha) for sha in bundle.program.screenshots())


def test_the_app_saves_what_is_typed_and_back_hides_the_keyboard_first() -> None:
    form = Groceries().act(Tap(950, 2270)).act(Tap(500, 370)).act(TypeText("Salt"))
    assert (form.screen, form.typing, form.draft) == ("form", True, "Salt")
    calm = form.act(PressKey("back"))
    assert (calm.screen, calm.typing) == ("form", False)
    saved = calm.act(Tap(500, 700))
    assert saved.screen == "list" and saved.items[-1].name == "Salt"
    assert saved.state(0).package == PACKAGE
