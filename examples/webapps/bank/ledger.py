"""The bank's books in one SQLite file: accounts, entries, payees, transfers, limits, messages, drafts of forms.

Amounts are cents. A balance is not stored: it is the account's opening amount and the sum of its entries. The file is
opened anew for each request, so it may be replaced between two of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

SCHEMA = """
CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, number TEXT NOT NULL UNIQUE, opening INTEGER NOT NULL);
CREATE TABLE payees (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, number TEXT NOT NULL UNIQUE, nickname TEXT NOT NULL);
CREATE TABLE transfers (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER NOT NULL REFERENCES accounts, recipient TEXT NOT NULL,
  recipient_number TEXT NOT NULL, amount INTEGER NOT NULL, reference TEXT NOT NULL, made TEXT NOT NULL);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER NOT NULL REFERENCES accounts, party TEXT NOT NULL,
  reference TEXT NOT NULL, amount INTEGER NOT NULL, made TEXT NOT NULL, transfer_id INTEGER REFERENCES transfers);
CREATE TABLE limits (id INTEGER PRIMARY KEY CHECK (id = 1), single INTEGER NOT NULL, daily INTEGER NOT NULL, locked INTEGER NOT NULL);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, body TEXT NOT NULL, made TEXT NOT NULL,
  from_bank INTEGER NOT NULL, unread INTEGER NOT NULL);
