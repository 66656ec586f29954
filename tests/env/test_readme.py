"""The snippets of the room's README run, in order, as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import phoneworld.env
from phoneworld.program.bundle import Bundle

README = Path(phoneworld.env.__file__).with_name("README.md")
_SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def test_every_snippet_runs(bundle: Bundle) -> None:
    text = README.read_text(encoding="utf-8")
    snippets = list(_SNIPPET.finditer(text))
    assert len(snippets) >= 5
    names: dict[str, object] = {"BUNDLE": str(bundle.path)}
    for snippet in snippets:
        line = text.count("\n", 0, snippet.start(1))
        exec(compile("\n" * line + snippet[1], str(README), "exec"), names)


def test_it_names_what_info_holds(bundle: Bundle) -> None:
    from phoneworld.env.phone_env import PhoneEnv

    text = README.read_text(encoding="utf-8")
    assert all(f"`{key}`" in text for key in PhoneEnv(bundle).reset()[1])
