"""No secret reaches what is stored."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from phoneworld.errors import OptionError
from phoneworld.graph.graph import Capture
from phoneworld.ui.action import Answer, OpenApp, Tap, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Node
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
from recorder.redact import Mask, Redactor
from recorder.selectors import parse_redact
from tests.recorder.screens import APP, SIZE, at, captures, entry, lines, screen, text
from tests.shared import CASES, needs_shared


@needs_shared
def test_a_typed_password_is_in_nothing_that_is_stored() -> None:
    tree = parse_hierarchy((CASES / "62-password.xml").read_bytes())
    secret = json.loads((CASES / "62-password-trace.json").read_text())["events"][0]["text"]
    field = next(n for n in tree.nodes() if n.password)
    redactor = Redactor()
    stored = redactor.action(TypeText(secret), field)
    assert stored == TypeText("•" * len(secret)), "as many bullets as the field shows"
    shown_again = lines(text(f"Your password is {secret}"), entry(secret, content_desc=secret, extra=(("tooltip", secret),)))
    clean = redactor.hierarchy(shown_again)
    assert secret.encode() not in write_hierarchy(clean.hierarchy)
    assert clean.covered == tuple(n.bounds for n in shown_again.nodes() if n.text)
    kept = redactor.hierarchy(tree).hierarchy
    assert [n.text for n in kept.nodes() if n.password] == [field.text], "bullets are no secret"
    assert not [n.text for n in kept.nodes() if "@example" in n.text], "e-mails are masked by default"
    assert secret not in redactor.text(f"input text {secret} failed")


def test_a_password_field_shows_bullets_whatever_the_dumper_says() -> None:
    clean = Redactor().hierarchy(lines(entry("hunter2", password=True)))
    assert [n.text for n in clean.hierarchy.nodes() if n.password] == ["•" * 7]
    assert clean.covered
    hinting = Redactor().hierarchy(lines(entry("mypassword1", password=True)))
    assert [n.text for n in hinting.hierarchy.nodes() if n.password] == ["•" * 11]


def test_the_hint_of_a_password_field_stays() -> None:
    """Older Android reports the hint as the text."""
    for field in (entry("Enter your password", password=True), entry("请输入密码", password=True), entry("Geheim", hint="Geheim", password=True)):
        tree = lines(field)
        assert Redactor().hierarchy(tree).hierarchy == tree


def test_other_text_is_kept_as_it_was_typed() -> None:
    redactor = Redactor()
    assert redactor.action(TypeText("milk"), entry()) == TypeText("milk")
    assert redactor.action(Tap(1, 2), entry(password=True)) == Tap(1, 2)
    assert redactor.count == 0


def test_a_secret_within_a_nested_tree_keeps_the_rest() -> None:
    redactor = Redactor()
    redactor.learn("correct-horse")
    tree = lines(text("a"), text("correct-horse battery"), text("b"))
    clean = redactor.hierarchy(tree).hierarchy
    assert [n.text for n in clean.nodes()] == ["", "a", "•" * 13 + " battery", "b"]


def test_a_short_or_blank_secret_does_not_blacken_the_screen() -> None:
    redactor = Redactor()
    redactor.action(TypeText(" "), entry(password=True))
    assert redactor.text("a b c") == "a b c"


def test_pixels_of_a_secret_are_covered() -> None:
    out = io.BytesIO()
    Image.new("RGB", (100, 100), (255, 0, 0)).save(out, "PNG")
    covered = Redactor().picture(out.getvalue(), [Bounds(10, 10, 20, 20), Bounds(-5, 90, 500, 500), Bounds(3, 3, 3, 3)])
    with Image.open(io.BytesIO(covered)) as picture:
        assert [picture.getpixel(p) for p in ((15, 15), (50, 95))] == [(128, 128, 128)] * 2
        assert picture.getpixel((50, 50)) == (255, 0, 0)
    assert Redactor().picture(out.getvalue(), []) == out.getvalue()


def test_masks_hide_further_kinds() -> None:
    redactor = Redactor((Mask("email", re.compile(r"[\w.]+@[\w.]+")),))
    assert redactor.action(TypeText("mail ann@example.com"), entry()) == TypeText("mail " + "•" * 15)
    assert redactor.hierarchy(lines(text("ann@example.com"))).covered


# ---- personal texts become placeholders


SECRETS = {
    "email": ["ann.lee+news@mail.example.com", "x_y@sub.example.co.uk"],
    "phone": ["+49 30 901820", "+1 (415) 555-2671", "(030) 9018-2000", "415-555-2671", "13912345678", "0171/2345678", "+4915112345678"],
    "card": ["4111 1111 1111 1111", "5500-0055-5555-5559", "378282246310005"],
    "id": ["11010519491231002X", "078-05-1120", "DE89 3704 0044 0532 0130 00", "12345678Z", "111.444.777-35"],
}
EVERYDAY = [
    "2026-11-29 16:15", "29.11.2026", "12:30:45", "1,234,567.89", "$1.234.567,00", "Order 1732899312345", "v1.2.3-beta", "127.0.0.1:7555",
    "17 of 200 items", "1080x2400", "3.14159265358979", "buy 12 eggs", "2026-11-29T16:15:32Z", "9 / 10 / 2026", "#12345", "100-200", "1732899312",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, values in SECRETS.items() for v in values])
def test_personal_texts_become_placeholders_of_the_same_shape(kind: str, value: str) -> None:
    redactor = Redactor(salt=b"salt")
    stored = redactor.text(f"It is {value}, right?")
    assert value not in stored and stored.startswith("It is ") and stored.endswith(", right?")
    made = stored.removeprefix("It is ").removesuffix(", right?")
    assert [(c.isdigit(), c.isalpha(), c.isupper()) for c in made] == [(c.isdigit(), c.isalpha(), c.isupper()) for c in value]
    assert redactor.kinds == {kind: 1}


@pytest.mark.parametrize("words", EVERYDAY)
def test_dates_prices_and_counters_stay(words: str) -> None:
    redactor = Redactor()
    assert redactor.text(words) == words and not redactor.kinds


def test_equal_values_stay_equal_and_others_stay_apart() -> None:
    redactor = Redactor(salt=b"one")
    first = redactor.action(TypeText("ann@example.com"), entry())
    assert isinstance(first, TypeText)
    tree = redactor.hierarchy(lines(text("Mail to ann@example.com"), text("bob@example.com"))).hierarchy
    shown = [n.text for n in tree.nodes() if n.text]
    assert shown[0] == f"Mail to {first.text}" and shown[1] != first.text
    assert redactor.text(first.text) == first.text, "a placeholder is no secret"
    assert Redactor(salt=b"two").text("ann@example.com") != first.text, "the salt decides"
    assert redactor.kinds == {"email": 2}


def test_a_field_that_says_what_it_is_for_is_believed_also_half_typed() -> None:
    redactor = Redactor()
    for field in (entry("4111 11", hint="Card number"), entry("0049 30", resource_id="app:id/mobilePhone"), entry("ann@", content_desc="E-mail")):
        clean = redactor.hierarchy(lines(field))
        assert clean.covered and field.text not in [n.text for n in clean.hierarchy.nodes()]
        typed = redactor.action(TypeText(field.text), field)
        assert isinstance(typed, TypeText) and typed.text != field.text
    empty = lines(entry("", hint="Card number"), entry("Card number", hint="Card number"))
    assert redactor.hierarchy(empty).hierarchy == empty


def test_what_is_typed_into_a_field_for_a_pin_or_a_code_is_taken_out_also_where_it_is_shown() -> None:
    for words in ({"hint": "PIN code"}, {"resource_id": "app:id/otpInput"}, {"content_desc": "CVV"}, {"hint": "Verification code"}, {"hint": "验证码"}):
        redactor = Redactor(salt=b"s")
        typed = redactor.action(TypeText("4711"), entry(**words))
        assert isinstance(typed, TypeText) and typed.text != "4711" and typed.text.isdigit() and len(typed.text) == 4
        shown = [n.text for n in redactor.hierarchy(lines(entry("4711", **words), text("Your code 4711"), text("Order 147112"))).hierarchy.nodes() if n.text]
        assert shown == [typed.text, f"Your code {typed.text}", "Order 147112"], "a number of its own, wherever it stands"
        assert redactor.kinds == {"code": 1}
    for words in ({"hint": "Opinion"}, {"hint": "Spinner"}, {"resource_id": "app:id/zipCode"}, {"hint": "Discount code"}):
        assert Redactor().action(TypeText("4711"), entry(**words)) == TypeText("4711")


def test_a_security_code_is_taken_out_wherever_it_is_a_word_of_its_own() -> None:
    redactor = Redactor(salt=b"s")
    before = redactor.known
    typed = redactor.action(TypeText("642"), entry(hint="CVC"))
    assert isinstance(typed, TypeText) and typed.text != "642" and redactor.known > before, "what was stored before is looked at again"
    tree = lines(text("Hello Ann cvc 642"), text("安全码642。"), text("Order 16420"), text("No. A642"))
    shown = [n.text for n in redactor.hierarchy(tree).hierarchy.nodes() if n.text]
    assert shown == [f"Hello Ann cvc {typed.text}", f"安全码{typed.text}。", "Order 16420", "No. A642"]
    assert redactor.text("pay with 642") == f"pay with {typed.text}"
    hidden = Redactor()
    hidden.action(TypeText("642"), entry(password=True, hint="CVC"))
    assert hidden.text("cvc 642, order 16420") == "cvc •••, order 16420"


@pytest.mark.parametrize("short", ["1", "12", "the"])
def test_a_code_that_would_replace_ordinary_words_stays_where_it_is_shown(short: str) -> None:
    for field in (entry(hint="PIN"), entry(password=True)):
        redactor = Redactor(salt=b"s")
        assert redactor.action(TypeText(short), field) != TypeText(short)
        assert redactor.text(f"the 1 of 12: {short}") == f"the 1 of 12: {short}"


GROUPED = [
    ("card", "5500 0000 0000 0004", "5500000000000004"), ("card", "4111-1111-1111-1111", "4111 1111 1111 1111"),
    ("phone", "415-555-2671", "(415) 555-2671"), ("id", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"), ("code", "482913", "482 913"),
    ("id", "12 34 56 78", "12345678"),
]  # fmt: skip
FIELDS = {"card": "Card number", "phone": "Phone", "id": "Account number", "code": "Verification code"}


@pytest.mark.parametrize(("kind", "one", "other"), GROUPED)
def test_a_number_is_the_same_number_however_it_is_grouped(kind: str, one: str, other: str) -> None:
    for typed, told in ((one, other), (other, one)):
        redactor = Redactor(salt=b"s")
        action = redactor.action(TypeText(typed), entry(hint=FIELDS[kind]))
        assert isinstance(action, TypeText)
        said = redactor.text(f"use {told} now").removeprefix("use ").removesuffix(" now")
        assert said != told and [c for c in said if c.isalnum()] == [c for c in action.text if c.isalnum()]
        assert redactor.kinds == {kind: 1}, "one value"
        assert redactor.text(f"use {said} now") == f"use {said} now", "a placeholder is no secret"


@given(st.sampled_from([v for values in SECRETS.values() for v in values]), st.binary(min_size=1, max_size=8))
def test_what_is_clean_stays_as_it_is_when_it_is_cleaned_again(secret: str, salt: bytes) -> None:
    redactor = Redactor(salt=salt)
    once = redactor.text(f"card {secret}, code 642")
    redactor.action(TypeText("90210x"), entry(hint="PIN"))
    assert redactor.text(once) == once and redactor.kinds.total() == 2


@settings(deadline=None)
@example("Phone", ["7", "410", "410", "148"], b"\xb4\x93H\x19\x90\xd2@_").via("what stands for the whole at first holds the 7410 that was typed")
@given(
    st.sampled_from(["PIN", "Phone", "Card number", "E-mail", "Account number"]),
    st.lists(st.text("0123456789", min_size=1, max_size=5), min_size=1, max_size=5),
    st.binary(min_size=1, max_size=8),
)
def test_pieces_that_are_typed_make_what_the_field_shows(hint: str, pieces: list[str], salt: bytes) -> None:
    redactor, stored, held = Redactor(salt=salt), "", ""
    for piece in pieces:
        action = redactor.action(TypeText(piece), entry(held, hint=hint))
        assert isinstance(action, TypeText)
        stored, held = stored + action.text, held + piece
        tree = redactor.hierarchy(lines(entry(held, hint=hint))).hierarchy
        assert [n.text for n in tree.nodes() if n.text] == [stored]
    assert redactor.kinds.total() == 1 and redactor.action(TypeText(held, mode="replace"), entry("9", hint=hint)) == TypeText(stored, mode="replace")


def test_a_password_that_is_typed_piece_by_piece_is_a_secret_as_a_whole() -> None:
    redactor = Redactor()
    for held, piece in (("", "co"), ("••", "rrec"), ("••••••", "t")):
        assert redactor.action(TypeText(piece), entry(held, password=True)) == TypeText("•" * len(piece))
    assert redactor.text("it was correct!") == "it was •••••••!"
    seen = Redactor()
    seen.action(TypeText("co"), entry("", hint="Password"))
    seen.action(TypeText("rrect"), entry("co", hint="Password"))
    assert seen.text("correct") == "•" * 7


def test_a_code_that_looks_like_an_earlier_placeholder_is_a_secret_all_the_same() -> None:
    redactor = Redactor(salt=b"s")
    first = redactor.action(TypeText("642"), entry(hint="CVC"))
    assert isinstance(first, TypeText)
    assert redactor.action(TypeText(first.text), entry(hint="PIN")) != first
    assert first.text not in redactor.text(f"pin {first.text}")


WEB = "android.webkit.WebView"


@pytest.mark.parametrize(
    ("name", "flags"),
    [(WEB, {}), ("android.app.Dialog", {"clickable": True}), ("androidx.recyclerview.widget.RecyclerView", {}), ("android.view.View", {"scrollable": True}),
     ("android.widget.FrameLayout", {})],
)  # fmt: skip
@pytest.mark.parametrize("where", ["text", "content_desc"])
def test_a_containers_own_words_do_not_cover_what_is_in_it(name: str, flags: dict[str, bool], where: str) -> None:
    inside = (at(0, text("Write to ann@example.com")), at(1, text("Milk")))
    box = Node(name, package=APP, bounds=SIZE.bounds, children=inside, **flags, **{where: "Mail of ann@example.com"})  # type: ignore[arg-type]
    clean = Redactor().hierarchy(screen(box))
    assert clean.covered == (inside[0].bounds,) and clean.changed == 2
    assert "ann@" not in str(clean.hierarchy)


def test_a_named_part_of_a_page_is_not_covered_and_what_draws_its_words_is() -> None:
    part = Node("android.view.View", text="Mail of ann@example.com", bounds=Bounds(0, 0, 900, 900), children=(at(0, text("Milk")),))
    page = Node(WEB, bounds=SIZE.bounds, children=(part,))
    assert Redactor().hierarchy(screen(page)).covered == ()
    assert Redactor().hierarchy(screen(part)).covered == (part.bounds,), "outside a page a view may draw what is in no child of it"
    row = replace(part, clickable=True)
    assert Redactor().hierarchy(screen(replace(page, children=(row,)))).covered == (row.bounds,)
    bare = Node(WEB, text="ann@example.com", bounds=SIZE.bounds)
    assert Redactor().hierarchy(screen(bare)).covered == (SIZE.bounds,), "nothing tells what is drawn in it"
    by_name = Redactor(selectors=parse_redact(["id=part"])[1]).hierarchy(screen(replace(page, children=(replace(part, resource_id="app:id/part"),))))
    assert by_name.covered == (part.bounds,), "what is named is covered"


def test_a_password_that_is_shown_is_one_still() -> None:
    redactor = Redactor(personal=False)
    field = entry("hunter22", hint="Password")
    assert redactor.action(TypeText("hunter22"), field) == TypeText("•" * 8)
    assert [n.text for n in redactor.hierarchy(lines(field, text("hunter22!"))).hierarchy.nodes() if n.text] == ["•" * 8, "•" * 8 + "!"]
    redactor.made_up("made up")
    assert redactor.action(TypeText("made up"), field) == TypeText("made up"), "what the recorder made up is nobody's"


def test_a_list_of_texts_and_selectors_is_redacted_too() -> None:
    texts, selectors = parse_redact(["Jane Doe", "id=account"])
    redactor = Redactor(listed=texts, selectors=selectors, salt=b"s")
    tree = lines(text("Hello Jane Doe"), text("Quincy", resource_id="app:id/account"), text("Quincy's notes"))
    clean = redactor.hierarchy(tree)
    words = " ".join(n.text for n in clean.hierarchy.nodes())
    assert "Jane" not in words and "Quincy" not in words and "'s notes" in words
    assert len(clean.covered) == 3 and redactor.kinds == {"listed": 2}
    with pytest.raises(OptionError):
        parse_redact([" "])


def test_without_redaction_only_passwords_go() -> None:
    redactor = Redactor(personal=False)
    assert redactor.text("ann@example.com") == "ann@example.com"
    assert redactor.hierarchy(lines(entry("hunter22", password=True))).covered


def test_what_the_recorder_made_up_is_nobodys() -> None:
    redactor = Redactor()
    redactor.made_up("lena.park@example.com")
    assert redactor.text("lena.park@example.com") == "lena.park@example.com"


def test_every_action_with_words_is_cleaned() -> None:
    redactor = Redactor()
    stored = redactor.action(OpenApp("app", url="app://login?user=ann@example.com"), None)
    assert isinstance(stored, OpenApp) and "ann@" not in stored.url
    assert "ann@example.com" not in str(redactor.action(Answer("It is ann@example.com"), None))


@given(
    st.sampled_from([v for values in SECRETS.values() for v in values]),
    st.text(st.characters(codec="utf-8", categories=("L", "P", "Z")), max_size=12),
    st.sampled_from(["text", "content_desc", "hint", "extra", "resource_id"]),
    st.binary(min_size=1, max_size=8),
)
def test_no_secret_is_in_what_is_stored(secret: str, around: str, where: str, salt: bytes) -> None:
    """Anywhere in a tree, between any words, in what is typed, and in what the phone says when it fails."""
    redactor = Redactor(salt=salt)
    words = f"{around} {secret} {around}"
    node = text("label", **{where: (("tooltip", words),) if where == "extra" else words}) if where != "text" else text(words)
    clean = redactor.hierarchy(lines(node, text(secret)))
    assert secret not in str(clean.hierarchy) and clean.covered
    assert secret not in str(redactor.action(TypeText(words), None))
    assert secret not in redactor.text(f"input text {words} failed")


@given(captures())
def test_any_tree_keeps_its_form(shown: Capture) -> None:
    before = shown.hierarchy
    after = Redactor(salt=b"s").hierarchy(before).hierarchy
    assert [(p, n.bounds, n.class_name) for p, n in before.walk()] == [(p, n.bounds, n.class_name) for p, n in after.walk()]
