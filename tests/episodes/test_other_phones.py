"""Episodes on phones that are no `PhoneEnv`: kept with what was seen, shown and exported from that alone, and not played again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from phoneworld.datasets.demonstrations import Supply, demonstrations
from phoneworld.device.mock import MockDevice
from phoneworld.dialects.families import dialect_named
from phoneworld.env.device_env import DeviceEnv
from phoneworld.env.policy import Script
from phoneworld.env.rollout import Job, rollout
from phoneworld.episodes.folder import EpisodeFolder
from phoneworld.episodes.keeping import KeepTraces
from phoneworld.program.bundle import load_bundle
from phoneworld.render.frames import Renderer
from phoneworld.tasks.file import load_tasks
from phoneworld.ui.action import Answer, Finish
from tests.cli.running import phoneworld
from tests.env.shop_phone import CHEAP, write_shop
from tests.episodes.test_page import data_in

SEEN = """
names: {tables: {goods: {is: products}}}
tasks:
- id: shop/seen-v1
  say: {en: "Show what is cheap only."}
  start: {on_phone: [{kind: wait}]}
  check: {visible: {text: Cheap, checked: true}}
"""


def played(folder: Path) -> EpisodeFolder:
    """Two episodes on a device, of which only the screen can be seen; the first does its task."""
    bundle, _ = write_shop(folder)
    (folder / "seen.yaml").write_text(SEEN)
    tasks = load_tasks(folder / "seen.yaml")
    keep = KeepTraces(EpisodeFolder(folder / "runs"), app="org.example.shop", policy={"name": "script"}, env={}, trees=True)
    keep.folder.begin({"app": keep.app, "policy": {"name": "script"}, "env": {}, "phone": "an adb serial"}, tasks)

    def phone() -> DeviceEnv:
        return DeviceEnv(MockDevice([load_bundle(bundle)], draw=Renderer.of), tasks=tasks)

    rollout(Script((CHEAP, Finish())), [Job("shop/seen-v1", 0)], phone, keep=keep)
    rollout(Script((Answer("done"),)), [Job("shop/seen-v1", 1)], phone, keep=keep)
    return keep.folder


def test_they_are_kept_with_their_trees(tmp_path: Path) -> None:
    folder = played(tmp_path)
    first, second = (kept.trace for kept in folder.traces())
    assert first.record().success is True and second.record().success is False
    assert first.header.tree is not None and all(step.tree is not None for step in first.steps)
    assert b'text="Cheap"' in folder.content("xml", first.header.tree)


def test_they_are_shown_and_not_played_again(tmp_path: Path) -> None:
    played(tmp_path)
    assert phoneworld("episodes", "view", "runs", "--no-draw", cwd=tmp_path).returncode == 0
    data = data_in((tmp_path / "runs" / "view.html").read_text())
    side: Any = data["episodes"][0]["sides"][0]
    assert all(look["tree"] is not None for look in side["looks"]) and side["steps"][0]["hit"]["words"] == "Cheap" and "real phone" in data["notes"][0]
    ran = phoneworld("episodes", "replay", "runs", cwd=tmp_path)
    assert ran.returncode == 3 and "real phone" in ran.stderr


def test_successes_are_real_demonstrations(tmp_path: Path) -> None:
    folder = played(tmp_path)
    ran = phoneworld("export", "runs", "--see", "text", "-o", "data", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert (told["demonstrations"], told["samples"], told["real_samples"], told["left_out"]) == (1, 2, 2, {"no success": 1})
    with Supply(dialect_named("qwen3"), pictures=False) as supply:
        (shown,) = demonstrations(list(supply.of_folder(folder, "runs")), supply.left_out)
    assert [deed.words for deed in shown.deeds] == ["Tap “Cheap”.", "Finish."] and shown.source == "real" and 'switch "Cheap" on' in shown.last.text
