"""Northbank: a small bank as server-rendered pages, for a phone's browser. One customer, no login, loopback only.

    python server.py --port 8010 --data bank-data

Every form is posted, checked, and answered with a redirect, so that Back and reload never send anything twice: a form
that was wrong is kept as a draft and shown again at an address of its own.
"""

from __future__ import annotations

import argparse
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import checks
import ledger
import uvicorn
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

HERE = Path(__file__).resolve().parent
NOTICES = {
    "payee-added": "Payee added", "payee-saved": "Payee saved", "payee-deleted": "Payee deleted", "limits-saved": "Limits saved",
    "message-sent": "Message sent", "message-deleted": "Message deleted", "all-read": "All messages marked as read",
}  # fmt: skip
PERIODS = {"30": "30 days", "90": "90 days", "all": "All time"}
DIRECTIONS = {"all": "All", "in": "Money in", "out": "Money out"}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LONGEST_BODY = 64 * 1024
HEADERS = {
    # Back shows the page as it is now, not as it was.
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def day(stamp: str) -> str:
    """The day of a stamp: "7 Mar 2026" of 2026-03-07T09:30, in English whatever the machine speaks."""
    year, month, date = stamp[:10].split("-")
    return f"{int(date)} {MONTHS[int(month) - 1]} {year}"


PAGES = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
PAGES.filters |= {"money": checks.money, "day": day}
PAGES.globals |= {"topics": checks.TOPICS, "periods": PERIODS, "directions": DIRECTIONS, "orders": tuple(ledger.ORDERS)}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page from a template, with the notice that the address asks for."""
    with books(request).open() as db:
        unread = db.execute("SELECT COUNT(*) FROM messages WHERE unread").fetchone()[0]
    notice = NOTICES.get(request.query_params.get("ok", ""), "")
    html = PAGES.get_template(template).render(unread=unread, notice=notice, path=request.url.path, **values)
    return HTMLResponse(html, status, headers=HEADERS)


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303, headers=HEADERS)


def books(request: Request) -> ledger.Ledger:
    found: ledger.Ledger = request.app.state.ledger
    return found


async def posted(request: Request, form: str) -> dict[str, str]:
    """The fields of a form, stripped, "" where one is missing. Refuses forms of other sites and what is no form."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.url.netloc}":
        raise HTTPException(403, "This form was sent by another site.")
    if request.headers.get("content-type", "").split(";")[0] != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Only forms are accepted here.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise HTTPException(413, "That is too long.")
    try:
        sent = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise HTTPException(400, "The form could not be read.") from None
    return {name: sent.get(name, "").replace("\r\n", "\n").strip() for name in checks.FORMS[form]}


def found(row: sqlite3.Row | None) -> sqlite3.Row:
    if row is None:
        raise HTTPException(404)
    return row


def numbered(request: Request) -> int:
    """The id in the address; 404 where it is larger than any that SQLite gives."""
    number = int(request.path_params["id"])
    if number >= 2**63:
        raise HTTPException(404)
    return number


def kept_draft(db: sqlite3.Connection, request: Request, form: str) -> tuple[int | None, dict[str, str] | None]:
    """The draft that the address names, if there is one."""
    text = request.query_params.get("draft", "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None, None
    fields = ledger.draft(db, form, int(text))
    return (int(text), fields) if fields is not None else (None, None)


# ---------------------------------------------------------------- accounts


async def overview(request: Request) -> Response:
    with books(request).open() as db:
        accounts = ledger.accounts(db)
        recent = db.execute(
            "SELECT e.*, a.name AS account FROM entries e JOIN accounts a ON a.id = e.account_id ORDER BY e.made DESC, e.id DESC LIMIT 4"
        ).fetchall()
    return page(request, "overview.html", accounts=accounts, total=sum(row["balance"] for row in accounts), recent=recent)


async def account(request: Request) -> Response:
    asked = request.query_params
    words = asked.get("q", "").strip()[:60]
    period = asked.get("period", "") if asked.get("period") in PERIODS else "90"
    direction = asked.get("show", "") if asked.get("show") in DIRECTIONS else "all"
    order = asked.get("sort", "") if asked.get("sort") in ledger.ORDERS else "newest"
    book = books(request)
    since = "" if period == "all" else (book.clock() - timedelta(days=int(period))).strftime("%Y-%m-%d")
    with book.open() as db:
        shown = found(ledger.account(db, numbered(request)))
        entries = ledger.history(db, shown["id"], words=words, direction=direction, since=since, order=order)
    chosen = {"q": words, "period": period, "show": direction, "sort": order}
    return page(request, "account.html", account=shown, entries=entries, chosen=chosen, sum=sum(row["amount"] for row in entries))


async def entry(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "entries", numbered(request)))
        owner = found(ledger.account(db, shown["account_id"]))
        payee = db.execute("SELECT id FROM payees WHERE name = ?", (shown["party"],)).fetchone()
    return page(request, "entry.html", entry=shown, account=owner, payee=payee)


# ---------------------------------------------------------------- transfers


async def transfer_form(request: Request) -> Response:
    book = books(request)
    with book.open() as db:
        _, fields = kept_draft(db, request, "transfer")
        problems = {}
        if fields is None:
            fields = {name: request.query_params.get(name, "") for name in checks.FORMS["transfer"]}
        else:
            problems = checks.check_transfer(db, fields, book.stamp())
        limits = found(ledger.row(db, "limits", 1))
        left = max(0, limits["daily"] - ledger.sent_today(db, book.stamp()))
        payees = db.execute("SELECT * FROM payees ORDER BY name COLLATE NOCASE, id").fetchall()
        accounts = ledger.accounts(db)
    return page(request, "transfer.html", fields=fields, problems=problems, accounts=accounts, payees=payees, limits=limits, left=left)


async def transfer_check(request: Request) -> Response:
    fields = await posted(request, "transfer")
    book = books(request)
    with book.open() as db:
        if found(ledger.row(db, "limits", 1))["locked"]:
            return redirect("/transfer")
        draft_id = ledger.keep_draft(db, "transfer", fields)
        problems = checks.check_transfer(db, fields, book.stamp())
    return redirect(f"/transfer?draft={draft_id}" if problems else f"/transfer/{draft_id}/confirm")


async def transfer_confirm(request: Request) -> Response:
    book, draft_id = books(request), numbered(request)
    with book.open() as db:
        done = found(ledger.row(db, "drafts", draft_id))["transfer_id"]
        fields = ledger.draft(db, "transfer", draft_id)
        if fields is None:
            raise HTTPException(404)
        locked = found(ledger.row(db, "limits", 1))["locked"]
        if done is None and (locked or checks.check_transfer(db, fields, book.stamp())):
            return redirect(f"/transfer?draft={draft_id}")
        source, recipient = checks.parties(db, fields)
    if done is not None:
        return page(request, "already.html", transfer_id=done)
    amount = checks.cents_of(fields["amount"])
    return page(request, "confirm.html", draft_id=draft_id, fields=fields, source=source, recipient=recipient, amount=amount, today=book.stamp())


async def transfer_send(request: Request) -> Response:
    await posted(request, "transfer")
    book, draft_id = books(request), numbered(request)
    with book.open() as db:
        fields = ledger.draft(db, "transfer", draft_id)
        if fields is None:
            raise HTTPException(404)
        done = found(ledger.row(db, "drafts", draft_id))["transfer_id"]
        if done is None:
            locked = found(ledger.row(db, "limits", 1))["locked"]
            if locked or checks.check_transfer(db, fields, book.stamp()):
                return redirect(f"/transfer?draft={draft_id}")
            source, recipient = checks.parties(db, fields)
            amount = checks.cents_of(fields["amount"])
            assert source is not None and recipient is not None and amount is not None  # checked above
            done = ledger.transfer(db, source, recipient, amount, fields["reference"] or "Transfer", book.stamp())
            db.execute("UPDATE drafts SET transfer_id = ? WHERE id = ?", (done, draft_id))
    return redirect(f"/transfers/{done}")


async def transfer_done(request: Request) -> Response:
    with books(request).open() as db:
        transfer = found(ledger.row(db, "transfers", numbered(request)))
        source = found(ledger.account(db, transfer["account_id"]))
    return page(request, "sent.html", transfer=transfer, account=source)


# ---------------------------------------------------------------- payees


async def payees(request: Request) -> Response:
    words = request.query_params.get("q", "").strip()[:60]
    with books(request).open() as db:
        rows = db.execute("SELECT * FROM payees ORDER BY name COLLATE NOCASE, id").fetchall()
    shown = [row for row in rows if words.lower() in f"{row['name']} {row['nickname']} {row['number']}".lower()]
    return page(request, "payees.html", payees=shown, words=words, count=len(rows))


async def payee(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "payees", numbered(request)))
        transfers = db.execute("SELECT * FROM transfers WHERE recipient_number = ? ORDER BY id DESC LIMIT 5", (shown["number"],)).fetchall()
    return page(request, "payee.html", payee=shown, transfers=transfers)


