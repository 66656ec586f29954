"""DroidBot output folders, of all its versions and forks that were seen: states, pictures, events, `utg.js`.

    states/state_TAG.json   views as a flat list (temp_id, parent, children, bounds [[l,t],[r,b]], ...), state_str
    states/screen_TAG.png   the picture (.jpg later)      (all_states/state_N.json in Kea)
    events/event_TAG.json   event, start_state, stop_state (both as state_str)
    utg.js | utg.json       app, device, and a graph that covers one of several runs in the folder

States are saved by DroidBot when they are new (or always, in some forks), so one state_str may have none, one or many
files. The order of events is that of their tags; a trace goes on as long as both ends of each event have a file.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from phoneworld.errors import FileFormatError
from phoneworld.graph.file import natural_order
from phoneworld.graph.graph import RecordedApp, StateGraph, Trace, Transition
from phoneworld.graph.importers.droidbot_events import action_of
from phoneworld.graph.importers.droidbot_states import STATE_FOLDERS, State, Unusable, read_json, states_of
from phoneworld.graph.importers.recording import ImportedRecording, main_package, usual_density
from phoneworld.ui.device_state import DeviceInfo

NAME = "droidbot"


def recognises(path: Path) -> bool:
    return path.is_dir() and _root_of(path) is not None


def read(path: Path, *, package: str | None = None) -> ImportedRecording:
    """The graph of one output folder: every state file a capture, every event with both states a transition.

    Raises FileFormatError where there is no state that can be read.
    """
    root = _root_of(path)
    if root is None:
        raise FileFormatError(
            f"{path} is no DroidBot output: it has no folder states/ with state_*.json",
            hint="give the folder that holds states/",
        )
    refused: list[tuple[str, str]] = []
    warnings: list[str] = []
    about = _about(root, refused)
    states, screenshots = states_of(root, refused, warnings)
    if not states:
        reason = refused[0] if refused else ("states", "empty")
        raise FileFormatError(f"{path}: not one state could be read ({reason[0]}: {reason[1]})")
    traces = _traces(root, states, refused, warnings)
    captures = {state.capture.id: state.capture for state in states}
    named = about.get("app_package") or main_package(c.hierarchy for c in captures.values())
    if package and package not in {n.package for c in captures.values() for n in c.hierarchy.windows}:
        warnings.append(f"no screen of this recording belongs to {package}")
    activity = str(about.get("app_main_activity") or "")
    sizes = Counter(c.size for c in captures.values() if c.state.rotation == 0) or Counter(
        c.size for c in captures.values()
    )
    graph = StateGraph(
        app=RecordedApp(package or str(named), activity=activity if not package or package == named else ""),
        device=DeviceInfo(
            size=sizes.most_common(1)[0][0],
            density=usual_density(sizes.most_common(1)[0][0]),
            model=str(about.get("device_model_number") or ""),
            sdk=about["device_sdk_version"] if isinstance(about.get("device_sdk_version"), int) else 0,
        ),
        captures=captures,
        traces=traces,
        source="droidbot",
        created=str(about.get("test_date") or ""),
    )
    origins = {s.capture.id: f"state_{s.tag}.json" for s in states}
    return ImportedRecording(graph, NAME, screenshots, tuple(refused), tuple(warnings), origins)


def _root_of(path: Path) -> Path | None:
    for root in (path, path / "output"):
        for name in STATE_FOLDERS:
            if next((root / name).glob("state_*.json"), None) is not None:
                return root
    return None


def _about(root: Path, refused: list[tuple[str, str]]) -> dict[str, Any]:
    for name in ("utg.js", "utg.json"):
        if (root / name).is_file():
            try:
                about = read_json(root / name)
            except FileFormatError as e:
                refused.append((name, e.message))
                continue
            if isinstance(about, dict):
                return about
    return {}


def _traces(root: Path, states: list[State], refused: list[tuple[str, str]], warnings: list[str]) -> tuple[Trace, ...]:
    by_str: dict[str, list[int]] = {}
    for i, state in enumerate(states):
        by_str.setdefault(state.state_str, []).append(i)
    traces: list[Trace] = []
    run: list[Transition] = []
    current: int | None = None
    cursor = 0

    def close() -> None:
        if run:
            traces.append(Trace(id=f"t{len(traces) + 1:03d}", start=run[0].source, transitions=tuple(run)))
            run.clear()

    files = sorted((root / "events").glob("event_*.json"), key=lambda f: natural_order(f.name))
    if not files:
        warnings.append("no events: the screens are imported without transitions")
    for file in files:
        where = f"events/{file.name}"
        try:
            event = read_json(file)
            if not isinstance(event, dict):
                raise Unusable("is no object")
            start, stop = event.get("start_state"), event.get("stop_state")
            if missing := [name for name, s in (("start", start), ("stop", stop)) if not isinstance(s, str) or s not in by_str]:
                raise Unusable(f"no file of its {' and its '.join(missing)} state")
            if current is None or states[current].state_str != start:
                close()
                current = _choose(by_str[str(start)], cursor - 1)
            source = states[current]
            action, hit, notes = action_of(event.get("event"), source)
            chosen = _choose(by_str[str(stop)], current)
            target = current if stop == start and chosen <= current else chosen
            run.append(Transition(source.capture.id, action, states[target].capture.id, hit=hit, notes=notes))
            current, cursor = target, max(cursor, target)
        except (FileFormatError, Unusable) as e:
            refused.append((where, str(e)))
            close()
            current = None
    close()
    return tuple(traces)


def _choose(files: list[int], cursor: int) -> int:
    """Of the files of one state: the first one after the moment reached, else the last one before it."""
    later = [i for i in files if i > cursor]
    return later[0] if later else files[-1]
