"""One thing in two lists: its details are those of the row touched, whichever list it stood in, and cut from what the row says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.questions import find_questions
from phoneworld.graph.graph import StateGraph
from phoneworld.graph.situation import ON_THE_ROW
from phoneworld.sim.phone import Phone
from phoneworld.ui.action import Action, PressKey, Tap
from phoneworld.ui.geometry import Bounds
from phoneworld.ui.node import Hierarchy, Node
from tests.compiler.handmade import record

PACKAGE = "org.example.post"
LETTERS = (("Mill", "Bill, 3 May"), ("Aunt", "Card, 28 Apr"), ("Bank", "Notice, 7 Apr"), ("Zoo", "Ticket, 30 Mar"), ("Gym", "Offer, 2 Mar"))
LATEST = 3


def node(kind: str, name: str, top: int, text: str = "", *kids: Node, height: int = 40, **more: bool) -> Node:
    return Node(f"android.widget.{kind}", text, f"{PACKAGE}:id/{name}", PACKAGE, bounds=Bounds(0, top, 400, top + height), children=kids, **more)  # type: ignore[arg-type]


def listed(name: str, letters: Sequence[tuple[str, str]]) -> Node:
    rows = [
        node("LinearLayout", "row", 100 + 80 * i, "", node("TextView", "who", 100 + 80 * i, who), node("TextView", "what", 140 + 80 * i, what), height=80, clickable=True)
        for i, (who, what) in enumerate(letters)
    ]  # fmt: skip
    return replace(node("ListView", name, 100, "", *rows), bounds=Bounds(0, 100, 400, 700))


@dataclass(frozen=True)
class Post:
    """The app: the latest letters, behind a button all of them, and the letter that was opened over either list."""

    has_words: bool = False
    """A letter that is open shows its words, of which the lists tell nothing."""
    shows_all: bool = False
    opened: int | None = None

    def tree(self) -> Hierarchy:
        if self.opened is not None:
            who, what = LETTERS[self.opened]
            kids = [node("TextView", "from", 0, who), node("TextView", "date", 50, what.partition(", ")[2])]
            kids += [node("Button", name, top, name.title(), clickable=True) for name, top in (("reply", 150), ("share", 200))]
            kids += [node("TextView", "body", 100, f"Dear you, {sum(map(ord, who))} greetings")] if self.has_words else []
        elif self.shows_all:
            kids = [node("TextView", "heading", 0, "All letters"), listed("all", LETTERS)]
        else:
            kids = [node("TextView", "heading", 0, "Latest"), node("Button", "more", 50, "All letters", clickable=True), listed("latest", LETTERS[:LATEST])]
        return Hierarchy((node("FrameLayout", "content", 0, "", *kids, height=800),))

    def act(self, action: Action) -> Post:
        match action:
            case Tap(_, y) if self.opened is None and y >= 100:
                row = (y - 100) // 80
                return replace(self, opened=row) if row < (len(LETTERS) if self.shows_all else LATEST) else self
            case Tap(_, y) if self.opened is None and not self.shows_all and 50 <= y < 90:
                return replace(self, shows_all=True)
            case PressKey("back") if self.opened is not None:
                return replace(self, opened=None)
            case PressKey("back"):
                return replace(self, shows_all=False)
            case _:
                return self


def opens(row: int) -> Tap:
    return Tap(200, 140 + 80 * row)


ALL, BACK = Tap(200, 70), PressKey("back")


def recorded(*scripts: Sequence[Action], first: Post = Post()) -> StateGraph:
    return record(first, *scripts, package=PACKAGE)


def words(tree: Hierarchy) -> list[str]:
    return [n.text for n in tree.nodes() if n.text]


SCRIPTS = ([opens(0), BACK, opens(1), BACK, ALL, opens(1), BACK, opens(2), BACK], [opens(1), BACK, opens(0), BACK, ALL, opens(2)])
RECORDED = recorded(*SCRIPTS)


def test_a_row_opened_from_either_list_shows_itself() -> None:
    compiled = compile_graph(RECORDED)
    assert compiled.replay.whole == compiled.replay.traces
    for script in ([ALL, opens(4)], [opens(2)], [opens(0), BACK, ALL, opens(3)], [ALL, opens(3), BACK, BACK, opens(2)]):
        phone = Phone([compiled.program])
        app, state = Post(), phone.reset()
        for action in script:
            app, state = app.act(action), phone.step(state, action).state
        assert words(phone.view(state).hierarchy) == words(app.tree()), script


def test_what_a_row_was_found_to_show_is_known_of_it_in_the_other_list() -> None:
    first = Post(has_words=True)
    compiled = compile_graph(recorded(*SCRIPTS, first=first))
    assert compiled.replay.whole == compiled.replay.traces
    for script in ([ALL, opens(0)], [opens(2)]):
        phone = Phone([compiled.program])
        app, state = first, phone.reset()
        for action in script:
            app, state = app.act(action), phone.step(state, action).state
        assert words(phone.view(state).hierarchy) == words(app.tree()), script


def test_rows_that_were_never_opened_are_asked_about_where_what_they_show_follows_from_nothing() -> None:
    graph = recorded(*SCRIPTS, first=Post(has_words=True))
    asked = {q.why.partition(ON_THE_ROW)[2] for q in find_questions(graph, compile_graph(graph)).questions if q.kind == "row"}
    assert {words.strip("'").partition(" · ")[0] for words in asked} >= {"Zoo", "Gym"}
    assert not any(opened in words for words in asked for opened in ("Mill", "Aunt", "Bank")), "these were opened, from one list or the other"
    assert not [q for q in find_questions(RECORDED, compile_graph(RECORDED)).questions if q.kind == "row"], "all that these show follows"
