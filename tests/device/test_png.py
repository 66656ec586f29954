"""The picture in what a phone printed: warnings before it, damaged line ends, broken ones."""

from __future__ import annotations

import base64
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from phoneworld.device.png import SIGNATURE, find_png
from phoneworld.errors import CaptureFailed
from phoneworld.ui.geometry import Size
from tests.shared import CASES, needs_shared


def picture() -> bytes:
    """A small PNG that truly holds CR LF and LF."""
    note = PngInfo()
    note.add_text("Comment", "one\r\ntwo\nthree")
    out = io.BytesIO()
    Image.frombytes("RGB", (16, 9), bytes(i * 7 % 256 for i in range(16 * 9 * 3))).save(out, "PNG", pnginfo=note)
    return out.getvalue()


def test_a_clean_picture_comes_back_byte_for_byte() -> None:
    found = find_png(picture())
    assert (found.png, found.size, found.before) == (picture(), Size(16, 9), "")


@given(st.binary(max_size=80).filter(lambda b: b"\x89PNG" not in b))
def test_what_stands_before_the_signature_is_dropped_and_told(before: bytes) -> None:
    found = find_png(before + picture())
    assert (found.png, found.before) == (picture(), before.decode(errors="replace"))


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r\r\n"])
def test_line_end_damage_is_undone_where_the_signature_shows_it(line_end: bytes) -> None:
    assert find_png(picture().replace(b"\n", line_end)).png == picture()


@given(st.integers(0, 10_000))
def test_a_picture_cut_short_is_an_error(cut: int) -> None:
    whole = picture()
    with pytest.raises(CaptureFailed) as e:
        find_png(whole[: cut % len(whole)])
    assert e.value.code == "NO_PNG"


def test_a_changed_byte_is_an_error() -> None:
    broken = bytearray(picture())
    broken[60] ^= 1
    with pytest.raises(CaptureFailed, match="checksum"):
        find_png(bytes(broken))


@pytest.mark.parametrize(
    "output", [b"", b"/system/bin/sh: screencap: inaccessible or not found\n", b"\x89PNG", SIGNATURE]
)
def test_no_picture_is_an_error_that_quotes_what_came(output: bytes) -> None:
    with pytest.raises(CaptureFailed) as e:
        find_png(output)
    assert e.value.code == "NO_PNG"
    assert output.startswith(b"\x89") or output.decode().strip() in e.value.message


@needs_shared
def test_case_21_warning_text_before_the_picture() -> None:
    case = json.loads((CASES / "21-screencap-warning.json").read_text())
    assert find_png(base64.b64decode(case["stdout_base64"])).png == base64.b64decode(case["expect_png_base64"])


@needs_shared
def test_case_23_line_end_damage() -> None:
    case = json.loads((CASES / "23-crlf-png.json").read_text())
    clean = base64.b64decode(case["clean"])
    assert b"\r\n" in clean[8:]  # so undoing damage that is not there would break it
    for name in ("clean", "lf_to_crlf", "lf_to_crcrlf"):
        assert find_png(base64.b64decode(case[name])).png == clean, name