async def payee_form(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "payees", numbered(request))) if "id" in request.path_params else None
        _, fields = kept_draft(db, request, "payee")
        problems = checks.check_payee(db, fields, shown["id"] if shown else None) if fields else {}
    if fields is None:
        fields = dict(shown) if shown else dict.fromkeys(checks.FORMS["payee"], "")
    return page(request, "payee_form.html", payee=shown, fields=fields, problems=problems)


async def payee_save(request: Request) -> Response:
    fields = await posted(request, "payee")
    with books(request).open() as db:
        payee_id = found(ledger.row(db, "payees", numbered(request)))["id"] if "id" in request.path_params else None
        if checks.check_payee(db, fields, payee_id):
            form = f"/payees/{payee_id}/edit" if payee_id else "/payees/new"
            return redirect(f"{form}?draft={ledger.keep_draft(db, 'payee', fields)}")
        values = (fields["name"], checks.tidy_number(fields["number"]), fields["nickname"])
        if payee_id:
            db.execute("UPDATE payees SET name = ?, number = ?, nickname = ? WHERE id = ?", (*values, payee_id))
            return redirect(f"/payees/{payee_id}?ok=payee-saved")
        db.execute("INSERT INTO payees (name, number, nickname) VALUES (?, ?, ?)", values)
    return redirect("/payees?ok=payee-added")


