"""`phoneworld door`: a server that answers, and what it says where it cannot."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx

from tests.cli.running import ROOT, phoneworld
from tests.env.shop_phone import write_shop


def test_androidworlds_server_answers_with_the_tasks_beside_the_bundle(tmp_path: Path) -> None:
    bundle, _ = write_shop(tmp_path)
    command = [sys.executable, "-m", "phoneworld", "door", "android-world", bundle, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        told = httpx.get(f"{url}/suite/task_list", params={"max_index": 1}, timeout=30).json()
        assert told == {"task_list": ["shop/buy-v1"]}
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


def test_what_is_no_bundle_or_no_task_file_is_named(tmp_path: Path) -> None:
    done = phoneworld("door", "android-world", str(tmp_path))
    assert done.returncode == 3 and "phoneworld build" in done.stderr
    bundle, _ = write_shop(tmp_path)
    done = phoneworld("door", "android-world", bundle, "--tasks", str(tmp_path / "nothing.yaml"))
    assert done.returncode == 3 and "nothing.yaml" in done.stderr
    assert phoneworld("door", "fax", bundle).returncode == 2
