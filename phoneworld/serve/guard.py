"""Who may talk to the server: a page of another site must not reach it through the user's browser.

On a loopback address only loopback names are answered, so that a foreign name that was rebound to 127.0.0.1 gets nothing.
What changes anything must be JSON, which no form can send, and come from a page of our own where it comes from a page.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
_BODY_METHODS = ("POST", "PATCH", "PUT")
MAX_BODY = 8_000_000


def is_loopback(host: str) -> bool:
    """True for `localhost` and for addresses that only this machine can reach."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name in a Host header without its port."""
    if header.startswith("["):
        return header.partition("]")[0] + "]"
    return header.partition(":")[0]


class Guard:
    """ASGI middleware: checks Host, Origin, content type and size; sets the headers that keep pages to themselves."""

    def __init__(self, app: ASGIApp, *, loopback_only: bool) -> None:
        self.app = app
        self.loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message["headers"])
                given = {name.lower() for name, _ in headers}
                headers.append((b"x-content-type-options", b"nosniff"))
                headers.append((b"referrer-policy", b"no-referrer"))
                headers.append((b"cross-origin-resource-policy", b"same-origin"))
                if b"content-security-policy" not in given:
                    headers.append((b"content-security-policy", _PAGE_POLICY.encode()))
                if b"cache-control" not in given:
                    headers.append((b"cache-control", b"no-store"))
            await send(message)

        await self.app(scope, receive, with_headers)

    def _refusal(self, method: str, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if self.loopback_only and not is_loopback(host_name(host)):
            return _error(403, "ForeignHost", f"this server answers to loopback names only, not to {host[:80]!r}", "use http://127.0.0.1:PORT, or serve with --host")
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return _error(403, "ForeignOrigin", f"a page of {origin[:80]!r} may not change anything here", "call the API from a program, or from its own pages")
        if method in _BODY_METHODS:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in ("application/json", "application/merge-patch+json"):
                return _error(415, "NotJson", f"the body must be application/json, found {kind[:60]!r}", "set the header Content-Type: application/json")
            if "transfer-encoding" in headers:
                return _error(411, "LengthRequired", "the body comes in chunks, of a length nobody told", "send it whole, with Content-Length")
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > MAX_BODY:
                return _error(413, "BodyTooLarge", f"the body has {length[:20]} bytes, the limit is {MAX_BODY}", "send less at once")
        return None


def _error(status: int, kind: str, message: str, hint: str) -> JSONResponse:
    return JSONResponse({"error": kind, "message": message, "hint": hint}, status)
