"""One question over HTTP, asked again where that makes sense. What does not answer is lost: no failure of the policy.

How long an answer may take is counted from the question to its last byte: a server that takes a question and never answers, or sends a byte
now and then, holds up nobody for longer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

from phoneworld.errors import PolicyLost

_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_LONGEST_S = 60.0
_LATE_AGAIN = 1
"""How many times it is asked again where no answer came in time: who is silent twice has nothing to say."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where to ask and how patiently. `pause_s` doubles from one time to the next; a server's Retry-After goes before."""

    url: str
    timeout_s: float = 120.0
    retries: int = 4
    pause_s: float = 1.0

    def ask(self, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The JSON object that is answered. Raises PolicyLost where none is."""
        # In ASCII: halves of surrogate pairs, which policies do type, cannot be sent otherwise.
        content = json.dumps(body, ensure_ascii=True).encode()
        why = ""
        late = 0
        for tried in range(self.retries + 1):
            pause = min(_LONGEST_S, self.pause_s * 2**tried)
            try:
                answer = self._answer(content, {"content-type": "application/json", **(headers or {})})
            except TimeoutError:
                why = f"no answer in {self.timeout_s:g} s"
                late += 1
                if late > _LATE_AGAIN:
                    break
            except (httpx.HTTPError, httpx.InvalidURL) as e:
                why = f"{type(e).__name__}: {e}"
            else:
                if answer.is_success:
                    return self._read(answer)
                why = f"{answer.status_code}: {answer.text[:200]}"
                if answer.status_code not in _AGAIN:
                    break
                pause = _told_pause(answer, pause)
            if tried < self.retries:
                time.sleep(pause)
        raise PolicyLost(f"{self.url} does not answer: {why}", hint="is it running, and is the key right?")

    def _answer(self, content: bytes, headers: Mapping[str, str]) -> httpx.Response:
        """The whole answer. Raises TimeoutError where it is not there in time; httpx alone would wait so long for each byte."""

        async def posted() -> httpx.Response:
            async with asyncio.timeout(self.timeout_s), httpx.AsyncClient(timeout=None) as client:
                return await client.post(self.url, content=content, headers=dict(headers))

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(posted())
        with ThreadPoolExecutor(1) as elsewhere:  # a notebook's loop, or an actor's, runs in this thread
            return elsewhere.submit(asyncio.run, posted()).result()

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            found = answer.json()
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise PolicyLost(f"{self.url} answered no JSON object: {answer.text[:200]!r}", hint="phoneworld/evaluate/README.md says what is answered")
        return found


def _told_pause(answer: httpx.Response, otherwise: float) -> float:
    told = answer.headers.get("retry-after", "")
    try:
        return min(_LONGEST_S, max(0.0, float(told)))
    except ValueError:
        return otherwise
