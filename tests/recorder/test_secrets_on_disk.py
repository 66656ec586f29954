"""No secret is in any file that a recording leaves behind: graph, journal, pictures; whatever it is and whoever typed it."""

from __future__ import annotations

import io
import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from phoneworld.device.device import InstalledApp
from phoneworld.device.settle import Reading
from phoneworld.errors import RecordingError
from phoneworld.graph.file import load_graph, screenshot_bytes
from phoneworld.ui.action import Tap, TypeText
from phoneworld.ui.node import Hierarchy
from recorder.attach import RecordingDevice
from recorder.driven import Driven
from recorder.folder import journal_folder
from recorder.journal import read_records
from recorder.run import record
from tests.adbd.pocket import NAME, NOTE, PACKAGE, Memory, PocketPhone
from tests.recorder.test_redact import SECRETS

# With capitals, small letters and digits: "enabl" or "EditT" stands in every graph file, whoever is called so.
listed = st.text(st.characters(codec="ascii", categories=("Lu", "Ll", "Nd")), min_size=5, max_size=12).filter(
    lambda t: any(map(str.isdigit, t)) and any(map(str.isupper, t)) and any(map(str.islower, t))
)
secrets = st.sampled_from([v for values in SECRETS.values() for v in values])


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "salt"}


@settings(max_examples=8, deadline=None)
@given(secret=secrets, name=listed, around=st.sampled_from(["", "mine: ", "(", "write to "]))
def test_no_secret_is_in_any_file(secret: str, name: str, around: str) -> None:
    phone = PocketPhone(memory=Memory(front=PACKAGE, url=f"app://u/{secret}"))

    def look(_: object) -> Reading:
        return Reading(phone.hierarchy(), phone.screenshot(), phone.state(), True, 0)

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "app.graph.json"
        driven = Driven.open(phone, PACKAGE, out, mode="attach", redact=[name], look=look)
        agent = RecordingDevice(driven, instruction=f"Tell {name} that {secret} is it")
        agent.perform(Tap(NAME.center.x, NAME.center.y))
        agent.perform(TypeText(around + secret))
        agent.perform(Tap(NOTE.center.x, NOTE.center.y))
        agent.perform(TypeText(f"{name} has {secret}"))
        done = driven.finish()
        for path, content in files(Path(folder)).items():
            for word in (secret, name):
                for form in (word.encode(), json.dumps(word)[1:-1].encode()):
                    assert form not in content, path
        typed = [t.action for t in done.graph.transitions() if isinstance(t.action, TypeText)]
        stand_in = typed[0].text.removeprefix(around)
        assert stand_in != secret and typed[1].text.endswith(stand_in), "equal values stay equal"
        last = done.graph.captures[done.graph.traces[0].captures[-1]]
        shown = [n for n in last.hierarchy.nodes() if stand_in in n.text]
        assert len(shown) == 3 and last.screenshot is not None
        with Image.open(io.BytesIO(screenshot_bytes(out, last.screenshot))) as picture:
            for node in shown:
                b = node.bounds
                assert picture.crop((b.left, b.top, b.right, b.bottom)).getcolors() == [(b.area, (128, 128, 128))]
        assert done.summary.redacted_kinds["listed"] == 1 and sum(done.summary.redacted_kinds.values()) == 2


@pytest.mark.parametrize("marked", [True, False], ids=["marked as a password", "said by its hint"])
def test_an_instruction_that_names_a_password_is_cleaned_once_it_is_typed(tmp_path: Path, marked: bool) -> None:
    phone, secret = PocketPhone(memory=Memory(front=PACKAGE)), "correct-Horse7"

    def look(_: object) -> Reading:
        return Reading(_with_password(phone.hierarchy(), marked=marked), b"", phone.state(), True, 0)

    out = tmp_path / "app.graph.json"
    driven = Driven.open(phone, PACKAGE, out, mode="attach", look=look)
    agent = RecordingDevice(driven, instruction=f"log in with {secret}")
    agent.perform(Tap(NOTE.center.x, NOTE.center.y))
    agent.perform(TypeText("a note"))
    journal = journal_folder(out) / "journal.jsonl"
    assert secret.encode() in journal.read_bytes(), "nothing says yet that it is one"
    agent.perform(Tap(NAME.center.x, NAME.center.y))
    agent.perform(TypeText(secret))
    assert not [path for path, content in files(tmp_path).items() if secret.encode() in content], "at once, not at the end"
    with pytest.raises(RecordingError, match="another recorder"):
        Driven.open(phone, PACKAGE, out, mode="attach", look=look, resume=True)
    done = driven.finish()
    assert done.graph.traces[0].instruction == "log in with " + "•" * len(secret)
    assert len([*done.graph.transitions()]) == 4 and len(read_records(journal.read_bytes())[0]) > 10
    assert not [path for path, content in files(tmp_path).items() if secret.encode() in content]


