"""The README's Python is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.env.shop_phone import write_shop

README = Path(__file__).resolve().parents[2] / "phoneworld" / "episodes" / "README.md"


def test_the_snippet_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, tasks = write_shop(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {"BUNDLE": bundle, "TASKS": tasks, "FOLDER": tmp_path / "runs"})
    assert capsys.readouterr().out.count("shop/cheap-v1/seed-") == 3
