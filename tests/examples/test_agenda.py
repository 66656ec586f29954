"""The agenda, driven by touch: an event is checked, kept, hidden with its calendar, deleted on one day."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Size
from tests.webapps import ROOT, served

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def test_an_event_is_checked_and_kept_and_one_day_of_it_deleted() -> None:
    troubles: list[str] = []
    with served(ROOT / "examples" / "webapps" / "agenda") as url, Browser.launch() as browser:
        page = browser.page(Size(360, 760), mobile=True, touch=True)
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.clock.set_fixed_time(NOW)
        page.goto(url)

        page.tap("#add-event")
        page.tap("#save-event")
        assert page.inner_text("#event-title-error") == "Give the event a title."
        page.fill("#event-title", "Feed the neighbour's cat")
        page.fill("#event-end", "08:00")
        page.tap("#save-event")
        assert page.inner_text("#event-end-date-error") == "The end must come after the start."
        page.tap("#event-all-day")
        assert page.is_hidden("#event-end")
        page.tap("#event-all-day")
        page.fill("#event-end", "09:20")
        page.select_option("#event-repeats", "daily")
        page.tap("#save-event")
        page.wait_for_selector("#event-11-2026-03-03")

        events = json.loads(page.evaluate("localStorage['agenda.events']"))
        assert {key: events[-1][key] for key in ("id", "title", "date", "start", "end", "repeat", "calendarId")} == {
            "id": 11, "title": "Feed the neighbour's cat", "date": "2026-03-02", "start": "09:00", "end": "09:20", "repeat": "daily",
            "calendarId": 1,
        }  # fmt: skip

        page.tap("#chip-1")
        assert page.locator("#event-11-2026-03-03").count() == 0
        page.reload()
        assert page.get_attribute("#chip-1", "aria-pressed") == "false"
        page.tap("#chip-1")

        page.tap("#event-11-2026-03-03")
        page.tap("#event-delete")
        page.go_back()
        assert page.is_hidden("#delete-one")
        page.tap("#event-delete")
        page.tap("#delete-one")
        page.wait_for_selector("#event-11-2026-03-04")
        assert page.locator("#event-11-2026-03-03").count() == 0
        assert json.loads(page.evaluate("localStorage['agenda.events']"))[-1]["skipped"] == ["2026-03-03"]
        page.context.close()
    assert troubles == []
