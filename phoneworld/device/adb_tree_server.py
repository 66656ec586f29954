"""Reads the tree from a uiautomator2 server that already runs on the phone: no process start for each tree, no wait for idle.

Only one UI Automation client can be on a phone at a time, so where that server runs `uiautomator dump` would fail or end it. It
is never installed or started here. Protocol: JSON-RPC over HTTP on the phone's port 9008 (openatx/uiautomator2 3.x).
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException

from phoneworld.errors import CaptureFailed

PORT = 9008
_DEEPEST = 50
_AGAIN = "start it again (`python -m uiautomator2 init`), or stop it and record anew"


class TreeServer:
    """The server behind `dial`, which gives a fresh connection to its port and raises OSError where nothing listens."""

    def __init__(self, dial: Callable[[], socket.socket]) -> None:
        self._dial = dial

    def answers(self) -> bool:
        """True where it is there."""
        try:
            return self._ask("GET", "/ping") == b"pong"
        except (OSError, HTTPException):
            return False

    def tree(self, *, compressed: bool = False) -> bytes:
        """The XML of the tree now. Raises CaptureFailed: TREE_SERVER where it fails, NULL_ROOT and DUMP_NOT_IDLE as a dump does."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "dumpWindowHierarchy", "params": [compressed, _DEEPEST]}
        try:
            answer = json.loads(self._ask("POST", "/jsonrpc/0", json.dumps(call).encode()))
        except (OSError, HTTPException, ValueError) as e:
            raise CaptureFailed(
                f"the phone's uiautomator2 server gave no tree: {e or type(e).__name__}", code="TREE_SERVER", hint=_AGAIN
            ) from e
        if isinstance(answer, dict) and isinstance(answer.get("result"), str):
            return str(answer["result"]).encode()
        told = json.dumps(answer.get("error") if isinstance(answer, dict) else answer)[:200]
        code = "NULL_ROOT" if "null root" in told else "DUMP_NOT_IDLE" if "idle state" in told else "TREE_SERVER"
        raise CaptureFailed(f"the phone's uiautomator2 server gave no tree: {told}", code=code, hint="try again")

    def _ask(self, verb: str, path: str, body: bytes | None = None) -> bytes:
        wire = self._dial()
        connection = HTTPConnection("phone")
        connection.sock = wire
        try:
            connection.request(verb, path, body, {"Content-Type": "application/json", "Connection": "close"})
            return connection.getresponse().read()
        finally:
            connection.close()
            wire.close()
