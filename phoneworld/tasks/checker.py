"""When a task is done, as data: a closed union of checkers, composed with all, any, not and in order.

    State      a path into the app's state has a value            Visible   a widget is on the screen and shows something
    Sql        a query over the app's tables has a value          Visited   screens were shown, in this order
    Rows       exactly these rows came, changed, went             Never     something held at no time
    Answer     the policy said this                               Custom    a Python function of a plug-in
    InApp      something holds in another app of the phone

That nothing else changed is asked of every task, and said once for the whole of it (`Unchanged`). `judge.py` gives them meaning; values may
hold `{parameter}` until `bound` puts in what was drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, assert_never, get_args

from phoneworld.errors import TaskError
from phoneworld.program.expr import Value, same_value
from phoneworld.tasks.paths import with_parameters
from phoneworld.tasks.reading_values import normal

Data: TypeAlias = Value | tuple["Data", ...]
"""What a value of the state is compared with: a scalar, or a list of such."""

Operator = Literal["is", "not", "less", "at_most", "more", "at_least", "contains", "one_of"]
AnswerKind = Literal["text", "number", "date", "choice", "set", "list"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
ANSWER_KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
_PARAMETER = re.compile(r"\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value is, or is not, another; is less or more than a number; has a part; is one of several. Types matter: true is not 1."""

    op: Operator
    value: Data

    def holds(self, found: Data) -> bool:
        """True where a value of the state compares so."""
        value = self.value
        match self.op:
            case "is":
                return same(found, value)
            case "not":
                return not same(found, value)
            case "contains":
                if isinstance(found, str) and isinstance(value, str):
                    return normal(value) in normal(found)
                return isinstance(found, tuple) and any(same(item, value) for item in found)
            case "one_of":
                return isinstance(value, tuple) and any(same(found, item) for item in value)
            case "less" | "at_most" | "more" | "at_least":
                if not (_number(found) and _number(value)):
                    return False
                a, b = float(found), float(value)  # type: ignore[arg-type]
                return {"less": a < b, "at_most": a <= b, "more": a > b, "at_least": a >= b}[self.op]
            case _:
                assert_never(self.op)

    def __str__(self) -> str:
        return f"{self.op.replace('_', ' ')} {shown(self.value)}"


