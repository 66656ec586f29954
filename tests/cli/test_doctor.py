"""`phoneworld doctor`: what is missing is named with one command that mends it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from phoneworld.cli import doctor
from phoneworld.cli.root import command_line
from phoneworld.render.browser import Browser

app = command_line()

run = CliRunner()


def test_an_old_python_is_missing_something() -> None:
    check = doctor.check_python((3, 10, 14))
    assert (check.verdict, "3.11" in check.found, bool(check.mend)) == ("missing", True, True)
    assert doctor.check_python((3, 11, 0)).verdict == "ok"


def test_packages_that_are_absent_or_old_are_named_with_the_command_that_installs_them() -> None:
    check = doctor.check_packages(["httpx>=0.27", "no-such-package-of-ours>=1.2", "numpy>=99999.0", "rich"])
    assert check.verdict == "missing"
    assert check.mend == f"{sys.executable} -m pip install 'no-such-package-of-ours>=1.2' 'numpy>=99999.0'"


def test_what_we_declare_is_installed() -> None:
    check = doctor.check_packages(doctor._requirements())
    assert check.verdict == "ok", check.found
    assert len(doctor._requirements()) > 10


def test_templates_and_recorder_are_our_own() -> None:
    assert [c.verdict for c in doctor.check_ourselves()] == ["ok", "ok"]


def test_another_package_named_recorder_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recorder.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "recorder", raising=False)
    check = doctor.check_ourselves()[1]
    assert check.verdict == "missing" and str(tmp_path) in check.found and "uninstall" in check.mend


def test_a_chromium_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/no/such/chromium")
    chromium, fonts = doctor.check_chromium()
    assert chromium.verdict == "missing" and "PHONEWORLD_CHROMIUM" in chromium.mend
    assert fonts.verdict == "advice"


def test_a_glyph_is_told_from_the_box_of_a_missing_one() -> None:
    with Browser.launch() as browser:
        assert doctor.missing_glyphs(browser, ["A", "é", "7"]) == []
        unassigned = ["\U0010fffe", "\u0378", "\U000e0fff"]
        assert doctor.missing_glyphs(browser, ["A", unassigned[0]]) == [unassigned[0]]


def test_an_adb_that_is_nowhere_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("adbutils._utils._get_bin_dir", lambda: str(tmp_path))
    check = doctor.check_adb()
    assert check.verdict == "missing" and check.mend.endswith("apt-get install -y adb")
    assert doctor.check_devices() == []


def test_the_adb_that_comes_with_a_package_is_what_the_verbs_use_and_doctor_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, adb_server: int
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.check_adb()
    assert check.verdict == "advice" and "adbutils" in check.found and "PATH" in check.found
    assert check.mend.endswith("apt-get install -y adb")
    assert run.invoke(app, ["devices", "--json"]).exit_code == 0, "what doctor says can be used can be used"


def test_a_program_named_adb_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "adb"
    fake.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    check = doctor.check_adb()
    assert check.verdict == "advice" and str(fake) in check.found, "the one that comes with a package is used instead"
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(fake))
    check = doctor.check_adb()
    assert check.verdict == "missing" and "broken" in check.found


def test_a_full_disk_is_missing_room() -> None:
    assert doctor.check_disk(Path("/here"), lambda _: (10**12, 10**12, 10**8)).verdict == "missing"
    assert doctor.check_disk(Path("/here"), lambda _: (10**12, 0, 10**12)).verdict == "ok"


def test_every_check_that_is_not_ok_has_a_mend_and_the_exit_code_follows() -> None:
    done = run.invoke(app, ["doctor", "--json"])
    told = json.loads(done.stdout)
    assert {c["name"] for c in told["checks"]} >= {
        "Python",
        "packages",
        "templates",
        "recorder",
        "Chromium",
        "fonts",
        "adb",
        "disk",
    }
    assert all(c["mend"] for c in told["checks"] if c["verdict"] != "ok")
    assert told["ok"] == all(c["verdict"] != "missing" for c in told["checks"])
    assert done.exit_code == (0 if told["ok"] else 1)


def test_something_missing_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONEWORLD_CHROMIUM", "/no/such/chromium")
    done = run.invoke(app, ["doctor"])
    assert done.exit_code == 1
    assert "missing" in done.stdout and "mend:" in done.stdout
