"""The little of HTTP/1.1 that a client of uiautomator2 speaks: requests out of bytes, answers into bytes. Does no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass

from phoneworld.errors import WireError

MAX_HEAD = 16 * 1024
MAX_BODY = 8 << 20
_START = re.compile(rb"([A-Z]{1,16}) (\S{1,4096}) HTTP/1\.([01])")
_REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `keep` is false where the peer wants the connection closed after the answer."""

    method: str
    path: str
    body: bytes = b""
    keep: bool = True


class RequestReader:
    """Cuts a stream of bytes into requests; holds at most one unfinished one."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Request]:
        """The requests that are whole now. Raises WireError where the bytes are no HTTP, or too many."""
        self._buffer += data
        requests: list[Request] = []
        while (request := self._next()) is not None:
            requests.append(request)
        return requests

    def _next(self) -> Request | None:
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD + 4)
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise WireError(f"the head of a request is longer than {MAX_HEAD} bytes")
            return None
        start, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        found = _START.fullmatch(start)
        if found is None:
            raise WireError(f"expected the first line of an HTTP request, found {start[:60]!r}")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)
        }
        length = headers.get(b"content-length", b"0")
        if not re.fullmatch(rb"\d{1,9}", length) or int(length) > MAX_BODY or b"transfer-encoding" in headers:
            raise WireError(f"the body of a request must say its length, up to {MAX_BODY} bytes")
        whole = end + 4 + int(length)
        if len(self._buffer) < whole:
            return None
        body = bytes(self._buffer[end + 4 : whole])
        del self._buffer[:whole]
        keep = found[3] == b"1" and headers.get(b"connection", b"").lower() != b"close"
        return Request(found[1].decode(), found[2].decode(errors="replace"), body, keep)


def response(status: int, body: bytes, content_type: str = "application/json") -> bytes:
    """The bytes of an answer."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: keep-alive\r\n\r\n"
    )
    return head.encode() + body
