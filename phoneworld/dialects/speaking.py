"""How a dialect is spoken, told to a model: an example of each thing it can say; and how actions are put so that it has words for them."""

from __future__ import annotations

from collections.abc import Iterator

from phoneworld.dialects.dialect import Dialect, Screen
from phoneworld.errors import ActionError
from phoneworld.ui.action import Action, Answer, Clear, Finish, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText, Wait

_SAMPLES: tuple[tuple[str, Action], ...] = (
    ("tap", Tap(540, 1200)), ("long press", LongPress(540, 1200)), ("swipe", Swipe(540, 1600, 540, 800)), ("type", TypeText("words")),
    ("replace what is typed", TypeText("words", mode="replace")), ("go back", PressKey("back")), ("go home", PressKey("home")),
    ("enter", PressKey("enter")), ("open an app", OpenApp("Notes")), ("wait", Wait()), ("answer", Answer("words")), ("finish", Finish()),
    ("say that it cannot be done", Finish("infeasible")),
)  # fmt: skip


def how_to_speak(dialect: Dialect, screen: Screen) -> str:
    """How a dialect is spoken, by an example of each thing it can say."""
    size = screen.size
    largest = dialect.coordinates.largest(size)
    lines = [f"You use a phone. Say one action at a time. Places are x from 0 to {largest[0]} and y from 0 to {largest[1]}."]
    for name, action in _SAMPLES:
        scaled: Action = action
        match action:
            case Tap() | LongPress():
                scaled = type(action)(size.width // 2, size.height // 2)
            case Swipe():
                scaled = Swipe(size.width // 2, size.height * 2 // 3, size.width // 2, size.height // 3)
            case _:
                pass
        try:
            lines.append(f"To {name}:\n{dialect.emit(scaled, screen)}")
        except ActionError:
            continue
    return "\n".join(lines)


def ways_to_say(action: Action, *, field_is_empty: bool = False) -> Iterator[tuple[Action, ...]]:
    """The action, and after it other ways to do the same, in which it is broken up: families differ in what typing is."""
    yield (action,)
    match action:
        case TypeText(text, x, y, mode):
            first: tuple[Action, ...] = () if x is None or y is None else (Tap(x, y),)
            if mode == "append" or field_is_empty:
                yield (*first, TypeText(text))
            if mode == "replace":
                yield (*first, TypeText(text, mode="replace"))
                yield (*first, Clear(), TypeText(text))
        case Clear(int(x), int(y)):
            yield (Tap(x, y), Clear())
        case _:
            pass


def sayable(dialect: Dialect, action: Action, screen: Screen, *, field_is_empty: bool = False) -> tuple[Action, ...]:
    """The first way to say an action that a family has words for. Raises ActionError where there is none."""
    why: ActionError | None = None
    for way in ways_to_say(action, field_is_empty=field_is_empty):
        try:
            for part in way:
                dialect.emit(part, screen)
        except ActionError as e:
            why = why or e
        else:
            return way
    assert why is not None
    raise why
