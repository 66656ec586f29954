"""No secret reaches what is stored."""

from __future__ import annotations

import io
import json
import re

from PIL import Image

from phoneworld.ui.action import Tap, TypeText
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
from recorder.redact import Mask, Redactor
from tests.recorder.screens import entry, lines, text
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
    assert redactor.hierarchy(tree).hierarchy == tree, "bullets are no secret"
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
