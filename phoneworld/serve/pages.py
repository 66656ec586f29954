"""The pages for people: the gallery, the studio around a phone, and the phone's own page. All they know they ask the API."""

from __future__ import annotations

import mimetypes
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from phoneworld import __version__
from phoneworld.render.html import screen_css
from phoneworld.render.templates import environment, templates_folder
from phoneworld.serve.models import bundle_out
from phoneworld.serve.sessions import SessionStore, UnknownSession


def pages_router(store: SessionStore) -> APIRouter:
    """The pages over one store of sessions."""
    pages = APIRouter(include_in_schema=False)

    @pages.get("/")
    def gallery() -> Response:
        cards = [bundle_out(name, bundle) for name, bundle in store.bundles.items()]
        return _page("serve/gallery.html", cards=cards, version=__version__)

    @pages.get("/sessions/{id}")
    def studio(id: str) -> Response:
        session = store.get(id)
        labels = [b.program.label or b.program.package for b in session.home.bundles]
        return _page("serve/studio.html", session=session, title=", ".join(labels), version=__version__)

    @pages.get("/sessions/{id}/page")
    def phone(id: str) -> Response:
        session = store.get(id)
        return _page("serve/phone.html", session=session, size=session.view().size, css=screen_css())

    @pages.get("/static/{name}")
    def static(name: str) -> Response:
        folder = templates_folder() / "serve"
        known = {p.name: p for p in folder.iterdir() if p.suffix in (".js", ".css", ".svg")}
        if name not in known:
            raise UnknownSession(f"there is no /static/{name[:60]}", hint="reinstall phoneworld")
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        return Response(known[name].read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})

    return pages


def trouble_page(message: str, hint: str, status: int) -> Response:
    """What a person sees where a page cannot be shown."""
    title = "This phone is gone" if status == 404 else "That did not work"
    page = environment().get_template("serve/trouble.html").render(title=title, message=message, hint=hint)
    return HTMLResponse(page, status)


def _page(template: str, **names: Any) -> Response:
    return HTMLResponse(environment().get_template(template).render(**names))
