"""Bundles: the same bytes for the same Program, whole or not at all, and nothing in them is trusted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from phoneworld.errors import FileFormatError, NewerFormat, PhoneWorldError, ProgramError, UnsafePath, WriteError
from phoneworld.program.bundle import dumps, load_bundle, loads, save_bundle
from phoneworld.program.program import Program
from tests.sim.programs import program

PNG = b"\x89PNG\r\n\x1a\n not looked at"
SHA = hashlib.sha256(PNG).hexdigest()


def pictured() -> Program:
    made = program()
    screen = made.screens["list"]
    layouts = (replace(screen.layouts[0], screenshot=SHA),)
    return replace(made, screens={**made.screens, "list": replace(screen, layouts=layouts)})


def test_a_program_comes_back_as_it_was(tmp_path: Path) -> None:
    bundle = save_bundle(pictured(), tmp_path / "b", {SHA: PNG}, {"report.html": b"<p>"})
    read = load_bundle(bundle.path)
    assert read.program == pictured() and read.asset(SHA) == PNG
    assert (bundle.path / "report.html").read_bytes() == b"<p>"


def test_the_same_program_gives_the_same_bytes() -> None:
    assert dumps(pictured()) == dumps(loads(dumps(pictured())))


def test_a_bundle_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    save_bundle(pictured(), tmp_path / "b", {SHA: PNG})
    save_bundle(program(), tmp_path / "b", {})
    assert load_bundle(tmp_path / "b").program == program()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b"]
    other = tmp_path / "mine"
    other.mkdir()
    for name in ("letter.txt", "program.json"):
        (other / name).write_text('{"format": "a plan of lessons"}')
        with pytest.raises(WriteError, match="not a bundle"):
            save_bundle(program(), other, {})
    assert (other / "letter.txt").read_text() == (other / "program.json").read_text() == '{"format": "a plan of lessons"}'


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (lambda b: b.update(format="zip"), FileFormatError),
        (lambda b: b.update(version=99), NewerFormat),
        (lambda b: b.update(version="1"), FileFormatError),
        (lambda b: b["program"]["screens"]["list"]["layouts"][0].update(hierarchy="../../etc/passwd"), UnsafePath),
        (lambda b: b["program"]["screens"]["list"]["layouts"][0].update(hierarchy="0" * 64), FileFormatError),
        (lambda b: b["program"]["rules"][0].update(screen="nowhere"), ProgramError),
        (lambda b: b["program"]["rules"][0].update(then=[{"op": "System", "command": "id"}]), FileFormatError),
        (lambda b: b["program"].update(starts={}), ProgramError),
        (lambda b: b["program"].pop("package"), FileFormatError),
    ],
)
def test_a_tampered_bundle_is_refused_by_name(edit: object, error: type[PhoneWorldError]) -> None:
    files = dumps(program())
    body = json.loads(files["program.json"])
    edit(body)  # type: ignore[operator]
    with pytest.raises(error) as caught:
        loads({**files, "program.json": json.dumps(body).encode()})
    assert caught.value.hint


def test_a_picture_outside_the_folder_cannot_be_named(tmp_path: Path) -> None:
    bundle = save_bundle(pictured(), tmp_path / "b", {SHA: PNG})
    with pytest.raises(UnsafePath):
        bundle.asset("../program")
    with pytest.raises(FileFormatError, match="cannot be read"):
        bundle.asset("0" * 64)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_a_bundle_is_refused(content: bytes) -> None:
    with pytest.raises(FileFormatError):
        loads({"program.json": content})
    with pytest.raises(FileFormatError):
        loads({})
