"""Exports loaded by the real libraries: `datasets` and TRL, LLaMA-Factory, ms-swift, each in an environment of its own; and by our own importer."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phoneworld.graph.file import load_graph, save_graph
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import Finish, PressKey, Tap
from tests.doors.trainers import SWIFT, TRL, run_in, trainer
from tests.webapps import ROOT

LLAMA_FACTORY = ("llamafactory", "llamafactory==0.9.5")
pytestmark = pytest.mark.slow


def recording(folder: Path) -> Path:
    """A recording with pictures, whose traces say what they were for."""
    graph, pictures = sample_graph()
    said = tuple(replace(t, instruction=f"Do what is done in {t.id}.") for t in graph.traces)
    save_graph(replace(graph, traces=said), folder / "rec.graph.json", pictures)
    return folder / "rec.graph.json"


def export(python: Path, folder: Path, *words: str) -> dict[str, Any]:
    """What `phoneworld export` says, run where the library is."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [str(python), "-m", "phoneworld", "export", str(recording(folder)), "-o", str(folder / "data"), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def said_by(python: Path, script: str, *arguments: str, **environment: str) -> Any:
    done = run_in(python, script, *arguments, timeout_s=600, **environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


_DATASETS = """
import json, sys
from datasets import load_dataset
from trl.data_utils import is_conversational, prepare_multimodal_messages
rows = load_dataset("parquet", data_files=sys.argv[1] + "/train.parquet", split="train", cache_dir=sys.argv[1] + "/cache")
first = rows[0]
blocks = [block["type"] for message in first["messages"] for block in message["content"]]
ready = [prepare_multimodal_messages([{"role": m["role"], "content": [{k: v for k, v in b.items() if v is not None} for b in m["content"]]} for m in row["messages"]], images=row["images"]) for row in rows]
print(json.dumps({
    "rows": len(rows), "columns": rows.column_names, "sizes": [list(image.size) for row in rows for image in row["images"]],
    "kind": type(first["images"][0]).__module__, "blocks": blocks, "conversational": is_conversational({"messages": first["messages"]}),
    "pictures_ready": [sum(block["type"] == "image" and block.get("image") is not None for m in messages for block in m["content"]) for messages in ready],
    "source": sorted(set(rows["source"])), "step": rows[1]["step"],
}))
"""


def test_datasets_and_trl_take_the_parquet(tmp_path: Path) -> None:
    python = trainer(*TRL)
    told = export(python, tmp_path, "--form", "trl", "--images", "2")
    found = said_by(python, _DATASETS, str(tmp_path / "data"), HF_DATASETS_CACHE=str(tmp_path / "cache"))
    assert found["rows"] == told["samples"] and found["source"] == ["real"] and found["step"] == 2
    assert found["kind"].startswith("PIL.") and {tuple(size) for size in found["sizes"]} == {(1080, 2400)} and len(found["sizes"]) == told["pictures"]
    assert found["blocks"] == ["text", "image", "text", "text"] and found["conversational"]
    assert set(found["pictures_ready"]) == {1, 2} and sum(found["pictures_ready"]) == told["pictures"]


_JSONL = """
import json, os, sys
from datasets import load_dataset
rows = load_dataset("json", data_files=sys.argv[1] + "/train.jsonl", split="train", cache_dir=sys.argv[1] + "/cache")
marks = [sum(m["content"].count("<image>") for m in row["messages"]) - len(row["images"]) for row in rows]
print(json.dumps({"rows": len(rows), "marks": marks, "there": all(os.path.isfile(os.path.join(sys.argv[1], image)) for row in rows for image in row["images"])}))
"""


def test_datasets_takes_the_jsonl_and_marks_are_as_many_as_pictures(tmp_path: Path) -> None:
    python = trainer(*TRL)
    told = export(python, tmp_path, "--images", "3", "--per", "episode", "--see", "both")
    found = said_by(python, _JSONL, str(tmp_path / "data"))
    assert found["rows"] == told["samples"] == 3 and set(found["marks"]) == {0} and found["there"]


_CONTROL = """
import base64, io, json, sys
from datasets import load_dataset
from PIL import Image
rows = load_dataset("parquet", data_files=sys.argv[1] + "/train.parquet", split="train", cache_dir=sys.argv[1] + "/cache")
print(json.dumps([
    {"goal": r["goal"], "actions": r["actions"], "words": r["step_instructions"], "sizes": [Image.open(io.BytesIO(base64.b64decode(s))).size for s in r["screenshots_b64"]]}
    for r in rows
]))
"""


def test_androidcontrols_shape_is_taken_by_datasets_and_by_our_importer(tmp_path: Path) -> None:
    python = trainer(*TRL)
    export(python, tmp_path, "--form", "android-control")
    graph, _ = sample_graph()
    rows = said_by(python, _CONTROL, str(tmp_path / "data"))
    assert [row["goal"] for row in rows] == [f"Do what is done in {t.id}." for t in graph.traces]
    for row, trace in zip(rows, graph.traces, strict=True):
        assert len(row["sizes"]) == len(row["actions"]) + 1 == len(trace.transitions) + 2 == len(row["words"]) + 1
        first = trace.transitions[0].action
        assert isinstance(first, Tap) and row["actions"][0] | {"action_type": "click", "x": first.x, "y": first.y} == row["actions"][0]
    back = tmp_path / "back.graph.json"
    command = [str(python), "-m", "phoneworld", "import", str(tmp_path / "data" / "train.parquet"), "-o", str(back)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    again = load_graph(back)
    assert [t.instruction for t in again.traces] == [row["goal"] for row in rows]
    for was, now in zip(graph.traces, again.traces, strict=True):
        kept = [t.action for t in now.transitions if not isinstance(t.action, Finish)]
        wanted = [t.action for t in was.transitions]
        assert [a for a in kept if isinstance(a, Tap | PressKey)] == [a for a in wanted if isinstance(a, Tap | PressKey)]


_LLAMA_FACTORY = """
import json, sys
from types import SimpleNamespace
from datasets import load_dataset
from llamafactory.data.converter import align_dataset
from llamafactory.data.mm_plugin import get_mm_plugin
from llamafactory.data.parser import get_dataset_list
from llamafactory.hparams import DataArguments
folder = sys.argv[1]
(attr,) = get_dataset_list(["phoneworld"], folder)
args = DataArguments(dataset_dir=folder, dataset="phoneworld", media_dir=folder)
rows = load_dataset("json", data_files=folder + "/" + attr.dataset_name, split="train", cache_dir=folder + "/cache")
aligned = align_dataset(rows, attr, args, SimpleNamespace(local_process_index=0))
plugin = get_mm_plugin("base", image_token="<image>")
problems = 0
for row in aligned:
    marks = sum(m["content"].count("<image>") for m in row["_prompt"] + row["_response"])
    problems += marks != len(row["_images"] or []) or not row["_prompt"] or not row["_response"] or not row["_system"]
    plugin._regularize_images(row["_images"] or [], image_max_pixels=768 * 768, image_min_pixels=32 * 32)
print(json.dumps({"rows": len(aligned), "problems": problems, "image": aligned[0]["_images"][0].startswith(folder)}))
"""


def test_llama_factory_aligns_and_opens_it(tmp_path: Path) -> None:
    python = trainer(*LLAMA_FACTORY)
    told = export(python, tmp_path, "--images", "2", "--see", "both")
    found = said_by(python, _LLAMA_FACTORY, str(tmp_path / "data"))
    assert found == {"rows": told["samples"], "problems": 0, "image": True}


_SWIFT = """
import json, os, sys
os.chdir(sys.argv[1])
from swift.dataset import load_dataset
rows, _ = load_dataset(["train.jsonl"], num_proc=1, strict=True)
marks = [sum(m["content"].count("<image>") for m in row["messages"]) - len(row["images"]) for row in rows]
print(json.dumps({"rows": len(rows), "roles": [m["role"] for m in rows[0]["messages"]], "marks": marks}))
"""


def test_ms_swift_loads_it(tmp_path: Path) -> None:
    python = trainer(*SWIFT)
    told = export(python, tmp_path, "--images", "2")
    found = said_by(python, _SWIFT, str(tmp_path / "data"), MODELSCOPE_CACHE=str(tmp_path / "cache"))
    assert found["rows"] == told["samples"] and set(found["marks"]) == {0} and found["roles"] == ["system", "user", "assistant"]
