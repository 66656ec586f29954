"""`phoneworld state get|set|patch`: the state of a phone that `phoneworld serve` runs, read and changed over its HTTP API."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import FileFormatError, OptionError, PhoneWorldError, ServeError, SessionError

DEFAULT_SERVER = "http://127.0.0.1:7600"
_TIMEOUT_S = 30.0
console = Terminal()

Session = Annotated[str, typer.Option("--session", "-s", help="The phone's id, as its page's address ends. May be left out where only one is open.")]
Server = Annotated[str, typer.Option("--server", help="Where `phoneworld serve` answers.", metavar="URL")]

state_app = typer.Typer(help="Read and change the state of a phone that `phoneworld serve` runs.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the verbs to the command line."""
    app.add_typer(state_app, name="state")


@state_app.command("get")
def get(
    path: Annotated[str, typer.Argument(help="A JMESPath expression; without it, the whole state.", show_default=False)] = "",
    session: Session = "",
    server: Server = DEFAULT_SERVER,
    sqlite: Annotated[Path | None, typer.Option("--sqlite", help="Write the tables of all apps into this SQLite file instead.", metavar="FILE", dir_okay=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="--sqlite: replace a file that is no SQLite file.")] = False,
) -> None:
    """Print the state of a phone, or a part of it, as JSON.

    A path starts at a field of the state, or at a table or variable of the app in front.

        phoneworld state get clock_ms
        phoneworld state get '"s1.notes"[0]'                 names with dots or dashes stand in double quotes
        phoneworld state get "notes[?title=='Milk'].done"

    What is not there is an error; null is printed where a null stands.

    With --sqlite the tables go into a file that others can open, and the variables into its table _variables:

        phoneworld state get --sqlite notes.db && sqlite3 notes.db '.tables'
    """
    if sqlite is not None:
        if path:
            raise OptionError("--sqlite writes all tables, and a path names a part", hint="leave one of them out")
        _write_tables(sqlite, session, server, force=force)
        return
    from phoneworld.cli.state_path import read

    with _Client(server) as client:
        state = client.state(client.chosen(session))
    typer.echo(json.dumps(read(state, path) if path else state, ensure_ascii=False, indent=1))


def _write_tables(file: Path, session: str, server: str, *, force: bool) -> None:
    from phoneworld.cli.files import may_replace
    from phoneworld.cli.state_tables import as_sqlite
    from phoneworld.graph.file import write_atomically

    may_replace(file, b"SQLite format 3\0", "SQLite file", force=force)
    with _Client(server) as client:
        content, tables = as_sqlite(client.state(client.chosen(session)))
    write_atomically(file, content)
    console.print(f"{counted(len(tables), 'table')} in {escape(str(file))}" + (f": {escape(', '.join(tables))}" if tables else ""), highlight=False, soft_wrap=True)


@state_app.command("set")
def set_(
    path: Annotated[str, typer.Argument(help="The places to set: fields, [N], [*] and [?field=='words'] of JMESPath.")],
    value: Annotated[str, typer.Argument(help="JSON, or else words.")],
    session: Session = "",
    server: Server = DEFAULT_SERVER,
    as_json: Annotated[bool, typer.Option("--json", help="Print what changed as JSON.")] = False,
) -> None:
    """Put a value at every place that a path names. The phone's page shows it at once.

        phoneworld state set "notes[?title=='Milk'].done" true
        phoneworld state set clock_ms 1700000000000
    """
    from phoneworld.cli.state_path import changes, value_at

    with _Client(server) as client:
        chosen = client.chosen(session)
        patch, found = changes(client.state(chosen), path, value)
        after = client.patch(chosen, patch)
    told = [{"place": c.words, "before": c.before, "after": value_at(after, c.place)} for c in found]
    if as_json:
        typer.echo(json.dumps({"session": chosen, "changed": told}, ensure_ascii=False, indent=1))
        return
    for line in told:
        before, now = (json.dumps(line[when], ensure_ascii=False) for when in ("before", "after"))
        console.print(f"{escape(str(line['place']))}: {escape(before)} → [bold]{escape(now)}[/]", highlight=False)


