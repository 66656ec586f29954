"""UI Automator XML, and the page source of Appium, to a Hierarchy and back. Knows no device and opens no file.

Read is what real phones and tools emit: UTF-8 and UTF-16 with or without a BOM, the banner of `uiautomator dump` before or
after the document, several top-level windows, `dump --windows` (`<displays>`), classes as tags (Appium), references to
surrogate halves. Refused, by name, is what cannot be trusted as one whole tree: see `DumpError` and its kinds.

What has a meaning becomes a field of `Node` (`displayed`, `visible` and `visible-to-user` all mean `visible`); every other
attribute is kept in `Node.extra`. Writing gives the form of Android's own dumper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern

from lxml import etree  # type: ignore[import-untyped]

from phoneworld.errors import DumpError, DumpFailed, EmptyDump, NotADump, TruncatedDump
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node

MAX_BYTES = 64 * 1024 * 1024
# Real trees stay below 70 elements (web pages in a browser); Python compares two trees of this depth without reaching its
# recursion limit, and libxml2 itself stops at 256.
MAX_DEPTH = 150

_DUMP_AGAIN = "take the dump again: adb exec-out uiautomator dump /dev/tty"
_OPENING = re.compile(r"<!--.*?-->|<(hierarchy|displays)(?=[\s/>])", re.S)
_WHOLE_TAG = re.compile(r"""<\w+(?:\s+[^\s=<>"']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(/?)>""")
_CLOSING_TAG = re.compile(r"</\w+\s*>")
_DECLARED_ENCODING = re.compile(rb"""<\?xml[^>]{0,80}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_DTD = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.I)
_BANNER = re.compile(r"UI hierch?ary dumped to:[^\n<]*|UI hierarchy dumped to:[^\n<]*", re.I)
# What Android's dumper and shell print instead of, or before, a document.
_FAILURE = re.compile(
    r"^.*(?:ERROR: |could not get idle state|null root node|Exception\b|not found|inaccessible|Permission denied|"
    r"\bKilled\b|\bAborted\b|No such file).*$",
    re.M,
)
_STALE_FAILURE = re.compile(r"^.*(?:ERROR: could not|could not get idle state|ERROR: null root|null root node).*$", re.M)

_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]+)|([0-9]+));")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CESU_HALF = re.compile("\udced([\udca0-\udcbf])([\udc80-\udcbf])")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
_DAMAGED = "\ufffd\ufffe\uffff"
_BAD_BYTES = re.compile("[\udc80-\udcff]+")
_BOUNDS = re.compile(
    r"\s*\[\s*(-?[0-9]{1,10})\s*,\s*(-?[0-9]{1,10})\s*\]\s*\[\s*(-?[0-9]{1,10})\s*,\s*(-?[0-9]{1,10})\s*\]\s*"
)
_SMALL = {str(number): number for number in range(100)}
_INTEGER = re.compile(r"-?[0-9]{1,10}")


def parse_hierarchy(data: bytes) -> Hierarchy:
    """The tree in a dump. Raises a kind of DumpError where the bytes do not hold exactly one whole tree."""
    return parse_hierarchy_with_warnings(data)[0]


def parse_hierarchy_with_warnings(data: bytes) -> tuple[Hierarchy, tuple[str, ...]]:
    """The tree, and in words what had to be mended in its text (lone surrogate halves, control characters, bad bytes)."""
    if len(data) > MAX_BYTES:
        raise DumpError(f"a dump is at most {MAX_BYTES} bytes, found {len(data)}", hint="is this really a UI Automator dump?")
    if not data.strip(b" \t\r\n\0"):
        raise EmptyDump(f"expected a widget tree, found {len(data)} bytes without one character", hint=_DUMP_AGAIN)
    warnings: list[str] = []
    document = _legal(_document(_decode(data)), warnings)
    builder = _Builder(warnings)
    # There is nothing to expand: the document starts at its root tag, so it has no DTD. Not `resolve_entities=False`: with
    # that, libxml2 hands `&amp;` in an attribute to a parser target as `&#38;`.
    parser = etree.XMLParser(
        target=builder, encoding="utf-8", resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        etree.fromstring(document, parser)
    except etree.XMLSyntaxError as e:
        reason = (e.msg or "not well-formed").replace(" (<string>", "").strip()
        kind = TruncatedDump if "tag mismatch" in reason else DumpError
        raise kind(f"the dump is not well-formed XML: {reason}", hint=_DUMP_AGAIN) from None
    hierarchy = builder.hierarchy()
    if not hierarchy.windows:
        raise EmptyDump("expected a widget tree, found a hierarchy without a node", hint=_DUMP_AGAIN)
    return hierarchy, tuple(warnings)


# --- from bytes to the characters of one document ------------------------------------------------------------------


def _decode(data: bytes) -> str:
    """The characters; surrogate halves stay as they are, and a byte that is none becomes U+FFFD."""
    if data.startswith(b"\xef\xbb\xbf"):
        return _decode_utf8(data[3:])
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace")
    if data.startswith(b"\xff\xfe"):
        return _decode_utf16(data[2:], "utf-16-le")
    if data.startswith(b"\xfe\xff"):
        return _decode_utf16(data[2:], "utf-16-be")
    head = data[:64]
    if head.count(0) * 3 > len(head):  # UTF-16 whose BOM was lost: every second byte of markup is zero
        return _decode_utf16(data, "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be")
    if (declared := _DECLARED_ENCODING.search(data[:400])) is not None:
        name = declared.group(1).decode().lower()
        if not name.startswith(("utf", "ucs", "iso-10646", "us-ascii")):
            try:
                return data.decode(name)
            except (LookupError, ValueError):
                pass  # the declaration is wrong; what is no UTF-8 either shows up as U+FFFD with a warning
    return _decode_utf8(data)


def _decode_utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    # Java's modified UTF-8 writes each surrogate half as three bytes.
    text = _CESU_HALF.sub(lambda m: chr(0xD000 | (ord(m[1]) & 0x3F) << 6 | (ord(m[2]) & 0x3F)), text)
    halves = {m.start() for m in _PAIR.finditer(text)}
    return _BAD_BYTES.sub(lambda m: m[0] if m.start() - 1 in halves else "\ufffd", text)


def _decode_utf16(data: bytes, codec: str) -> str:
    return data[: len(data) // 2 * 2].decode(codec, "surrogatepass")


def _document(text: str) -> str:
    """The one document in what a dumper printed, from its root tag to its closing tag."""
    opening = next((m for m in _OPENING.finditer(text) if m.group(1)), None)
    if opening is None:
        raise _no_document(text)
    start, root = opening.start(), opening.group(1)
    before = text[:start]
    if _DTD.search(before):
        raise DumpError("the dump declares a DTD or entities; no dumper does", hint="remove the DOCTYPE if you trust the file")
    closing = _CLOSING_TAG.match(text, max(0, text.find(f"</{root}", start)))
    if closing is None:
        tag = _WHOLE_TAG.match(text, start)
        if tag is not None and tag.group(1):
            raise EmptyDump(f"expected a widget tree, found an empty {root} element", hint=_DUMP_AGAIN)
        failed = _STALE_FAILURE.search(text)
        if failed is not None:
            raise _failed(failed.group(0))
        raise TruncatedDump(
            f"expected </{root}> at the end, found {text[-40:].strip()!r} after {len(text)} characters", hint=_DUMP_AGAIN
        )
    after = text[closing.end() :]
    for outside in (before, after):
        if (failed := _STALE_FAILURE.search(outside)) is not None:
            raise _failed(failed.group(0))
    if re.search(r"<(?:hierarchy|displays|node)[\s/>]", after) or re.search(r"<node[\s/>]|</(?:node|hierarchy)\s*>", before):
        raise DumpError("expected one widget tree, found pieces of two", hint="keep each dump in a file of its own")
    return text[start : closing.end()]


def _no_document(text: str) -> DumpError:
    rest = _BANNER.sub("", text).strip(" \t\r\n\0\ufeff")
    if not rest:
        return EmptyDump("expected a widget tree, found only the dumper's banner", hint=_DUMP_AGAIN)
    if not rest.startswith(("<", "{")) and (failed := _FAILURE.search(rest)) is not None:
        return _failed(failed.group(0))
    tail = rest.rpartition("?>")[2].strip() if rest.startswith("<?xml") else rest
    if any(whole.startswith(tail) for whole in ("<hierarchy ", "<displays ", "<?xml version=")) or (
        rest.startswith("<?xml") and "?>" not in rest
    ):
        return TruncatedDump(f"the dump stops after {len(text)} characters, before its first node", hint=_DUMP_AGAIN)
    found = re.search(r"<([A-Za-z_][\w.]*)", rest)
    what = f"an element <{found.group(1)}>" if found else repr(rest[:40])
    return NotADump(f"expected a <hierarchy> element, found {what}", hint="give a file that `uiautomator dump` or Appium wrote")


def _failed(line: str) -> DumpFailed:
    line = line.strip()
    if "idle" in line:
        hint = "turn animations off (adb shell settings put global animator_duration_scale 0) or dump with --compressed"
    elif "null root" in line:
        hint = "unlock the phone, wait for a window to have the focus, dump again"
    else:
        hint = _DUMP_AGAIN
    return DumpFailed(f"the dumper failed: {line[:200]}", line=line, hint=hint)


def _legal(text: str, warnings: list[str]) -> bytes:
    """UTF-8 of the text, with surrogate pairs joined and U+FFFD for each character that XML cannot hold."""
    if "&#" in text:
        text = _REFERENCE.sub(_resolve_illegal, text)
    try:
        document = text.encode()
    except UnicodeEncodeError:  # a surrogate half
        text = _PAIR.sub(lambda m: m[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
        text, halves = re.subn("[\ud800-\udfff]", "\ufffd", text)
        if halves:
            warnings.append(f"{halves} lone surrogate half(s) became U+FFFD")
        document = text.encode()
    if len(document.translate(None, _CONTROLS)) != len(document) or any(c in text for c in _DAMAGED):
        damaged = text.count("\ufffd")
        text, controls = _ILLEGAL.subn("\ufffd", text)
        if controls:
            warnings.append(f"{controls} character(s) that XML cannot hold became U+FFFD")
        if damaged and not warnings:
            warnings.append(f"{damaged} character(s) are damaged (U+FFFD)")
        document = text.encode()
    return document


def _resolve_illegal(reference: re.Match[str]) -> str:
    """The character itself for a reference that XML does not allow; any other reference stays for the parser."""
    digits, base = (reference[1], 16) if reference[1] else (reference[2], 10)
    code = int(digits, base) if len(digits.lstrip("0")) <= 8 else 0x110000
    if code > 0x10FFFF:
        return "\ufffe"
    return chr(code) if _ILLEGAL.match(chr(code)) else reference[0]


# --- from the parser's events to nodes -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """An element whose end has not come yet."""

    tag: str
    attributes: dict[str, str]
    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class _Display:
    """One display of `dump --windows`; `windows` are (layer or None, place in the document, nodes)."""

    id: str
    rotation: int = 0
    windows: list[tuple[int | None, int, list[Node]]] = field(default_factory=list)


class _Builder:
    """The target of lxml's parser: builds nodes from the leaves up, without recursion."""

    def __init__(self, warnings: list[str]) -> None:
        self._warnings = warnings
        self._stack: list[_Open] = []
        self._root: _Open | None = None
        self._displays: list[_Display] = []
        self._stray_text = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self._stack
        if len(stack) >= MAX_DEPTH:
            raise DumpError(f"the tree is deeper than {MAX_DEPTH} elements", hint="no phone draws that; is the file damaged?")
        if stack and tag == "hierarchy" and stack[-1].tag != "window":
            raise DumpError("a <hierarchy> lies inside another", hint="keep each dump in a file of its own")
        if tag == "display" and stack[-1].tag == "displays":
            self._displays.append(_Display(attributes.get("id", "")))
        stack.append(_Open(tag, attributes or {}))

    def end(self, tag: str) -> None:
        ended = self._stack.pop()
        if not self._stack:
            self._root = ended
        elif tag == "hierarchy":
            self._end_window_tree(ended)
        elif not (self._displays and tag in ("display", "window")):
            siblings = self._stack[-1].nodes
            siblings.append(_node(ended, len(siblings), self._warnings))

    def data(self, text: str) -> None:
        if not self._stray_text and not text.isspace():
            self._stray_text = True
            self._warnings.append(f"text between the nodes was left out: {text.strip()[:60]!r}")

    def close(self) -> None:
        """Nothing to give back: the tree is asked for by `hierarchy`."""

    def hierarchy(self) -> Hierarchy:
        root = self._root
        if root is None:
            raise TruncatedDump("the dump stops before its root element ends", hint=_DUMP_AGAIN)
        if root.tag == "displays":
            return self._hierarchy_of_displays()
        attributes = root.attributes
        rotation = _integer(attributes.pop("rotation", "0"), 0, "rotation", self._warnings)
        return Hierarchy(tuple(root.nodes), rotation, tuple(attributes.items()))

    def _end_window_tree(self, tree: _Open) -> None:
        display = self._displays[-1] if self._displays else None
        if display is None:
            raise DumpError("a <window> lies outside any <display>", hint=_DUMP_AGAIN)
        window = self._stack[-1].attributes
        display.rotation = _integer(tree.attributes.get("rotation", "0"), 0, "rotation", self._warnings)
        about = tuple((f"window-{name}", value) for name, value in window.items())
        layer = _integer(window["layer"], 0, "layer", self._warnings) if "layer" in window else None
        nodes = [_with_extra(node, about) for node in tree.nodes]
        display.windows.append((layer, len(display.windows), nodes))

    def _hierarchy_of_displays(self) -> Hierarchy:
        """The windows of the main display, the topmost last. Android lists them from the top down."""
        shown = [display for display in self._displays if display.windows]
        if not shown:
            return Hierarchy(())
        main = next((display for display in shown if display.id == "0"), shown[0])
        if len(shown) > 1:
            self._warnings.append(f"{len(shown) - 1} further display(s) left out; this is display {main.id}")
        layers_known = all(layer is not None for layer, _, _ in main.windows)
        order = sorted(main.windows, key=lambda w: (w[0] or 0, -w[1]) if layers_known else (-w[1], 0))
        return Hierarchy(tuple(node for _, _, nodes in order for node in nodes), main.rotation)


def _with_extra(node: Node, extra: tuple[tuple[str, str], ...]) -> Node:
    known = {name for name, _ in node.extra}
    return replace(node, extra=node.extra + tuple(pair for pair in extra if pair[0] not in known))


# Value of a truth attribute, by what it means to leave it out. Anything else is odd and goes the slow way.
_NO_UNLESS_SAID: dict[str | None, bool] = {"true": True, "false": False, "": False, None: False}
_YES_UNLESS_SAID: dict[str | None, bool] = {"true": True, "false": False, "": True, None: True}
_YES_NAMES = ("enabled", "visible-to-user", "displayed", "visible")
_NO_NAMES = (
    "checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long-clickable", "password", "selected",
)  # fmt: skip


def _node(element: _Open, position: int, warnings: list[str]) -> Node:
    """The node of an element that has ended. Half of the time of reading a dump is spent here."""
    rest = dict(element.attributes)
    pop, no, yes = rest.pop, _NO_UNLESS_SAID, _YES_UNLESS_SAID
    index = pop("index", None)
    order = pop("drawing-order", None)
    try:
        node = Node(
            intern(pop("class", "" if element.tag == "node" else element.tag)),
            pop("text", ""),
            intern(pop("resource-id", "")),
            intern(pop("package", "")),
            pop("content-desc", ""),
            pop("hint", None),
            no[pop("checkable", None)],
            no[pop("checked", None)],
            no[pop("clickable", None)],
            yes[pop("enabled", None)],
            no[pop("focusable", None)],
            no[pop("focused", None)],
            no[pop("scrollable", None)],
            no[pop("long-clickable", None)],
            no[pop("password", None)],
            no[pop("selected", None)],
            yes[pop("visible-to-user", None)] & yes[pop("displayed", None)] & yes[pop("visible", None)],
            _bounds(pop("bounds", "")),
            position if index is None else _integer(index, position, "index", warnings),
            None if order is None else _integer(order, 0, "drawing-order", warnings),
            tuple(rest.items()),
            tuple(element.nodes),
        )
    except KeyError:
        _settle_odd_truths(element.attributes, warnings)
        return _node(element, position, warnings)
    if element.tag[0] == "{" or (rest and any(name[0] == "{" for name in rest)):
        raise DumpError(f"an XML namespace at <{element.tag}>; dumps have none", hint=_DUMP_AGAIN)
    return node


def _settle_odd_truths(attributes: dict[str, str], warnings: list[str]) -> None:
    """Puts true or false in the place of any other value: the one it means (`True`), else what leaving it out means."""
    for names, known in ((_NO_NAMES, _NO_UNLESS_SAID), (_YES_NAMES, _YES_UNLESS_SAID)):
        for name in names:
            value = attributes.get(name)
            if value not in known:
                meant = str(known.get(str(value).lower(), known[None])).lower()
                warnings.append(f"{name}={str(value)[:20]!r} is neither true nor false; taken as {meant}")
                attributes[name] = meant


@lru_cache(maxsize=4096)
def _bounds(text: str) -> Bounds:
    """Empty where the dumper gave none. Raises DumpError for what is no rectangle."""
    if not text:
        return Bounds(0, 0, 0, 0)
    found = _BOUNDS.fullmatch(text)
    if found is None:
        raise DumpError(f"expected bounds such as [0,0][1080,2400], found {text[:60]!r}", hint=_DUMP_AGAIN)
    return Bounds(int(found[1]), int(found[2]), int(found[3]), int(found[4]))


def _integer(text: str, default: int, name: str, warnings: list[str]) -> int:
    if (small := _SMALL.get(text)) is not None:
        return small
    if _INTEGER.fullmatch(text):
        return int(text)
    warnings.append(f"{name}={text[:20]!r} is no whole number; taken as {default}")
    return default


# --- back to XML ---------------------------------------------------------------------------------------------------

_OWN_NAMES = frozenset({
    "index", "text", "resource-id", "class", "package", "content-desc", "hint", "checkable", "checked", "clickable",
    "enabled", "focusable", "focused", "scrollable", "long-clickable", "password", "selected", "visible-to-user",
    "displayed", "visible", "bounds", "drawing-order",
})  # fmt: skip
_MUST_ESCAPE = re.compile("[&<>\"\t\n\r\x00-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IMPOSSIBLE_NAME = re.compile(r"""^$|^[-.0-9]|[\s"'<>/=&:{}\x00-\x1f]""")
_TRUE_FALSE = ("false", "true")


def write_hierarchy(hierarchy: Hierarchy) -> bytes:
    """The tree as Android's dumper writes it: UTF-8, one line, newlines in values as `&#10;`.

    A character that XML cannot hold is written as U+FFFD. Where an entry of `extra` repeats a field, the field wins.
    Reading the result gives the same tree for every tree that was read.
    """
    out = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>", f'<hierarchy rotation="{hierarchy.rotation}"']
    out.extend(_pairs(hierarchy.attributes, {"rotation"}))
    out.append(">" if hierarchy.windows else " />")
    stack: list[Node | None] = [*reversed(hierarchy.windows)]  # None stands for a closing tag
    while stack:
        node = stack.pop()
        if node is None:
            out.append("</node>")
            continue
        out.append(_start_tag(node))
        if node.children:
            out.append(">")
            stack.append(None)
            stack.extend(reversed(node.children))
        else:
            out.append(" />")
    if hierarchy.windows:
        out.append("</hierarchy>")
    return "".join(out).encode()


def _start_tag(node: Node) -> str:
    # NAF ("not accessibility friendly") is what Android writes before everything else.
    naf = node.extra[:1] if node.extra and node.extra[0][0] == "NAF" else ()
    flag, value, b = _TRUE_FALSE, _escape, node.bounds
    hidden = "" if node.visible else ' visible-to-user="false"'
    order = "" if node.drawing_order is None else f' drawing-order="{node.drawing_order}"'
    hint = "" if node.hint is None else f' hint="{value(node.hint)}"'
    return (
        f"<node{''.join(_pairs(naf, ()))}"
        f' index="{node.index}" text="{value(node.text)}" resource-id="{value(node.resource_id)}"'
        f' class="{value(node.class_name)}" package="{value(node.package)}" content-desc="{value(node.content_desc)}"'
        f' checkable="{flag[node.checkable]}" checked="{flag[node.checked]}" clickable="{flag[node.clickable]}"'
        f' enabled="{flag[node.enabled]}" focusable="{flag[node.focusable]}" focused="{flag[node.focused]}"'
        f' scrollable="{flag[node.scrollable]}" long-clickable="{flag[node.long_clickable]}"'
        f' password="{flag[node.password]}" selected="{flag[node.selected]}"'
        f'{hidden} bounds="[{b.left},{b.top}][{b.right},{b.bottom}]"{order}{hint}'
        f"{''.join(_pairs(node.extra[len(naf) :], _OWN_NAMES))}"
    )


def _pairs(attributes: Iterable[tuple[str, str]], taken: Iterable[str]) -> list[str]:
    seen, out = set(taken), []
    for name, value in attributes:
        if name in seen:
            continue
        seen.add(name)
        if _IMPOSSIBLE_NAME.search(name):
            raise DumpError(f"{name!r} cannot be the name of an XML attribute", hint="rename the entry of Node.extra")
        out.append(f' {name}="{_escape(value)}"')
    return out


def _escape(value: str) -> str:
    return _MUST_ESCAPE.sub(_escaped, value) if _MUST_ESCAPE.search(value) else value


def _escaped(character: re.Match[str]) -> str:
    return _ESCAPES.get(character[0], "\ufffd")
