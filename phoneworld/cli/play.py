"""`phoneworld play`: steps a mock app from a list of actions, or by hand, and says what each did and how it is known."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.markup import escape

from phoneworld.cli.files import need_bundle, need_place, pictures_note
from phoneworld.cli.terminal import Terminal
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.errors import ActionError, FileFormatError, OptionError, SessionError, WriteError
from phoneworld.program.bundle import load_bundle
from phoneworld.ui.action import Action, PressKey, Tap, TypeText, action_from_json, action_to_json
from phoneworld.ui.keys import KEY_CODES

console = Terminal()
prompts = Terminal(stderr=True)
_COLOURS = {"recorded": "green", "inferred": "cyan", "assumed": "yellow", "unrecorded": "red"}
_EXAMPLE = '{"kind": "tap", "x": 0.5, "y": 0.25, "space": "unit"}'
Given = Action | dict[str, Any]
"""An action, or the JSON object of one in relative coordinates."""

_HELP = """  N           tap element N of the list
  N words     type words into element N
  tap X Y     tap a pixel
  back, home, enter, ...   press a key
  {...}       one action as JSON
  text, reset, quit"""


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("play")(play)


def play(
    bundle: Annotated[Path, typer.Argument(help="A folder that `phoneworld build` wrote.")],
    actions: Annotated[
        str | None,
        typer.Option(
            "--actions",
            help="A file of actions, one JSON object a line; - for standard input. Without it you play by hand.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            help="A folder for each step's tree (step-0003.xml), and with --pixels its picture.",
            show_default=False,
        ),
    ] = None,
    pixels: Annotated[bool, typer.Option("--pixels/--no-pixels", help="Save pictures too (starts Chromium).")] = False,
    seed: Annotated[int, typer.Option(help="The seed of the reset.")] = 0,
    start: Annotated[str | None, typer.Option(help="A named start of the app.", show_default=False)] = None,
    max_steps: Annotated[int | None, typer.Option(help="End after so many steps.", min=1, show_default=False)] = None,
    strict: Annotated[
        bool, typer.Option(help="Exit with 2 after an action that was refused, or whose effect was not recorded.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON a step.")] = False,
) -> None:
    """Step a mock app and see what each action did, with its evidence.

        phoneworld play app.bundle

        echo '{"kind": "tap", "x": 0.5, "y": 0.25, "space": "unit"}' | phoneworld play app.bundle --actions - --json

    Actions are written as the `action` of the HTTP API's step; without a `space` coordinates are pixels.
    """
    need_bundle(bundle)
    if save is not None:
        need_place(save)
    if pixels and (note := pictures_note(load_bundle(bundle))):
        prompts.print(f"[yellow]note:[/] {escape(note)}", highlight=False)
    spec = ObservationSpec(screenshot="png" if pixels else "none")
    with PhoneEnv(bundle, observe=spec, max_steps=max_steps) as env:
        shown = _Shown(save, as_json=as_json)
        try:
            observation, info = env.reset(seed, start=start)
        except SessionError as e:  # the only session is this one: what is not there is the start that was named
            raise OptionError(e.message, hint=e.hint) from None
        shown.tell(None, observation, info)
        given = _from_file(actions) if actions is not None else _by_hand(env, sys.stdin)
        refused = False
        for action in given:
            observation, _, terminated, truncated, info = env.step(action)
            shown.tell(action, observation, info)
            refused |= info["invalid_action"] is not None or info["evidence"] == "unrecorded"
            if terminated or truncated:
                break
    if strict and refused:
        raise typer.Exit(2)


class _Shown:
    """Prints and saves steps."""

    def __init__(self, folder: Path | None, *, as_json: bool) -> None:
        self._folder = folder
        self._as_json = as_json

    def tell(self, action: Given | None, observation: Observation, info: Info) -> None:
        saved = self._save(info["step"], observation)
        if self._as_json:
            device = observation.device
            line = {
                **info,
                "action": None if action is None else _json_of(action),
                "package": device.package,
                "activity": device.activity,
                "keyboard": device.keyboard,
                "text": observation.text,
                **saved,
            }
            typer.echo(json.dumps(line, ensure_ascii=False, default=list))
            return
        if action is not None:
            self._print_step(action, info)
        if action is None or info["changed"]:
            console.print(
                f"[bold]{escape(observation.device.package)}[/] {escape(observation.device.activity)}"
                + (" [dim]keyboard[/]" if observation.device.keyboard else ""),
                highlight=False,
            )
            console.print("  " + observation.text.replace("\n", "\n  "), markup=False, highlight=False)

    def _print_step(self, action: Given, info: Info) -> None:
        words = json.dumps(_json_of(action), ensure_ascii=False)
        if info["invalid_action"]:
            how = f"[bold red]refused[/] {escape(info['invalid_action'])}"
        else:
            evidence = info["evidence"]
            rules = f" by {', '.join(info['rules'])}" if info["rules"] else ""
            told = f": {info['message']}" if info["message"] else ""
            how = f"[{_COLOURS[evidence]}]{evidence}[/]{escape(rules + told)}" + (
                "" if info["changed"] else " [dim](no change)[/]"
            )
        console.print(f"[dim]{info['step']}[/] {escape(words)}  {how}", highlight=False)
        if info["termination"]:
            console.print(
                f"[bold]the episode ends:[/] {info['termination']}"
                + (f" {escape(str(info['answer']))}" if info["answer"] is not None else ""),
                highlight=False,
            )

    def _save(self, step: int, observation: Observation) -> dict[str, str]:
        if self._folder is None:
            return {}
        saved: dict[str, str] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            tree = self._folder / f"step-{step:04d}.xml"
            tree.write_bytes(observation.xml)
            saved["tree"] = str(tree)
            if observation.spec.screenshot != "none":
                picture = tree.with_suffix(".png")
                picture.write_bytes(observation.png)
                saved["screenshot"] = str(picture)
        except OSError as e:
            raise WriteError(
                f"{self._folder}: cannot be written ({e.strerror})", hint="name another folder with --save"
            ) from None
        return saved


def _json_of(action: Given) -> dict[str, Any]:
    return action if isinstance(action, dict) else action_to_json(action)


def _from_file(name: str) -> Iterator[Given]:
    """The actions of a file, line by line as they come. Raises FileFormatError that names the line."""
    if name == "-":
        yield from _lines(sys.stdin, "standard input")
        return
    try:
        with open(name, encoding="utf-8") as file:
            yield from _lines(file, name)
    except OSError as e:
        raise FileFormatError(
            f"{name}: cannot be read ({e.strerror})", hint="--actions takes a file of JSON lines, or -"
        ) from None


def _lines(file: Iterable[str], where: str) -> Iterator[Given]:
    number = 0
    try:
        for line in file:
            number += 1
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            obj = json.loads(line)
            relative = isinstance(obj, dict) and obj.get("space", "pixel") != "pixel"
            # Relative coordinates need the screen as it is rotated then: the environment reads those.
            yield obj if relative else action_from_json(obj)
    except UnicodeDecodeError:
        raise FileFormatError(
            f"{where}, line {number + 1}: not UTF-8", hint="write the actions as UTF-8 JSON lines"
        ) from None
    except (ValueError, RecursionError) as e:
        raise FileFormatError(
            f"{where}, line {number}: not JSON ({e})", hint=f"one action a line, such as {_EXAMPLE}"
        ) from None
    except ActionError as e:
        raise FileFormatError(
            f"{where}, line {number}: {e.message}", hint=e.hint or f"one action a line, such as {_EXAMPLE}"
        ) from None


def _by_hand(env: PhoneEnv, source: TextIO) -> Iterator[Given]:
    """Actions that a person types, until `quit` or the end of the input."""
    prompts.print(f"[dim]{escape(_HELP)}[/]", highlight=False)
    while True:
        prompts.print("[bold]> [/]", end="")
        line = source.readline()
        words = line.strip()
        if not line or words in ("quit", "exit"):
            return
        if words == "reset":
            env.reset()
        if words in ("text", "reset"):
            prompts.print("  " + env.observation().text.replace("\n", "\n  "), markup=False, highlight=False)
        elif words:
            try:
                yield _spoken(env, words)
            except ActionError as e:
                prompts.print(f"[red]{escape(e.message)}[/] [dim]{escape(e.hint)}[/]", highlight=False)


def _spoken(env: PhoneEnv, words: str) -> Action:
    """The action that a person's line means. Raises ActionError."""
    if words.startswith("{"):
        try:
            return action_from_json(json.loads(words), size=env.screen_size())
        except ValueError as e:
            raise ActionError(f"not JSON: {e}", hint=f"such as {_EXAMPLE}") from None
    first, _, rest = words.partition(" ")
    if first.isdecimal():
        elements = env.observation().elements
        if int(first) >= len(elements):
            raise ActionError(f"there is no element {first}", hint=f"0..{len(elements) - 1}; `text` lists them")
        point = elements[int(first)].point
        return TypeText(rest, point.x, point.y, "replace") if rest else Tap(point.x, point.y)
    if first == "tap":
        numbers = rest.split()
        if len(numbers) == 2 and all(n.lstrip("-").isdecimal() for n in numbers):
            return Tap(int(numbers[0]), int(numbers[1]))
    if words in KEY_CODES:
        return PressKey(words)
    raise ActionError(f"{words!r} is no action", hint="an element's number, a key, JSON; `quit` ends")
