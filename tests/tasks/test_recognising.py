"""Screens of the notes app are recognised by what is shown, whatever the content; what was never recorded is not guessed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from phoneworld.program.bundle import load_bundle
from phoneworld.sim.phone import Phone
from phoneworld.tasks.judge import Judge
from phoneworld.tasks.recognising import is_on
from phoneworld.tasks.task import Setting
from phoneworld.tasks.task_yaml import loads
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.cli.running import ROOT


@cache
def notes() -> Phone:
    return Phone([load_bundle(ROOT / "apps" / "notes" / "bundle").program])


def without_words(node: Node) -> Node:
    """The same widgets with other content in their lists."""
    inside = tuple(map(without_words, node.children))
    return replace(node, children=inside, text="Something else" if node.class_name.endswith("TextView") and not node.resource_id else node.text)


def test_each_recorded_screen_is_itself_and_no_other() -> None:
    program = notes().models[notes().main].program
    wrong = [
        (name, other)
        for name, screen in program.screens.items()
        for other in program.screens
        if is_on(other, program, screen.layouts[-1].hierarchy, screen.layouts[-1].size) is not (other == name)
    ]
    assert wrong == []


def test_content_does_not_matter_and_what_is_unknown_is_not_guessed() -> None:
    program = notes().models[notes().main].program
    layout = program.screens["s1"].layouts[0]
    changed = replace(layout.hierarchy, windows=tuple(map(without_words, layout.hierarchy.windows)))
    assert is_on("s1", program, changed, layout.size) is True
    foreign = Hierarchy((Node("android.widget.FrameLayout", package="org.other", bounds=Bounds(0, 0, layout.size.width, layout.size.height)),))
    assert is_on("s1", program, foreign, layout.size) is None


@pytest.mark.parametrize(("asked", "holds"), [("s1", True), ("s6", False)])
def test_a_task_that_asks_for_a_screen_is_judged_on_a_phone(asked: str, holds: bool) -> None:
    task = loads(f"tasks:\n- {{id: notes/there-v1, say: {{en: Go there.}}, check: {{state: {{screen: {asked}}}}}}}\n", "there.yaml")[0]
    setting = Setting(task, notes())
    judge = Judge(setting, setting.instance(), on_phone=True)
    view = notes().look(setting.instance().start)
    assert judge.verdict_on_phone(judge.begin(), view.hierarchy, view.size).success is holds
