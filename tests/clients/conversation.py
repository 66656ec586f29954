"""A scripted conversation of a client with a phone: what was called, what the phone did, checked on the phone after each call.

A client of this process is called directly. One with an environment of its own runs there as a script: it prints one line of
JSON after each call and waits, while the phone is looked at here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.adbd.fixtures import Attached

SCRIPTS = Path(__file__).resolve().parent / "scripts"
_MARK = "@@"
_SLOWEST_RUN_S = 240.0


@dataclass(frozen=True, slots=True)
class Row:
    """One call: its words, what it did on the phone, and whether that is so (or the reason why not)."""

    call: str
    did: str
    fault: str = ""
    gap: str = ""
    """Why it cannot work here, where that is known and the call failed as it must."""


@dataclass(slots=True)
class Report:
    """What one client called, in order."""

    client: str
    version: str
    rows: list[Row] = field(default_factory=list)

    def call(self, words: str, did: str, run: Callable[[], Any], holds: Callable[[Any], Any]) -> Any:
        """Calls the client, then asks whether what it should have done is so. Keeps both."""
        try:
            value = run()
        except Exception as e:
            self.rows.append(Row(words, did, f"{type(e).__name__}: {e}"[:300]))
            return None
        self.judge(words, did, value, holds)
        return value

    def gap(self, words: str, why: str, run: Callable[[], Any]) -> None:
        """A call that cannot work here: it must raise, and not pretend."""
        try:
            value = run()
        except Exception:
            self.rows.append(Row(words, "an error", gap=why))
        else:
            self.rows.append(Row(words, "an error", f"it gave {str(value)[:100]!r} where it should have failed"))

    def judge(self, words: str, did: str, value: Any, holds: Callable[[Any], Any]) -> None:
        try:
            fault = "" if holds(value) else f"it gave {str(value)[:200]!r} and the phone is not so"
        except Exception as e:
            fault = f"{type(e).__name__}: {e}; it gave {str(value)[:200]!r}"[:400]
        self.rows.append(Row(words, did, fault))

    @property
    def faults(self) -> list[str]:
        return [f"{row.call}: {row.fault}" for row in self.rows if row.fault]


@dataclass(frozen=True, slots=True)
class Check:
    """What a call of a script should have done: in words, and as a question to its value."""

    did: str
    holds: Callable[[Any], Any]
    gap: str = ""
    """Why the call must fail, where it cannot work on this phone."""


def run_script(report: Report, command: list[str], checks: dict[str, Check], attached: Attached, **env: str) -> Report:
    """Runs a script of `scripts/`, and after each of its calls checks the phone. Every check must be met by one call."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own |= {"PHONE": attached.serial, "ADB_PORT": str(attached.server_port), "ANDROID_SERIAL": attached.serial}
    own |= {"ANDROID_ADB_SERVER_PORT": str(attached.server_port), "PYTHONUNBUFFERED": "1", **env}
    met: set[str] = set()
    with _running(command, own) as process:
        assert process.stdout is not None and process.stdin is not None
        other: list[str] = []
        for text in process.stdout:
            if not text.startswith(_MARK):
                other.append(text)
                continue
            said = json.loads(text[len(_MARK) :])
            name = said["call"]
            check = checks.get(name)
            if check is None:
                report.rows.append(Row(name, "", "the script called it and no check names it"))
            elif check.gap:
                fault = "" if "error" in said else f"it gave {str(said['value'])[:100]!r} where it should have failed"
                report.rows.append(Row(name, check.did, fault, "" if fault else check.gap))
            elif "error" in said:
                report.rows.append(Row(name, check.did, said["error"][:300]))
            else:
                report.judge(name, check.did, said["value"], check.holds)
            met.add(name)
            process.stdin.write("\n")
            process.stdin.flush()
        status = process.wait(timeout=30)
    for name in checks:
        if name not in met:
            told = "".join(other)[-400:]
            report.rows.append(Row(name, checks[name].did, f"never called: the script ended with {status}: {told}"))
    return report


@contextmanager
def _running(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
    )
    watchdog = threading.Timer(_SLOWEST_RUN_S, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.kill()
        process.wait(timeout=30)


def version_of(python: Path | None, package: str) -> str:
    """The version of an installed package, here or in another environment."""
    ask = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([str(python or sys.executable), "-c", ask], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()
