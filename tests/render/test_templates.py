"""Templates are found as installed and in the checkout, and escape whatever is put into them."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

import phoneworld
from phoneworld.errors import PhoneWorldError
from phoneworld.render import templates


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package somewhere else, as if it were installed."""
    folder = tmp_path / "site" / "phoneworld"
    folder.mkdir(parents=True)
    monkeypatch.setattr(phoneworld, "__file__", str(folder / "__init__.py"))
    return folder


def found() -> Path:
    return templates.templates_folder.__wrapped__()


def test_the_wheel_carries_them_inside_the_package(package: Path) -> None:
    (package / "templates").mkdir()
    (package.parent / "templates").mkdir()
    assert found() == package / "templates"


def test_the_checkout_has_them_beside_it(package: Path) -> None:
    (package.parent / "templates").mkdir()
    assert found() == package.parent / "templates"


def test_a_package_without_them_says_how_to_mend_it(package: Path) -> None:
    with pytest.raises(PhoneWorldError) as caught:
        found()
    assert "reinstall" in caught.value.hint


def test_everything_is_escaped_and_nothing_is_forgotten() -> None:
    env = templates.environment()
    assert env.from_string("<p title=\"{{ x }}\">{{ x }}</p>").render(x="\"<b>'&") == '<p title="&#34;&lt;b&gt;&#39;&amp;">&#34;&lt;b&gt;&#39;&amp;</p>'
    with pytest.raises(jinja2.UndefinedError):
        env.from_string("{{ nothing }}").render()


def test_no_template_switches_escaping_off_or_runs_what_it_is_given() -> None:
    for file in templates.templates_folder().rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert "autoescape false" not in text and "|safe" not in text.replace(" ", ""), file
    for file in templates.templates_folder().rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert "eval(" not in text and "document.write" not in text and "http:" not in text.replace("http://www.w3.org", ""), file
