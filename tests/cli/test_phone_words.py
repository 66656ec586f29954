"""What `phoneworld phone` refuses before it starts anything, and how."""

from __future__ import annotations

import pytest

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
        (("--log-unknown", "/no/such/folder/log"), "folder is not there"),
        (("--truth", "/no/such/folder/truth"), "cannot be written"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_an_option_that_cannot_be_is_named_with_one_that_can(words: tuple[str, ...], said: str) -> None:
    done = phoneworld("phone", "web:http://127.0.0.1:1", "--port", "0", "--no-connect", *words)
    assert (done.returncode, done.stdout) == (10 if "/no/such" in words[1] else 2, "")
    error, mend = done.stderr.splitlines()
    assert said in error and mend.startswith("  mend: ")


@pytest.mark.parametrize("port", ["-1", "65536", "adb"])
def test_a_port_that_is_none_is_a_wrong_option(port: str) -> None:
    done = phoneworld("phone", "web:http://127.0.0.1:1", "--port", port)
    assert done.returncode == 2 and "Traceback" not in done.stderr
