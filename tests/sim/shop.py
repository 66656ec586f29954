"""A Program with templates, written by hand: a shop with a list of products, a product's page with a field, and a cart.

Its one recorded moment is the list at the start.
"""

from __future__ import annotations

from phoneworld.program.effect import DeleteRows, GoBack, InsertRow, SetVar, Show, UpdateRows
from phoneworld.program.expr import (
    Acted,
    All,
    Blank,
    Case,
    Cell,
    Column,
    Const,
    Contains,
    Count,
    Equal,
    Expr,
    Join,
    Less,
    Not,
    OneOf,
    Plus,
    Sum,
    Typed,
    Var,
)  # fmt: skip
from phoneworld.program.program import Evidence, Layout, Program, Rule, Screen, Start, Table, Trigger, Variable
from phoneworld.program.template import Rows, Slot, SlotAttribute, Template
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Bounds, Size
from phoneworld.ui.node import Hierarchy, Node

SIZE = Size(360, 800)
PACKAGE = "org.example.shop"
INFERRED = Evidence("inferred", ("t:1",), 3)
MOMENT = "moment"
PRODUCTS = ("Apples", "Bread", "Cheese", "Dates", "Eggs", "Figs", "Grapes", "Honey", "Ice", "Jam", "Kale", "Lemons")
OFF = SetVar(MOMENT, Const(None))


def node(kind: str, box: tuple[int, int, int, int], **more: object) -> Node:
    """A widget of the shop."""
    return Node(f"android.widget.{kind}", package=PACKAGE, bounds=Bounds(*box), **more)  # type: ignore[arg-type]


def slot(
    key: str,
    kind: str,
    box: tuple[int, int, int, int],
    *children: Slot | Rows,
    when: Expr = All(),
    attributes: tuple[tuple[SlotAttribute, Expr], ...] = (),
    **more: object,
) -> Slot:
    """A slot of the shop."""
    return Slot(key, node(kind, box, **more), when, attributes, children)


def _template(*children: Slot | Rows) -> Template:
    return Template((slot("window", "FrameLayout", (0, 0, 360, 800), *children),), SIZE, DeviceState(PACKAGE, ".Shop"))


CHOSEN: Expr = Equal(Column("#"), Var("chosen"))
SHOWN: Expr = All((Contains(Column("title"), Var("query")), Not(All((Var("cheap"), Less(Const(5), Column("price")))))))


def list_template() -> Template:
    """The search field, a switch for what is cheap, the products that pass both, how many they are, and the cart's button."""
    row = slot(
        "row", "LinearLayout", (0, 120, 360, 160),
        slot("like", "CheckBox", (0, 120, 40, 160), clickable=True, checkable=True, attributes=(("checked", Column("liked")),)),
        slot("title", "TextView", (50, 120, 260, 160), attributes=(("text", Column("title")),)),
        slot("price", "TextView", (260, 120, 360, 160), attributes=(("text", Join((Column("price"), Const(" €")))),)),
        clickable=True, long_clickable=True,
    )  # fmt: skip
    return _template(
        slot("query", "EditText", (0, 0, 200, 40), attributes=(("text", Var("query")),), clickable=True, focusable=True, hint="Search"),
        slot("cheap", "Switch", (200, 0, 360, 40), attributes=(("checked", Var("cheap")),), checkable=True, clickable=True, text="Cheap"),
        slot("count", "TextView", (0, 40, 200, 80), attributes=(("text", Join((Count("products", SHOWN), Const(" shown")))),)),
        slot("cart", "Button", (200, 40, 360, 80), attributes=(("text", Join((Const("Cart "), Sum("cart", Column("quantity"))))),), clickable=True),
        slot("empty", "TextView", (0, 80, 360, 120), when=Equal(Count("products", SHOWN), Const(0)), text="Nothing found"),
        slot("list", "ListView", (0, 120, 360, 800), Rows("products", row, SHOWN), scrollable=True),
    )


def product_template() -> Template:
    """One product with a note to be written, a price that cannot be edited, radios for the size, and the button to add it."""
    name: Expr = Cell("products", "title", CHOSEN)
    return _template(
        slot("name", "TextView", (0, 0, 360, 40), attributes=(("text", name),)),
        slot("note", "EditText", (0, 60, 360, 100), attributes=(("text", Var("note")),), clickable=True, focusable=True),
        slot("pin", "EditText", (0, 120, 360, 160), attributes=(("text", Join((Const("no "), Var("note")))),), clickable=True, focusable=True),
        slot(
            "sizes", "RadioGroup", (0, 180, 360, 260),
            slot("small", "RadioButton", (0, 180, 360, 220), attributes=(("checked", Equal(Var("size"), Const("S"))),), checkable=True, clickable=True),
            slot("large", "RadioButton", (0, 220, 360, 260), attributes=(("checked", Equal(Var("size"), Const("L"))),), checkable=True, clickable=True),
        ),
        slot("fixed", "CheckBox", (0, 280, 360, 320), attributes=(("checked", Less(Const(5), Cell("products", "price", CHOSEN))),), checkable=True, clickable=True),
        slot("add", "Button", (0, 340, 360, 380), attributes=(("enabled", Not(Blank(name))),), clickable=True, text="Add"),
    )  # fmt: skip


