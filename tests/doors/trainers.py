"""Virtual environments with a trainer's own library in each, for their pins conflict. Made on first use, kept in the tests' cache."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

from tests.clients.install import python_client
from tests.webapps import ROOT

TRL = ("trl", "trl==1.16.0", "transformers==5.23.0", "torch==2.13.0", "datasets")
OPENENV = ("openenv", "openenv==0.10.0")
MCP = ("mcp", "mcp==2.3.0")
RAY = ("ray", "ray==2.60.0")


def trainer(name: str, *requirements: str) -> Path:
    """The interpreter of an environment that holds a trainer and what PhoneWorld itself needs; PhoneWorld comes by PYTHONPATH."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return python_client(f"door-{name}", *requirements, *project["dependencies"])


def run_in(python: Path, script: str, *arguments: str, timeout_s: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in such an environment, offline, with this checkout on its path."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **environment}
    command = [str(python), "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=env, cwd=ROOT)
