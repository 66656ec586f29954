"""What an explorer leaves alone, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phoneworld.errors import OptionError
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node, Path
from recorder.safety import KINDS, WORDS, Forbidden, Guard, Kind, parse_allow
from recorder.selectors import parse_avoid
from tests.recorder.screens import APP, SIZE, button, entry, lines, screen, text

GUARD = Guard()


def verdict(hierarchy: Hierarchy, path: Path = (0, 0), guard: Guard = GUARD) -> Forbidden | None:
    return guard.forbids(hierarchy, path, SIZE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", sorted(WORDS["pay"]))
def test_every_word_of_the_table_is_left_alone(kind: Kind, language: str) -> None:
    for word in WORDS[kind][language]:
        assert verdict(lines(button(word))) is not None, word
        assert verdict(lines(button(word.upper()))) is not None, word
        assert verdict(lines(button("", content_desc=f"{word} …"))) is not None, word


@pytest.mark.parametrize(
    "words",
    ["Save", "Open", "Add to list", "Delete note", "Payload", "Callback", "Sender", "Recall", "Display", "保存", "删除笔记", "Settings",
     "Newspaper", "Postpone", "Outbox", "Sign in", "Log in", "Buyer guide"],
)  # fmt: skip
def test_ordinary_words_are_touched(words: str) -> None:
    assert verdict(lines(button(words))) is None


def test_words_inside_a_row_count() -> None:
    row = Node("android.view.ViewGroup", clickable=True, package=APP, children=(text("Balance"), text("Log out")))
    assert verdict(lines(row)) == "logout"


def test_words_of_another_thing_to_touch_inside_it_do_not() -> None:
    """A page whose root takes clicks is not the button that lies in it, nor are its other buttons."""
    page = Node("android.view.View", clickable=True, package=APP, children=(button("Log out"), button("Profile")))
    assert verdict(lines(page)) is None
    assert verdict(lines(page), (0, 0, 0)) == "logout"
    assert verdict(lines(page), (0, 0, 1)) is None


@pytest.mark.parametrize(
    ("resource_id", "kind"),
    [("app:id/btn_pay", "pay"), ("app:id/sendButton", "send"), ("call", "call"), ("app:id/action_log_out", "logout"), ("app:id/callout", None)],
)
def test_a_picture_is_known_by_its_id(resource_id: str, kind: Kind | None) -> None:
    assert verdict(lines(Node("android.widget.ImageButton", clickable=True, resource_id=resource_id))) == kind


def dialog(title: str, *buttons: str) -> Hierarchy:
    panel = (text(title, resource_id="android:id/alertTitle"), *(button(b, resource_id=f"android:id/button{i}") for i, b in enumerate(buttons)))
    return screen(*panel, bounds=Bounds(100, 900, 980, 1500))


def test_a_dialogs_title_speaks_for_its_buttons() -> None:
    asked = dialog("Log out of this phone?", "OK", "Cancel", "Whatever")
    assert verdict(asked, (0, 1)) == "logout"
    assert verdict(asked, (0, 2)) is None, "the way out of the dialog stays open"
    assert verdict(asked, (0, 3)) == "logout"
    assert verdict(dialog("Delete this note?", "Delete", "Cancel"), (0, 1)) is None


def test_a_chinese_dialog() -> None:
    asked = dialog("确定要退出登录吗？", "确定", "取消")
    assert verdict(asked, (0, 1)) == "logout"
    assert verdict(asked, (0, 2)) is None


def test_a_web_dialog() -> None:
    inner = Node("android.app.Dialog", package=APP, bounds=Bounds(100, 900, 980, 1500), children=(text("Delete my account"), button("Yes")))
    page = screen(text("Settings"), button("Back"), inner)
    assert verdict(page, (0, 2, 1)) == "delete-account"
    assert verdict(page, (0, 1)) is None


def test_a_bare_yes_is_read_with_the_panel_around_it() -> None:
    panel = Node("android.view.View", package=APP, children=(text("Place order for 3 items?"), button("Yes"), button("Edit")))
    page = lines(panel, text("Title"))
    assert verdict(page, (0, 0, 1)) == "pay"
    assert verdict(page, (0, 0, 2)) is None


def test_focusing_a_field_is_harmless_but_enter_in_a_message_is_not() -> None:
    page = lines(entry(hint="Send a message"), entry(hint="Search"))
    assert verdict(page) is None
    assert GUARD.forbids_enter(page, (0, 0), SIZE) == "send"
    assert GUARD.forbids_enter(page, (0, 1), SIZE) is None
    assert Guard(frozenset({"send"})).forbids_enter(page, (0, 0), SIZE) is None


def test_what_was_typed_is_not_a_word_of_the_app() -> None:
    row = Node("android.view.ViewGroup", clickable=True, package=APP, children=(entry("call mum and pay"),))
    assert verdict(lines(row)) is None


def test_allow_lifts_by_kind() -> None:
    page = lines(button("Pay now"), button("Send"))
    assert verdict(page, (0, 0), Guard(parse_allow(["pay"]))) is None
    assert verdict(page, (0, 1), Guard(parse_allow(["pay"]))) == "send"
    assert verdict(page, (0, 1), Guard(parse_allow(["all"]))) is None
    assert parse_allow(["pay,send", "logout"]) == {"pay", "send", "logout"}


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError) as e:
        parse_allow(["pya"])
    assert "delete-account" in e.value.hint


def test_hidden_words_do_not_count() -> None:
    row = Node("android.view.ViewGroup", clickable=True, package=APP, children=(text("Notes"), replace(text("Log out"), visible=False)))
    assert verdict(lines(row)) is None


def test_what_is_to_be_avoided_is_left_alone_with_what_is_in_it_and_around_its_label() -> None:
    row = Node("android.widget.LinearLayout", clickable=True, package=APP, children=(text("Danger zone"), button("Inside")))
    tree = lines(button("Fine"), row, button("By id", resource_id="app:id/x"), entry("secret", resource_id="app:id/f"))
    guard = Guard(avoid=parse_avoid(["Danger zone", "id=x", "id=f"]))
    why = {n.label or n.class_name: guard.forbids(tree, path, SIZE) for path, n in tree.walk() if n.takes("tap")}
    assert why == {"Fine": None, "android.widget.LinearLayout": "avoid", "Inside": None, "By id": "avoid", "secret": "avoid"}
    assert Guard(avoid=parse_avoid(["class=android.widget.LinearLayout"])).forbids(tree, (0, 1, 1), SIZE) == "avoid"
    for nothing in ("", "id=", "text= "):
        with pytest.raises(OptionError):
            parse_avoid([nothing])
    for unknown in ("bogus=x", "xpath=//a", "Id=x"):
        with pytest.raises(OptionError, match="none of id="):
            parse_avoid([unknown])
    assert parse_avoid(["2 + 2 = 4", "text=a=b", "= same"]), "words are words"
