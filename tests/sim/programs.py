"""A small Program written by hand: a list, a form with a field, a check box and radios, and a details screen."""

from __future__ import annotations

from phoneworld.program.effect import InsertRow, SetVar, Show
from phoneworld.program.expr import All, Blank, Const, Count, Expr, Join, Not, OneOf, Typed, Var
from phoneworld.program.program import Binding, Evidence, Layout, Program, Rule, Screen, Start, Table, Trigger, Variable
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE = Size(360, 800)
PACKAGE = "org.example.small"
RECORDED = Evidence("recorded", ("t:0",), 1)


def node(kind: str, name: str, box: tuple[int, int, int, int], **more: object) -> Node:
    """A widget of the app with an id."""
    return Node(f"android.widget.{kind}", resource_id=f"{PACKAGE}:id/{name}", package=PACKAGE, bounds=Bounds(*box), **more)  # type: ignore[arg-type]


def window(*children: Node) -> Hierarchy:
    return Hierarchy((Node("android.widget.FrameLayout", package=PACKAGE, bounds=SIZE.bounds, children=children),))


ADD = node("Button", "add", (280, 700, 340, 760), text="Add", clickable=True)
COUNT = node("TextView", "count", (20, 20, 340, 60), text="0 notes")
FIELD = node("EditText", "title", (20, 100, 340, 150), hint="Title", clickable=True, focusable=True)
DONE = node("CheckBox", "done", (20, 200, 340, 250), text="Done", checkable=True, clickable=True)
LOW = node("RadioButton", "low", (20, 300, 340, 340), text="Low", checkable=True, clickable=True, checked=True)
HIGH = node("RadioButton", "high", (20, 340, 340, 380), text="High", checkable=True, clickable=True)
SAVE = node("Button", "save", (280, 40, 340, 80), text="Save", clickable=True)
SECRET = node("EditText", "pin", (20, 440, 340, 490), clickable=True, password=True)


def layout(name: str, tree: Hierarchy, when: Expr = All(), bindings: tuple[Binding, ...] = ()) -> Layout:
    return Layout(name, tree, SIZE, DeviceState(PACKAGE, ".Main"), None, when, bindings)


def program() -> Program:
    """The list counts the rows of a table; Save stores what the variable `draft` holds, unless it is blank."""
    group = node("RadioGroup", "level", (20, 300, 340, 380), children=(LOW, HIGH))
    counted = Binding((0, 0), "text", Join((Count("notes"), Const(" notes"))))
    title = f"{PACKAGE}:id/title"
    return Program(
        package=PACKAGE,
        label="Small",
        activity=".Main",
        device=DeviceInfo(SIZE, 160),
        screens={
            "list": Screen("list", "Notes", PACKAGE, ".Main", (layout("l1", window(COUNT, ADD), All(), (counted,)),)),
            "form": Screen(
                "form", "New note", PACKAGE, ".Main",
                (
                    layout("l2", window(SAVE, FIELD, DONE, group, SECRET), OneOf("mode", ("plain",))),
                    layout("l3", window(SAVE, FIELD), OneOf("mode", ("short",))),
                ),
            ),
        },
        starts={"first": Start("list"), "form": Start("form")},
        variables={"draft": Variable("draft", ""), "mode": Variable("mode", "plain", ("plain", "short"))},
        tables={"notes": Table("notes", ("title",))},
        rules=(
            Rule("open", "list", Trigger("tap", f"{PACKAGE}:id/add"), All(), (SetVar("draft", Const("")), Show("form")), RECORDED, 400),
            Rule("type", "form", Trigger("type", title), All(), (SetVar("draft", Typed()),), Evidence("inferred", ("t:1",), 2)),
            Rule(
                "save", "form", Trigger("tap", f"{PACKAGE}:id/save"), Not(Blank(Var("draft"))),
                (InsertRow("notes", (("title", Var("draft")),)), Show("list")), RECORDED,
            ),
        ),
        clock_ms=1_700_000_000_000,
    )  # fmt: skip
