"""Elements of a page from CDP's DOM domain and one pass of a script in each frame. Pure: JSON in, values out.

`DOM.getDocument` names each node (backend id, attributes, texts cut short), the script walks the same nodes in the same order and
says where each lies; `DOMDebugger.getEventListeners` says which nodes listen. The two walks are held against each other: a
page that changed between them does not line up, and is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phoneworld.device.web.elements import MAIN_FRAME, Box, Element

# Blink's own notion of a mouse listener (`event_util::MouseButtonEventTypes`).
_MOUSE_BUTTON_EVENTS = {"click", "mousedown", "mouseup", "DOMActivate"}
_PLUGINS = {"OBJECT", "EMBED"}
_DISABLED, _EDITABLE, _RESPONDS, _SCROLLS = 1, 2, 4, 8

MEASURE = r"""
(globalThis.phoneworldMeasure ||= () => {
  const names = new Map(), nodes = [], boxes = [], flags = [], labels = [], corners = [], at = new Map();
  const range = document.createRange();
  const enclosing = (rects, whole) => rects.length ? [whole.x, whole.y, whole.width, whole.height] : null;
  const scrolls = (e) => {
    const wide = e.scrollWidth > e.clientWidth + 1, tall = e.scrollHeight > e.clientHeight + 1;
    if (!wide && !tall) return false;
    const style = getComputedStyle(e), moves = (over) => over === 'auto' || over === 'scroll';
    return (wide && moves(style.overflowX)) || (tall && moves(style.overflowY));
  };
  const flagsOf = (e, laid) => {
    const summary = e.localName === 'summary' && e.parentElement instanceof HTMLDetailsElement
      && e === [...e.parentElement.children].find((c) => c.localName === 'summary');
    return (e.matches(':disabled') ? 1 : 0) + (e.isContentEditable ? 2 : 0)
      + (e instanceof HTMLInputElement || summary || e.matches(':any-link') ? 4 : 0) + (laid && scrolls(e) ? 8 : 0);
  };
  const visit = (node) => {
    const index = nodes.length;
    if (!names.has(node.nodeName)) names.set(node.nodeName, names.size);
    nodes.push(names.get(node.nodeName));
    if (node.nodeType === Node.TEXT_NODE) {
      range.selectNode(node);
      const box = enclosing(range.getClientRects(), range.getBoundingClientRect());
      if (box) boxes.push(index, ...box);
      return;
    }
    if (node.nodeType === Node.ELEMENT_NODE) {
      at.set(node, index);
      const box = enclosing(node.getClientRects(), node.getBoundingClientRect());
      if (box) boxes.push(index, ...box);
      const flag = flagsOf(node, !!box);
      if (flag) flags.push(index, flag);
      if (node instanceof HTMLLabelElement && node.control) labels.push([index, node.control]);
      if (node instanceof HTMLIFrameElement && box) {
        const style = getComputedStyle(node);
        corners.push(index, node.clientLeft + parseFloat(style.paddingLeft), node.clientTop + parseFloat(style.paddingTop));
      }
      if (node.shadowRoot) visit(node.shadowRoot);
    }
    for (let child = node.firstChild; child; child = child.nextSibling) visit(child);
  };
  visit(document);
  const root = document.documentElement, body = document.body, view = document.scrollingElement || root;
  // The overflow of `html`, or of `body` where that is visible, is the overflow of the viewport (CSS Overflow 3).
  const over = (axis) => [root, body].reduce((own, e) => own !== 'visible' || !e ? own : getComputedStyle(e)[axis], 'visible');
  const stays = (axis) => ['hidden', 'clip'].includes(over(axis));
  return {
    names: [...names.keys()], nodes, boxes, flags, corners, labels: labels.map(([label, control]) => [label, at.get(control) ?? -1]),
    view: [innerWidth, innerHeight],
    scrolls: !!view && ((view.scrollWidth > innerWidth + 1 && !stays('overflowX')) || (view.scrollHeight > innerHeight + 1 && !stays('overflowY'))),
  };
})()
"""


def frames_in(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the frames whose documents are in an answer of `DOM.getDocument`; the main frame is `MAIN_FRAME`, first."""
    return (MAIN_FRAME, *(str(frame) for node in _walk(document) for frame in (_inner(node),) if frame is not None))


