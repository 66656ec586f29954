"""The messages app: what is sent is kept and answered, unread counts follow, blocking and deleting ask first."""

from __future__ import annotations

from tests.examples.opened import opened
from tests.webapps import ROOT, served

MESSAGES = ROOT / "examples" / "webapps" / "messages"


def test_a_message_is_checked_kept_answered_and_counted_as_unread() -> None:
    with served(MESSAGES) as url, opened(url) as app:
        app.says("#under-title", "3 unread messages")
        app.tap("#thread-1")
        app.page.fill("#message", "x" * 161)
        app.tap("#send")
        app.says("#message-error", "160 characters at most, these are 161")
        app.page.fill("#message", "On my way")
        app.tap("#send")
        app.says("#message-14 span", "Sounds good!")
        assert [message["text"] for message in app.stored("messages.messages")[-2:]] == ["On my way", "Sounds good!"]
        assert app.stored("messages.threads")[0]["unread"] == 0

        app.page.fill("#message", "Half a tho")
        app.tap("#back")
        app.says("#thread-1 small", "Draft: Half a tho")
        app.tap("#new-message")
        app.page.fill("#pick-search", "hana")
        app.tap("#contact-8")
        app.page.fill("#message", "Tea?")
        app.tap("#send", "#back")
        app.says("#thread-6 .badge", "1")  # the answer came while the list was shown
        app.page.reload()
        app.says("#under-title", "2 unread messages")

        app.tap("#thread-6", "#message-15", "#delete-message", "#ask-yes")
        app.page.wait_for_selector("#message-15", state="detached")
        app.tap("#thread-menu", "#delete-thread")
        app.says("#ask-text", "1 message with Hana Ito will be gone.")
        app.page.go_back()
        app.page.wait_for_selector(".over", state="detached")
        app.tap("#thread-menu", "#delete-thread", "#ask-yes")
        app.page.wait_for_selector("#new-message")
        assert 6 not in [thread["id"] for thread in app.stored("messages.threads")]


def test_a_contact_is_checked_added_and_blocked() -> None:
    with served(MESSAGES) as url, opened(url) as app:
        app.tap("#nav-contacts", "#add-contact", "#save-contact")
        app.says("#first-error", "A first name is needed")
        app.page.fill("#first", "Ida")
        app.page.fill("#phone", "+447700 900114")
        app.tap("#save-contact")
        app.says("#phone-error", "Another contact has this number")
        app.page.fill("#phone", "555 1234")
        app.tap("#save-contact")
        app.says("#contact-name", "Ida")
        app.tap("#block", "#ask-yes")
        app.says("#contact-state", "Blocked")
        assert app.page.is_disabled("#write-to")
        assert app.stored("messages.contacts")[-1] == {
            "id": 9, "first": "Ida", "last": "", "phone": "555 1234", "favourite": False, "blocked": True,
        }  # fmt: skip
        app.page.go_back()
        app.says("#under-title", "9 people")
