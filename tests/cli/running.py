"""The command line, run in this process from where it is entered: a process of its own costs seconds."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from phoneworld.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


def phoneworld(*args: str | Path, cwd: Path = ROOT) -> Ran:
    """What a run of `phoneworld ARGS` in a folder printed, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # a width would wrap what is not on a terminal
    with mock.patch.dict(os.environ, plain, clear=True), chdir(cwd), mock.patch.object(sys, "argv", ["phoneworld", *map(str, args)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Ran(code, out.getvalue(), err.getvalue())