def is_beyond_script(document: Mapping[str, Any]) -> bool:
    """True where the page has what no script can measure: closed shadow roots, plug-ins."""
    return any(
        node["nodeName"] in _PLUGINS or any(root.get("shadowRootType") == "closed" for root in node.get("shadowRoots", ()))
        for node in _walk(document)
    )


def pseudo_elements(document: Mapping[str, Any]) -> dict[int, int]:
    """The backend node ids of the pseudo-elements (list markers and the like), each with that of its element."""
    return {
        int(pseudo["backendNodeId"]): int(node["backendNodeId"]) for node in _walk(document) for pseudo in node.get("pseudoElements", ())
    }


def pseudo_element(border: Sequence[float]) -> Element:
    """One pseudo-element from the four corners of its border, as `DOM.getBoxModel` gives them."""
    xs, ys = border[::2], border[1::2]
    return Element("", {}, (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)), clickable=False, scrollable=False)


def elements_of(
    document: Mapping[str, Any], measures: Mapping[str, Mapping[str, Any]], listeners: Sequence[Mapping[str, Any]]
) -> dict[int, Element] | None:
    """The elements of all documents by backend node id; None where the walks do not line up.

    Args:
        document: The root node of `DOM.getDocument`, whole and with iframes.
        measures: What the script said, by frame.
        listeners: What `DOMDebugger.getEventListeners` said of the whole page.
    """
    listening = {int(one["backendNodeId"]) for one in listeners if one["type"] in _MOUSE_BUTTON_EVENTS and "backendNodeId" in one}
    elements: dict[int, Element] = {}
    return elements if _place(document, MAIN_FRAME, (0.0, 0.0), measures, listening, elements) else None


def _place(
    document: Mapping[str, Any],
    frame: str,
    corner: tuple[float, float],
    measures: Mapping[str, Mapping[str, Any]],
    listening: set[int],
    elements: dict[int, Element],
) -> bool:
    """Reads a document whose viewport lies at `corner`, then those of the iframes in it; False where something does not line up."""
    measure = measures.get(frame)
    if measure is None:
        return False
    nodes = list(_order(document))
    names = measure["names"]
    if [names[i] for i in measure["nodes"]] != [node["nodeName"] for node in nodes]:
        return False
    x0, y0 = corner
    flat = measure["boxes"]
    boxes: dict[int, Box] = {flat[k]: (flat[k + 1] + x0, flat[k + 2] + y0, flat[k + 3], flat[k + 4]) for k in range(0, len(flat), 5)}
    flags = dict(zip(measure["flags"][::2], measure["flags"][1::2], strict=True))
    flat = measure["corners"]
    corners = {flat[k]: (flat[k + 1], flat[k + 2]) for k in range(0, len(flat), 3)}
    clickable = {
        i for i, node in enumerate(nodes)
        if not flags.get(i, 0) & _DISABLED and (flags.get(i, 0) & (_EDITABLE | _RESPONDS) or node["backendNodeId"] in listening)
    }  # fmt: skip
    clickable |= {label for label, control in measure["labels"] if control in clickable}
    boxes[0] = (x0, y0, *measure["view"])
    for i, node in enumerate(nodes):
        attributes = node.get("attributes", ())
        inner = _inner(node)
        scrollable = bool(measure["scrolls"]) if i == 0 else bool(flags.get(i, 0) & _SCROLLS)
        elements[node["backendNodeId"]] = Element(
            str(node["nodeName"]).lower(), dict(zip(attributes[::2], attributes[1::2], strict=True)), boxes.get(i), i in clickable, scrollable, inner
        )
        if inner is not None and i in boxes and i in corners:
            place = boxes[i][0] + corners[i][0], boxes[i][1] + corners[i][1]
            if not _place(node["contentDocument"], inner, place, measures, listening, elements):
                return False
    return True


def _inner(node: Mapping[str, Any]) -> str | None:
    """The frame in a node whose document was given with it."""
    return str(node["frameId"]) if "frameId" in node and "contentDocument" in node else None


def _order(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The nodes of one document in the order in which the script visits them: an open shadow root before the children."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        below = [root for root in node.get("shadowRoots", ()) if root.get("shadowRootType") != "user-agent"]
        stack.extend(reversed([*below, *node.get("children", ())]))


def _walk(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The nodes of a document and of the iframes in it."""
    for node in _order(document):
        yield node
        if "contentDocument" in node:
            yield from _walk(node["contentDocument"])
