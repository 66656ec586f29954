"""What people do with what they have read: say it, write it down, go on by it. Atoms out of readings and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from phoneworld.tasks.checker import AllOf, Answer, Checker, Comparison, NotSo, State
from phoneworld.tasks.ground import Atom, Ground
from phoneworld.tasks.reading_values import words
from phoneworld.tasks.readings import Condition, Reading
from phoneworld.tasks.task import Found


def question(reading: Reading) -> Atom:
    """Tell me what it is."""
    value = ("{v}", "{w}") if reading.answer == "set" else reading.value
    skill = "compare" if reading.counts and not reading.key.startswith("count") else "count" if reading.counts else "read"
    ask = f"tell me {reading.en}", f"告诉我{reading.zh}"
    return Atom(f"read {reading.key}", skill, *ask, reading.parameters, Answer(reading.answer, value), reading.look, reads=True, last=True)


def written(ground: Ground, reading: Reading) -> Iterator[Atom]:
    """Put it into a field, and leave it there."""
    if not reading.words:
        return
    for variable, place in ground.fields.items():
        label, page = ground.labels.of(place), ground.on_page(place.screen)
        if label is None or not page[0] or place.table is not None or ground.app.variables.get(variable) not in ("", None):
            continue
        alone = sum(p.screen == place.screen for p in ground.fields.values()) == 1
        if alone and reading.answer != "text":
            continue  # nobody searches for an amount
        if not alone and not set(words(label)) & set(words(reading.en)):
            continue  # of the fields of a form, only what it asks for
        check = ground.holds(variable, reading.value)
        en = f"put {reading.en} into the field “{label}”{page[0]}, as it stands there, and leave it at that"
        zh = f"把{reading.zh}原样填入{page[1].removeprefix('在')}的“{label}”一栏,然后停在那里"
        look = AllOf((reading.look, NotSo(check)))  # read where it stands, not where it has been written
        touches = frozenset((variable, "screen"))
        yield Atom(f"write {variable} {reading.key}", "copy", en, zh, reading.parameters, check, look, touches, True, True, watch=(variable,))


def decided(condition: Condition, choices: Sequence[tuple[Atom, Atom]]) -> Iterator[Atom]:
    """If it is so, do one thing; otherwise the other."""
    for then, otherwise in choices:
        asked = _both(then, otherwise)
        if asked is None:
            continue
        more, check, untouched = asked
        parameters = {**condition.parameters, **{name: Found(path.replace("?", condition.path)) for name, path in more.items()}}
        look = AllOf((condition.look, *untouched))
        en = f"if {condition.en}, {then.en}; otherwise {otherwise.en}"
        zh = f"如果{condition.zh},就{then.zh};否则{otherwise.zh}"
        touches, last = then.touches | otherwise.touches, then.last or otherwise.last
        yield Atom(f"if {condition.key} {then.key} {otherwise.key}", "conditional", en, zh, parameters, check, look, touches, True, last)


def _both(then: Atom, otherwise: Atom) -> tuple[dict[str, str], Checker, tuple[Checker, ...]] | None:
    """Parameters that depend on the condition (`?`), the check that they are so, and what must not have been touched before it was read."""
    if isinstance(then.check, State) and isinstance(otherwise.check, State):
        if then.check.path == otherwise.check.path == "screen":
            names = f"? && '{then.check.comparison.value}' || '{otherwise.check.comparison.value}'"
            return {"p": names}, State("screen", Comparison("is", "{p}")), ()
        one, other = then.check.comparison.value, otherwise.check.comparison.value
        if then.check.path != otherwise.check.path and isinstance(one, bool) and isinstance(other, bool) and not then.touches & otherwise.touches:
            paths = {"p": "?" if one else "!(?)", "q": "!(?)" if other else "?"}
            checks = State(then.check.path, Comparison("is", "{p}")), State(otherwise.check.path, Comparison("is", "{q}"))
            before = State(then.check.path, Comparison("is", not one)), State(otherwise.check.path, Comparison("is", not other))
            return paths, AllOf(checks), before
    return None
