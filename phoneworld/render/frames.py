"""Views as pictures, each drawn once. The recorded pixels are used as they are where nothing on them has changed."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from PIL import Image

from phoneworld.errors import FileFormatError
from phoneworld.render.html import screen_fragment, screen_shell, view_parts
from phoneworld.render.live import compose
from phoneworld.render.painter import PainterLease
from phoneworld.render.style import Picture, Pixels
from phoneworld.sim.view import View
from phoneworld.ui.geometry import Bounds, Size

_FRAME_BYTES_KEPT = 160_000_000
_PICTURE_BYTES_KEPT = 120_000_000


class HasAssets(Protocol):
    """A bundle, as far as drawing needs it."""

    def asset(self, sha: str) -> bytes: ...


@dataclass(slots=True)
class _Frame:
    """One drawn screen; each form is made when it is first asked for. `rgb` must not be written to."""

    png_bytes: bytes | None = None
    rgb: Pixels | None = None

    @property
    def weight(self) -> int:
        return len(self.png_bytes or b"") + (0 if self.rgb is None else self.rgb.nbytes)

    def array(self) -> Pixels:
        if self.rgb is None:
            assert self.png_bytes is not None
            rgb = np.asarray(Image.open(io.BytesIO(self.png_bytes)).convert("RGB"))
            rgb.setflags(write=False)
            self.rgb = rgb
        return self.rgb


class Renderer:
    """Draws views. Safe to call from any thread; equal keys give equal bytes and are drawn once.

    `pixels` gives the PNG of a hash and may raise FileFormatError or KeyError: then the view is drawn from its tree.
    Chromium is started for the first view that is not a recorded picture as it is; `close` lets it go.
    """

    def __init__(self, pixels: Callable[[str], bytes] | Mapping[str, bytes], *, with_pixels: bool = True) -> None:
        self._pixels = pixels.__getitem__ if isinstance(pixels, Mapping) else pixels
        self.with_pixels = with_pixels
        self._lease = PainterLease()
        self._lock = threading.RLock()
        self._frames: OrderedDict[str, _Frame] = OrderedDict()
        self._pictures: OrderedDict[tuple[str, Size], Picture | None] = OrderedDict()
        self._drawing: dict[str, threading.Lock] = {}

    @classmethod
    def of(cls, bundles: Sequence[HasAssets], *, with_pixels: bool = True) -> Renderer:
        """A renderer that takes its pictures from the first of these bundles that has them."""

        def find(sha: str) -> bytes:
            for bundle in bundles:
                try:
                    return bundle.asset(sha)
                except FileFormatError:
                    continue
            raise KeyError(sha)

        return cls(find, with_pixels=with_pixels)

    def png(self, view: View, size: Size | None = None) -> bytes:
        """The view as a PNG, at its own size or scaled to `size`."""
        frame = self._frame(view)
        if size is not None and size != view.size:
            return _encoded(_scaled(frame.array(), size), "PNG", compress_level=1)
        if frame.png_bytes is None:
            frame.png_bytes = _encoded(frame.array(), "PNG", compress_level=1)
        return frame.png_bytes

    def jpeg(self, view: View, quality: int = 80, size: Size | None = None) -> bytes:
        """The view as a JPEG, at its own size or scaled to `size`."""
        rgb = self._frame(view).array()
        return _encoded(rgb if size is None or size == view.size else _scaled(rgb, size), "JPEG", quality=quality)

    def array(self, view: View, size: Size | None = None) -> Pixels:
        """The view as (height, width, 3) uint8, sRGB. Shared and read-only: copy it before you write."""
        rgb = self._frame(view).array()
        if size is None or size == view.size:
            return rgb
        small = _scaled(rgb, size)
        small.setflags(write=False)
        return small

    def picture(self, sha: str, size: Size) -> Picture | None:
        """The recorded picture with this hash at this size; None where there is none that can be read."""
        if not self.with_pixels:
            return None
        key = (sha, size)
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        try:
            picture = Picture.decode(self._pixels(sha), size)
        except (FileFormatError, KeyError):
            picture = None
        with self._lock:
            self._pictures[key] = picture
            while len(self._pictures) > 1 and sum(p.rgb.nbytes for p in self._pictures.values() if p) > _PICTURE_BYTES_KEPT:
                self._pictures.popitem(last=False)
        return picture

    def picture_of(self, view: View) -> Picture | None:
        """The recorded picture under a view; None where none belongs to it."""
        return self.picture(view.screenshot, view.size) if view.screenshot and view.recorded is not None else None

    def close(self) -> None:
        """Lets Chromium go and forgets what was drawn. May be called twice; drawing again starts it again."""
        with self._lock:
            self._frames.clear()
            self._pictures.clear()
        self._lease.close()

    def _frame(self, view: View) -> _Frame:
        with self._lock:
            found = self._frames.get(view.key)
            if found is not None:
                self._frames.move_to_end(view.key)
                return found
            turn = self._drawing.setdefault(view.key, threading.Lock())
        with turn:
            with self._lock:
                if view.key in self._frames:
                    return self._frames[view.key]
            try:
                frame = self._draw(view)
            finally:
                with self._lock:
                    self._drawing.pop(view.key, None)
            with self._lock:
                self._frames[view.key] = frame
                while len(self._frames) > 1 and sum(f.weight for f in self._frames.values()) > _FRAME_BYTES_KEPT:
                    self._frames.popitem(last=False)
            return frame

    def _draw(self, view: View) -> _Frame:
        picture = self.picture_of(view)
        if picture is not None and view.recorded is not None and not view.keyboard:
            made = compose(view.hierarchy, view.recorded, picture, view.density)
            if made.is_recorded:
                return _Frame(picture.png if picture.has_png else None, picture.rgb)
        parts = view_parts(view, picture, _address)

        def answer(path: str) -> bytes | None:
            return None if picture is None else picture_at(picture, path.removeprefix(f"/{view.screenshot}"))

        return _Frame(self._lease.paint(screen_shell(view.size), screen_fragment(**parts), view.size, answer))


def picture_at(picture: Picture, query: str) -> bytes | None:
    """The PNG of a whole picture ("") or of a part of it ("/left,top,right,bottom"); None where that is no part of it."""
    if not query:
        return picture.png
    edges = query.removeprefix("/").split(",")
    if len(edges) != 4 or not all(e.isascii() and e.isdigit() and len(e) < 7 for e in edges):
        return None
    part = Bounds(*map(int, edges))
    if part.is_empty or part.intersect(picture.size.bounds) != part:
        return None
    return picture.crop_png(part)


def part_query(part: Bounds | None) -> str:
    """How `picture_at` names a part."""
    return "" if part is None else f"/{part.left},{part.top},{part.right},{part.bottom}"


def _address(sha: str, picture: Picture, part: Bounds | None) -> str:
    return f"/{sha}{part_query(part)}"


def _scaled(rgb: Pixels, size: Size) -> Pixels:
    """The picture at another size, each pixel the mean of those it stands for."""
    image = Image.fromarray(rgb)
    factor_x, rest_x = divmod(image.width, size.width)
    factor_y, rest_y = divmod(image.height, size.height)
    if not rest_x and not rest_y:
        return np.asarray(image.reduce((factor_x, factor_y))).copy()
    shrinks = size.width < image.width
    return np.asarray(image.resize((size.width, size.height), Image.Resampling.BOX if shrinks else Image.Resampling.BILINEAR)).copy()


def _encoded(rgb: Pixels, kind: str, **options: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, kind, **options)
    return out.getvalue()