async def payee_delete_ask(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "payees", numbered(request)))
    text = f"{shown['name']} will be removed from your payees. Transfers you have made stay in your history."
    return page(request, "delete.html", title="Delete this payee?", text=text, back=f"/payees/{shown['id']}")


async def payee_delete(request: Request) -> Response:
    await posted(request, "payee")
    with books(request).open() as db:
        db.execute("DELETE FROM payees WHERE id = ?", (numbered(request),))
    return redirect("/payees?ok=payee-deleted")


# ---------------------------------------------------------------- limits


async def limits_form(request: Request) -> Response:
    book = books(request)
    with book.open() as db:
        limits = found(ledger.row(db, "limits", 1))
        _, fields = kept_draft(db, request, "limits")
        used = ledger.sent_today(db, book.stamp())
    problems = checks.check_limits(fields) if fields else {}
    if fields is None:
        fields = {"single": str(limits["single"] // 100), "daily": str(limits["daily"] // 100), "locked": "on" if limits["locked"] else ""}
    return page(request, "limits.html", fields=fields, problems=problems, used=used, most=checks.MOST_DAILY)


async def limits_save(request: Request) -> Response:
    fields = await posted(request, "limits")
    with books(request).open() as db:
        if checks.check_limits(fields):
            return redirect(f"/limits?draft={ledger.keep_draft(db, 'limits', fields)}")
        values = (int(fields["single"]) * 100, int(fields["daily"]) * 100, fields["locked"] == "on")
        db.execute("UPDATE limits SET single = ?, daily = ?, locked = ? WHERE id = 1", values)
    return redirect("/limits?ok=limits-saved")


# ---------------------------------------------------------------- messages


async def messages(request: Request) -> Response:
    box = request.query_params.get("box", "")
    kind = {"unread": "unread", "sent": "NOT from_bank"}.get(box, "1")
    with books(request).open() as db:
        rows = db.execute(f"SELECT * FROM messages WHERE {kind} ORDER BY made DESC, id DESC").fetchall()
    return page(request, "messages.html", messages=rows, box=box if box in ("unread", "sent") else "all")


async def message(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "messages", numbered(request)))
        db.execute("UPDATE messages SET unread = 0 WHERE id = ?", (shown["id"],))
    return page(request, "message.html", message=shown)


async def messages_read(request: Request) -> Response:
    await posted(request, "message")
    with books(request).open() as db:
        db.execute("UPDATE messages SET unread = 0")
    return redirect("/messages?ok=all-read")


async def message_form(request: Request) -> Response:
    with books(request).open() as db:
        _, fields = kept_draft(db, request, "message")
    problems = checks.check_message(fields) if fields else {}
    return page(request, "message_form.html", fields=fields or {"topic": "", "body": ""}, problems=problems)


async def message_send(request: Request) -> Response:
    fields = await posted(request, "message")
    book = books(request)
    with book.open() as db:
        if checks.check_message(fields):
            return redirect(f"/messages/new?draft={ledger.keep_draft(db, 'message', fields)}")
        values = (fields["topic"], fields["body"], book.stamp())
        db.execute("INSERT INTO messages (subject, body, made, from_bank, unread) VALUES (?, ?, ?, 0, 0)", values)
    return redirect("/messages?ok=message-sent")


async def message_delete_ask(request: Request) -> Response:
    with books(request).open() as db:
        shown = found(ledger.row(db, "messages", numbered(request)))
    return page(request, "delete.html", title="Delete this message?", text=f"“{shown['subject']}” will be gone for good.", back=f"/messages/{shown['id']}")


async def message_delete(request: Request) -> Response:
    await posted(request, "message")
    with books(request).open() as db:
        db.execute("DELETE FROM messages WHERE id = ?", (numbered(request),))
    return redirect("/messages?ok=message-deleted")


# ---------------------------------------------------------------- the rest


async def more(request: Request) -> Response:
    return page(request, "more.html")


async def help_page(request: Request) -> Response:
    return page(request, "help.html")


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = "It may have been deleted, or the link is wrong." if error.status_code == 404 else error.detail
    title = "Page not found" if error.status_code == 404 else "That did not work"
    return page(request, "missing.html", error.status_code, title=title, text=text)


Endpoint = Callable[[Request], Awaitable[Response]]


def both(path: str, show: Endpoint, send: Endpoint) -> list[Route]:
    """A page with a form that is posted to the page's own address."""
    return [Route(path, show, methods=["GET"]), Route(path, send, methods=["POST"])]


def application(books_kept: ledger.Ledger) -> Starlette:
    """The bank as an ASGI application."""
    app = Starlette(
        routes=[
            Route("/", overview),
            Route("/accounts/{id:int}", account),
            Route("/entries/{id:int}", entry),
            *both("/transfer", transfer_form, transfer_check),
            *both("/transfer/{id:int}/confirm", transfer_confirm, transfer_send),
            Route("/transfers/{id:int}", transfer_done),
            Route("/payees", payees),
            *both("/payees/new", payee_form, payee_save),
            Route("/payees/{id:int}", payee),
            *both("/payees/{id:int}/edit", payee_form, payee_save),
            *both("/payees/{id:int}/delete", payee_delete_ask, payee_delete),
            *both("/limits", limits_form, limits_save),
            *both("/messages", messages, messages_read),
            *both("/messages/new", message_form, message_send),
            Route("/messages/{id:int}", message),
            *both("/messages/{id:int}/delete", message_delete_ask, message_delete),
            Route("/more", more),
            Route("/help", help_page),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={HTTPException: refused},
    )
    app.state.ledger = books_kept
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description="Northbank, on this machine only.")
    parser.add_argument("--port", type=int, default=8010, help="0 takes a free one")
    parser.add_argument("--data", type=Path, required=True, help="folder of the books; made, with its first content, where there is none")
    parser.add_argument("--now", type=datetime.fromisoformat, help="stops the bank's clock, such as 2026-03-02T09:30")
    options = parser.parse_args()
    books_kept = ledger.Ledger(options.data, options.now)
    try:
        with books_kept.open():
            pass
        listener = socket.create_server(("127.0.0.1", options.port))
    except (OSError, OverflowError, sqlite3.Error) as e:
        parser.exit(1, f"cannot start with --port {options.port} --data {options.data}: {e}\n")
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    uvicorn.Server(uvicorn.Config(application(books_kept), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
