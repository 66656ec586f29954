"""The parts of an observation that are asked for: parts of the tree, marks, JPEG, files, history."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image

from phoneworld.env.observation import ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.errors import ObservationError, WriteError
from phoneworld.program.bundle import Bundle
from phoneworld.ui.action import PressKey, Tap

BOX = Tap(90, 313)


def seen(bundle: Bundle, spec: ObservationSpec) -> object:
    with PhoneEnv(bundle, observe=spec) as env:
        return env.reset()[0]


def test_a_tree_can_be_cut_to_what_is_visible_or_what_can_be_used(bundle: Bundle) -> None:
    whole, visible, interactive = (PhoneEnv(bundle, observe=ObservationSpec(tree=kind)).reset()[0] for kind in ("all", "visible", "interactive"))  # type: ignore[arg-type]
    assert whole.xml == PhoneEnv(bundle).reset()[0].xml
    sizes = [len(list(o.tree.nodes())) for o in (whole, visible, interactive)]
    assert sizes[0] >= sizes[1] > sizes[2] > 1
    touchable = [node for node in visible.tree.nodes() if node.handles_touch]
    assert [node for node in interactive.tree.nodes() if node.handles_touch] == [n for n in touchable if n in list(interactive.tree.nodes())]
    assert interactive.text == whole.text, "the list of elements is always of the whole"


def test_marks_number_the_elements_on_the_picture(bundle: Bundle) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="array", scale=1 / 3, marks=True)) as env:
        marked = env.reset()[0]
        plain = marked.with_spec(ObservationSpec(screenshot="array", scale=1 / 3))
        different = (marked.screenshot != plain.screenshot).any(axis=2)
        for element in marked.elements:
            b = element.bounds
            top = different[round(b.top / 3), round(b.left / 3) : round(b.right / 3)]
            assert top.mean() > 0.5, f"no line along the top of {element.line()}"
        assert different.mean() < 0.5 and not marked.screenshot.flags.writeable
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(marked.png))), marked.screenshot)


def test_a_jpeg_and_a_file_show_the_same_picture(bundle: Bundle, tmp_path: Path) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="jpeg", scale=0.25)) as env:
        jpeg = Image.open(io.BytesIO(env.reset()[0].jpeg))
        assert (jpeg.format, jpeg.size) == ("JPEG", (270, 600))
    spec = ObservationSpec(screenshot="path", scale=0.25, frames=str(tmp_path / "frames"))
    with PhoneEnv(bundle, observe=spec) as env:
        first = env.reset()[0]
        assert first.path.read_bytes() == first.png and env.reset()[0].path == first.path
        assert env.step(BOX)[0].path != first.path
        assert len(list((tmp_path / "frames").iterdir())) == 2
    (tmp_path / "file").write_text("")
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot="path", frames=str(tmp_path / "file"))) as env, pytest.raises(WriteError):
        _ = env.reset()[0].path


def test_history_brings_the_last_steps_along(bundle: Bundle) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(history=2)) as env:
        first = env.reset()[0]
        assert first.history == ()
        env.step(BOX)
        env.step({"kind": "fly"})
        last = env.step(PressKey("enter"))[0]
        assert [(p.action, p.refused is not None) for p in last.history] == [(None, True), (PressKey("enter"), False)]
        assert last.history[0].observation.xml != first.xml, "the look before that step"
        assert last.as_dict()["history"][1] == {"action": {"kind": "press_key", "key": "enter"}, "refused": None}
        assert env.reset()[0].history == ()


def test_specs_that_cannot_be_are_refused() -> None:
    for wrong in ({"screenshot": "gif"}, {"tree": "some"}, {"screenshot": "path"}, {"history": -1}, {"scale": 0}):
        with pytest.raises(ObservationError) as e:
            ObservationSpec(**wrong)  # type: ignore[arg-type]
        assert e.value.hint


@pytest.mark.parametrize("form", ["png", "jpeg", "path"])
def test_a_picture_read_in_another_form_says_how_it_is_read(form: Literal["png", "jpeg", "path"], bundle: Bundle, tmp_path: Path) -> None:
    with PhoneEnv(bundle, observe=ObservationSpec(screenshot=form, frames=str(tmp_path))) as env:
        observation, _ = env.reset()
        with pytest.raises(ObservationError) as e:
            observation.screenshot  # noqa: B018
        assert f"observed as {form}" in e.value.message and e.value.hint.startswith(f"observation.{form}, ")
