"""A comparison and a check of recordings in words for the terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from phoneworld.cli.terminal import Terminal, counted
from phoneworld.graph.diff import Broken, GraphDiff, ScreenChange, Side

if TYPE_CHECKING:  # only `graph verify` needs the recorder
    from recorder.verify import Checked

_LISTED = 12


def diff_json(found: GraphDiff) -> dict[str, Any]:
    """What `phoneworld graph diff --json` prints."""
    return {
        "app": found.package,
        "differs": not found.is_empty,
        "changed": [_change_json(change) for change in found.changed],
        "unchanged": [{"before": c.before.id, "after": c.after.id, "title": c.after.title} for c in found.matched if not c.is_changed],
        "gone": [_side_json(side) for side in found.gone],
        "new": [_side_json(side) for side in found.new],
        "broken": [_broken_json(broken) for broken in found.broken],
        "uncertain": [_broken_json(broken) for broken in found.uncertain],
        "not_reached": [_side_json(side) for side in found.not_reached],
        "first_reached": [_side_json(side) for side in found.first_reached],
        "actions_not_done_again": found.not_seen_again,
        "warnings": list(found.warnings),
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {"id": side.id, "title": side.title, "captures": list(side.captures)}


def _change_json(change: ScreenChange) -> dict[str, Any]:
    return {
        "before": _side_json(change.before),
        "after": _side_json(change.after),
        "likeness": change.likeness,
        "gone": list(change.gone),
        "new": list(change.new),
        "words": [{"widget": w.widget, "before": list(w.before), "after": list(w.after)} for w in change.words],
    }


def _broken_json(broken: Broken) -> dict[str, Any]:
    return {
        "screen": broken.at.before.id,
        "title": broken.at.before.title,
        "action": broken.words,
        "led_to": list(broken.before),
        "leads_to": list(broken.after),
    }


def print_diff(found: GraphDiff, console: Terminal) -> None:
    """The comparison for a person: what is gone in red, what is new in green."""

    def say(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    say(f"[bold]{escape(found.package or 'a recording')}[/]: " + (_figures(found) if not found.is_empty else "[green]nothing changed[/]"))
    for broken in found.broken[:_LISTED]:
        say(
            f"[red]leads elsewhere[/]  {escape(broken.at.before.title)}: {escape(broken.words)}: "
            f"[red]{escape(' or '.join(broken.before))}[/] → [green]{escape(' or '.join(broken.after))}[/]"
        )
    _more(say, len(found.broken))
    for change in found.changed[:_LISTED]:
        title, was = change.after.title, change.before.title
        say(f"[bold]changed[/]  {escape(title)}" + (f" [dim](was {escape(was)})[/]" if was != title else ""))
        for widget in change.gone[:_LISTED]:
            say(f"  [red]− {escape(widget)}[/]")
        for widget in change.new[:_LISTED]:
            say(f"  [green]+ {escape(widget)}[/]")
        for words in change.words[:_LISTED]:
            before, after = " / ".join(words.before), " / ".join(words.after)
            say(f"  [yellow]~[/] {escape(words.widget)}: [red]{escape(before)}[/] → [green]{escape(after)}[/]")
        _more(say, max(len(change.gone), len(change.new), len(change.words)))
    _more(say, len(found.changed))
    for word, style, sides in (("gone", "red", found.gone), ("new", "green", found.new)):
        for side in sides[:_LISTED]:
            say(f"[{style}]{word}[/]  {escape(side.title)} [dim]({counted(len(side.captures), 'capture')})[/]")
        _more(say, len(sides))
    for broken in found.uncertain[:_LISTED]:
        say(f"[dim]not certain  {escape(broken.at.before.title)}: {escape(broken.words)}: {escape(' or '.join(broken.before))} → {escape(' or '.join(broken.after))}[/]")
    only = [(len(found.not_reached), "before"), (len(found.first_reached), "after")]
    apart = [f"{counted(count, 'screen')} reached only {when}" for count, when in only if count]
    apart += [f"{counted(found.not_seen_again, 'action')} not done again"] * bool(found.not_seen_again)
    if apart:
        say(f"[dim]no change by itself: {', '.join(apart)}[/]")


def _more(say: Any, count: int) -> None:
    if count > _LISTED:
        say(f"[dim]  … {count - _LISTED} more; --json lists all[/]")


def _figures(found: GraphDiff) -> str:
    parts = [
        f"{len(found.changed)} of {counted(len(found.matched), 'screen')} changed",
        f"{len(found.gone)} gone",
        f"{len(found.new)} new",
        counted(len(found.broken), "action leads elsewhere", "actions lead elsewhere"),
    ]
    return ", ".join(parts)


def verify_json(checked: Checked, has_journal: bool) -> dict[str, Any]:
    """What `phoneworld graph verify --json` prints."""
    return {
        "holds": checked.holds,
        "journal": has_journal,
        "agree": dict(checked.agree),
        "unknown": dict(checked.unknown),
        "findings": [{"kind": f.kind, "where": f.where, "message": f.message} for f in checked.findings],
    }


_CHECKS = {
    "hit": "attributions follow from the hit test",
    "chain": "transitions start where the one before ended",
    "time": "captures come after the one before",
    "picture": "pictures have their hash and the size of their screen",
    "journal": "captures, traces and steps are as the journal tells them",
}


def print_checked(checked: Checked, name: str, has_journal: bool, console: Terminal) -> None:
    """The check for a person: a line a kind, then what does not agree."""
    faults = {kind: [f for f in checked.findings if f.kind == kind] for kind in _CHECKS}
    console.print(f"[bold]{escape(name)}[/]", highlight=False)
    for kind, words in _CHECKS.items():
        right, wrong, unknown = checked.agree.get(kind, 0), len(faults[kind]), checked.unknown.get(kind, 0)
        if kind == "journal" and not has_journal:
            console.print("  [dim]–  no journal beside it[/]", highlight=False)
            continue
        if not right + wrong:
            console.print(f"  [dim]–  {words}: nothing to tell by ({unknown})[/]", highlight=False)
            continue
        apart = f" [dim]({unknown} cannot be worked out again)[/]" if unknown else ""
        sign = "[red]✗[/]" if wrong else "[green]✓[/]"
        console.print(f"  {sign}  {right} of {right + wrong} {words}{apart}", highlight=False, soft_wrap=True)
    for finding in checked.findings[: 2 * _LISTED]:
        console.print(f"[red]{finding.kind}[/]  {escape(finding.where)}: {escape(finding.message)}", highlight=False, soft_wrap=True)
    if len(checked.findings) > 2 * _LISTED:
        console.print(f"[dim]… {len(checked.findings) - 2 * _LISTED} more; --json lists all[/]", highlight=False)
