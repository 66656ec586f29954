"""The HTTP API under /api: sessions and what can be done with them. Converts and calls; every rule is in `sim`.

The endpoints are synchronous: FastAPI runs them in threads, each session has its lock, and pictures are drawn by the one
thread that owns Chromium.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Response

from phoneworld.render.frames import Renderer, part_query, picture_at
from phoneworld.render.html import screen_fragment, view_parts
from phoneworld.render.style import Picture
from phoneworld.serve.json_response import SafeJson
from phoneworld.serve.models import (
    BundleOut,
    CreateIn,
    ErrorOut,
    InputIn,
    ResetIn,
    RestoreIn,
    ScreenOut,
    SessionOut,
    SnapshotIn,
    SnapshotOut,
    StepIn,
    StepOut,
    bundle_out,
    session_out,
    step_out,
    tree_json,
)  # fmt: skip
from phoneworld.serve.sessions import Session, SessionStore, UnknownSession
from phoneworld.sim.state import state_to_json
from phoneworld.ui.action import action_from_json
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.gestures import decode
from phoneworld.ui.xml import write_hierarchy

Id = Annotated[str, Path(description="The session's id.", max_length=64)]
Width = Annotated[int | None, Query(ge=16, le=4096, description="Scales the picture to this width.")]
Quality = Annotated[int, Query(ge=1, le=95)]
Sha = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]

ERRORS: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorOut, "description": "No such session, snapshot or bundle."},
    422: {"model": ErrorOut, "description": "The request does not fit."},
}


def api_router(store: SessionStore, renderer: Renderer) -> APIRouter:
    """The endpoints over one store of sessions and one renderer."""
    api = APIRouter(prefix="/api", responses=ERRORS)

    @api.get("/bundles", tags=["bundles"], summary="The apps that are served")
    def bundles() -> list[BundleOut]:
        return [bundle_out(name, bundle) for name, bundle in store.bundles.items()]

    @api.get("/bundles/{name}/picture", tags=["bundles"], summary="Its start screen", response_class=Response)
    def bundle_picture(name: str, width: Width = 360) -> Response:
        if name not in store.bundles:
            raise UnknownSession(f"no bundle {name!r} is served", hint="see GET /api/bundles")
        home = store.home((name,))
        with home.lock:
            view = home.phone.view(home.phone.reset())
        return Response(renderer.jpeg(view, 85, _scaled_size(view.size, width)), media_type="image/jpeg")

    @api.get("/bundles/{name}/report", tags=["bundles"], summary="What was recovered when it was built", response_class=Response)
    def bundle_report(name: str) -> Response:
        bundle = store.bundles.get(name)
        report = None if bundle is None else bundle.path / "report.html"
        if report is None or not report.is_file():
            raise UnknownSession(f"there is no report of {name!r}", hint="`phoneworld build` writes one into the bundle")
        headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"}
        return Response(report.read_bytes(), media_type="text/html", headers=headers)

    @api.get("/sessions", tags=["sessions"], summary="The open sessions")
    def sessions() -> list[SessionOut]:
        return [session_out(s, store.idle_for(s)) for s in store.list()]

    @api.post(
        "/sessions", tags=["sessions"], status_code=201, summary="A new phone",
        responses={429: {"model": ErrorOut, "description": "Too many sessions."}},
    )  # fmt: skip
    def create(body: CreateIn) -> SessionOut:
        return session_out(store.create(body.bundles, seed=body.seed, start=body.start))

    @api.get("/sessions/{id}", tags=["sessions"], summary="Where the phone is")
    def status(id: Id) -> SessionOut:
        return session_out(store.get(id))

    @api.delete("/sessions/{id}", tags=["sessions"], status_code=204, summary="Closes it")
    def close(id: Id) -> Response:
        store.close(id)
        return Response(status_code=204)

    @api.post(
        "/sessions/{id}/fork", tags=["sessions"], status_code=201, summary="A second phone in the same state",
        responses={429: {"model": ErrorOut, "description": "Too many sessions."}},
    )  # fmt: skip
    def fork(id: Id) -> SessionOut:
        return session_out(store.fork(id))

    @api.post("/sessions/{id}/reset", tags=["acting"], summary="Back to the start")
    def reset(id: Id, body: Annotated[ResetIn, Body(default_factory=ResetIn)]) -> SessionOut:
        session = store.get(id)
        session.reset(seed=body.seed, start=body.start)
        return session_out(session)

    @api.post("/sessions/{id}/step", tags=["acting"], summary="One action")
    def step(id: Id, body: StepIn) -> StepOut:
        session = store.get(id)
        with session.lock:
            # The simulator says which points are outside, so that such a step is answered like every other invalid one.
            action = action_from_json(body.action, space=body.space, size=None if _in_pixels(body) else session.view().size)
            session.step(action)
            return step_out(session, session.log[-1])

    @api.get("/sessions/{id}/steps", tags=["acting"], summary="The last steps, oldest first")
    def steps(id: Id) -> list[StepOut]:
        session = store.get(id)
        with session.lock:
            return [step_out(session, logged) for logged in session.log]

    @api.get("/sessions/{id}/screenshot", tags=["looking"], summary="What it shows, as a picture", response_class=Response)
    def screenshot(id: Id, format: Literal["png", "jpeg"] = "png", width: Width = None, quality: Quality = 80) -> Response:
        view = store.get(id).view()
        size = _scaled_size(view.size, width)
        if format == "png":
            return Response(renderer.png(view, size), media_type="image/png")
        return Response(renderer.jpeg(view, quality, size), media_type="image/jpeg")

    @api.get("/sessions/{id}/tree", tags=["looking"], summary="The widget tree", response_class=Response)
    def tree(id: Id, format: Literal["json", "xml"] = "json") -> Any:
        hierarchy = store.get(id).view().hierarchy
        if format == "xml":
            return Response(write_hierarchy(hierarchy), media_type="application/xml")
        return SafeJson(tree_json(hierarchy))

    @api.get("/sessions/{id}/state", tags=["state"], summary="The whole state")
    def state(id: Id) -> dict[str, Any]:
        return state_to_json(store.get(id).state)

    @api.patch("/sessions/{id}/state", tags=["state"], summary="Changes the state by a JSON merge patch")
    def patch(id: Id, merge: Annotated[dict[str, Any], Body(examples=[{"clock_ms": 1_700_000_000_000}])]) -> dict[str, Any]:
        session = store.get(id)
        with session.lock:
            session.patch(merge)
            return state_to_json(session.state)

    @api.post("/sessions/{id}/snapshot", tags=["state"], summary="Keeps the state under a name")
    def snapshot(id: Id, body: Annotated[SnapshotIn, Body(default_factory=SnapshotIn)]) -> SnapshotOut:
        return SnapshotOut(snapshot=store.get(id).snapshot(body.name))

    @api.post("/sessions/{id}/restore", tags=["state"], summary="Goes back to a snapshot")
    def restore(id: Id, body: RestoreIn) -> SessionOut:
        session = store.get(id)
        session.restore(body.snapshot)
        return session_out(session)

    @api.get("/sessions/{id}/screen", tags=["page"], summary="The screen as HTML")
    def screen(id: Id) -> ScreenOut:
        return _screen(store.get(id), renderer)

    @api.post("/sessions/{id}/input", tags=["page"], summary="Raw input of the phone's page, decoded here")
    def give_input(id: Id, body: InputIn) -> ScreenOut:
        session = store.get(id)
        with session.lock:
            view = session.view()
            action = decode(body.to_input(), view.size, view.density)
            if action is None:
                return _screen(session, renderer)
            session.step(action)
            return _screen(session, renderer, step_out(session, session.log[-1]))

    @api.get("/sessions/{id}/pictures/{sha}", tags=["page"], summary="A recorded picture, or a part of it", response_class=Response)
    def recorded_picture(
        id: Id, sha: Sha, width: Annotated[int, Query(ge=1, le=10_000)], height: Annotated[int, Query(ge=1, le=10_000)],
        part: Annotated[str, Query(max_length=40)] = "",
    ) -> Response:  # fmt: skip
        session = store.get(id)
        if not any(sha in bundle.program.screenshots() for bundle in session.home.bundles):
            raise UnknownSession(f"session {id} has no picture {sha[:12]}…", hint="see GET …/screen")
        known = {layout.size for b in session.home.bundles for s in b.program.screens.values() for layout in s.layouts}
        picture = renderer.picture(sha, Size(width, height)) if Size(width, height) in known else None
        found = None if picture is None else picture_at(picture, f"/{part}" if part else "")
        if found is None:
            raise UnknownSession(f"picture {sha[:12]}… has no part {part!r} at {width}x{height}", hint="see GET …/screen")
        return Response(found, media_type="image/png", headers={"cache-control": "private, max-age=86400, immutable"})

    return api


def _screen(session: Session, renderer: Renderer, step: StepOut | None = None) -> ScreenOut:
    """The screen as HTML whose pictures come from this session's address."""
    with session.lock:
        view, version = session.view(), session.version

    def address(sha: str, picture: Picture, part: Bounds | None) -> str:
        query = f"?width={view.size.width}&height={view.size.height}"
        return f"/api/sessions/{session.id}/pictures/{sha}{query}" + (f"&part={part_query(part)[1:]}" if part else "")

    html = screen_fragment(**view_parts(view, renderer.picture_of(view), address))
    return ScreenOut(version=version, html=html, width=view.size.width, height=view.size.height, step=step)


def _in_pixels(body: StepIn) -> bool:
    return bool(body.action.get("space", body.space) == "pixel")


def _scaled_size(size: Size, width: int | None) -> Size | None:
    return None if width is None else Size(width, max(1, round(size.height * width / size.width)))
