"""`phoneworld export`: demonstrations as the files that trainers read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from phoneworld.cli.evaluate import opened
from phoneworld.cli.exits import DOES_NOT_HOLD
from phoneworld.cli.files import TOGETHER, need_place, what_lies_at
from phoneworld.cli.terminal import Terminal, counted
from phoneworld.errors import OptionError

if TYPE_CHECKING:
    from phoneworld.datasets.demonstrations import Demonstration, Found, Supply
    from phoneworld.episodes.folder import EpisodeFolder

console = Terminal()
progress_console = Terminal(stderr=True)
_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Adds the verb to the command line."""
    app.command("export")(export)


def export(
    sources: Annotated[list[Path], typer.Argument(help="Folders of episodes (their successes), folders of apps (what the oracle does with their tasks), app.graph.json files (recorded traces that have an instruction).", metavar="SOURCE...")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write.")],
    form: Annotated[Literal["messages", "trl", "android-control"], typer.Option(help="messages: JSONL and pictures, for LLaMA-Factory and ms-swift. trl: parquet with content blocks. android-control: parquet, a row an episode.")] = "messages",
    dialect: Annotated[str, typer.Option(help="The words in which actions are said; phoneworld/dialects/README.md lists them.")] = "qwen3",
    per: Annotated[Literal["step", "episode"], typer.Option(help="A sample a step, or one an episode.")] = "step",
    images: Annotated[int, typer.Option(help="How many of the last looks a sample shows; of those before, it is told what was done.", min=1, max=1000)] = 1,
    see: Annotated[Literal["picture", "text", "both"], typer.Option(help="What is seen: the picture, the elements in words, or both.")] = "picture",
    reasons: Annotated[bool, typer.Option("--reasons", help="Put a plain sentence before each action, where the dialect has a place for it.")] = False,
    real_fraction: Annotated[float | None, typer.Option(help="Leave out so much that this share of all steps is from real phones. Each sample says which it is (source: real, mock).", min=0.0, max=1.0)] = None,
    seeds: Annotated[int, typer.Option(help="Apps: at how many seeds the oracle does each task.", min=1, max=100_000)] = 3,
    language: Annotated[str, typer.Option(help="Apps: the language of the instructions, where a task has it.")] = "en",
    only: Annotated[list[str] | None, typer.Option("--only", help="Only demonstrations whose name has this in it; of an app, only tasks whose id has it. May be given several times.")] = None,
    bundle: Annotated[list[Path] | None, typer.Option("--bundle", help="Where the mock of episodes is, if it is not where it was.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write demonstrations as the files that trainers read.

    A sample is how to speak, what is asked and what is seen; what is learned is what was done then, said in a dialect. What a dialect has
    no word for is done in parts (a tap, then the text), where that can be played on a mock; else it is left out, and told. Pictures are
    named by their content, and no file names a place outside its folder.

        phoneworld export apps/notes -o data/notes

        phoneworld export runs/mine runs/phone recordings/app.graph.json --form trl --real-fraction 0.25 -o data/mixed

        phoneworld export apps/shop --per episode --images 4 --dialect ui-tars-1.5 --see both -o data/shop

    phoneworld/datasets/README.md says how each trainer is pointed at it.
    """
    from phoneworld.datasets.conversation import Style
    from phoneworld.datasets.demonstrations import Supply, chosen, demonstrations
    from phoneworld.datasets.writing import may_export, write_dataset
    from phoneworld.dialects.families import dialect_named
    from phoneworld.env.extras import need

    need_place(out)
    may_export(out)
    if form != "messages":
        need("pyarrow", "datasets")
    if form == "android-control":
        dialect = "android-control"
    spoken = dialect_named(dialect)
    bar = Progress(TextColumn("demonstrations"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    with TemporaryDirectory() as place, Supply(spoken, pictures=see != "text" or form == "android-control") as supply:
        found = [one for number, source in enumerate(sources) for one in _found(supply, source, Path(place) / str(number), seeds, language, only or [], bundle or [])]
        found = [one for one in found if not only or any(word in one.id for word in only)]
        made: Iterable[Demonstration] = demonstrations(found, supply.left_out)
        if real_fraction is not None:
            # All of them are played first, for what is left out counts; pictures are drawn only of those that are taken.
            all_of_them = list(made)
            made = chosen(all_of_them, real_fraction)
            if len(made) < len(all_of_them):
                supply.left_out["not needed for the share of real steps"] = len(all_of_them) - len(made)
        style = Style(spoken, supply.apps, per, see, images, reasons)
        about: dict[str, Any] = {"dialect": dialect, "per": per, "see": see, "images": images, "reasons": reasons, "real_fraction": real_fraction}
        with bar:
            written = write_dataset(form, out, bar.track(made, total=len(made) if isinstance(made, list) else len(found)), style, about, supply.left_out)
        left_out = dict(supply.left_out)
    told = {
        "form": form, "demonstrations": written.demonstrations, "samples": written.samples, "real_samples": written.real_samples, "pictures": written.pictures,
        "left_out": left_out,
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(told, ensure_ascii=True, indent=1))
    else:
        share = f", {written.real_samples / written.samples:.0%} of them from real phones" if written.samples else ""
        console.print(f"{counted(written.samples, 'sample')} of {counted(written.demonstrations, 'demonstration')} in {escape(str(out))}{share}; {counted(written.pictures, 'picture')}", highlight=False)
        for why, n in sorted(left_out.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]:
            console.print(f"[dim]left out {n}: {escape(why)}[/]", highlight=False)
    if not written.samples:
        raise typer.Exit(DOES_NOT_HOLD)


def _found(supply: Supply, source: Path, place: Path, seeds: int, language: str, only: list[str], bundles: list[Path]) -> Iterator[Found]:
    """What a source has to show. Raises OptionError for what is none."""
    from phoneworld.episodes.folder import EpisodeFolder

    if EpisodeFolder(source).is_ours:
        yield from supply.of_folder(EpisodeFolder(source), source.resolve().name, tuple(map(str, bundles)))
    elif what_lies_at(source) == "graph":
        yield from supply.of_graph(source)
    elif what_lies_at(source) == "bundle" or what_lies_at(source / "bundle") == "bundle" or (source / TOGETHER).is_file():
        if (folder := _by_the_oracle(source, place, seeds, language, only)) is not None:
            yield from supply.of_folder(folder, "oracle")
    else:
        raise OptionError(f"{source} is no folder of episodes, no app and no recording", hint="runs/mine, apps/notes, or an app.graph.json")


def _by_the_oracle(app: Path, place: Path, seeds: int, language: str, only: list[str]) -> EpisodeFolder | None:
    """A folder with what the oracle does with an app's tasks; None where none of them is meant."""
    from phoneworld.episodes.folder import EpisodeFolder
    from phoneworld.evaluate.policies import choose_policy
    from phoneworld.evaluate.run import Evaluation

    bundles, tasks = opened(app, None, None)
    tasks = tuple(t for t in tasks if not only or any(word in t.id for word in only))
    if not tasks:
        return None
    where = tuple(str(bundle.resolve()) for bundle in bundles)
    folder = EpisodeFolder(place)
    bar = Progress(TextColumn("oracle"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=progress_console, disable=not progress_console.is_terminal)
    with bar:
        line = bar.add_task("", total=None)
        evaluation = Evaluation(choose_policy("oracle", where, tasks, {}), where, tasks, tuple(range(seeds)), language=language)
        evaluation.run(folder, progress=lambda done, of: bar.update(line, completed=done, total=of))
    return folder
