"""What of a recorded picture still holds, and what must be drawn anew. Knows trees and pictures, writes no HTML.

The tree now is laid against the tree that was recorded with the picture, node by node. Then, from the bottom up:

    the picture      right wherever nothing changed
    covers           over all that changed, moved or went: the colour that the picture itself shows around it
    pieces           recorded pixels, where a widget moved, or where a cover fell on a widget that stands above it
    live widgets     drawn from the node, in the font and colours that the picture shows
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from phoneworld.render.cards import card_items
from phoneworld.render.composition import Composition, Cover, Item, Live, Patch, Piece
from phoneworld.render.lettering import text_look, words_box
from phoneworld.render.style import Ground, Picture
from phoneworld.render.widgets import TOGGLES, is_wordless, kind_of_look, labels_within, shown_text
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node, Path, drawing_sequence

Signature = tuple[object, ...]

_ROUNDING = 2
_SHADOW_DP = 4  # how far a card's shadow reaches beyond its bounds
FRAMED = ("edit", "button", "spinner")


def own_look(node: Node) -> Signature:
    """What is drawn of a node itself, apart from where."""
    return (
        node.class_name, node.resource_id, shown_text(node), node.content_desc, node.hint if node.is_editable else None,
        node.checked, node.enabled, node.focused and node.is_editable, node.visible,
    )  # fmt: skip


def recorded_words(node: Node, kind: str) -> str:
    """The words that the picture shows on a node."""
    words = shown_text(node) or (node.content_desc if kind in ("text", "button") else "")
    return words or (node.hint or "" if kind == "edit" else "")


def compose(now: Hierarchy, recorded: Hierarchy, picture: Picture, density: int) -> Composition:
    """What must be laid over the picture so that it shows the tree as it is now."""
    if now == recorded:
        return Composition()
    return _Composer(now, recorded, picture, density).run()


def pair(now: Hierarchy, recorded: Hierarchy) -> dict[Path, Path]:
    """For each node of the tree now that was recorded, its path then. Equal subtrees are found wherever they moved to."""
    signatures: dict[int, Signature] = {}

    def sign(node: Node) -> Signature:
        found = signatures.get(id(node))
        if found is None:
            found = signatures[id(node)] = (own_look(node), tuple(sign(child) for child in node.children))
        return found

    pairs: dict[Path, Path] = {}
    pending: list[tuple[Path, tuple[Node, ...], Path, tuple[Node, ...]]] = [((), now.windows, (), recorded.windows)]
    while pending:
        ours_at, ours, theirs_at, theirs = pending.pop()
        for i, j in _match([sign(n) for n in ours], ours, [sign(n) for n in theirs], theirs):
            pairs[(*ours_at, i)] = (*theirs_at, j)
            pending.append(((*ours_at, i), ours[i].children, (*theirs_at, j), theirs[j].children))
    return pairs


def _match(
    left: list[Signature], ours: tuple[Node, ...], right: list[Signature], theirs: tuple[Node, ...]
) -> Iterator[tuple[int, int]]:
    """Which of our siblings is which of theirs: equal ones in order, and between them those of one kind."""
    if len(left) == len(right) == 1:
        if _same_kind(ours[0], theirs[0]):
            yield 0, 0
        return
    numbers = {s: i for i, s in enumerate(dict.fromkeys([*left, *right]))}
    blocks = SequenceMatcher(None, [numbers[s] for s in left], [numbers[s] for s in right], autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in blocks:
        if tag == "equal":
            yield from zip(range(i1, i2), range(j1, j2), strict=True)
            continue
        free = list(range(j1, j2))
        for i in range(i1, i2):
            alike = [j for j in free if _same_kind(ours[i], theirs[j])]
            if alike:
                # The nearest in place: a row whose text changed stays where it was.
                j = min(alike, key=lambda j: ours[i].bounds.largest_edge_distance(theirs[j].bounds))
                free = [k for k in free if k > j]
                yield i, j


def _same_kind(a: Node, b: Node) -> bool:
    return a.class_name == b.class_name and a.resource_id == b.resource_id


class _Composer:
    """One comparison of two trees over one picture."""

    def __init__(self, now: Hierarchy, recorded: Hierarchy, picture: Picture, density: int) -> None:
        self.now, self.recorded, self.picture = now, recorded, picture
        self.screen: Size = picture.size
        self.margin = round(_SHADOW_DP * density / 160)
        self.pairs = pair(now, recorded)
        self.kept = set(self.pairs.values())
        self.order = {path: i for i, (path, _) in enumerate(recorded.drawing(self.screen))}
        self.out = Composition()
        self.static: dict[Path, Path] = {}
        self.covered: list[tuple[Bounds, Bounds, int]] = []
        self.relabelled: set[Path] = set()
        self.emptied: set[Path] = set()

    def run(self) -> Composition:
        for i, window in enumerate(self.now.windows):
            self.visit((i,), window)
        for path, node in self.recorded.drawing(self.screen):
            if path not in self.kept and (len(path) == 1 or path[:-1] in self.kept):
                self.cover_outside(path, node)
        self.out.items = list(self.in_drawing_order())
        return self.out

    def visit(self, path: Path, node: Node) -> None:
        """Decides for one node of the tree now; its children follow where it does not settle them."""
        then_path = self.pairs.get(path)
        if not node.visible or node.bounds.intersect(self.screen.bounds).is_empty:
            if then_path is not None and then_path in self.order:
                self.cover_outside(then_path, self.recorded.at(then_path))
            return
        then = None if then_path is None else self.recorded.at(then_path)
        if then is None or then_path is None or then_path not in self.order:
            self.add_new(path, node)
            return
        shift = _shift(node, then)
        if shift == (0, 0):
            self.keep(path, then_path, node)
            return
        if shift is not None and self.on_screen(then.bounds) and self.on_screen(node.bounds):
            self.cover_outside(then_path, then)
            self.move(path, node, then_path, then)
            return
        if any(child.visible for child in node.children) or any(child.visible for child in then.children):
            if node.bounds != then.bounds and len(then_path) > 1 and self.is_card(node, then):
                self.cover_outside(then_path, then)
                self.emptied.add(then_path)
                self.stretch(path, node, then.bounds)
            if _words_changed(node, then):
                self.redraw(path, node, then_path, then)
            for i, child in enumerate(node.children):
                self.visit((*path, i), child)
        elif own_look(node) != own_look(then) or node.bounds != then.bounds:
            self.redraw(path, node, then_path, then)
        else:
            self.static[path] = then_path

    def keep(self, path: Path, then_path: Path, node: Node) -> None:
        """A subtree whose pixels hold; remembered, since a cover may yet fall on it."""
        self.static[path] = then_path
        for i, child in enumerate(node.children):
            self.keep((*path, i), (*then_path, i), child)

    def move(self, path: Path, node: Node, then_path: Path, then: Node) -> None:
        """A subtree that moved: its pixels go along, but for those of a widget that lay over it."""
        dx, dy = node.bounds.left - then.bounds.left, node.bounds.top - then.bounds.top
        target = then.bounds.shift(dx, dy).intersect(self.screen.bounds)
        self.out.items.append(Piece(path, target.shift(-dx, -dy), target))
        over = self.over(then_path, then)
        if not over:
            return
        ground = self.picture.ground(then.bounds)
        for box in over:
            self.out.items.append(Patch(path, Cover(box.intersect(then.bounds).shift(dx, dy), ground.cut(then.bounds, box))))

        def again(at: Path, now: Node, before: Node) -> None:
            hidden = any(not before.bounds.intersect(box).is_empty for box in over)
            if now.visible and hidden and not now.children and now.is_drawn:
                look = text_look(self.picture, before.bounds, recorded_words(before, kind_of_look(before, leaf=True)))
                whole = look is not None and look.sure
                if look is None or not whole or any(not look.ink.intersect(box).is_empty for box in over):
                    model = before if whole else self.like(now, avoid=over) or before
                    self.out.items.append(Patch(at, Cover(now.bounds, ground.cut(then.bounds, before.bounds))))
                    self.out.items.append(Live(at, "changed", model, now.bounds))
            for i, (child, child_before) in enumerate(zip(now.children, before.children, strict=True)):
                again((*at, i), child, child_before)

        again(path, node, then)

    def is_card(self, node: Node, model: Node) -> bool:
        """True where a container's recorded model stands out from what is around it, as a row on a ground of its own does, in the same state."""
        box = model.bounds
        if _state(node) != _state(model) or not self.on_screen(box):
            return False
        return not self.picture.ground(box).is_near(self.picture.ground_outside(box))

    def stretch(self, path: Path, node: Node, source: Bounds) -> None:
        """A card of another size."""
        self.out.items += card_items(path, source, node.bounds.intersect(self.screen.bounds), self.picture.ground(source), self.margin)

    def over(self, then_path: Path, then: Node) -> tuple[Bounds, ...]:
        """Where recorded widgets outside a subtree lay over it, with their shadows."""
        inside = [order for path, order in self.order.items() if path[: len(then_path)] == then_path]
        last = max(inside, default=-1)
        found = []
        for path, node in self.recorded.drawing(self.screen):
            if self.order[path] > last and not node.children and node.is_drawn and not node.bounds.intersect(then.bounds).is_empty:
                found.append(_grown(node.bounds, 3 * self.margin))
        return tuple(found)

    def redraw(self, path: Path, node: Node, then_path: Path, then: Node) -> None:
        """A widget that is still there and looks different, or has another size."""
        kind = kind_of_look(node, leaf=not node.children)
        if path in self.relabelled or (kind in ("group", "bar") and not _words_changed(node, then)):
            return
        only_focus = (
            node.bounds == then.bounds and node.focused and not then.focused
            and own_look(node)[:-2] == own_look(then)[:-2] and node.visible == then.visible
        )  # fmt: skip
        if only_focus:
            self.static[path] = then_path
            self.out.items.append(Live(path, "caret", then, node.bounds))
            return
        if node.bounds != then.bounds:
            self.cover_outside(then_path, then)
        elif kind in TOGGLES:
            donor = self.donor(node, then)
            if donor is not None:
                self.stand_in(path, node, donor)
                return
            self.put_cover(then.bounds, self.picture.ground_outside(then.bounds), then_path, exact=True)
        else:
            area = inside = then.bounds
            if kind in FRAMED or kind == "text":
                area = self.picture.interior(then.bounds) if kind in FRAMED else then.bounds
                inside = words_box(self.picture, area, recorded_words(then, kind), framed=kind in FRAMED)
            self.put_cover(inside, self.picture.ground(area).cut(area, inside), then_path, exact=True)
        self.out.items.append(Live(path, "changed", then, self.room(path, node)))

    def stand_in(self, path: Path, node: Node, donor: Node) -> None:
        """A toggle shown by the pixels of another one, with its own words in the place of that one's."""
        source = Bounds(donor.bounds.left, donor.bounds.top, donor.bounds.left + node.bounds.width, donor.bounds.top + node.bounds.height)
        self.out.items.append(Piece(path, source, node.bounds))
        theirs = [n for _, n in labels_within(self.recorded, donor)]
        dx, dy = node.bounds.left - donor.bounds.left, node.bounds.top - donor.bounds.top
        for label in theirs:
            box = words_box(self.picture, label.bounds, label.text)
            self.out.items.append(Patch(path, Cover(box.shift(dx, dy), self.picture.ground(label.bounds))))
        for i, (label_path, label) in enumerate(labels_within(self.now, node)):
            if theirs:
                self.relabelled.add(label_path)
                self.out.items.append(Live(label_path, "changed", theirs[min(i, len(theirs) - 1)], label.bounds))

    def add_new(self, path: Path, node: Node) -> None:
        """A widget that the picture does not show: drawn after one of its kind."""
        if not node.visible or node.bounds.intersect(self.screen.bounds).is_empty:
            return
        model = self.like(node)
        leaf = not any(child.visible for child in node.children)
        kind = kind_of_look(node, leaf=leaf)
        if model is None:
            if leaf or len(path) == 1 or kind not in ("group", "bar"):
                self.out.items.append(Live(path, "new", None, node.bounds))
        elif not leaf and self.is_card(node, model):
            self.stretch(path, node, model.bounds)
        elif not leaf:
            laid = node.bounds.intersect(self.screen.bounds)
            self.covered.append((laid, laid, len(self.order)))
            self.out.covers.append(Cover(laid, self.picture.ground(model.bounds)))
        else:
            same_size = (model.bounds.width, model.bounds.height) == (node.bounds.width, node.bounds.height)
            fits = same_size and self.on_screen(model.bounds) and self.on_screen(node.bounds)
            equal = own_look(model) == own_look(node)
            if fits and (equal or kind in FRAMED):
                self.out.items.append(Piece(path, model.bounds, node.bounds))
            if not (fits and equal):
                backing = None
                if fits and kind in FRAMED:
                    area = self.picture.interior(model.bounds)
                    inside = words_box(self.picture, area, recorded_words(model, kind), framed=True)
                    dx, dy = node.bounds.left - model.bounds.left, node.bounds.top - model.bounds.top
                    backing = Cover(inside.shift(dx, dy), self.picture.ground(area).cut(area, inside))
                self.out.items.append(Live(path, "new", model, self.room(path, node), backing))
        for i, child in enumerate(node.children):
            self.add_new((*path, i), child)

    def cover_outside(self, then_path: Path, then: Node) -> None:
        """Takes a recorded widget away as a whole: what its parent shows between its children is laid over it."""
        if any(then_path[:n] in self.emptied for n in range(1, len(then_path))):
            return  # it is covered with what it stood on
        if len(then_path) == 1:
            self.put_cover(then.bounds, self.picture.ground(then.bounds), then_path, exact=True)
            return
        parent = self.recorded.at(then_path[:-1])
        others = tuple(child.bounds for child in parent.children if child is not then and child.visible)
        grown = _grown(then.bounds, self.margin).intersect(parent.bounds)
        plain = kind_of_look(then, leaf=not then.children) == "text"
        ground = self.picture.ground(then.bounds) if plain else self.picture.ground_around(then.bounds, parent.bounds, others)
        self.put_cover(then.bounds, ground, then_path, exact=plain or grown.is_empty, grown=grown)

    def put_cover(self, box: Bounds, ground: Ground, then_path: Path, *, exact: bool, grown: Bounds | None = None) -> None:
        laid = (box if exact or grown is None else grown).intersect(self.screen.bounds)
        if not laid.is_empty:
            self.covered.append((box, laid, self.order.get(then_path, 0)))
            self.out.covers.append(Cover(laid, ground))

    def in_drawing_order(self) -> Iterator[Item]:
        """All items as they lie; widgets whose pixels hold are put back where something was laid over them."""
        laid: list[Bounds] = []
        made: dict[Path, list[Item]] = {}
        for item in self.out.items:
            made.setdefault(item.path, []).append(item)

        def visit(path: Path, node: Node) -> Iterator[Item]:
            if not node.visible:
                return
            then_path = self.static.get(path)
            bare_leaf = then_path is not None and path not in self.relabelled and not any(c.visible for c in node.children)
            if bare_leaf and then_path is not None and self.is_hidden(then_path, node, laid):
                box = node.bounds.intersect(self.screen.bounds)
                yield Piece(path, box, box)
            for item in made.get(path, ()):
                if isinstance(item, Piece):
                    laid.append(item.target)
                elif isinstance(item, Patch):
                    laid.append(item.cover.bounds)
                elif isinstance(item, Live) and item.why != "caret":
                    laid.append(node.bounds)
                yield item
            for i in drawing_sequence(node.children):
                yield from visit((*path, i), node.children[i])

        for i, window in enumerate(self.now.windows):
            yield from visit((i,), window)

    def is_hidden(self, then_path: Path, node: Node, laid: list[Bounds]) -> bool:
        """True where an item below it was laid over it, a cover fell on it that was meant for what stood below it, or the
        margin of one did."""
        if node.bounds.intersect(self.screen.bounds).is_empty or not node.is_drawn:
            return False
        if any(not box.intersect(node.bounds).is_empty for box in laid):
            return True
        mine = self.order.get(then_path, -1)
        for box, cover, order in self.covered:
            if not cover.intersect(node.bounds).is_empty and (mine > order or box.intersect(node.bounds).is_empty):
                return True
        return False

    def donor(self, node: Node, then: Node) -> Node | None:
        """Another toggle of this picture that stands as this one does now, on the same ground, with no words in itself."""
        if not self.on_screen(then.bounds) or own_look(node)[:5] != own_look(then)[:5] or not is_wordless(self.recorded, then):
            return None
        ground = self.picture.ground_outside(then.bounds)
        for path, other in self.recorded.drawing(self.screen):
            alike = other.class_name == node.class_name and other.checked == node.checked and other.enabled == node.enabled
            if not alike or path not in self.order or not is_wordless(self.recorded, other) or not self.on_screen(other.bounds):
                continue
            off = max(abs(other.bounds.width - node.bounds.width), abs(other.bounds.height - node.bounds.height))
            if off <= 4 and self.picture.ground_outside(other.bounds).is_near(ground):
                return other
        return None

    def on_screen(self, box: Bounds) -> bool:
        return not box.is_empty and box.intersect(self.screen.bounds) == box

    def room(self, path: Path, node: Node) -> Bounds:
        """The bounds of a node and the free space to its right: a counter may grow by a digit."""
        if len(path) == 1:
            return node.bounds
        parent = self.now.at(path[:-1])
        right = max(node.bounds.right, parent.bounds.right)
        for other in parent.children:
            beside = other.bounds.top < node.bounds.bottom and other.bounds.bottom > node.bounds.top
            if other is not node and other.visible and beside and other.bounds.left >= node.bounds.right:
                right = min(right, other.bounds.left)
        return Bounds(node.bounds.left, node.bounds.top, min(right, self.screen.width), node.bounds.bottom)

    def like(self, node: Node, avoid: tuple[Bounds, ...] = ()) -> Node | None:
        """The recorded node that tells best how a new one looks: alike in class, id and size; equal in looks if there is one."""
        best: tuple[int, Node] | None = None
        for path, other in self.recorded.walk():
            if not _same_kind(node, other) or path not in self.order or bool(node.children) != bool(other.children):
                continue
            if any(not other.bounds.intersect(box).is_empty for box in avoid):
                continue
            score = 4 * (own_look(node) == own_look(other)) + 2 * (node.bounds.width == other.bounds.width)
            score += (node.checked == other.checked) + (node.bounds.height == other.bounds.height)
            score += 2 * (bool(node.text) == bool(other.text))
            if best is None or score > best[0]:
                best = (score, other)
        return None if best is None else best[1]


