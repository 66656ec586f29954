"""The page: what is in it, that nothing recorded becomes HTML, that it asks for nothing; and in Chromium, that it shows and filters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Size
from tests.cli.running import phoneworld
from tests.env.shop_phone import write_shop

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\\\"document.title='owned'\\\">"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two policies on the shop, one task with words that would be HTML."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "shop").mkdir()
    write_shop(folder / "shop")
    more = f'\n- id: shop/evil-v1\n  say: {{en: "{EVIL}"}}\n  start: {{at: browsing}}\n  check: {{state: {{variables.cheap: true}}}}\n'
    tasks = folder / "shop" / "tasks" / "shop.yaml"
    tasks.write_text(tasks.read_text() + more)
    for policy in ("oracle", "random"):
        ran = phoneworld("eval", "shop", "--policy", policy, "--only", "cheap", "--only", "evil", "--only", "buy", "--seeds", "2", "--out", policy, cwd=folder)
        assert ran.returncode == 0, ran.stderr
    ran = phoneworld("episodes", "view", "random", "--against", "oracle", "--no-draw", "-o", "both.html", cwd=folder)
    assert ran.returncode == 0 and "6 episodes in both.html" in ran.stdout, ran.stderr
    return folder


def data_in(page: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def test_it_holds_what_happened_side_by_side(runs: Path) -> None:
    data = data_in((runs / "both.html").read_text())
    assert [c["title"] for c in data["columns"]] == ["random", "oracle"] and data["columns"][1]["succeeded"] == 6 and data["notes"] == []
    episode = next(e for e in data["episodes"] if e["name"] == "shop/cheap-v1/seed-0")
    _, oracle = episode["sides"]
    assert oracle["success"] is True and len(oracle["looks"]) == len(oracle["steps"]) + 1 and all(look["tree"] is not None for look in oracle["looks"])
    first = oracle["steps"][0]
    assert first["hit"]["words"] == "Cheap" and "bargains: false became true" in first["changes"] and first["took"]
    assert any(line.startswith("screen: ") and line.endswith("basket") for line in oracle["steps"][1]["changes"])
    tree = data["trees"][oracle["looks"][0]["tree"]]
    assert (tree["width"], tree["height"]) == (360, 800) and any(row[3] == "Cheap" for row in tree["rows"])
    assert oracle["explanation"][0].startswith("yes")


def test_nothing_recorded_is_html_and_nothing_is_asked_for(runs: Path) -> None:
    page = (runs / "both.html").read_text()
    assert "<script>document" not in page and "onerror=\"" not in page.split('id="data">')[0] and page.count("</script>") == 2
    assert any("</script>" in side["instruction"] for e in data_in(page)["episodes"] for side in e["sides"])
    assert "default-src 'none'" in page and not re.search(r"""(?:src|href)=["']?(?:https?:|//|/|\.)""", page.split('id="data">')[0])
    assert "http://www.w3.org/2000/svg" in page and len(re.findall(r"https?://", re.sub(r'id="data">.*?</script>', "", page, flags=re.DOTALL))) == 1


def test_limit_and_only_say_what_is_left(runs: Path) -> None:
    ran = phoneworld("episodes", "view", "random", "--no-draw", "--limit", "2", cwd=runs)
    assert ran.returncode == 0 and "2 episodes in random/view.html; 4 more" in ran.stdout
    ran = phoneworld("episodes", "view", "random", "--no-draw", "--only", "buy", cwd=runs)
    assert {e["sides"][0]["task"] for e in data_in((runs / "random" / "view.html").read_text())["episodes"]} == {"shop/buy-v1"}
    (runs / "mine.html").write_text("<html>mine</html>")
    ran = phoneworld("episodes", "view", "random", "--no-draw", "-o", "mine.html", cwd=runs)
    assert ran.returncode == 10 and (runs / "mine.html").read_text() == "<html>mine</html>"


def test_without_its_mock_what_is_in_the_folder_is_shown(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    write_shop(tmp_path / "shop")
    phoneworld("eval", "shop", "--policy", "oracle", "--only", "cheap", "--seeds", "1", "--out", "runs", cwd=tmp_path)
    (tmp_path / "shop" / "bundle").rename(tmp_path / "moved")
    assert phoneworld("episodes", "view", "runs", "--no-draw", cwd=tmp_path).returncode == 0
    data = data_in((tmp_path / "runs" / "view.html").read_text())
    assert "not at" in data["notes"][0] and data["episodes"][0]["sides"][0]["looks"][0] == {"picture": None, "tree": None}
    assert phoneworld("episodes", "view", "runs", "--no-draw", "--bundle", "moved", cwd=tmp_path).returncode == 0
    assert data_in((tmp_path / "runs" / "view.html").read_text())["notes"] == []


@pytest.fixture
def shown(runs: Path) -> Iterator[tuple[Page, list[str]]]:
    """The page in Chromium, from its file, and what went wrong in it."""
    wrong: list[str] = []
    with Browser.launch() as browser:
        page = browser.page(Size(1400, 900))
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else wrong.append(request.url))
        page.goto((runs / "both.html").as_uri())
        yield page, wrong
        page.context.close()


def test_it_shows_steps_filters_and_keeps_words_as_words(shown: tuple[Page, list[str]]) -> None:
    page, wrong = shown
    assert page.title() == "random against oracle · episodes" and page.locator("#list li").count() == 6
    page.get_by_role("button", name="differ").click()
    differing = page.locator("#list li").count()
    assert 0 < differing <= 6
    page.get_by_role("button", name="all 6").click()
    page.get_by_label("Search").fill("cheap-v1/seed-1")
    assert page.locator("#list li").count() == 1 and page.locator("#about h2").inner_text() == "Show what is cheap only."
    oracle = page.locator("section.side").nth(1)
    assert oracle.locator(".deed").inner_text() == "Tap “Cheap”" and oracle.locator("circle.touch").count() == 1 and oracle.locator("rect.hit").count() == 1
    assert "bargains: false became true" in oracle.inner_text()
    page.get_by_label("Next step").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.get_by_label("Step", exact=True).fill(page.get_by_label("Step", exact=True).get_attribute("max") or "0")
    assert "Done" in oracle.locator(".verdict").inner_text() and "What the checker says" in oracle.inner_text()
    oracle.locator("summary").click()
    expect(oracle.locator(".tree div").first).to_contain_text("FrameLayout")
    page.get_by_label("Search").fill("evil")
    assert page.locator("#about h2").inner_text().startswith("</script><script>") and page.title() != "owned"
    page.get_by_label("Search").fill("nothing at all")
    assert page.get_by_text("No episode is left").is_visible() and wrong == []


