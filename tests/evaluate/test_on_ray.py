"""`phoneworld eval --executor ray`, on real Ray in an environment of its own: the same folder to the byte."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.doors.trainers import RAY, trainer
from tests.env.shop_phone import write_shop
from tests.episodes.test_traces import contents
from tests.webapps import ROOT


@pytest.mark.slow
def test_episodes_on_ray_lie_in_the_folder_as_those_played_here(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    python = trainer(*RAY)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    for out, how in (("here", "process"), ("there", "ray")):
        command = [str(python), "-m", "phoneworld", "eval", "shop", "--policy", "random", "--only", "cheap", "--only", "buy", "--seeds", "4", "--executor", how, "--out", out]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
