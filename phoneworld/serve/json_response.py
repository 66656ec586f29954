"""JSON that survives whatever was recorded: half a surrogate pair is escaped instead of failing."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class SafeJson(JSONResponse):
    """UTF-8 JSON; pure ASCII where the text cannot be written as UTF-8."""

    def render(self, content: Any) -> bytes:
        try:
            return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(content, separators=(",", ":")).encode()
