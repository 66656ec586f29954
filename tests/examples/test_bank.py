"""The bank, served by its own backend: a transfer is checked, confirmed and booked, and a copy of the folder resets it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from tests.examples.opened import opened
from tests.webapps import ROOT

SERVER = ROOT / "examples" / "webapps" / "bank" / "server.py"


@contextmanager
def bank(folder: Path) -> Iterator[str]:
    """The address of a running bank that keeps its books in a folder, with its clock stopped."""
    command = [sys.executable, str(SERVER), "--port", "0", "--data", str(folder), "--now", "2026-03-02T09:30"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), f"the bank says {url!r}"
            yield url
        finally:
            process.terminate()


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "bank.sqlite3")) as db:
        return db.execute(query).fetchall()


def test_a_transfer_is_checked_confirmed_and_booked_once(tmp_path: Path) -> None:
    books, copy = tmp_path / "books", tmp_path / "copy"
    with bank(books) as url, opened(url) as app:
        shutil.copytree(books, copy)
        app.tap("#account-1", "#pay-from")
        app.page.select_option("#recipient", "payee-1")
        app.tap("#continue")
        app.says("#amount-error", "Enter an amount.")
        app.page.fill("#amount", "12,5")
        app.tap("#continue")
        app.says("#amount-error", "Write the amount in digits, such as 25 or 25.50.")
        app.page.fill("#amount", "1000.01")
        app.tap("#continue")
        app.says("#amount-error", "Your limit for one transfer is €1,000.00.")
        app.page.fill("#amount", "12.5")
        app.page.fill("#reference", "<b>Milk & tea</b>")
        app.tap("#continue")
        app.says("#balance-after", "€7,424.85")
        app.tap("#send")
        app.says("#sent", "€12.50 sent")
        app.page.go_back()
        app.says("#already", "Already sent")

        app.tap("#nav-accounts", "#account-1")
        app.says("#balance", "€7,424.85")
        app.page.fill("#q", "<b>")
        app.tap("#apply")
        app.says("#summary", "1 entry, −€12.50")
        assert rows(books, "SELECT account_id, party, reference, amount, made FROM entries WHERE transfer_id = 1") == [
            (1, "Greta Holm", "<b>Milk & tea</b>", -1250, "2026-03-02T09:30")
        ]

        shutil.copytree(copy, books, dirs_exist_ok=True)
        app.tap("#nav-accounts")
        app.says("#total", "€14,337.97")


def test_payees_and_limits_are_kept_and_a_lock_stops_transfers(tmp_path: Path) -> None:
    with bank(tmp_path) as url, opened(url) as app:
        app.tap("#nav-payees", "#add-payee", "#save-payee")
        app.says("#name-error", "Enter the payee's name.")
        app.page.fill("#name", "Zoe Lark")
        app.page.fill("#number", "nb62 9080706050 40")
        app.tap("#save-payee")
        app.says("#number-error", "A payee with this number exists already.")
        app.page.fill("#number", "nb62 9080706050 41")
        app.tap("#save-payee")
        app.says("#notice", "Payee added")
        assert rows(tmp_path, "SELECT id, name, number FROM payees WHERE id = 5") == [(5, "Zoe Lark", "NB62 9080 7060 5041")]
        app.tap("#payee-2", "#delete-payee", "#delete-confirm")
        app.says("#payee-count", "4 of 4 payees")

        app.tap("#nav-more", "#open-limits", "#locked", "#save-limits")
        app.says("#notice", "Limits saved")
        app.tap("#nav-transfer", "#unlock")
        assert rows(tmp_path, "SELECT single, daily, locked FROM limits") == [(100000, 200000, 1)]


def test_bad_requests_are_refused_and_change_nothing(tmp_path: Path) -> None:
    with bank(tmp_path) as url, httpx.Client(base_url=url) as client:
        assert client.post("/payees/1/delete", data={}, headers={"origin": "http://elsewhere.example"}).status_code == 403
        assert client.post("/limits", json={"single": 1}).status_code == 415
        assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 400
        for path in ("/accounts/99", f"/entries/{2**70}", "/transfer/7/confirm", "/nothing"):
            assert client.get(path).status_code == 404
        assert client.get("/accounts/1", params={"q": "%' OR 1=1 --", "sort": "x", "period": "-1"}).status_code == 200
        assert client.post("/transfer", data={"source": "account-1", "amount": "1e3"}).status_code == 303
        assert rows(tmp_path, "SELECT COUNT(*) FROM payees") == [(4,)]
        assert rows(tmp_path, "SELECT COUNT(*) FROM transfers") == [(0,)]
