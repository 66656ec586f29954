"""The FastAPI app: pages and API over the bundles it is given; our errors as JSON with their hint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from time import monotonic

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phoneworld import __version__
from phoneworld.errors import ActionError, BrowserError, FileFormatError, PhoneWorldError, ProgramError, SessionError
from phoneworld.program.bundle import Bundle
from phoneworld.render.frames import Renderer
from phoneworld.serve.api import api_router
from phoneworld.serve.guard import Guard, is_loopback
from phoneworld.serve.json_response import SafeJson
from phoneworld.serve.pages import pages_router, trouble_page
from phoneworld.serve.sessions import SessionStore, TooManySessions, UnknownSession

_STATUS: tuple[tuple[type[PhoneWorldError], int], ...] = (
    (UnknownSession, 404), (TooManySessions, 429), (ActionError, 422), (SessionError, 422), (FileFormatError, 422),
    (ProgramError, 422), (BrowserError, 503),
)  # fmt: skip

_TAGS = [
    {"name": "bundles", "description": "The apps that are served."},
    {"name": "sessions", "description": "Phones in use, each on its own."},
    {"name": "acting", "description": "Actions, and what they did with which evidence."},
    {"name": "looking", "description": "Pictures and trees."},
    {"name": "state", "description": "The whole state as JSON; snapshots."},
    {"name": "page", "description": "What the phone's own page uses."},
]


def create_app(
    bundles: Mapping[str, Bundle],
    *,
    with_pixels: bool = True,
    host: str = "127.0.0.1",
    session_limit: int = 256,
    idle_s: float = 1800,
    clock: Callable[[], float] = monotonic,
) -> FastAPI:
    """A server over these bundles, by the names they are shown under.

    `host` is the address it will be bound to: on a loopback address only loopback names are answered. `idle_s` ends
    sessions that nobody asks for; `clock` gives the seconds for it. Without `with_pixels` screens are drawn from trees.
    """
    store = SessionStore(bundles, limit=session_limit, idle_s=idle_s, clock=clock)
    renderer = Renderer.of(list(bundles.values()), with_pixels=with_pixels)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        renderer.close()

    app = FastAPI(
        title="PhoneWorld", version=__version__, summary="Mock apps that can be reset, stepped, seen and forked.",
        openapi_url="/api/openapi.json", docs_url=None, redoc_url=None, openapi_tags=_TAGS, lifespan=lifespan,
        default_response_class=SafeJson,
    )  # fmt: skip
    app.state.store = store
    app.state.renderer = renderer
    app.include_router(api_router(store, renderer))
    app.include_router(pages_router(store))
    app.add_middleware(Guard, loopback_only=is_loopback(host))
    app.add_exception_handler(PhoneWorldError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
    return app


def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, PhoneWorldError)
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
    if request.url.path.startswith("/sessions/") and "text/html" in request.headers.get("accept", ""):
        return trouble_page(error.message, error.hint, status)
    return SafeJson({"error": type(error).__name__, "message": error.message, "hint": error.hint}, status)


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    first = faults[0] if faults else {"loc": (), "msg": "it does not fit"}
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    message = f"{where}: {first['msg']}" if where else str(first["msg"])
    return SafeJson({"error": "InvalidRequest", "message": message[:500], "hint": "see /api/openapi.json for what is expected"}, 422)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    hint = "see /api/openapi.json for what there is" if error.status_code in (404, 405) else ""
    message = f"{error.detail}: {request.method} {request.url.path}"
    return SafeJson({"error": "HttpError", "message": message[:500], "hint": hint}, error.status_code, headers=error.headers)


def _unexpected(_: Request, __: Exception) -> Response:
    return SafeJson(
        {"error": "InternalError", "message": "the server failed at this request", "hint": "this is a fault of PhoneWorld: what `phoneworld serve` prints tells where"}, 500
    )
