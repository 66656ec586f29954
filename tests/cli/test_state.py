"""`phoneworld state`: a running phone's state by path, over HTTP; and the paths by themselves."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from phoneworld.cli.root import command_line
from phoneworld.cli.state_path import StatePathError, changes, read, value_at
from phoneworld.cli.state_tables import as_sqlite
from phoneworld.errors import (
    FileFormatError,
    OptionError,
    PhoneWorldError,
    ServeError,
    SessionError,
    WriteError,
)
from phoneworld.serve.server import ServedSite
from phoneworld.serve.sessions import merged
from phoneworld.testing.samples import sample_bundle

APP = "org.example.notes"
STATE: dict[str, Any] = {
    "foreground": APP,
    "clock_ms": 1000,
    "apps": {
        APP: {
            "screen": "home",
            "variables": {"sort by": "title", "draft": None, "dark": False},
            "tables": {"notes": [{"title": "Milk", "done": False}, {"title": "5", "done": False}, {"title": "Milk", "done": True}]},
        },
        "org.other": {"screen": "start", "variables": {"dark": False}, "tables": {}},
    },
}


def after(path: str, text: str) -> dict[str, Any]:
    """The state after the merge patch of a set, as a server applies it."""
    patch, _ = changes(STATE, path, text)
    found: dict[str, Any] = merged(STATE, patch)
    return found


def front(state: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = state["apps"][APP]
    return found


def test_a_path_starts_at_the_state_or_at_the_app_in_front() -> None:
    assert read(STATE, "clock_ms") == 1000
    assert read(STATE, "notes[?title=='Milk'].done") == [False, True]
    assert read(STATE, "apps.*.screen") == ["home", "start"]
    assert read(STATE, "length(notes)") == 3


def test_null_is_told_where_a_null_stands_or_nothing_is_named() -> None:
    assert read(STATE, "draft") is None
    assert read(STATE, "draft.title") is None, "nothing is in a null, as JMESPath has it"
    assert read(STATE, "nothing || draft") is None
    assert read(STATE, "{a: nothing, b: clock_ms}") == {"a": None, "b": 1000}
    assert read(STATE, "notes[?title=='Tea']") == [] == read(STATE, "notes[?title=='Tea'].done")
    assert read(STATE, "apps.*.variables.draft") is None, "one of the two apps has it, and it is null there"
    assert read(STATE, "apps.*.variables.dark") == [False, False]


@pytest.mark.parametrize("verb", ["get", "set"])
@pytest.mark.parametrize(
    ("path", "said", "mend"),
    [
        ("nothing", "the state has no 'nothing'", "there are: "),
        ("clock", "the state has no 'clock'", "did you mean clock_ms?"),
        ("note", "the state has no 'note'", "did you mean notes?"),
        ("notes[9].done", "notes is a list of 3", "notes[N]"),
        ("notes[9]", "notes is a list of 3", "numbers start at 0"),
        ("notes.title", "notes is a list, which has no 'title'", "notes[*]"),
        ("notes[0].titel", "notes[0] has no 'titel'", "did you mean title?"),
        ("notes[*].titel", "notes[0] has no 'titel'", "did you mean title?"),
        ("notes[?titel=='Milk'].done", "notes[0] has no 'titel'", "did you mean title?"),
        ("notes[?title=='Milk'].dnoe", "notes[0] has no 'dnoe'", "did you mean done?"),
        ("apps.*.variable", "has no 'variable'", "did you mean variables?"),
        ("clock_ms.x", "clock_ms is 1000", "phoneworld state get 'clock_ms'"),
        ("s1.search.text", "the state has no 's1'", "'\"s1.search.text\"'"),
    ],
)
def test_what_is_not_there_is_named_with_what_is_near_it(verb: str, path: str, said: str, mend: str) -> None:
    state = {**STATE, "apps": {**STATE["apps"], APP: {**STATE["apps"][APP], "variables": {**STATE["apps"][APP]["variables"], "s1.search.text": ""}}}}
    with pytest.raises(StatePathError) as e:
        read(state, path) if verb == "get" else changes(state, path, "1")
    assert f"there is nothing at {path!r}: " in e.value.message and said in e.value.message
    assert mend in e.value.hint


def test_every_place_that_a_path_names_is_set_and_nothing_else() -> None:
    rows = front(after("notes[?title=='Milk'].done", "true"))["tables"]["notes"]
    assert [r["done"] for r in rows] == [True, False, True]
    assert after("notes[-1].title", "Tea")["apps"][APP]["tables"]["notes"][2] == {"title": "Tea", "done": True}
    assert [a["screen"] for a in after("apps.*.screen", "s2")["apps"].values()] == ["s2", "s2"]
    assert after("apps.\"org.other\".variables.dark", "true")["apps"]["org.other"]["variables"]["dark"] is True
    assert front(after('"sort by"', "date"))["variables"] == {"sort by": "date", "draft": None, "dark": False}
    assert after("clock_ms", "2000") == {**STATE, "clock_ms": 2000}
    assert front(STATE)["tables"]["notes"][0]["done"] is False, "the state that was given stays as it is"


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("clock_ms", "5", 5),
        ("notes[0].title", "5", "5"),
        ("notes[0].title", '"a \\"b\\""', 'a "b"'),
        ("notes[0].title", "true", "true"),
        ("notes[0].done", "true", True),
        ("draft", "words, and more", "words, and more"),
        ("draft", '{"a": 1}', {"a": 1}),
    ],
)
def test_a_value_is_json_but_where_words_stand_it_is_words(path: str, text: str, value: object) -> None:
    _, (change,) = changes(STATE, path, text)
    assert value_at(after(path, text), change.place) == value


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nothing", "nothing at"), ("notes[9].done", "nothing at"), ("clock_ms.x", "nothing at"), ("", "empty path"),
        ("[[[", "no path"), ("notes[?", "no path"), ("length(notes)", "computes"), ("notes[0:2].done", "computes"), ("{a: clock_ms}", "computes"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_refused(path: str, words: str) -> None:
    with pytest.raises(StatePathError, match=words) as e:
        changes(STATE, path, "1")
    assert e.value.hint


app = command_line("state")
run = CliRunner()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ServedSite({"groceries": sample_bundle(tmp_path_factory.mktemp("state") / "groceries")}) as site:
        yield site.url


@pytest.fixture
def session(url: str) -> Iterator[str]:
    name = str(httpx.post(f"{url}/api/sessions", json={}).json()["id"])
    yield name
    httpx.delete(f"{url}/api/sessions/{name}")


def state(url: str, *words: str, given: str | None = None) -> Result:
    return run.invoke(app, ["state", *words, "--server", url], input=given)


def failed(done: Result) -> PhoneWorldError:
    assert isinstance(done.exception, PhoneWorldError) and done.exception.hint, done.output
    return done.exception


def test_the_only_phone_is_read_set_and_patched(url: str, session: str, tmp_path: Path) -> None:
    whole = json.loads(state(url, "get").stdout)
    assert whole == httpx.get(f"{url}/api/sessions/{session}/state").json()
    told = json.loads(state(url, "set", "clock_ms", "1700000000000", "--json").stdout)
    assert told == {"session": session, "changed": [{"place": "clock_ms", "before": whole["clock_ms"], "after": 1700000000000}]}
    assert "clock_ms: 1700000000000 → 5" in state(url, "set", "clock_ms", "5", "--session", f"{url}/sessions/{session}").stdout
    assert session in state(url, "patch", '{"seed": 7}').stdout
    assert json.loads(state(url, "patch", "-", "--json", given='{"clock_ms": 6}').stdout) == {**whole, "clock_ms": 6, "seed": 7}
    (tmp_path / "p.json").write_text('{"clock_ms": 8}')
    assert state(url, "patch", str(tmp_path / "p.json")).exit_code == 0
    assert json.loads(state(url, "get", "clock_ms").stdout) == 8


def test_a_state_that_cannot_be_is_refused_and_nothing_changes(url: str, session: str) -> None:
    before = state(url, "get").stdout
    assert isinstance(failed(state(url, "set", "apps.*.screen", "nowhere")), PhoneWorldError)
    assert "did you mean clock_ms?" in failed(state(url, "get", "clock_m")).hint
    wrong = failed(state(url, "set", "clock_ms", "noon"))
    assert isinstance(wrong, FileFormatError) and "expected a whole number, found text" in wrong.message
    for patch in ("[1]", '"x"', "{", "no-such-file", "[" * 100_000):
        assert isinstance(failed(state(url, "patch", patch)), FileFormatError)
    assert state(url, "get").stdout == before


def test_the_tables_of_a_phone_go_into_a_file_of_sqlite(url: str, session: str, tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    file.write_text("mine")
    assert isinstance(failed(state(url, "get", "--sqlite", str(file))), WriteError) and file.read_text() == "mine"
    assert isinstance(failed(state(url, "get", "clock_ms", "--sqlite", str(file))), OptionError)
    assert str(file) in state(url, "get", "--sqlite", str(file), "--force").stdout
    assert state(url, "get", "--sqlite", str(file)).exit_code == 0, "one of ours is replaced"
    whole = json.loads(state(url, "get").stdout)
    with closing(sqlite3.connect(file)) as base:
        kept = {(app, name): value for app, name, value in base.execute("select app, name, value from _variables")}
    assert kept == {(app, name): value for app, of in whole["apps"].items() for name, value in of["variables"].items()}


def test_tables_as_sqlite_keep_their_values_and_names() -> None:
    two = {**STATE, "apps": {**STATE["apps"], "org.other": {"screen": "s", "variables": {}, "tables": {"Notes": [], 'a "b"; drop': [{"x": None, "n": 1.5}, {"y": "é\n"}]}}}}
    content, names = as_sqlite(two)
    assert names == (f"{APP} notes", "org.other Notes", 'a "b"; drop'), "SQLite takes notes and Notes for one name"
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(content)
        assert base.execute(f'select title, done from "{APP} notes"').fetchall() == [("Milk", 0), ("5", 0), ("Milk", 1)]
        assert base.execute('select * from "a ""b""; drop"').fetchall() == [(None, 1.5, None), (None, None, "é\n")]
        assert base.execute("select value from _variables where name = 'draft'").fetchall() == [(None,)]
    with pytest.raises(ServeError, match="SQLite"):
        as_sqlite({"apps": {"a": {"variables": {}, "tables": {"t": [{"c": 1, "C": 2}]}}}})


def test_without_a_phone_or_with_several_it_says_which_there_are(url: str) -> None:
    assert "curl" in failed(state(url, "get")).hint
    two = [httpx.post(f"{url}/api/sessions", json={}).json()["id"] for _ in range(2)]
    asked = failed(state(url, "get"))
    assert isinstance(asked, SessionError) and "2 are open" in asked.message and all(name in asked.hint for name in two)
    for name in two:
        httpx.delete(f"{url}/api/sessions/{name}")
    assert isinstance(failed(state(url, "get", "--session", "nobody")), SessionError)


def test_a_server_that_is_none_is_named() -> None:
    assert isinstance(failed(state("ftp://x", "get")), OptionError)
    assert "does not answer" in failed(state("http://127.0.0.1:1", "get")).message
    assert isinstance(failed(state("http://[::1", "get")), ServeError)
