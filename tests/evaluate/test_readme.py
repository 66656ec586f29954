"""The policy of the README is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop

README = Path(__file__).resolve().parents[2] / "phoneworld" / "evaluate" / "README.md"


def test_the_policy_in_a_file_acts(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "agent.py").write_text(code)
    ran = phoneworld("eval", "shop", "--policy", "agent.py", "--only", "cheap", "--seeds", "1", "--out", "runs", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert told["scored"] == 1 and told["ended"] == {"failed": 1} and told["progress"] == 0.5, "it switches, and does not know of the cart"