def cart_template() -> Template:
    """The rows of the cart, each with a field for how many, and buttons to empty it and to order."""
    line = slot(
        "line", "LinearLayout", (0, 60, 360, 100),
        slot("what", "TextView", (0, 60, 160, 100), attributes=(("text", Column("title")),)),
        slot("memo", "EditText", (160, 60, 280, 100), attributes=(("text", Column("memo")),), clickable=True, focusable=True),
        slot("more", "Button", (280, 60, 320, 100), text="+", clickable=True),
        slot("drop", "Button", (320, 60, 360, 100), text="x", clickable=True),
    )  # fmt: skip
    return _template(
        slot("total", "TextView", (0, 0, 200, 40), attributes=(("text", Case(Equal(Count("cart"), Const(0)), Const("Empty"), Join((Sum("cart", Column("quantity")), Const(" things"))))),)),
        slot("clear", "Button", (200, 0, 360, 40), text="Clear", clickable=True, when=Less(Const(0), Count("cart"))),
        slot("lines", "ListView", (0, 60, 360, 800), Rows("cart", line)),
    )  # fmt: skip


def shop() -> Program:
    """The whole of it."""
    start = Hierarchy((node("FrameLayout", (0, 0, 360, 800), children=(node("Button", (200, 40, 360, 80), text="Cart 0", clickable=True),)),))
    at = DeviceState(PACKAGE, ".Shop")

    def screen(name: str, template: Template, *layouts: Layout) -> Screen:
        never = Layout(f"{name}-0", start, SIZE, at, None, OneOf(MOMENT, ("never",)))
        return Screen(name, name.title(), PACKAGE, ".Shop", layouts or (never,), template)

    def rule(name: str, where: str, on: Trigger, *then: object, when: Expr = All()) -> Rule:
        return Rule(name, where, on, when, then, INFERRED)  # type: ignore[arg-type]

    in_cart: Expr = Equal(Column("title"), Cell("products", "title", CHOSEN))
    return Program(
        package=PACKAGE,
        label="Shop",
        activity=".Shop",
        device=DeviceInfo(SIZE, 160),
        screens={
            "list": screen("list", list_template(), Layout("list-1", start, SIZE, at, None, OneOf(MOMENT, (1,)))),
            "product": screen("product", product_template()),
            "cart": screen("cart", cart_template()),
        },
        starts={
            "first": Start("list", ((MOMENT, 1),)),
            "browsing": Start("list"),
            "short": Start("list", (), (("products", (("Milk", 2, False),)), ("cart", (("Milk", 1, "cold"),)))),
        },
        variables={
            MOMENT: Variable(MOMENT, None),
            "query": Variable("query", ""),
            "cheap": Variable("cheap", False),
            "chosen": Variable("chosen", None),
            "note": Variable("note", ""),
            "size": Variable("size", "S", ("S", "L")),
        },
        tables={
            "products": Table("products", ("title", "price", "liked"), tuple((t, i + 1, False) for i, t in enumerate(PRODUCTS))),
            "cart": Table("cart", ("title", "quantity", "memo")),
        },
        rules=(
            rule("open", "list", Trigger("tap", "row"), OFF, SetVar("chosen", Acted("#")), SetVar("note", Const("")), Show("product")),
            rule("hold", "list", Trigger("long_press", "row"), DeleteRows("products", Equal(Column("#"), Acted("#")))),
            rule("cart", "list", Trigger("tap", "cart"), OFF, Show("cart")),
            rule("submit", "list", Trigger("key", "query", "enter"), SetVar("keyboard", Const(False)), SetVar("focus", Const(None))),
            rule(
                "add", "product", Trigger("tap", "add"),
                UpdateRows("cart", (("quantity", Plus(Column("quantity"), 1)),), in_cart),
                InsertRow(
                    "cart", (("title", Cell("products", "title", CHOSEN)), ("quantity", Const(1)), ("memo", Var("note"))),
                    "first", Equal(Count("cart", in_cart), Const(0)),
                ),
                GoBack(),
            ),
            rule("more", "cart", Trigger("tap", "more"), UpdateRows("cart", (("quantity", Plus(Column("quantity"), 1)),), Equal(Column("#"), Acted("#"))), when=Less(Acted("quantity"), Const(3))),
            rule("drop", "cart", Trigger("tap", "drop"), DeleteRows("cart", Equal(Column("#"), Acted("#")))),
            rule("done", "cart", Trigger("key", "memo", "enter"), UpdateRows("cart", (("title", Acted("memo")),), Equal(Column("#"), Acted("#"))), when=Not(Blank(Acted("memo")))),
            rule("clear", "cart", Trigger("tap", "clear"), DeleteRows("cart")),
            rule("shout", "product", Trigger("type", "note", "!"), SetVar("note", Join((Typed(), Const("!!"))))),
        ),
    )  # fmt: skip