Cells: TypeAlias = tuple[tuple[str, Comparison], ...]
"""What cells of a row hold, by column; columns that are not named do not matter."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What was read from a file: `place` is file and line, and does not tell one checker from another."""

    place: str = field(default="", compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class State(Placed):
    """What a JMESPath expression finds in the state of the app compares so."""

    path: str
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Sql(Placed):
    """What the first column of the first row of a query over the app's tables is compares so. `:name` stands for a parameter."""

    query: str
    comparison: Comparison
    arguments: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows that were like `where` at the start are like `to` now. Columns in `free` may have changed to anything."""

    where: Cells
    to: Cells
    free: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows(Placed):
    """Against the start, exactly these rows of a table came, changed and went.

    Each of `deleted` and each `where` names the rows of the start that are meant, all that are like it. What else changed in the
    table is a side effect.
    """

    table: str
    added: tuple[Cells, ...] = ()
    changed: tuple[RowChange, ...] = ()
    deleted: tuple[Cells, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(Placed):
    """What the policy answered, by its kind.

    text: the same words, or in a sentence that names none of the other `among`. number: its only number, within `tolerance`; its `unit`
    where it names one. date: its day. choice: it names this one of `among` and no other. set and list: these things, in order for a list.
    `also` are other ways to say the same.
    """

    kind: AnswerKind
    value: Data
    tolerance: float = 0.0
    unit: str = ""
    among: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visible(Placed):
    """A widget with this text, description, id or class is on the screen, and shows what is asked. This works on any phone.

    `shows` are the whole words of it, or of something inside it; `says` stands in them, as whole words.
    """

    text: str | None = None
    description: str | None = None
    id: str | None = None
    class_name: str | None = None
    shows: str | None = None
    says: str | None = None
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Visited(Placed):
    """These screens were shown, one after the other; others may have been between."""

    screens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Never(Placed):
    """At no time did this hold. A violation does not go away again."""

    what: Checker


@dataclass(frozen=True, slots=True)
class AllOf(Placed):
    parts: tuple[Checker, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Placed):
    parts: tuple[Checker, ...]


@dataclass(frozen=True, slots=True)
class NotSo(Placed):
    what: Checker


@dataclass(frozen=True, slots=True)
class InOrder(Placed):
    """Each part came to hold, not before the part before it did; the last holds at the end."""

    parts: tuple[Checker, ...]


@dataclass(frozen=True, slots=True)
class Custom(Placed):
    """A function of a plug-in (entry point group `phoneworld.checkers`), given the document of the state and these arguments."""

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class InApp(Placed):
    """Something holds in another app of the phone: one of those that the task names under `apps`. What is seen there is seen while it is in front."""

    app: str
    what: Checker


Checker: TypeAlias = State | Sql | Rows | Answer | Visible | Visited | Never | AllOf | AnyOf | NotSo | InOrder | Custom | InApp
CustomCheck: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Value]], bool]
"""A plug-in's function: the document at the start, the document now, the arguments; True where it holds."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing changed but what the checker asks for and what is allowed here: `table`, `table.column` or `variable`.

    Looked at are all rows, and those variables that hold what a person would call a setting; `watch` names further ones. `on` is False
    where the task does not mind.
    """

    allow: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    on: bool = True


def parts_of(checker: Checker) -> tuple[Checker, ...]:
    """The checkers right inside one."""
    match checker:
        case AllOf(parts) | AnyOf(parts) | InOrder(parts):
            return parts
        case Never(what) | NotSo(what):
            return (what,)
        case State() | Sql() | Rows() | Answer() | Visible() | Visited() | Custom() | InApp():
            return ()  # what holds in another app is nothing of this one
        case _:
            assert_never(checker)


def walk(checker: Checker) -> Iterator[Checker]:
    """The checker and all inside it, from the outside in."""
    yield checker
    for part in parts_of(checker):
        yield from walk(part)


def every(checker: Checker) -> Iterator[Checker]:
    """As `walk`, and what is inside those parts that are about another app."""
    yield checker
    for part in (checker.what,) if isinstance(checker, InApp) else parts_of(checker):
        yield from every(part)


def sought(checker: Checker) -> Iterator[Checker]:
    """As `walk`, but for what is inside a `Never`: that is forbidden, not asked for."""
    yield checker
    if not isinstance(checker, Never):
        for part in parts_of(checker):
            yield from sought(part)


def bound(checker: Checker, values: Mapping[str, Value], fixed: Set[int] = frozenset()) -> Checker:
    """The checker with the values of parameters in the place of `{name}`. Raises TaskError for a parameter that is not there.

    `fixed` are the ids of parts that are known to have none, see `fixed_parts`.
    """
    if id(checker) in fixed:
        return checker
    if isinstance(checker, AllOf | AnyOf | InOrder):
        return replace(checker, parts=tuple([bound(part, values, fixed) for part in checker.parts]))

    def data(value: Data) -> Data:
        return tuple(map(data, value)) if isinstance(value, tuple) else filled(value, values)

    def comparison(c: Comparison) -> Comparison:
        return Comparison(c.op, data(c.value))

    def cells(of: Cells) -> Cells:
        return tuple((name, comparison(c)) for name, c in of)

    def text(value: str | None) -> str | None:
        return None if value is None else said(value, values)

    match checker:
        case State(path, c):
            return State(with_parameters(path, values), comparison(c), place=checker.place)
        case Sql(query, c, _):
            return Sql(query, comparison(c), tuple((name.replace(".", "_"), value) for name, value in values.items()), place=checker.place)
        case Rows(table, added, changed, deleted):
            return Rows(
                table,
                tuple(map(cells, added)),
                tuple(RowChange(cells(c.where), cells(c.to), c.free) for c in changed),
                tuple(map(cells, deleted)),
                place=checker.place,
            )
        case Answer():
            among = tuple(said(word, values) for word in checker.among)
            return replace(checker, value=data(checker.value), among=among, also=tuple(said(word, values) for word in checker.also))
        case Visible():
            return replace(
                checker,
                text=text(checker.text),
                description=text(checker.description),
                shows=text(checker.shows),
                says=text(checker.says),
            )
        case Visited():
            return checker
        case Never(what) | NotSo(what) | InApp(_, what):
            return replace(checker, what=bound(what, values, fixed))
        case Custom(_, arguments):
            return replace(checker, arguments=tuple((key, filled(value, values)) for key, value in arguments))
        case _:
            assert_never(checker)


def fixed_parts(checker: Checker) -> Iterator[int]:
    """The ids of those parts of a checker, from the outside in, in which no parameter is put."""
    return (id(part) for part in walk(checker) if _is_fixed(part))


def _is_fixed(checker: Checker) -> bool:
    if any(isinstance(part, Sql) for part in walk(checker)):
        return False
    try:
        return bound(checker, {}) == checker
    except TaskError:
        return False


def filled(value: Value, values: Mapping[str, Value]) -> Value:
    """A value with parameters put in. Text that is one parameter and nothing else becomes the parameter's value, whatever its type."""
    if not isinstance(value, str):
        return value
    if "{" not in value and "}" not in value:
        return value
    whole = _PARAMETER.fullmatch(value)
    return _parameter(whole[1], values) if whole else said(value, values)


def said(text: str, values: Mapping[str, Value]) -> str:
    """Text with parameters put in. `{{` is a brace. Raises TaskError for a parameter that is not there."""
    if "{" not in text and "}" not in text:
        return text
    pieces = [_PARAMETER.sub(lambda m: str(_parameter(m[1], values)), piece).replace("}}", "}") for piece in text.split("{{")]
    return "{".join(pieces)


def parameters_in(text: str) -> tuple[str, ...]:
    """The names of the parameters that a text uses."""
    return tuple(name for piece in text.split("{{") for name in _PARAMETER.findall(piece))


def _parameter(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise TaskError(f"{{{name}}} is no parameter of this task", hint="its parameters are " + (", ".join(values) or "none"))
    return values[name]


def same(a: Data, b: Data) -> bool:
    """Equal, and of like types all the way down: true is not 1."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple) and same_value(a, b)


def as_data(found: object) -> Data:
    """What a path found, as it is compared: lists as tuples. Objects compare to nothing and become the text of themselves."""
    if isinstance(found, list | tuple):
        return tuple(map(as_data, found))
    return found if found is None or isinstance(found, str | int | float | bool) else str(found)


def shown(value: Data, longest: int = 60) -> str:
    """A value as a finding shows it."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"“{value if len(value) <= longest else value[: longest - 1] + '…'}”"
        case tuple():
            return "[" + ", ".join(shown(item, longest) for item in value) + "]"
        case _:
            return str(value)


def _number(value: Data) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def in_words(checker: Checker) -> str:
    """What a checker asks for, as a phrase."""
    match checker:
        case State(path, comparison):
            return f"{path} {comparison}"
        case Sql(query, comparison, _):
            return f"{query} {comparison}"
        case Rows(table, added, changed, deleted):
            told = [f"{table} with {cells_in_words(c)} added" for c in added]
            told += [f"{table} with {cells_in_words(c.where)} changed to {cells_in_words(c.to)}" for c in changed]
            return "; ".join(told + [f"{table} with {cells_in_words(c)} deleted" for c in deleted])
        case Answer():
            return f"the answer is the {checker.kind} {shown(checker.value)}" + (f" {checker.unit}" if checker.unit else "")
        case Visible():
            named = [f"{name} {shown(v)}" for name, v in (("text", checker.text), ("description", checker.description), ("id", checker.id), ("class", checker.class_name)) if v is not None]
            shows = "".join(f" {verb} {shown(v)}" for verb, v in (("showing", checker.shows), ("saying", checker.says)) if v is not None)
            tick = "" if checker.checked is None else " checked" if checker.checked else " not checked"
            return f"on the screen: {' and '.join(named) or 'something'}{shows}{tick}"
        case Visited(screens):
            return "shown: " + ", then ".join(screens)
        case Never(what):
            return f"never: {in_words(what)}"
        case NotSo(what):
            return f"not: {in_words(what)}"
        case AllOf(parts) | AnyOf(parts) | InOrder(parts):
            word = {AllOf: " and ", AnyOf: " or ", InOrder: ", then "}[type(checker)]
            return word.join(f"({in_words(part)})" for part in parts)
        case InApp(app, what):
            return f"in {app}: {in_words(what)}"
        case Custom(name, arguments):
            return name + "".join(f" {key}={shown(value)}" for key, value in arguments)
        case _:
            assert_never(checker)


def cells_in_words(cells: Cells) -> str:
    """What is asked of the cells of a row, as a phrase."""
    return " and ".join(f"{name if name != '#' else 'row'} {comparison}" for name, comparison in cells) or "anything"
