"""Reads the accessibility tree of a live page with its elements, in whichever of the two ways costs less.

A DOM snapshot is one call and right for any page, but it copies every text of it; see `elements.py`. Which way is taken
depends on the page alone, never on the clock; both give the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from phoneworld.device.web import measure, snapshot
from phoneworld.device.web.elements import MAIN_FRAME, Element, PageCapture
from phoneworld.device.web.world import WORLD
from phoneworld.errors import CaptureFailed

# Characters in the documents of a page, scripts and styles included: from about here on a snapshot costs more than it need.
_MUCH_TEXT = 400_000


class Sender(Protocol):
    """One CDP call to the page that may be made again."""

    def __call__(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]: ...


class PageReader:
    """Reads one page over its CDP session."""

    def __init__(self, send: Sender) -> None:
        self._send = send
        self._document = ""
        self._much_text = False

    def capture(self) -> PageCapture:
        """The page as it is now. Raises what the calls raise: CaptureFailed where it navigates meanwhile."""
        measured = self.by_script() if self._much_text else None
        return measured or self.by_snapshot()

    def by_snapshot(self) -> PageCapture:
        """By CDP's DOM snapshot, see `snapshot.py`."""
        styles = {"computedStyles": list(snapshot.COMPUTED_STYLES), "includeDOMRects": True}
        shot = self._send("DOMSnapshot.captureSnapshot", styles)
        self._much_text = snapshot.text_length(shot) > _MUCH_TEXT
        return PageCapture({frame: self._ax_nodes(frame) for frame in snapshot.frames_of(shot)}, snapshot.elements_of(shot))

    def by_script(self) -> PageCapture | None:
        """By a script in the page, see `measure.py`; None where it cannot measure this page, or the page does not hold still."""
        for _ in range(3):
            document = self._dom()
            if measure.is_beyond_script(document):
                return None
            frames = measure.frames_in(document)
            listeners = self._listeners()
            measures = {frame: self._measures(frame) for frame in frames}
            trees = {frame: self._ax_nodes(frame) for frame in frames}
            if (elements := measure.elements_of(document, measures, listeners)) is not None:
                height = measures[MAIN_FRAME]["view"][1]
                return PageCapture(trees, elements | self._pseudo_elements(document, trees, elements, height))
        return None

    def _ax_nodes(self, frame: str) -> list[dict[str, Any]]:
        return list(self._send("Accessibility.getFullAXTree", {} if frame == MAIN_FRAME else {"frameId": frame})["nodes"])

    def _dom(self) -> dict[str, Any]:
        """The whole DOM, iframes and shadow roots included, long texts cut short."""
        self._send("DOM.enable", {"includeWhitespace": "all"})
        document = self._send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
        # Else each change of the page would be reported from now on. A call that was made twice is refused the second time.
        with suppress(CaptureFailed):
            self._send("DOM.disable")
        return dict(document)

    def _listeners(self) -> list[dict[str, Any]]:
        """The event listeners of the page's own scripts, on all nodes and in all frames."""
        for attempt in range(2):
            if not self._document:
                self._document = str(self._send("Runtime.evaluate", {"expression": "document"})["result"]["objectId"])
            try:
                asked = {"objectId": self._document, "depth": -1, "pierce": True}
                return list(self._send("DOMDebugger.getEventListeners", asked)["listeners"])
            except CaptureFailed:
                # The document it was asked for is gone.
                self._document = ""
                if attempt:
                    raise
        raise AssertionError("unreachable")

    def _measures(self, frame: str) -> dict[str, Any]:
        frame_id = frame or self._send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self._send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD})
        call = {"expression": measure.MEASURE, "contextId": world["executionContextId"], "returnByValue": True}
        return dict(self._send("Runtime.evaluate", call)["result"]["value"])

    def _pseudo_elements(
        self, document: Mapping[str, Any], trees: Mapping[str, Sequence[Mapping[str, Any]]], elements: Mapping[int, Element], height: float
    ) -> dict[int, Element]:
        """Those that are accessible and on the screen: no script can measure them."""
        hosts, found = measure.pseudo_elements(document), {}
        for node in (node for nodes in trees.values() for node in nodes if not node.get("ignored")):
            pseudo = int(node.get("backendDOMNodeId", -1))
            host = elements.get(hosts.get(pseudo, -1))
            if host is not None and host.box is not None and host.box[1] < height and host.box[1] + host.box[3] > 0:
                with suppress(CaptureFailed):
                    border = self._send("DOM.getBoxModel", {"backendNodeId": pseudo})["model"]["border"]
                    found[pseudo] = measure.pseudo_element(border)
        return found