@state_app.command("patch")
def patch(
    merge: Annotated[str, typer.Argument(help="A JSON merge patch (RFC 7396): an object, the name of a file that holds one, or - for standard input.")],
    session: Session = "",
    server: Server = DEFAULT_SERVER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state after it.")] = False,
) -> None:
    """Change the state by a JSON merge patch: objects merge, null removes, all else replaces. A state that cannot be is refused.

        phoneworld state patch '{"clock_ms": 1700000000000}'
    """
    with _Client(server) as client:
        chosen = client.chosen(session)
        after = client.patch(chosen, _merge_patch(merge))
    if as_json:
        typer.echo(json.dumps(after, ensure_ascii=False, indent=1))
    else:
        console.print(f"patched [bold]{escape(chosen)}[/]", highlight=False)


def _merge_patch(text: str) -> dict[str, Any]:
    where = "the patch"
    try:
        if text == "-":
            where, text = "standard input", sys.stdin.read()
        elif not text.lstrip().startswith(("{", "[", '"')):
            where = text
            text = Path(text).read_text(encoding="utf-8")
        found = json.loads(text)
    except OSError as e:
        raise FileFormatError(f"{where} cannot be read: {e.strerror or e}", hint="a JSON object, a file that holds one, or -") from None
    except (ValueError, RecursionError) as e:
        raise FileFormatError(f"{where} is not JSON: {e}", hint="""for example '{"clock_ms": 1700000000000}'""") from None
    if not isinstance(found, dict):
        raise FileFormatError(f"{where} is JSON, but no object", hint="""for example '{"clock_ms": 1700000000000}'""")
    return found


class _Client:
    """The API of one server. Its errors become ours: what it answers is told as it told it."""

    def __init__(self, server: str) -> None:
        import httpx

        self._server = server.rstrip("/")
        if not self._server.startswith(("http://", "https://")):
            raise OptionError(f"{server!r} is no address of a server", hint=f"for example --server {DEFAULT_SERVER}")
        # No proxy: the server is on this machine, or next to it.
        self._http = httpx.Client(timeout=_TIMEOUT_S, trust_env=False)

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def chosen(self, session: str) -> str:
        """The session that is named, else the only one that is open. Raises SessionError."""
        if session:
            # What a person copies is often the address of the phone's page.
            return session.rstrip("/").rpartition("/")[2]
        found = self._ask("GET", "/api/sessions")
        if len(found) == 1:
            return str(found[0]["id"])
        if not found:
            raise SessionError(f"no phone is open at {self._server}", hint=f"open one on that page, or: curl --json '{{}}' {self._server}/api/sessions")
        listed = ", ".join(f"{s['id']} ({s['package']})" for s in found[:8])
        raise SessionError(f"which phone? {counted(len(found), 'is', 'are')} open", hint=f"--session ID, one of: {listed}")

    def state(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("GET", f"/api/sessions/{session}/state")
        return found

    def patch(self, session: str, merge: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("PATCH", f"/api/sessions/{session}/state", merge)
        return found

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        import httpx

        try:
            answer = self._http.request(method, self._server + path, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as e:
            raise ServeError(f"{self._server} does not answer: {e}", hint="phoneworld serve BUNDLE; where it serves elsewhere, --server URL") from None
        try:
            told = answer.json()
        except ValueError:
            raise ServeError(f"what answers at {self._server} is no `phoneworld serve`", hint="--server URL, as `phoneworld serve` printed it") from None
        if answer.is_success:
            return told
        message, hint = (told.get("message"), told.get("hint")) if isinstance(told, dict) else (None, None)
        kind: type[PhoneWorldError] = {404: SessionError, 422: FileFormatError, 429: SessionError}.get(answer.status_code, ServeError)
        raise kind(str(message or f"{self._server} answered {answer.status_code}"), hint=str(hint or ""))
