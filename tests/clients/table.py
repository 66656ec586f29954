"""Writes the table of clients in `phoneworld/adbd/README.md` from runs of all conversations: `python -m tests.clients.table`.

A client that cannot be had keeps the rows that it has, and is named.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import run

import pytest

from phoneworld.adbd.server import AdbPhone
from tests.adbd.fixtures import Attached, free_port
from tests.adbd.pocket import PocketPhone
from tests.clients.conversation import Report
from tests.clients.mcp_client import talk_mobile_mcp
from tests.clients.python_clients import talk_adbutils, talk_uiautomator2
from tests.clients.repositories import REPOSITORIES
from tests.clients.script_clients import SCRIPTED

README = Path(__file__).resolve().parents[2] / "phoneworld" / "adbd" / "README.md"
BEGIN, END = "<!-- clients: python -m tests.clients.table -->", "<!-- end of clients -->"
CONVERSATIONS: dict[str, Callable[[Attached], Report]] = {
    "adbutils": talk_adbutils,
    "uiautomator2": talk_uiautomator2,
    **SCRIPTED,
    "mobile-mcp (adb robot)": partial(talk_mobile_mcp, legacy=True),
    "mobile-mcp (mobilecli robot)": partial(talk_mobile_mcp, legacy=False),
    **REPOSITORIES,
}


def block(report: Report) -> str:
    """What one client called, as a line of calls that do what they should and one for each that does not."""
    works = [row.call for row in report.rows if not row.fault and not row.gap]
    lines = [f"**{report.client} {report.version}**, {len(works)} of {len(report.rows)}: " + "; ".join(f"`{c}`" for c in works) + "."]
    lines += [f"Not `{row.call}`: {row.gap}." for row in report.rows if row.gap]
    lines += [f"Fails: `{row.call}`: {row.fault}" for row in report.rows if row.fault]
    return "\n".join(lines)


def blocks_of(text: str) -> dict[str, str]:
    """The blocks that the README holds, by the client's name."""
    inner = text.partition(BEGIN)[2].partition(END)[0]
    found = [one.strip() for one in inner.split("\n\n") if one.strip().startswith("**")]
    return {re.sub(r" \S+$", "", one.split("**")[1]): one for one in found}


@contextmanager
def _phone(port: int) -> Iterator[Attached]:
    device = PocketPhone()
    with AdbPhone(device, port=0) as served:
        run(["adb", "-P", str(port), "connect", served.serial], check=True, capture_output=True, timeout=20)
        yield Attached(served, device, port)
        run(["adb", "-P", str(port), "disconnect", served.serial], check=False, capture_output=True, timeout=20)


def main() -> None:
    port = free_port()
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(port)
    run(["adb", "-P", str(port), "start-server"], check=True, capture_output=True, timeout=20)
    text = README.read_text()
    blocks = blocks_of(text)
    wanted = sys.argv[1:] or list(CONVERSATIONS)
    try:
        for name in wanted:
            try:
                with _phone(port) as phone:
                    report = CONVERSATIONS[name](phone)
            except pytest.skip.Exception as e:
                print(f"{name}: kept as it is: {e}")
                continue
            blocks[report.client] = block(report)
            head, tail = text.partition(BEGIN)[0], text.partition(END)[2]
            README.write_text(f"{head}{BEGIN}\n\n" + "\n\n".join(blocks.values()) + f"\n\n{END}{tail}")
            print(f"{name}: {len(report.rows)} calls, {len(report.faults)} fail")
    finally:
        run(["adb", "-P", str(port), "kill-server"], check=False, capture_output=True, timeout=20)


if __name__ == "__main__":
    main()
