"""A live widget dressed in what the recorded picture shows: font, colours, places. Numbers and colours only, no HTML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from phoneworld.render import fonts
from phoneworld.render.composition import Live
from phoneworld.render.lettering import TextLook, text_look
from phoneworld.render.live import FRAMED, recorded_words
from phoneworld.render.style import Picture, Rgb, hex_colour, luminance, mix
from phoneworld.render.widgets import TOGGLES, is_wordless, kind_of_look, shown_text
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node

_DARK: Rgb = (29, 31, 35)
_LIGHT: Rgb = (241, 242, 244)
_SHRUNK = 0.8  # a line that outgrows its room is first set this much smaller, then cut


@dataclass(frozen=True, slots=True)
class Dress:
    """Inline style for a live widget's box and for its words."""

    box: Bounds
    style: str
    label_style: str


def text_box(node: Node, kind: str, picture: Picture, density: int) -> Bounds:
    """The part of a recorded node that holds its words: inside its frame, beside its mark."""
    box = node.bounds
    if kind in FRAMED:
        return picture.interior(box)
    if kind in TOGGLES and shown_text(node):
        mark = min(box.width // 2, round((52 if kind == "switch" else 30) * density / 160))
        if kind == "switch":
            return Bounds(box.left, box.top, box.right - mark, box.bottom)
        return Bounds(box.left + mark, box.top, box.right, box.bottom)
    return box


def dress(live: Live, node: Node, tree: Hierarchy, picture: Picture, density: int) -> Dress:
    """How to draw this widget so that it looks as the recorded one did."""
    kind = kind_of_look(node, leaf=not any(child.visible for child in node.children))
    model = live.model
    assert model is not None
    words_at = text_box(model, kind, picture, density)
    ground = picture.ground(words_at).start
    then = recorded_words(model, kind)
    look = text_look(picture, words_at, then)
    if look is None:
        look = _usual(words_at, ground, density, framed=words_at.left > model.bounds.left + 1)
    elif node.is_editable and not shown_text(model) and shown_text(node):
        look = replace(look, colour=_body_colour(tree, picture, ground))
    if not look.sure or look.lines > 1:
        look = replace(look, family=_page_family(tree, picture) or look.family)
    colour = look.colour
    if node.is_editable and not shown_text(node) and shown_text(model):
        colour = mix(colour, ground, 0.55)
    dx, dy = node.bounds.left - model.bounds.left, node.bounds.top - model.bounds.top
    resized = (node.bounds.width, node.bounds.height) != (model.bounds.width, model.bounds.height)
    area = words_at.shift(dx, dy)
    if resized and kind not in FRAMED + TOGGLES:
        area = node.bounds
    else:
        area = Bounds(max(area.left, look.free[0] + dx), area.top, min(area.right, look.free[1] + dx), area.bottom)
    text = shown_text(node) or (node.content_desc if kind in ("text", "button") else node.hint or "")
    style = f";color:{hex_colour(colour)}"
    if picture.accent:
        style += f";--accent:{hex_colour(picture.accent)}"
    if luminance(ground) < 0.4:
        style += ";--on-accent:#111"
    if kind in TOGGLES:
        style += _mark_style(model, kind, picture, density, wordless=is_wordless(tree, model))
    box = node.bounds
    if kind == "text" and look.align == "start":
        box = Bounds(box.left, box.top, max(box.right, live.room.right), box.bottom)
        if look.free[1] >= words_at.right:
            area = Bounds(area.left, area.top, max(area.right, box.right), area.bottom)
    top = words_at.top + dy if area.top != node.bounds.top else node.bounds.top
    return Dress(box, style, _label_style(text, look, area, box, node, colour, top, look.pen + dx - area.left))


def caret_style(node: Node, picture: Picture, density: int) -> str:
    """Where the caret of a field stands whose words the picture shows: after them, or before its hint."""
    inside = picture.interior(node.bounds)
    ink = picture.ink_box(inside)
    look = text_look(picture, inside, recorded_words(node, "edit"))
    if look is not None:
        ink = look.ink
    size = look.size_px if look else min(inside.height * 0.6, 18 * density / 160)
    if ink is None:
        x, middle = inside.left + 4 * density // 160, (inside.top + inside.bottom) / 2
    else:
        x, middle = (ink.right + 2 if shown_text(node) else ink.left - 1), (ink.top + ink.bottom) / 2
    height = round(size * 1.2)
    colour = hex_colour(picture.accent or _DARK)
    width = max(1, round(1.6 * density / 160))
    return (
        f"position:absolute;left:{x - node.bounds.left}px;top:{round(middle - height / 2) - node.bounds.top}px;"
        f"width:{width}px;height:{height}px;background:{colour}"
    )


def _label_style(text: str, look: TextLook, area: Bounds, box: Bounds, node: Node, colour: Rgb, origin: int, indent: float) -> str:
    """The place and setting of the words, relative to the widget's box."""
    size = look.size_px
    ascent, descent = fonts.line_metrics(look.family, bold=look.bold)
    line = look.line_px or round((ascent + descent) * size)
    indent = max(0.0, min(indent, area.width / 2)) if look.align == "start" else 0.0
    width = max(4.0, area.width - indent)
    wide = fonts.advance(text.replace("\n", " "), look.family, bold=look.bold) * size
    room_for = max(1, int((area.height + 0.3 * line) // line))
    wraps = room_for > 1 and (look.lines > 1 or "\n" in text or wide > width) and not (node.is_editable and _is_middle(look, area))
    keep_tail = node.is_editable and not wraps and wide > width
    if not wraps and wide > width and not keep_tail:
        size = max(_SHRUNK * size, size * width / wide * 0.99)
    if look.baseline is None:
        top = area.top + (0 if wraps else (area.height - line) / 2)
    else:
        top = origin + look.baseline - (line - round(ascent * size) - round(descent * size)) / 2 - round(ascent * size)
    lines = f";-webkit-line-clamp:{room_for};display:-webkit-box" if wraps else ""
    place = f"left:{_px(area.left - box.left + indent)};width:{_px(width)}"
    if keep_tail:
        place = f"right:{_px(box.right - area.right + 2)}"
    side = {"start": "left", "center": "center", "end": "right"}[look.align]
    return (
        f"position:absolute;{place};top:{_px(top - box.top)};max-width:none;font-family:{fonts.css_stack(look.family)};"
        f"font-size:{_px(size)};font-weight:{700 if look.bold else 400};line-height:{_px(line)};text-align:{side};color:{hex_colour(colour)};"
        f"white-space:{'pre-wrap' if wraps else 'pre'};overflow:hidden;text-overflow:ellipsis{lines}"
    )


def _is_middle(look: TextLook, area: Bounds) -> bool:
    """True where a field's one line stands in its middle: then it never wraps."""
    return look.baseline is None or look.baseline > 0.42 * area.height


def _usual(area: Bounds, ground: Rgb, density: int, *, framed: bool) -> TextLook:
    """How words are set where the picture shows none to learn from: 16 dp, 16 dp from a frame, at the top of a tall field."""
    dp = density / 160
    size = min(16 * dp, max(8.0, area.height / 1.5))
    pad = min((15 if framed else 4) * dp, area.width / 8)
    top = 26 * dp if area.height > 96 * dp else None
    colour = _LIGHT if luminance(ground) < 0.45 else _DARK
    return TextLook(size, colour, baseline=top, free=(area.left, area.right), pen=area.left + pad, lines=1 if top is None else 2, sure=False)


def _page_family(tree: Hierarchy, picture: Picture) -> str | None:
    """The family in which most of the first few lines of this picture are set; None where it shows no line."""
    found: Counter[str] = Counter()
    for node in tree.nodes():
        if node.text and len(node.text) > 4 and not node.children and not node.is_editable and node.visible:
            look = text_look(picture, node.bounds, node.text)
            if look is not None and look.sure and look.lines == 1:
                found[look.family] += 1
                if found.total() == 5:
                    break
    return found.most_common(1)[0][0] if found else None


def _body_colour(tree: Hierarchy, picture: Picture, ground: Rgb) -> Rgb:
    """The colour of typed words where only the paler hint was recorded: the strongest among the texts on this ground."""
    best, most = (_LIGHT if luminance(ground) < 0.45 else _DARK), 0.0
    seen = 0
    for node in tree.nodes():
        if node.text and not node.children and not node.clickable and seen < 12 and picture.ground(node.bounds).start == ground:
            seen += 1
            colour = picture.ink_colour(node.bounds)
            if colour is not None and max(colour) - min(colour) < 60 and abs(luminance(colour) - luminance(ground)) > most:
                best, most = colour, abs(luminance(colour) - luminance(ground))
    return best


def _mark_style(model: Node, kind: str, picture: Picture, density: int, *, wordless: bool) -> str:
    """Where the mark of a toggle was and how large, so that the live one stands in its place."""
    box = model.bounds
    area = box
    if not wordless or box.width > 2.2 * box.height:
        mark = min(box.width // 2, round((52 if kind == "switch" else 30) * density / 160))
        left = box.right - mark if kind == "switch" else box.left
        area = Bounds(left, box.top, left + mark, box.bottom)
    ink = picture.ink_box(area, picture.ground_outside(box))
    if ink is None or ink.width < 8 or ink.height < 8:
        return ""
    if kind != "switch":
        side = max(ink.width, ink.height)
        if side > 1.5 * min(ink.width, ink.height):
            return ""
        ink = Bounds(ink.left, ink.top, ink.left + side, ink.top + side)
    return (
        f";--mark-x:{ink.left - box.left}px;--mark-y:{ink.top - box.top}px;--mark-w:{ink.width}px;--mark-h:{ink.height}px"
    )


def _px(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "px"
