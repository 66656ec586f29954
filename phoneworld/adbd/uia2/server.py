"""Answers the HTTP of uiautomator2's client on one stream: `/ping` and `/jsonrpc/0`."""

from __future__ import annotations

import inspect
import json
import logging
from typing import Any

from phoneworld.adbd.phone import Duplex, PhoneSide
from phoneworld.adbd.uia2.http import Request, RequestReader, response
from phoneworld.adbd.uia2.methods import METHODS
from phoneworld.adbd.uia2.screen import NotFound, Screen
from phoneworld.errors import PhoneWorldError, WireError

log = logging.getLogger("phoneworld.adbd")
DEFAULT_PORT = 9008
_NOT_FOUND, _INVALID, _NO_METHOD, _FAILED = -32001, -32600, -32601, -32002


class Uia2Server:
    """What listens on the port while the client's `app_process` runs. Many streams, one set of named widgets."""

    def __init__(self, phone: PhoneSide) -> None:
        self._phone = phone
        self._screen = Screen(phone)

    async def serve(self, stream: Duplex) -> None:
        """Answers one connection until either side ends it."""
        reader = RequestReader()
        while chunk := await stream.read():
            try:
                requests = reader.feed(chunk)
            except WireError as e:
                log.info("a connection to uiautomator2 was ended: %s", e.message)
                return
            for request in requests:
                await stream.write(await self._answer(request))
                if not request.keep:
                    return

    async def _answer(self, request: Request) -> bytes:
        path = request.path.partition("?")[0]
        if path == "/ping":
            return response(200, b"pong", "text/plain")
        if path == "/jsonrpc/0" and request.method == "POST":
            return response(200, json.dumps(await self.call(request.body), ensure_ascii=False).encode())
        self._phone.refuse(f"uiautomator2 {request.method} {path}")
        return response(404, b"not found", "text/plain")

    async def call(self, body: bytes) -> dict[str, Any]:
        """The answer to one call of JSON-RPC 2.0; what fails is in its `error`."""
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            return _error(None, _INVALID, "the body is no JSON")
        if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):
            return _error(None, _INVALID, "expected an object with a method")
        number, name, params = asked.get("id"), asked["method"], asked.get("params") or []
        function = METHODS.get(name)
        if function is None:
            self._phone.refuse(f"uiautomator2 {name}")
            return _error(number, _NO_METHOD, f"method not found: {name}")
        arguments = list(params.values()) if isinstance(params, dict) else params if isinstance(params, list) else [params]
        try:
            inspect.signature(function).bind(self._screen, *arguments)
        except TypeError as e:
            return _error(number, _INVALID, f"{name}: {e}")
        try:
            return {"jsonrpc": "2.0", "id": number, "result": await function(self._screen, *arguments)}
        except NotFound as e:
            return _error(number, _NOT_FOUND, f"androidx.test.uiautomator.UiObjectNotFoundException: {e.message}")
        except PhoneWorldError as e:
            self._phone.refuse(f"uiautomator2 {name}: {e.message}")
            return _error(number, _FAILED, e.message + (f" ({e.hint})" if e.hint else ""))


def _error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": message}}
