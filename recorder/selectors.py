"""Selectors as they are written on the command line: `id=NAME`, `text=WORDS`, `desc=WORDS`, `class=NAME`. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from phoneworld.errors import OptionError
from phoneworld.ui.selector import Selector

_NAMED = re.compile(r"(?P<name>[A-Za-z][\w-]*)=")
_SELECTOR = re.compile(r"(?P<name>id|text|desc|class)=(?P<value>.*)", re.S)


def parse_selector(text: str) -> Selector | None:
    """The selector that a text writes; None for a text that is none. Raises OptionError where it names nothing."""
    found = _SELECTOR.fullmatch(text)
    if found is None:
        return None
    value = found["value"]
    if not value.strip():
        raise OptionError(f"{found['name']}= names no widget", hint="for example id=delete_button or text='Delete all'")
    match found["name"]:
        case "id":
            return Selector(resource_id=value)
        case "text":
            return Selector(text=value)
        case "desc":
            return Selector(content_desc=value)
        case _:
            return Selector(class_name=value)


def parse_avoid(given: Iterable[str]) -> tuple[Selector, ...]:
    """The selectors of `--avoid`; a text without `id=` and the like is the words of a widget.

    Raises OptionError for an empty one, and for one that begins with the name of another kind (`xpath=`).
    """
    selectors: list[Selector] = []
    for one in given:
        if not one.strip():
            raise OptionError("nothing cannot be avoided", hint="--avoid id=delete_button or --avoid 'Delete all'")
        selector = parse_selector(one)
        if selector is None and (named := _NAMED.match(one)):
            # Taken for the words of a widget it would protect nothing, and say nothing of it.
            raise OptionError(f"{named['name']}= is none of id=, text=, desc=, class=", hint=f"for a widget with these words: --avoid {shlex.quote('text=' + one)}")
        selectors += [selector or Selector(text=one)]
    return tuple(selectors)


def parse_redact(given: Iterable[str]) -> tuple[tuple[str, ...], tuple[Selector, ...]]:
    """The texts and the selectors of a `--redact` list. Raises OptionError for an empty one."""
    texts: list[str] = []
    selectors: list[Selector] = []
    for one in given:
        if not one.strip():
            raise OptionError("an empty text cannot be redacted", hint="--redact 'Jane Doe' or --redact id=account_name")
        selector = parse_selector(one)
        texts.extend([one] if selector is None else [])
        selectors.extend([selector] if selector is not None else [])
    return tuple(texts), tuple(selectors)
