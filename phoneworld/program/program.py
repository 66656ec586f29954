"""The Program of an app: screens, variables, tables, bindings, rules, each with its evidence. Data only; nothing here runs.

How it is read (`sim` does it): the app shows one screen; of that screen's layouts the first whose `when` holds is what is
drawn, with its bindings put in. An action finds its target widget in that layout by the one hit test; the rules of the
screen for that action and widget are tried in order, and the first whose `when` holds fires. Where none fires, Android's own
behaviour applies (focus, typing, toggling, Back), marked `assumed`; and where that has nothing to say, nothing happens,
marked `unrecorded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from phoneworld.program.effect import Effect, NodeAttribute
from phoneworld.program.expr import TRUE, Expr, Value
from phoneworld.program.template import FOCUS, KEYBOARD, Template, scroll
from phoneworld.ui.device_state import DeviceInfo, DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Path

EvidenceKind = Literal["recorded", "inferred", "assumed", "unrecorded"]
STRENGTH: dict[EvidenceKind, int] = {"recorded": 3, "inferred": 2, "assumed": 1, "unrecorded": 0}

TriggerKind = Literal[
    "tap", "double_tap", "long_press", "swipe_up", "swipe_down", "swipe_left", "swipe_right", "drag", "pinch_in", "pinch_out",
    "type", "key", "open_app", "close_app", "wait",
]  # fmt: skip


def weakest(*kinds: EvidenceKind) -> EvidenceKind:
    """The weakest of several kinds of evidence."""
    return min(kinds, key=STRENGTH.__getitem__)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a rule is believed. `support` names recorded steps as `trace:index`; `cases` counts the informative ones."""

    kind: EvidenceKind
    support: tuple[str, ...] = ()
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Variable:
    """A value the app keeps. `domain` lists the values seen, where they are few."""

    name: str
    initial: Value
    domain: tuple[Value, ...] = ()
    evidence: Evidence = Evidence("recorded")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows the app keeps, in the order in which it shows them.

    Each has an id (`template.ROW_ID`): its place in `rows`, from 0, unless that column is among `columns`.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...] = ()
    evidence: Evidence = Evidence("recorded")


@dataclass(frozen=True, slots=True)
class Binding:
    """One attribute of one node of a layout is the value of an expression."""

    path: Path
    attribute: NodeAttribute
    value: Expr
    evidence: Evidence = Evidence("inferred")


@dataclass(frozen=True, slots=True)
class Layout:
    """One way a screen looks: a tree, the picture taken with it, and the device state it came with.

    On a screen with a template a layout says where things lie when the template shows just this. Where the template would not
    show it, `slots` names the slot of each node in document order, and the id of the row it is in: then the layout
    itself is what is shown while its guard holds.
    """

    id: str
    hierarchy: Hierarchy
    size: Size
    state: DeviceState = DeviceState()
    screenshot: str | None = None
    when: Expr = TRUE
    bindings: tuple[Binding, ...] = ()
    captures: tuple[str, ...] = ()
    slots: tuple[tuple[str, int | None], ...] = ()
    scroll: int = 0
    """How many pixels its content had moved up (see `template.scroll`)."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of the app; `package` differs from the app's where another app or the system was in front.

    `template` draws it in states that no layout was recorded in; where it is None the layouts are all there is.
    """

    id: str
    name: str
    package: str
    activity: str
    layouts: tuple[Layout, ...]
    template: Template | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """What sets a rule off: a kind of action, on a widget (its node key; "" for none), with an argument.

    The argument is the key's name, the app's package, or what a field holds after typing; None means any.
    """

    kind: TriggerKind
    node: str = ""
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """On a trigger, on a screen, when a guard holds: effects. `settle_ms` is how long it took until the screen was looked at, as recorded."""

    id: str
    screen: str
    on: Trigger
    when: Expr
    then: tuple[Effect, ...]
    evidence: Evidence
    settle_ms: int = 0


@dataclass(frozen=True, slots=True)
class Timer:
    """What happens by itself: some time after a rule has started it, a variable takes a value.

    `after_ms` is read once, in the state that the rule leads to. Where the variable comes to that value before, nothing is left to happen.
    """

    name: str
    variable: str
    value: Value
    after_ms: Expr
    evidence: Evidence = Evidence("inferred")


@dataclass(frozen=True, slots=True)
class Start:
    """Where a reset puts the app: a screen, the variables that differ from their initial value, the tables that differ in rows."""

    screen: str
    variables: tuple[tuple[str, Value], ...] = ()
    tables: tuple[tuple[str, tuple[tuple[Value, ...], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The compiled whole of one app. `starts` holds one start a recorded trace; the first is where a reset goes.

    `step_ms` is how long a step lasts of which no rule says more.
    """

    package: str
    label: str
    activity: str
    device: DeviceInfo
    screens: Mapping[str, Screen]
    starts: Mapping[str, Start]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    clock_ms: int = 0
    timers: Mapping[str, Timer] = field(default_factory=dict)
    step_ms: int = 1000

    def screenshots(self) -> frozenset[str]:
        """The hashes of all pictures that the layouts refer to."""
        return frozenset(lay.screenshot for s in self.screens.values() for lay in s.layouts if lay.screenshot)


def all_variables(program: Program) -> Mapping[str, Variable]:
    """The variables by name; those of templates too (focus, keyboard, where a page is scrolled to), whether or not they are declared."""
    if not any(screen.template for screen in program.screens.values()):
        return program.variables
    assumed = Evidence("assumed")
    own = {FOCUS: Variable(FOCUS, None, evidence=assumed), KEYBOARD: Variable(KEYBOARD, False, evidence=assumed)}
    for screen in program.screens.values():
        if screen.template and screen.template.scrolling:
            name = scroll(screen.id)
            kind: EvidenceKind = "inferred" if screen.template.scrolling.cases else "assumed"
            own[name] = Variable(name, 0, evidence=Evidence(kind, cases=screen.template.scrolling.cases))
    return {**own, **program.variables}
