"""What `phoneworld phone` refuses before it starts anything, and how."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from phoneworld.errors import BrowserError, ServeError
from phoneworld.render.browser import find_chromium
from phoneworld.testing.samples import sample_bundle
from tests.cli.running import phoneworld


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--locale", "x y"), "no language"),
        (("--locale", ""), "no language"),
        (("--clock", "never"), "no date"),
        (("--location", "100,200"), "no place"),
        (("--package", "nodot"), "no package"),
        (("--size", "10x10"), "no size"),
        (("--webview", "new"), "no WebView"),
        (("--fault", "all=2"), "no fault"),
        (("--log-unknown", "/no/such/folder/log"), "there is no folder /no/such/folder"),
        (("--truth", "/no/such/folder/truth"), "there is no folder /no/such/folder"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_an_option_that_cannot_be_is_named_with_one_that_can(words: tuple[str, ...], said: str) -> None:
    done = phoneworld("phone", "web:http://127.0.0.1:1", "--port", "0", "--no-connect", *words)
    assert (done.returncode, done.stdout) == (10 if "/no/such" in words[1] else 2, "")
    error, mend = done.stderr.splitlines()
    assert said in error and mend.startswith("  mend: ")


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        ("apps/notes/bundle", 2, "mock:apps/notes/bundle"),
        ("http://127.0.0.1:8000", 2, "web:http://127.0.0.1:8000"),
        ("nonsense", 2, "mock:BUNDLE"),
        ("mock:apps/notes", 3, "apps/notes/bundle"),
        ("web:127.0.0.1:8000", 4, "web:http://127.0.0.1:8000"),
    ],
)
def test_what_is_no_phone_is_answered_with_one(spec: str, code: int, words: str) -> None:
    done = phoneworld("phone", spec, "--port", "0", "--no-connect")
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert words in done.stderr.splitlines()[1]


def test_a_page_that_cannot_be_loaded_is_mended_by_why() -> None:
    try:
        find_chromium()
    except BrowserError as e:
        pytest.skip(f"no Chromium: {e.message}")
    with socket.socket() as bound:  # bound and not listening: nobody else takes the port, and it refuses
        bound.bind(("127.0.0.1", 0))
        for url, mend in [(f"http://127.0.0.1:{bound.getsockname()[1]}", "nothing listens there"), ("http://127.0.0.1:1", "another one"), ("http://example.invalid", "this machine")]:
            done = phoneworld("phone", f"web:{url}", "--port", "0", "--no-connect")
            assert done.returncode == 4 and url in done.stderr and mend in done.stderr.splitlines()[1], done.stderr


@pytest.mark.parametrize("verb", [("phone", "mock:BUNDLE", "--no-connect", "--port"), ("serve", "BUNDLE", "--port"), ("record", "-d", "mock:BUNDLE", "-o", "a.graph.json", "--mode", "mirror", "--port"),
                                  ("record", "-d", "mock:BUNDLE", "-o", "a.graph.json", "--mode", "attach", "--adb")], ids=" ".join)  # fmt: skip
def test_a_port_that_is_taken_is_the_same_fault_in_every_verb(verb: tuple[str, ...], tmp_path: Path) -> None:
    bundle = str(sample_bundle(tmp_path / "groceries").path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = str(taken.getsockname()[1])
        done = phoneworld(*(word.replace("BUNDLE", bundle) for word in verb), port, cwd=tmp_path)
    assert done.returncode == ServeError.exit_code and f"port {port}" in done.stderr and "0 for any free one" in done.stderr, done.stderr


def test_an_address_that_is_not_of_this_machine_is_no_fault_of_the_port() -> None:
    done = phoneworld("serve", "apps/notes/bundle", "--host", "no.such.name.invalid", "--port", "0")
    error, mend = done.stderr.splitlines()
    assert done.returncode == ServeError.exit_code and "no.such.name.invalid" in error and "--host 127.0.0.1" in mend


@pytest.mark.parametrize("port", ["-1", "65536", "adb"])
def test_a_port_that_is_none_is_a_wrong_option(port: str) -> None:
    done = phoneworld("phone", "web:http://127.0.0.1:1", "--port", port)
    assert done.returncode == 2 and "Traceback" not in done.stderr
