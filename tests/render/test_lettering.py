"""Fonts, sizes, grounds and frames are read from pixels that the test itself has painted."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from phoneworld.errors import FileFormatError
from phoneworld.render import fonts
from phoneworld.render.fonts import _font_file
from phoneworld.render.lettering import text_look, words_box
from phoneworld.render.style import Picture, encode_png
from phoneworld.ui.geometry import Bounds, Size
from tests.render import scenes

AREA = Bounds(0, 0, 400, 80)


def painted(text: str, px: int, *, at: tuple[int, int] = (20, 60), family: str = "sans", bold: bool = False, ground: object = (250, 250, 250)) -> Picture:
    image = Image.new("RGB", (400, 80), (250, 250, 250))
    if ground == "gradient":
        ramp = np.linspace((40, 60, 140), (140, 60, 60), 400).astype(np.uint8)
        image = Image.fromarray(np.broadcast_to(ramp, (80, 400, 3)).copy())
    path = _font_file(family, bold)
    assert path is not None
    ImageDraw.Draw(image).text(at, text, (20, 40, 160) if ground != "gradient" else (255, 255, 255), ImageFont.truetype(path, px), anchor="ls")
    return Picture(np.asarray(image).copy())


@pytest.mark.parametrize(("family", "bold"), [("sans", False), ("sans", True), ("grotesk", False), ("mono", False)])
def test_size_weight_and_family_are_found(family: str, bold: bool) -> None:
    look = text_look(painted("Shopping list", 34, family=family, bold=bold), AREA, "Shopping list")
    assert look is not None
    assert look.bold == bold
    # The two proportional sans families differ by less than hinting does.
    assert (look.family == "mono") == (family == "mono") and look.family in ("sans", "grotesk", "mono")
    assert look.size_px == pytest.approx(34, rel=0.08)
    assert look.baseline == pytest.approx(60, abs=2)
    assert look.pen == pytest.approx(20, abs=2)
    assert look.colour == (20, 40, 160)


def test_words_are_told_from_a_sign_beside_them() -> None:
    picture = painted("Purr", 30, at=(150, 55))
    rgb = picture.rgb.copy()
    rgb[20:60, 20:60] = (20, 40, 160)
    look = text_look(Picture(rgb), AREA, "Purr")
    assert look is not None
    assert look.ink.left >= 145
    assert look.size_px == pytest.approx(30, rel=0.08)
    box = words_box(Picture(rgb), AREA, "Purr")
    assert box.left > 60, "the sign is not covered"


def test_white_words_on_a_gradient_are_found() -> None:
    look = text_look(painted("New song", 36, bold=True, ground="gradient"), AREA, "New song")
    assert look is not None
    assert look.colour == (255, 255, 255)
    assert look.size_px == pytest.approx(36, rel=0.08)


def test_a_centred_text_is_known_as_such() -> None:
    picture = painted("Save", 30, at=(165, 50))
    look = text_look(picture, AREA, "Save")
    assert look is not None and look.align == "center"


def test_two_lines_are_counted() -> None:
    picture = painted("one line here", 20, at=(10, 28))
    rgb = picture.rgb.copy()
    rgb[35:70] = painted("and another one", 20, at=(10, 60)).rgb[35:70]
    look = text_look(Picture(rgb), AREA, "one line here and another one")
    assert look is not None
    assert look.lines == 2
    assert look.line_px == pytest.approx(32, abs=3)


def test_pixels_that_are_not_the_words_say_nothing() -> None:
    rgb = np.full((80, 400, 3), 250, np.uint8)
    rgb[30:40, 100:110] = 0
    assert text_look(Picture(rgb), AREA, "a rather long text that cannot be ten pixels wide") is None


def test_the_ground_is_what_words_stand_on() -> None:
    picture = Picture(scenes.picture())
    assert picture.ground(Bounds(60, 212, 300, 248)).start == scenes.PAPER
    assert picture.ground(Bounds(110, 140, 250, 176)).start == (20, 90, 200)


def test_the_inside_of_a_field_ends_above_its_underline() -> None:
    inside = Picture(scenes.picture()).interior(Bounds(16, 70, 344, 118))
    assert inside.bottom <= 114
    assert inside.top <= 86


def test_round_corners_are_no_ink() -> None:
    solid = Picture(scenes.picture()).solid(Bounds(100, 136, 260, 180))
    assert 100 < solid.left < 122 and 238 < solid.right < 260


def test_pictures_are_brought_to_the_size_of_the_screen() -> None:
    wide = encode_png(np.full((50, 100, 3), 7, np.uint8))
    assert Picture.decode(wide, Size(200, 100)).rgb.shape == (100, 200, 3)
    assert Picture.decode(wide, Size(100, 80)).rgb.shape == (80, 100, 3)
    assert Picture.decode(wide, Size(100, 40)).rgb.shape == (40, 100, 3)


def test_a_png_that_browsers_would_recolour_is_written_anew() -> None:
    extra = PngInfo()
    extra.add(b"gAMA", (45455 // 2).to_bytes(4, "big"))
    out = io.BytesIO()
    Image.fromarray(scenes.picture()).save(out, "PNG", pnginfo=extra)
    picture = Picture.decode(out.getvalue(), scenes.SIZE)
    assert b"gAMA" in out.getvalue() and b"gAMA" not in picture.png
    assert np.array_equal(picture.rgb, scenes.picture())


def test_bytes_that_are_no_picture_are_named() -> None:
    for broken in (b"", b"no picture", scenes.png()[:200]):
        with pytest.raises(FileFormatError):
            Picture.decode(broken, scenes.SIZE)


def test_text_fits_its_box() -> None:
    found = fonts.fit("a text of several words that must be broken", 120, 90, largest_px=40)
    assert found.lines * 1.3 * found.size_px <= 93
    assert fonts.count_lines("日本語" * 10, 100, 20) == 6
    assert fonts.advance("ii") < fonts.advance("WW")
