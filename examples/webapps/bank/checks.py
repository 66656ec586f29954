"""What the forms ask for: each check returns the sentence to show at each field that is wrong."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

import ledger

Problems = dict[str, str]
FORMS = {
    "transfer": ("source", "recipient", "amount", "reference"),
    "payee": ("name", "number", "nickname"),
    "limits": ("single", "daily", "locked"),
    "message": ("topic", "body"),
}
TOPICS = ("My account", "A transfer", "My card", "Something else")
MOST_DAILY = 1_000_000


def money(cents: int) -> str:
    """Cents as they are shown: -123456 as "−€1,234.56"."""
    return f"{'−' if cents < 0 else ''}€{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def cents_of(text: str) -> int | None:
    """The cents of "12", "12.5" or "12.50"; None where the text is no such amount."""
    return round(float(text) * 100) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text) else None


def parties(db: sqlite3.Connection, fields: Mapping[str, str]) -> tuple[sqlite3.Row | None, sqlite3.Row | None]:
    """The account that pays and the account or payee that gets it, None where none or an unknown one was chosen."""

    def chosen(name: str) -> sqlite3.Row | None:
        match = re.fullmatch(r"(account|payee)-([0-9]{1,9})", fields.get(name, ""))
        if match is None:
            return None
        return ledger.account(db, int(match[2])) if match[1] == "account" else ledger.row(db, "payees", int(match[2]))

    source = chosen("source") if fields.get("source", "").startswith("account-") else None
    return source, chosen("recipient")


def check_transfer(db: sqlite3.Connection, fields: Mapping[str, str], today: str) -> Problems:
    """Required, format, the two limits, the balance."""
    problems: Problems = {}
    source, recipient = parties(db, fields)
    if source is None:
        problems["source"] = "Choose the account to pay from."
    if recipient is None:
        problems["recipient"] = "Choose who gets the money."
    elif source is not None and recipient["number"] == source["number"]:
        problems["recipient"] = "Choose a different account than the one you pay from."
    if len(fields["reference"]) > 35:
        problems["reference"] = f"At most 35 characters; these are {len(fields['reference'])}."
    amount = cents_of(fields["amount"])
    if fields["amount"] == "":
        problems["amount"] = "Enter an amount."
    elif amount is None:
        problems["amount"] = "Write the amount in digits, such as 25 or 25.50."
    elif amount == 0:
        problems["amount"] = "The amount must be more than zero."
    elif source is not None and amount > source["balance"]:
        problems["amount"] = f"There is only {money(source['balance'])} in {source['name']}."
    elif recipient is not None and fields["recipient"].startswith("payee-"):
        limits = ledger.row(db, "limits", 1)
        assert limits is not None
        left = max(0, limits["daily"] - ledger.sent_today(db, today))
        if amount > limits["single"]:
            problems["amount"] = f"Your limit for one transfer is {money(limits['single'])}."
        elif amount > left:
            problems["amount"] = f"Your daily limit leaves {money(left)} for today."
    return problems


def tidy_number(text: str) -> str:
    """An account number in capitals and groups of four."""
    packed = re.sub(r"\s", "", text).upper()
    return " ".join(packed[at : at + 4] for at in range(0, len(packed), 4))


def check_payee(db: sqlite3.Connection, fields: Mapping[str, str], payee_id: int | None) -> Problems:
    """Name and number are required; a number has its format and stands in the list once."""
    problems: Problems = {}
    number = tidy_number(fields["number"])
    if fields["name"] == "":
        problems["name"] = "Enter the payee's name."
    elif len(fields["name"]) > 40:
        problems["name"] = "At most 40 characters."
    if number == "":
        problems["number"] = "Enter the account number."
    elif not re.fullmatch(r"[A-Z]{2}[0-9]{2}( [0-9]{4}){3}", number):
        problems["number"] = "Two letters and 14 digits, such as NB12 3456 7890 1234."
    elif db.execute("SELECT 1 FROM accounts WHERE number = ?", (number,)).fetchone():
        problems["number"] = "That is an account of your own."
    elif db.execute("SELECT 1 FROM payees WHERE number = ? AND id IS NOT ?", (number, payee_id)).fetchone():
        problems["number"] = "A payee with this number exists already."
    if len(fields["nickname"]) > 20:
        problems["nickname"] = "At most 20 characters."
    return problems


def check_limits(fields: Mapping[str, str]) -> Problems:
    """Whole euros; one transfer is not more than a day, a day not more than the bank allows."""
    problems: Problems = {}
    for name in ("single", "daily"):
        if fields[name] == "":
            problems[name] = "Enter a limit."
        elif not re.fullmatch(r"[0-9]{1,7}", fields[name]):
            problems[name] = "Write whole euros, in digits only."
    if not problems:
        single, daily = int(fields["single"]) * 100, int(fields["daily"]) * 100
        if daily > MOST_DAILY:
            problems["daily"] = f"The bank allows {money(MOST_DAILY)} a day at most."
        if single > daily:
            problems["single"] = "One transfer cannot be more than the daily limit."
    return problems


def check_message(fields: Mapping[str, str]) -> Problems:
    """A topic of the list, and 10 to 500 characters."""
    problems: Problems = {}
    if fields["topic"] not in TOPICS:
        problems["topic"] = "Choose a topic."
    if fields["body"] == "":
        problems["body"] = "Write your message."
    elif len(fields["body"]) < 10:
        problems["body"] = "Please write at least 10 characters."
    elif len(fields["body"]) > 500:
        problems["body"] = "At most 500 characters."
    return problems
