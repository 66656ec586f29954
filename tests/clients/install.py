"""Other people's adb clients, each installed into a place of its own under the tests' cache, never into the project's environment.

A client that cannot be fetched is a skip with the reason; a repository without a package is found by an environment variable.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapps import CACHE

_SLOWEST_INSTALL_S = 900


def python_client(name: str, *requirements: str) -> Path:
    """The interpreter of a virtual environment that holds these requirements. Made on first use."""
    folder = CACHE / f"client-{name}"
    python = folder / "bin" / "python"
    done = folder / "installed.txt"
    wanted = "\n".join(requirements)
    if done.is_file() and done.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)], name)
    if requirements:
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], name)
    done.write_text(wanted)
    return python


def npm_client(name: str, *packages: str) -> Path:
    """A folder whose `node_modules` holds these packages. Made on first use."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip(f"node and npm are not installed, so {name} cannot be fetched")
    folder = CACHE / f"client-{name}"
    done = folder / "installed.txt"
    wanted = "\n".join(packages)
    if done.is_file() and done.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *packages], name)
    done.write_text(wanted)
    return folder


def repository(variable: str, name: str) -> Path:
    """A checkout of a client that is no package, by the environment variable that names its path."""
    path = os.environ.get(variable, "")
    if not path:
        pytest.skip(f"{name} is a repository only: set {variable} to a checkout of it")
    if not Path(path).is_dir():
        pytest.skip(f"{variable} is {path!r}, which is no folder")
    return Path(path)


def _run(command: list[str], name: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SLOWEST_INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{name} could not be installed within {_SLOWEST_INSTALL_S} s")
    if done.returncode:
        pytest.skip(f"{name} could not be installed: {done.stderr.strip()[-300:]}")