CREATE TABLE drafts (id INTEGER PRIMARY KEY AUTOINCREMENT, form TEXT NOT NULL, fields TEXT NOT NULL, transfer_id INTEGER REFERENCES transfers);
"""

ACCOUNTS = ((1, "Everyday", "NB21 4400 1870 0312", 184_250), (2, "Savings", "NB21 4400 1870 0426", 640_000), (3, "Household", "NB21 4400 1870 0533", 21_575))
PAYEES = (
    ("Greta Holm", "NB77 1020 3344 5566", "Landlady"),
    ("City Waterworks", "NB18 5000 2211 0090", ""),
    ("Jonas Pike", "NB40 7312 0008 4419", "Jonas"),
    ("Oakfield Sports Club", "NB62 9080 7060 5040", ""),
)
# (account, days ago, party, reference, cents)
ENTRIES = (
    (1, 118, "Larsen & Daughters", "Salary", 236_000), (1, 116, "Greta Holm", "Rent", -82_000), (2, 115, "Everyday", "Putting aside", 20_000),
    (1, 115, "Savings", "Putting aside", -20_000), (1, 103, "Tram & Bus", "Monthly pass", -5_900), (1, 88, "Larsen & Daughters", "Salary", 236_000),
    (1, 86, "Greta Holm", "Rent", -82_000), (3, 80, "City Waterworks", "Water, second quarter", -7_435), (1, 74, "Tram & Bus", "Monthly pass", -5_900),
    (1, 58, "Larsen & Daughters", "Salary", 236_000), (1, 56, "Greta Holm", "Rent", -82_000), (1, 51, "Bookshop on the Corner", "Card payment", -3_480),
    (3, 40, "Everyday", "Kitty", 15_000), (1, 40, "Household", "Kitty", -15_000), (1, 28, "Larsen & Daughters", "Salary", 241_500),
    (1, 26, "Greta Holm", "Rent", -82_000), (2, 25, "Interest", "Half-year interest", 4_812), (1, 17, "Green Grocer", "Card payment", -4_265),
    (3, 12, "Hardware Store", "Paint and brushes", -3_890), (1, 9, "Jonas Pike", "Concert tickets", 6_400), (1, 6, "Green Grocer", "Card payment", -3_130),
    (1, 3, "Dr. Amsel", "Invoice 2208", -9_500), (1, 1, "Bakery Nord", "Card payment", -1_240),
)  # fmt: skip
MESSAGES = (
    (34, "Welcome to online banking", "Your accounts are ready. You can set your own transfer limits under More.", False),
    (11, "Interest has been paid", "We have credited the interest of the last half year to your savings account.", False),
    (4, "New opening hours", "The branch at the market square is now open until 18:00 on Thursdays.", True),
    (1, "Beware of false calls", "We never ask for your password on the phone. Hang up, and call us back on the number printed on your card.", True),
)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The books in a folder. `now` is the bank's clock, which a test may stop."""

    folder: Path
    now: datetime | None = None

    @property
    def file(self) -> Path:
        return self.folder / "bank.sqlite3"

    def clock(self) -> datetime:
        return self.now or datetime.now()

    def stamp(self, days_ago: int = 0) -> str:
        """A minute as it is stored, which sorts as text."""
        return (self.clock() - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M")

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """One connection and one transaction: kept when the block ends, undone when it raises."""
        if not self.file.exists():
            self._begin()
        with closing(sqlite3.connect(self.file)) as db:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA foreign_keys = ON")
            with db:
                yield db

    def _begin(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        with closing(sqlite3.connect(unfinished)) as db:
            db.executescript(SCHEMA)
            db.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?)", ACCOUNTS)
            db.executemany("INSERT INTO payees (name, number, nickname) VALUES (?, ?, ?)", PAYEES)
            db.executemany(
                "INSERT INTO entries (account_id, made, party, reference, amount) VALUES (?, ?, ?, ?, ?)",
                [(account, self.stamp(days), *rest) for account, days, *rest in ENTRIES],
            )
            db.execute("INSERT INTO limits VALUES (1, 100000, 200000, 0)")
            db.executemany(
                "INSERT INTO messages (made, subject, body, unread, from_bank) VALUES (?, ?, ?, ?, 1)",
                [(self.stamp(days), *rest) for days, *rest in MESSAGES],
            )
            db.commit()
        unfinished.replace(self.file)


def accounts(db: sqlite3.Connection) -> list[sqlite3.Row]:
    """Every account with its balance."""
    return db.execute(
        "SELECT a.*, a.opening + COALESCE((SELECT SUM(amount) FROM entries WHERE account_id = a.id), 0) AS balance FROM accounts a ORDER BY id"
    ).fetchall()


def account(db: sqlite3.Connection, account_id: int) -> sqlite3.Row | None:
    return next((row for row in accounts(db) if row["id"] == account_id), None)


def row(db: sqlite3.Connection, table: str, row_id: int) -> sqlite3.Row | None:
    """A row by its id; `table` is one of ours, never from a request."""
    found: sqlite3.Row | None = db.execute(f"SELECT * FROM {table} WHERE id = ?", (row_id,)).fetchone()
    return found


ORDERS = {"newest": "made DESC, id DESC", "oldest": "made, id", "largest": "ABS(amount) DESC, id DESC"}


def history(db: sqlite3.Connection, account_id: int, *, words: str, direction: str, since: str, order: str) -> list[sqlite3.Row]:
    """Entries of an account whose party or reference contains the words, since a moment, in an order of `ORDERS`."""
    literal = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return db.execute(
        "SELECT * FROM entries WHERE account_id = :account AND made >= :since"
        " AND (party LIKE :words ESCAPE '\\' OR reference LIKE :words ESCAPE '\\')"
        " AND (:direction = 'all' OR (amount > 0) = (:direction = 'in'))"
        f" ORDER BY {ORDERS[order]}",
        {"account": account_id, "since": since, "words": f"%{literal}%", "direction": direction},
    ).fetchall()


def sent_today(db: sqlite3.Connection, today: str) -> int:
    """What left for payees since midnight; transfers between own accounts do not count."""
    (cents,) = db.execute(
        "SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE substr(made, 1, 10) = ? AND recipient_number NOT IN (SELECT number FROM accounts)",
        (today[:10],),
    ).fetchone()
    return int(cents)


def transfer(db: sqlite3.Connection, source: sqlite3.Row, recipient: sqlite3.Row, amount: int, reference: str, made: str) -> int:
    """Books a transfer on its account, and on the recipient's where that is one of ours; returns its id."""
    values = (source["id"], recipient["name"], recipient["number"], amount, reference, made)
    transfer_id = db.execute("INSERT INTO transfers (account_id, recipient, recipient_number, amount, reference, made) VALUES (?, ?, ?, ?, ?, ?)", values).lastrowid
    book = "INSERT INTO entries (account_id, party, reference, amount, made, transfer_id) VALUES (?, ?, ?, ?, ?, ?)"
    db.execute(book, (source["id"], recipient["name"], reference, -amount, made, transfer_id))
    own = db.execute("SELECT id FROM accounts WHERE number = ?", (recipient["number"],)).fetchone()
    if own:
        db.execute(book, (own["id"], source["name"], reference, amount, made, transfer_id))
    return int(transfer_id or 0)


def keep_draft(db: sqlite3.Connection, form: str, fields: Mapping[str, str]) -> int:
    """Keeps what was entered into a form, so that a page of its own can show it again; returns the draft's id."""
    cursor = db.execute("INSERT INTO drafts (form, fields) VALUES (?, ?)", (form, json.dumps(dict(fields))))
    return int(cursor.lastrowid or 0)


def draft(db: sqlite3.Connection, form: str, draft_id: int) -> dict[str, str] | None:
    """What was entered into a form."""
    found = db.execute("SELECT fields FROM drafts WHERE id = ? AND form = ?", (draft_id, form)).fetchone()
    return None if found is None else {str(name): str(value) for name, value in json.loads(found["fields"]).items()}
