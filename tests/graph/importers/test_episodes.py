"""Episodes in parquet, and the accessibility forests in them. pyarrow is installed into a folder of the tests' own."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from phoneworld.errors import DumpError, MissingDependency
from phoneworld.graph.file import load_graph
from phoneworld.graph.importers import import_recording
from phoneworld.graph.importers.accessibility import parse_forest
from phoneworld.ui.action import LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, Wait
from phoneworld.ui.geometry import Bounds, Size
from tests.graph.sample import png
from tests.webapps import CACHE

SIZE = Size(108, 240)
ACTIONS = [
    {"action_type": "open_app", "app_name": "Notes"}, {"action_type": "click", "x": 50, "y": 130},
    {"action_type": "input_text", "text": "milk"}, {"action_type": "scroll", "direction": "down"},
    {"action_type": "long_press", "x": 5, "y": 6}, {"action_type": "navigate_back"}, {"action_type": "wait"},
]  # fmt: skip

# Run under the interpreter of the tests with pyarrow on its path: writes one file of episodes from JSON.
WRITE = """
import base64, json, sys
import pyarrow, pyarrow.parquet
rows = json.load(open(sys.argv[1]))
for row in rows:
    row["accessibility_trees"] = [base64.b64decode(t) for t in row["accessibility_trees"]]
pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sys.argv[2])
"""


def varint(value: int) -> bytes:
    out = b""
    value &= 2**64 - 1
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(name: int, words: str = "", children: tuple[int, ...] = (), **flags: int) -> bytes:
    bounds = field(2, field(1, -3) + field(2, 100 * name) + field(3, 108) + field(4, 100 * name + 60))
    kind = field(3, "android.widget.FrameLayout" if children else "android.widget.Button")
    packed = field(25, b"".join(varint(c) for c in children)) if children else b""
    return field(1, name) + bounds + kind + field(6, "org.example.notes") + (field(7, words) if words else b"") + field(14, 1) + field(
        16, 1
    ) + field(23, 1) + packed + b"".join(field(int(k[1:]), v) for k, v in flags.items())


def window(*nodes: bytes, kind: int = 1, layer: int = 0) -> bytes:
    return field(1, field(4, layer) + (field(6, kind)) + field(11, b"".join(field(1, n) for n in nodes)))


FOREST = window(node(9, "keys"), kind=2, layer=9) + window(node(0, children=(1, 2)), node(1, "Add"), node(2, "Gone", f30=7), layer=1)


def test_a_forest_is_the_app_s_windows_as_a_tree() -> None:
    tree = parse_forest(FOREST)
    (root,) = tree.windows
    add, gone = root.children
    assert (add.text, add.clickable, add.visible, add.checkable, add.bounds) == ("Add", True, True, False, Bounds(-3, 100, 108, 160))
    assert gone.drawing_order == 7 and gone.index == 1 and root.package == "org.example.notes"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "found none"),
        (window(node(9), kind=2), "found none"),
        (FOREST[:-3], "stops|bytes"),
        (window(node(0, children=(1,)), node(1, children=(0,))), "two parents|deeper"),
        (window(node(1), node(1)), "two nodes"),
        (b"\xff" * 40, "no forest|wire type"),
    ],
)
def test_a_damaged_forest_is_refused_by_name(data: bytes, words: str) -> None:
    with pytest.raises(DumpError, match=words):
        parse_forest(data)


def test_a_forest_cut_anywhere_and_followed_by_anything_is_read_or_refused() -> None:
    random_ = random.Random(3)
    outcomes: Counter[bool] = Counter()
    for _ in range(4000):
        try:
            cut = random_.choice((len(FOREST), random_.randrange(len(FOREST))))
            parse_forest(FOREST[:cut] + random_.randbytes(random_.randrange(30)))
        except DumpError:
            outcomes[False] += 1
        else:
            outcomes[True] += 1
    assert outcomes[True] and outcomes[False]


def test_without_pyarrow_the_mend_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency) as caught:
        import_recording(tmp_path)
    assert "phoneworld[datasets]" in caught.value.hint


@pytest.fixture(scope="module")
def with_pyarrow() -> dict[str, str]:
    """An environment in which pyarrow can be imported; skips where it cannot be fetched."""
    target = CACHE / "pyarrow"
    if not (target / "pyarrow" / "__init__.py").is_file():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), "pyarrow>=17"]
        got = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if got.returncode:
            pytest.skip(f"pyarrow cannot be fetched: {got.stderr.strip()[-200:]}")
    root = str(Path(__file__).resolve().parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, str(target)]), "NO_COLOR": "1"}


def episodes(tmp_path: Path, env: dict[str, str]) -> Path:
    shots = [base64.b64encode(png(c, SIZE)).decode() for c in ("white", "gray", "red", "blue", "black", "green", "pink", "navy")]
    forest = base64.b64encode(FOREST).decode()
    row = {
        "episode_id": 7, "goal": "Add milk", "actions": ACTIONS, "step_instructions": [f"do {i}" for i in range(len(ACTIONS))],
        "screenshots_b64": shots, "accessibility_trees": [forest] * (len(ACTIONS) + 1),
    }  # fmt: skip
    bad = row | {"episode_id": 8, "actions": [{"action_type": "teleport"}]}
    blind = row | {"episode_id": 9, "accessibility_trees": [], "goal": "Without trees"}
    (tmp_path / "rows.json").write_text(json.dumps([row, bad, blind]))
    out = tmp_path / "train-0.parquet"
    subprocess.run([sys.executable, "-c", WRITE, str(tmp_path / "rows.json"), str(out)], check=True, env=env, timeout=120)
    return out


def run(path: Path, out: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "phoneworld.cli.main", "import", str(path), "-o", str(out), "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)


def test_episodes_become_traces_with_their_instruction(tmp_path: Path, with_pyarrow: dict[str, str]) -> None:
    done = run(episodes(tmp_path, with_pyarrow), tmp_path / "a.graph.json", with_pyarrow)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["format"] == "episodes" and summary["traces"] == 2 and summary["pictures"] == 8
    assert [r["path"] for r in summary["refused"]] == ["train-0.parquet: row 1"] and "teleport" in summary["refused"][0]["reason"]
    graph = load_graph(tmp_path / "a.graph.json")
    seen, blind = graph.traces
    assert (seen.instruction, blind.instruction) == ("Add milk", "Without trees") and graph.app.package == "org.example.notes"
    assert [t.action for t in seen.transitions] == [
        OpenApp("Notes"), Tap(50, 130), TypeText("milk"), Swipe(53, 167, 53, 71, 400), LongPress(5, 6), PressKey("back"), Wait(),
    ]  # fmt: skip
    assert seen.transitions[1].hit == (0, 0) and seen.transitions[1].notes == ("instruction: do 1",)
    assert "no-tree" in graph.captures[blind.start].notes and graph.captures[blind.start].screenshot


def test_a_damaged_parquet_file_is_refused_by_name(tmp_path: Path, with_pyarrow: dict[str, str]) -> None:
    good = episodes(tmp_path, with_pyarrow).read_bytes()
    for i, content in enumerate((good[:-9], good[:200], b"PAR1" + good[300:], good[:600] + b"\0" * 300 + good[900:])):
        path = tmp_path / f"bad{i}.parquet"
        path.write_bytes(content)
        done = run(path, tmp_path / f"bad{i}.graph.json", with_pyarrow)
        assert "Traceback" not in done.stderr and done.returncode in (0, 3), done.stderr