def test_an_instruction_that_names_a_code_is_cleaned_once_it_is_typed(tmp_path: Path) -> None:
    phone = PocketPhone(memory=Memory(front=PACKAGE))

    def look(_: object) -> Reading:
        tree = phone.hierarchy()
        path, field = next((path, node) for path, node in tree.walk() if node.bounds == NAME)
        return Reading(tree.replace_at(path, replace(field, hint="Verification code")), b"", phone.state(), True, 0)

    out = tmp_path / "app.graph.json"
    driven = Driven.open(phone, PACKAGE, out, mode="attach", look=look)
    agent = RecordingDevice(driven, instruction="enter 482913 and go on")
    agent.perform(Tap(NAME.center.x, NAME.center.y))
    agent.perform(TypeText("482913"))
    assert not [path for path, content in files(tmp_path).items() if b"482913" in content]
    typed = [t.action for t in driven.finish().graph.transitions()][-1]
    assert isinstance(typed, TypeText)
    assert driven_instruction(out) == f"enter {typed.text} and go on", "equal values stay equal"


def test_a_code_that_is_typed_in_pieces_is_in_no_file_and_its_pieces_make_what_is_shown(tmp_path: Path) -> None:
    phone = PocketPhone(memory=Memory(front=PACKAGE))

    def look(_: object) -> Reading:
        tree = phone.hierarchy()
        path, field = next((path, node) for path, node in tree.walk() if node.bounds == NAME)
        return Reading(tree.replace_at(path, replace(field, hint="CVC")), b"", phone.state(), True, 0)

    out = tmp_path / "app.graph.json"
    driven = Driven.open(phone, PACKAGE, out, mode="attach", look=look)
    agent = RecordingDevice(driven, instruction="pay with 642 on it")
    agent.perform(Tap(NAME.center.x, NAME.center.y))
    for piece in ("6", "42"):
        agent.perform(TypeText(piece))
    agent.perform(Tap(NOTE.center.x, NOTE.center.y))
    agent.perform(TypeText("the cvc 642 was taken"))
    done = driven.finish()
    typed = [t.action.text for t in done.graph.transitions() if isinstance(t.action, TypeText)]
    code = "".join(typed[:2])
    assert typed[2] == f"the cvc {code} was taken" and driven_instruction(out) == f"pay with {code} on it"
    last = done.graph.captures[done.graph.traces[0].captures[-1]]
    assert [n.text for n in last.hierarchy.nodes() if n.bounds in (NAME, NOTE)] == [code, typed[2]]
    assert code != "642" and not [path for path, content in files(tmp_path).items() if re.search(rb"\b642\b", content)]


def test_the_name_of_an_app_is_cleaned_too(tmp_path: Path) -> None:
    """A web app is called as its page's title, which may name whose it is."""
    name, out = "Mail of ann@example.com, code 4711", tmp_path / "app.graph.json"
    phone = Named(memory=Memory(front=PACKAGE), called=name)

    def look(_: object) -> Reading:
        tree = phone.hierarchy()
        path, field = next((path, node) for path, node in tree.walk() if node.bounds == NAME)
        return Reading(tree.replace_at(path, replace(field, hint="PIN")), b"", phone.state(), True, 0)

    driven = Driven.open(phone, PACKAGE, out, mode="attach", look=look)
    agent = RecordingDevice(driven)
    agent.perform(Tap(NAME.center.x, NAME.center.y))
    agent.perform(TypeText("4711"))
    label = driven.finish().graph.app.label
    assert label.startswith("Mail of ") and len(label) == len(name)
    assert not [path for path, content in files(tmp_path).items() if b"ann@" in content or b"4711" in content]
    found = record(Named(memory=Memory(front=PACKAGE), called=name), PACKAGE, steps=1, out=tmp_path / "explored.graph.json")
    assert "ann@" not in found.app.label and found.app.label.startswith("Mail of ")


@dataclass(slots=True)
class Named(PocketPhone):
    called: str = ""

    def apps(self) -> tuple[InstalledApp, ...]:
        return tuple(replace(app, label=self.called) for app in PocketPhone.apps(self))


def driven_instruction(out: Path) -> str:
    return load_graph(out).traces[0].instruction


def _with_password(tree: Hierarchy, *, marked: bool) -> Hierarchy:
    path, field = next((path, node) for path, node in tree.walk() if node.bounds == NAME)
    return tree.replace_at(path, replace(field, password=marked, hint="Your password"))
