"""Samples as the files that trainers read.

    messages          train.jsonl, images/HASH.png, dataset_info.json: LLaMA-Factory (sharegpt) and ms-swift
    trl               train.parquet with content blocks and pictures: `datasets`, TRL
    android-control   train.parquet, a row an episode: screenshots_b64, actions, step_instructions

A folder is written whole, beside the place, and then put there. Pictures are named by their content; nothing in a file names a place
outside its folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from phoneworld.datasets.conversation import Sample, Style
from phoneworld.datasets.demonstrations import Demonstration
from phoneworld.dialects.dialect import Screen
from phoneworld.dialects.families import dialect_named
from phoneworld.env.extras import need
from phoneworld.errors import WriteError

Form = Literal["messages", "trl", "android-control"]
FORMAT = "phoneworld-dataset"
VERSION = 1
_BATCH = 32


@dataclass(slots=True)
class Written:
    """How much was written; of it, from real phones."""

    demonstrations: int = 0
    samples: int = 0
    real_samples: int = 0
    pictures: int = 0

    def count(self, sample: Sample) -> Sample:
        self.samples += 1
        self.real_samples += sample.of.source == "real"
        return sample


def write_dataset(form: Form, out: Path, given: Iterable[Demonstration], style: Style, about: Mapping[str, Any], left_out: Mapping[str, int]) -> Written:
    """Writes the folder and says how much. What stood there is replaced where it is a dataset of ours, else WriteError is raised."""
    written = Written()
    writers: dict[str, Callable[[Path, Iterator[Demonstration], Style, Written], None]] = {
        "messages": _write_messages, "trl": _write_trl, "android-control": _write_android_control,
    }  # fmt: skip

    def counted() -> Iterator[Demonstration]:
        for demonstration in given:
            written.demonstrations += 1
            yield demonstration

    with _fresh(out) as folder:
        writers[form](folder, counted(), style, written)
        told = {
            "format": FORMAT, "version": VERSION, "form": form, **about, "demonstrations": written.demonstrations, "samples": written.samples,
            "real_samples": written.real_samples, "pictures": written.pictures, "left_out": dict(sorted(left_out.items())),
        }  # fmt: skip
        (folder / "phoneworld.json").write_text(json.dumps(told, ensure_ascii=True, indent=1) + "\n")
    return written


def may_export(out: Path) -> None:
    """Raises WriteError where something else stands there: asked before the work is done."""
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _is_ours(out))):
        raise WriteError(f"{out} is there already, and is no dataset of ours", hint="name another folder")


def _write_messages(folder: Path, given: Iterator[Demonstration], style: Style, written: Written) -> None:
    images = folder / "images"
    images.mkdir()
    with open(folder / "train.jsonl", "w", encoding="utf-8") as file:
        for demonstration in given:
            for sample in map(written.count, style.samples(demonstration)):
                names = []
                for shown in sample.pictures:
                    png = shown.png()
                    name = hashlib.sha256(png).hexdigest() + ".png"
                    if not (images / name).exists():
                        (images / name).write_bytes(png)
                        written.pictures += 1
                    names.append(f"images/{name}")
                messages = [{"role": m.role, "content": "<image>" * m.pictures + ("\n" if m.pictures and m.words else "") + m.words} for m in sample.messages]
                file.write(json.dumps({"messages": messages, "images": names, **_columns(sample)}, ensure_ascii=False) + "\n")
    entry: dict[str, Any] = {
        "file_name": "train.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages", **({"images": "images"} if style.see != "text" else {})},
        "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant", "system_tag": "system"},
    }  # fmt: skip
    (folder / "dataset_info.json").write_text(json.dumps({"phoneworld": entry}, indent=1) + "\n")


def _write_trl(folder: Path, given: Iterator[Demonstration], style: Style, written: Written) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for demonstration in given:
            for sample in map(written.count, style.samples(demonstration)):
                pictures = [{"bytes": shown.png(), "path": None} for shown in sample.pictures]
                written.pictures += len(pictures)
                messages = [
                    {"role": m.role, "content": [*({"type": "image", "text": None} for _ in range(m.pictures)), *([{"type": "text", "text": m.words}] if m.words or not m.pictures else [])]}
                    for m in sample.messages
                ]
                yield {"messages": messages, "images": pictures, **_columns(sample)}

    arrow = need("pyarrow", "datasets")
    text = arrow.string()
    block = arrow.struct([("type", text), ("text", text)])
    fields = [
        ("messages", arrow.list_(arrow.struct([("role", text), ("content", arrow.list_(block))]))),
        ("images", arrow.list_(arrow.struct([("bytes", arrow.binary()), ("path", text)]))), *_column_types(arrow),
    ]  # fmt: skip
    # So that `datasets` opens pictures by itself.
    string = {"dtype": "string", "_type": "Value"}
    features: dict[str, Any] = {
        "messages": {"feature": {"role": string, "content": {"feature": {"type": string, "text": string}, "_type": "List"}}, "_type": "List"},
        "images": {"feature": {"_type": "Image"}, "_type": "List"},
        **{name: {"dtype": str(of), "_type": "Value"} for name, of in _column_types(arrow)},
    }
    schema = arrow.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})
    _write_parquet(folder / "train.parquet", schema, rows())


def _write_android_control(folder: Path, given: Iterator[Demonstration], style: Style, written: Written) -> None:
    control = dialect_named("android-control")

    def rows() -> Iterator[dict[str, Any]]:
        for n, demonstration in enumerate(given):
            actions = []
            for deed in demonstration.deeds:
                said = json.loads(control.emit(deed.action, Screen(deed.look.size, style.apps), tree=deed.look.tree()).removeprefix("Action: "))
                actions.append({name: said.get(name) for name in ("action_type", "app_name", "direction", "text", "x", "y", "goal_status")})
            looks = [*(deed.look for deed in demonstration.deeds), demonstration.last]
            written.samples += 1
            written.real_samples += demonstration.source == "real"
            written.pictures += len(looks)
            yield {
                "episode_id": n, "goal": demonstration.instruction.encode("utf-8", "replace").decode(),
                "screenshots_b64": [base64.b64encode(look.png()).decode() for look in looks],
                "screenshot_widths": [look.size.width for look in looks], "screenshot_heights": [look.size.height for look in looks],
                "actions": actions, "step_instructions": [deed.words.encode("utf-8", "replace").decode() for deed in demonstration.deeds],
                "id": demonstration.id, "source": demonstration.source, "app": demonstration.app, "task": demonstration.task, "seed": demonstration.seed,
            }  # fmt: skip

    arrow = need("pyarrow", "datasets")
    text, whole = arrow.string(), arrow.int64()
    action = arrow.struct([("action_type", text), ("app_name", text), ("direction", text), ("text", text), ("x", whole), ("y", whole), ("goal_status", text)])
    schema = arrow.schema([
        ("episode_id", whole), ("goal", text), ("screenshots_b64", arrow.list_(text)), ("screenshot_widths", arrow.list_(whole)),
        ("screenshot_heights", arrow.list_(whole)), ("actions", arrow.list_(action)), ("step_instructions", arrow.list_(text)), ("id", text),
        ("source", text), ("app", text), ("task", text), ("seed", whole),
    ])  # fmt: skip
    _write_parquet(folder / "train.parquet", schema, rows())


def _columns(sample: Sample) -> dict[str, Any]:
    """What is told of a sample beside its messages."""
    of = sample.of
    return {"id": sample.id, "source": of.source, "app": of.app, "task": of.task, "seed": of.seed, "step": sample.step}


def _column_types(arrow: Any) -> list[tuple[str, Any]]:
    return [("id", arrow.string()), ("source", arrow.string()), ("app", arrow.string()), ("task", arrow.string()), ("seed", arrow.int64()), ("step", arrow.int64())]


def _write_parquet(file: Path, schema: Any, rows: Iterator[dict[str, Any]]) -> None:
    arrow, parquet = need("pyarrow", "datasets"), need("pyarrow.parquet", "datasets")
    with parquet.ParquetWriter(file, schema) as writer:
        for some in _batched(rows):
            writer.write_table(arrow.Table.from_pylist(some, schema=schema))


def _batched(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while some := list(islice(rows, _BATCH)):
        yield some


def _is_ours(folder: Path) -> bool:
    try:
        return f'"format": "{FORMAT}"' in (folder / "phoneworld.json").read_text()[:200]
    except (OSError, UnicodeDecodeError):
        return False


@contextmanager
def _fresh(out: Path) -> Iterator[Path]:
    """A folder beside the place, put there when all went well, and removed when not. Raises WriteError."""
    may_export(out)
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.absolute().parent))
    except OSError as e:
        raise WriteError(f"cannot write {out}: {e.strerror or e}", hint="name another folder") from None
    try:
        yield fresh
        os.chmod(fresh, 0o755)
        if out.exists():
            shutil.rmtree(out)
        os.replace(fresh, out)
    except OSError as e:
        raise WriteError(f"cannot write {out}: {e.strerror or e}", hint="free some disk, or name another folder") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
