"""`phoneworld serve` as a program: its URL, its port, its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from phoneworld.errors import FileFormatError, ServeError
from phoneworld.program.bundle import Bundle
from phoneworld.serve.server import ServedSite, bundles_in, listen, named_bundles, url_of


def started(*arguments: str, cwd: Path | None = None) -> tuple[subprocess.Popen[str], dict[str, object]]:
    """The running program and the line it printed."""
    command = [sys.executable, "-m", "phoneworld.cli.main", "serve", "--port", "0", "--json", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return process, json.loads(line)


def test_port_0_prints_the_real_url_and_ctrl_c_frees_it(bundle: Bundle) -> None:
    process, line = started(str(bundle.path))
    url = str(line["url"])
    assert line["bundles"] == ["groceries"]
    session = httpx.post(f"{url}/api/sessions", json={}).json()["id"]
    # A change, so that Chromium runs too.
    for action in ({"kind": "tap", "x": 950, "y": 2270}, {"kind": "tap", "x": 540, "y": 330}, {"kind": "type", "text": "Tea"}):
        httpx.post(f"{url}/api/sessions/{session}/step", json={"action": action})
    assert httpx.get(f"{url}/api/sessions/{session}/screenshot", timeout=60).content[:4] == b"\x89PNG"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    listen("127.0.0.1", int(url.rsplit(":", 1)[1])).close()


def test_a_taken_port_is_named(bundle: Bundle) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "phoneworld.cli.main", "serve", "--port", port, str(bundle.path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == ServeError.exit_code
    assert port in done.stderr and "--port 0" in done.stderr and "Traceback" not in done.stderr


def test_what_is_no_bundle_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "phoneworld.cli.main", "serve", "--port", "0", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == FileFormatError.exit_code
    assert "Traceback" not in done.stderr and "bundle" in done.stderr


def test_without_arguments_it_serves_every_app_of_the_folder(bundle: Bundle) -> None:
    home = bundle.path.parent.parent
    link = home / "apps"
    link.symlink_to(bundle.path.parent)
    try:
        process, line = started(cwd=home)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        link.unlink()
    assert line["bundles"] == ["groceries"]


def test_sixteen_at_once_take_sixteen_ports(bundle: Bundle) -> None:
    sites = [ServedSite({"groceries": bundle}) for _ in range(16)]
    try:
        for site in sites:
            site.__enter__()
        assert len({site.url for site in sites}) == 16
        assert all(httpx.get(f"{site.url}/api/bundles").status_code == 200 for site in sites)
    finally:
        for site in sites:
            site.close()


def test_addresses() -> None:
    with listen("127.0.0.1", 0) as four:
        port = four.getsockname()[1]
        assert url_of(four, "127.0.0.1") == f"http://127.0.0.1:{port}"
        assert url_of(four, "0.0.0.0") == f"http://127.0.0.1:{port}"
    with pytest.raises(ServeError, match=r"no\.such\.host\.invalid"):
        listen("no.such.host.invalid", 0)
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
        with listen("::1", 0) as six:
            assert url_of(six, "::1").startswith("http://[::1]:")


def test_bundles_get_names_of_their_own(bundle: Bundle) -> None:
    named = named_bundles([bundle.path, bundle.path])
    assert list(named) == ["groceries", "groceries-2"]
    assert bundles_in(bundle.path.parent) == [bundle.path]
    assert bundles_in(bundle.path / "nowhere") == []