def _shift(node: Node, then: Node) -> tuple[int, int] | None:
    """By how much a whole subtree moved with nothing in it changed; None where something in it did."""
    dx, dy = node.bounds.left - then.bounds.left, node.bounds.top - then.bounds.top
    off = 0 if (dx, dy) == (0, 0) else _ROUNDING  # what moved by half a pixel is a pixel higher now and then
    pending = [(node, then)]
    while pending:
        ours, theirs = pending.pop()
        if own_look(ours) != own_look(theirs) or len(ours.children) != len(theirs.children):
            return None
        if ours.visible and theirs.bounds.shift(dx, dy).largest_edge_distance(ours.bounds) > off:
            return None
        pending += zip(ours.children, theirs.children, strict=True)
    return dx, dy


def _grown(box: Bounds, by: int) -> Bounds:
    return Bounds(box.left - by, box.top - by, box.right + by, box.bottom + by)


def _words_changed(node: Node, then: Node) -> bool:
    return (_own_words(node), node.checked) != (_own_words(then), then.checked)


def _own_words(node: Node) -> str:
    """What a node writes itself: a page's title stands nowhere on it, and a container's words are written by what is in it."""
    if node.class_name.endswith("WebView") or any(_has_words(child) for child in node.children):
        return ""
    return shown_text(node)


def _state(node: Node) -> tuple[bool, bool, bool]:
    return node.checked, node.selected, node.enabled


def _has_words(node: Node) -> bool:
    return node.visible and (bool(node.text) or any(_has_words(child) for child in node.children))
