"""Where the templates are, and how they are filled: everything is escaped unless a template's author says otherwise."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

import phoneworld
from phoneworld.errors import PhoneWorldError


@cache
def templates_folder() -> Path:
    """`phoneworld/templates` as installed from the wheel, else `templates/` of the checkout."""
    package = Path(phoneworld.__file__).resolve().parent
    for folder in (package / "templates", package.parent / "templates"):
        if folder.is_dir():
            return folder
    raise PhoneWorldError(f"no templates beside {package}", hint="reinstall phoneworld: its wheel carries them")


@cache
def environment() -> jinja2.Environment:
    """The one Jinja environment: HTML escaping on for every template, and an error for a name that is not there."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
