"""The examples for CI: every `phoneworld` command in them is run on a small app, and ends well."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.cli.running import phoneworld
from tests.env.shop_phone import MORE, NAMES, write_shop

CI = Path(__file__).resolve().parents[2] / "examples" / "ci"


def commands(text: str) -> list[list[str]]:
    found = [shlex.split(line.replace('"$APP"', "shop")) for line in re.findall(r"(?:- |')(?:\.venv/bin/)?(phoneworld [^'\n]*)'?", text)]
    return [words[1:] for words in found]


def test_gitlabs_is_yaml_with_its_jobs() -> None:
    told = yaml.safe_load((CI / "gitlab-ci.yml").read_text())
    assert {"check", "oracle", "agent"} <= set(told) and all(told[job]["stage"] in told["stages"] for job in ("check", "oracle", "agent"))


@pytest.mark.parametrize("file", ["gitlab-ci.yml", "Jenkinsfile"])
def test_its_commands_run(tmp_path: Path, file: str) -> None:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    good = MORE.replace(MORE[MORE.index("- id: shop/broken-v1") : MORE.index("- id: shop/told-v1")], "")
    (tmp_path / "shop" / "tasks" / "shop.yaml").write_text(NAMES + "tasks:\n" + good)
    (tmp_path / "runs").mkdir()
    found = commands((CI / file).read_text())
    assert [words[0] for words in found] == ["check", "eval", "eval", "episodes"]
    for words in found[1:]:  # that tasks are proved is tested elsewhere: this shop's are not meant to be
        ran = phoneworld(*words, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "runs" / "oracle.xml").is_file() and (tmp_path / "runs" / "agent.xml").is_file()
