"""Set-of-marks: the widgets that can be used, boxed and numbered on the picture as they are in the text. Draws on arrays only."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from phoneworld.env.elements import Element
from phoneworld.ui.geometry import Size

# Far apart in hue, dark enough for white figures.
_COLOURS = ((200, 30, 30), (20, 90, 200), (0, 120, 60), (150, 60, 170), (190, 90, 0), (0, 115, 125), (90, 70, 40), (70, 70, 200))


def marked(picture: NDArray[np.uint8], elements: Iterable[Element], screen: Size) -> NDArray[np.uint8]:
    """The picture with a box around each element and its number in a corner of it; a new read-only array."""
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    across, down = image.width / screen.width, image.height / screen.height
    height = max(9, image.width // 36)
    font = ImageFont.load_default(height)
    for element in elements:
        b, colour = element.bounds, _COLOURS[element.index % len(_COLOURS)]
        left, top = round(b.left * across), round(b.top * down)
        right, bottom = max(left, round(b.right * across) - 1), max(top, round(b.bottom * down) - 1)
        pen.rectangle((left, top, right, bottom), outline=colour, width=max(1, height // 8))
        words = str(element.index)
        width = round(pen.textlength(words, font=font)) + 4
        x, y = min(left, image.width - width), min(top, image.height - height - 2)
        pen.rectangle((x, y, x + width, y + height + 2), fill=colour)
        pen.text((x + 2, y), words, fill=(255, 255, 255), font=font)
    out: NDArray[np.uint8] = np.array(image, dtype=np.uint8)
    out.flags.writeable = False
    return out
