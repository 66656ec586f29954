"""Virtual environments with a trainer's own library in each, for their pins conflict. Made on first use, kept in the tests' cache."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

from tests.clients.install import python_client
from tests.webapps import ROOT

TRL = ("trl", "trl==1.16.0", "transformers==5.23.0", "torch==2.13.0", "datasets")
SWIFT = ("swift", "ms-swift==4.6.0", "msgspec", "torch", "torchvision")
"""Its GRPO trainer imports msgspec, which it does not ask for."""
VERL = ("verl", "verl==0.9.1", "torch==2.13.0", "TransferQueue>=0.1.10", "pyzmq", "msgspec", "cachetools")
OPENENV = ("openenv", "openenv==0.10.0")
MCP = ("mcp", "mcp==2.3.0")
RAY = ("ray", "ray==2.60.0")


def trainer(name: str, *requirements: str) -> Path:
    """The interpreter of an environment that holds a trainer and what PhoneWorld itself needs; PhoneWorld comes by PYTHONPATH."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return python_client(f"door-{name}", *requirements, *project["dependencies"])


def run_in(python: Path, script: str, *arguments: str, timeout_s: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in such an environment, offline, with this checkout on its path."""
    return call_in(python, "-c", script, *arguments, timeout_s=timeout_s, **environment)


def call_in(python: Path, *words: str, timeout_s: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with these words in such an environment, in the same way."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **environment}
    return subprocess.run([str(python), *words], capture_output=True, text=True, timeout=timeout_s, check=False, env=env, cwd=ROOT)
