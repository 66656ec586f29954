"""The mirror's page and its few questions, over a `recorder.mirror.Mirror`. Converts and calls; no rules of its own."""

from __future__ import annotations

import mimetypes
import threading
from types import TracebackType
from typing import Annotated, Literal

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from phoneworld.errors import PhoneWorldError, SessionError
from phoneworld.render.templates import environment, templates_folder
from phoneworld.serve.guard import Guard, is_loopback
from phoneworld.serve.json_response import SafeJson
from phoneworld.serve.server import listen, url_of
from phoneworld.ui.gestures import KeyDown, NavigationButton, Pasted, Wheel
from phoneworld.ui.strokes import Touch
from recorder.mirror import Act, Finish, Input, Mirror, MirrorBusy, PinchAt, StartTrace, StopTrace, Strokes, View

POLL_S = 20.0
_FOLDERS = ("mirror", "serve")

Number = Annotated[float, Field(ge=-1e7, le=1e13, allow_inf_nan=False)]
Place = tuple[Number, Number, Number]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StrokesIn(_Body):
    kind: Literal["strokes"]
    strokes: Annotated[list[Annotated[list[Annotated[list[Place], Field(min_length=1, max_length=2000)]], Field(min_length=1, max_length=10)]], Field(min_length=1, max_length=10)]  # fmt: skip


class WheelIn(_Body):
    kind: Literal["wheel"]
    x: Number
    y: Number
    dx: Number = 0.0
    dy: Number = 0.0


class PinchIn(_Body):
    kind: Literal["pinch"]
    x: Number
    y: Number
    scale: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class KeyIn(_Body):
    kind: Literal["key"]
    key: Annotated[str, Field(max_length=40)]


class TextIn(_Body):
    kind: Literal["text"]
    text: Annotated[str, Field(max_length=10_000)]


class ButtonIn(_Body):
    kind: Literal["button"]
    name: Literal["back", "home", "recents"]


class ActIn(_Body):
    version: int
    input: Annotated[StrokesIn | WheelIn | PinchIn | KeyIn | TextIn | ButtonIn, Field(discriminator="kind")]


class TraceIn(_Body):
    instruction: Annotated[str, Field(max_length=4000)] = ""


class NothingIn(_Body):
    pass


def create_mirror_app(mirror: Mirror, *, title: str, host: str = "127.0.0.1") -> FastAPI:
    """The app over one mirror. `title` is shown above the phone."""
    app = FastAPI(title="PhoneWorld mirror", docs_url=None, redoc_url=None, openapi_url=None, default_response_class=SafeJson)

    @app.get("/")
    def page() -> Response:
        return HTMLResponse(environment().get_template("mirror/mirror.html").render(title=title))

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        for folder in _FOLDERS:
            known = {p.name: p for p in (templates_folder() / folder).iterdir() if p.suffix in (".js", ".css", ".svg")}
            if name in known:
                kind = mimetypes.guess_type(name)[0] or "text/plain"
                return Response(known[name].read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})
        raise SessionError(f"there is no /static/{name[:60]}", hint="reinstall phoneworld")

    @app.get("/api/mirror")
    def view(serial: int | None = None) -> dict[str, object]:
        """What is shown; where the serial number of a view is given, once there is another."""
        if serial is None:
            return view_out(mirror.view())
        return view_out(mirror.wait_for(lambda v: v.serial != serial or v.finished, POLL_S))

    @app.get("/api/mirror/screen")
    def screen() -> Response:
        return Response(mirror.view().png, media_type="image/png")

    @app.post("/api/mirror/input")
    def act(body: ActIn) -> dict[str, object]:
        mirror.submit(Act(body.version, input_of(body)))
        return view_out(mirror.view())

    @app.post("/api/mirror/trace")
    def start(body: TraceIn) -> dict[str, object]:
        mirror.submit(StartTrace(body.instruction))
        return view_out(mirror.view())

    @app.post("/api/mirror/trace/stop")
    def stop(_: NothingIn) -> dict[str, object]:
        mirror.submit(StopTrace())
        return view_out(mirror.view())

    @app.post("/api/mirror/finish")
    def finish(_: NothingIn) -> dict[str, object]:
        mirror.submit(Finish())
        return view_out(mirror.view())

    app.add_middleware(Guard, loopback_only=is_loopback(host))
    app.add_exception_handler(PhoneWorldError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


def input_of(body: ActIn) -> Input:
    """What the page reported, as the recorder takes it."""
    match body.input:
        case StrokesIn(strokes=strokes):
            return Strokes(tuple(Touch(tuple(tuple(finger) for finger in stroke)) for stroke in strokes))
        case WheelIn(x=x, y=y, dx=dx, dy=dy):
            return Wheel(x, y, dx, dy)
        case PinchIn(x=x, y=y, scale=scale):
            return PinchAt(x, y, scale)
        case KeyIn(key=key):
            return KeyDown(key)
        case TextIn(text=text):
            return Pasted(text)
        case ButtonIn(name=name):
            return NavigationButton(name)


def view_out(view: View) -> dict[str, object]:
    """A view as JSON; its picture is asked for apart."""
    names = ("serial", "version", "width", "height", "busy", "in_trace", "instruction", "steps", "log", "message", "settled", "finished")
    return {**{name: getattr(view, name) for name in names}, "has_picture": bool(view.png)}


class MirrorSite:
    """The mirror's page in a thread of this process, as a context manager; `url` is where it answers. Raises ServeError."""

    def __init__(self, mirror: Mirror, *, title: str, port: int = 0, host: str = "127.0.0.1") -> None:
        self._listener = listen(host, port)
        self.url = url_of(self._listener, host)
        app = create_mirror_app(mirror, title=title, host=host)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, name="mirror", daemon=True)

    def __enter__(self) -> MirrorSite:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, PhoneWorldError)
    status = 409 if isinstance(error, MirrorBusy) else 422
    return SafeJson({"error": type(error).__name__, "message": error.message, "hint": error.hint}, status)


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0] if error.errors() else {"loc": (), "msg": "it does not fit"}
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return SafeJson({"error": "InvalidRequest", "message": f"{where}: {first['msg']}"[:500], "hint": "reload the page"}, 422)
