"""The invariants of ARCHITECTURE.md that can be read off the source, and the absence of I/O at run time.

The rooms and their numbers are read from the table of that page, so the page and the source cannot drift apart. Every rule
is shown to fail on a small source that breaks it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("phoneworld", "recorder")
FIRST_ROOM_WITH_IO = 6
FILE_ROOMS = ("phoneworld.graph.file", "phoneworld.graph.importers", "phoneworld.program.bundle", "phoneworld.tasks.file")
"""The declared exceptions: these may read and write files, and do nothing else of the world."""


def read_rooms(page: str) -> dict[str, int]:
    """Number of each room, by the dotted name of its package or module, from the table of the page."""
    rooms: dict[str, int] = {}
    for line in page.splitlines():
        if (row := re.match(r"\| (\d+) \|([^|]+)\|", line)) is not None:
            for path in re.findall(r"`([\w/.]+)`", row[2]):
                rooms[path.strip("/").removesuffix(".py").replace("/", ".")] = int(row[1])
    return rooms


ROOMS = read_rooms((ROOT / "ARCHITECTURE.md").read_text())


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {module_name(path): path.read_text() for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
IS_PACKAGE = {module_name(path) for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")}


def room_of(module: str) -> str | None:
    """The room that a module lies in; None for the root package and for what is not ours."""
    return next((room for room in ROOMS if module == room or module.startswith(room + ".")), None)


def imports(source: str, module: str, *, known: frozenset[str] = frozenset(SOURCES)) -> Iterator[tuple[str, int]]:
    """Each module that a source imports, wherever in it, with the line. `from a import b` is a.b where that is a module."""
    package = module if module in IS_PACKAGE else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield (whole if whole in known else base), node.lineno


# --- imports point downwards -------------------------------------------------------------------------------------------


def upward_imports(source: str, module: str) -> list[str]:
    """Imports of a room with the same or a larger number, but for the own room."""
    here = room_of(module)
    faults = []
    for target, line in imports(source, module):
        if target == "phoneworld":
            continue  # the version only
        there = room_of(target)
        if target.split(".")[0] in PACKAGES and there is None:
            faults.append(f"{module}:{line} imports {target}, which is in no room")
        elif here is not None and there is not None and there != here and ROOMS[there] >= ROOMS[here]:
            faults.append(f"{module}:{line} (room {ROOMS[here]}) imports {target} (room {ROOMS[there]})")
    return faults


@pytest.mark.parametrize("module", SOURCES)
def test_imports_point_to_smaller_room_numbers(module: str) -> None:
    assert upward_imports(SOURCES[module], module) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("phoneworld.ui.node", "from phoneworld.graph.graph import Capture"),
        ("phoneworld.ui.node", "import phoneworld.sim.phone as p"),
        ("phoneworld.ui.node", "def f():\n    from phoneworld.graph import graph"),
        ("phoneworld.ui.node", "if TYPE_CHECKING:\n    from phoneworld.graph.graph import Capture"),
        ("phoneworld.graph.graph", "from phoneworld.dialects.x import y"),
        ("phoneworld.graph.graph", "from ..sim import phone"),
        ("recorder.session", "import phoneworld.env.env"),
        ("phoneworld.device.mock", "from recorder.session import x"),
        ("phoneworld.errors", "from phoneworld.ui.geometry import Point"),
        ("phoneworld.cli.main", "import phoneworld.nowhere"),
    ],
)
def test_an_import_that_points_upwards_is_found(module: str, source: str) -> None:
    assert len(upward_imports(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("phoneworld.graph.file", "from phoneworld.graph.graph import StateGraph\nfrom phoneworld.errors import X"),
        ("phoneworld.cli.main", "from phoneworld import __version__\nimport recorder.session"),
        ("phoneworld.sim.phone", "from . import state\nfrom ..ui.node import Node\nimport json"),
    ],
)
def test_an_import_that_points_downwards_is_no_fault(module: str, source: str) -> None:
    assert upward_imports(source, module) == []


def test_every_module_lies_in_a_room_of_the_page() -> None:
    assert [module for module in SOURCES if room_of(module) is None] == ["phoneworld"]
    assert ROOMS["phoneworld.ui"] == 1
    assert ROOMS["recorder"] == 8


FILE_A_KIND = ("phoneworld.graph.importers", "phoneworld.dialects")
"""Where each file is one more of a kind: the page says so of the folder."""


def unnamed(modules: list[str], page: str) -> list[str]:
    """The modules whose file is not named on the page."""
    named = set(re.findall(r"`(?:\w+/)*(\w+)\.py`", page))
    return [module for module in modules if module.rpartition(".")[2] not in named]


def test_every_module_of_the_lower_rooms_is_named_on_the_page() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    lower = [m for m in PURE if m not in IS_PACKAGE and not any(m.startswith(f"{folder}.") for folder in FILE_A_KIND)]
    assert len(lower) > 90 and unnamed(lower, page) == [], "say in a phrase what it owns, in the row of its room or of its pass"
    assert unnamed(["phoneworld.sim.letters", "phoneworld.sim.nowhere"], page) == ["phoneworld.sim.nowhere"]


# --- no cycles -----------------------------------------------------------------------------------------------------------


def cycles(sources: dict[str, str]) -> list[list[str]]:
    """Groups of modules that import each other, round about or directly."""
    graph = nx.DiGraph()
    for module, source in sources.items():
        graph.add_edges_from((module, target) for target, _ in imports(source, module, known=frozenset(sources)) if target in sources)
    knots = [sorted(knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    return knots + [[module] for module, _ in nx.selfloop_edges(graph)]


def test_no_module_imports_itself_round_about() -> None:
    assert cycles(SOURCES) == []


def test_a_cycle_is_found_even_inside_functions() -> None:
    assert cycles({"a.x": "from a import y", "a.y": "def f():\n    from a.z import g", "a.z": "import a.x", "a.w": ""}) == [
        ["a.x", "a.y", "a.z"]
    ]
    assert cycles({"a.x": "import a.x"}) == [["a.x"]]


# --- rooms 0 to 5 touch nothing of the world ------------------------------------------------------------------------------

WORLD_MODULES = frozenset({
    "adbutils", "asyncio", "concurrent", "ctypes", "fastapi", "fcntl", "getpass", "http", "httpx", "locale",
    "logging", "multiprocessing", "platform", "playwright", "psutil", "pty", "queue", "requests", "sched", "secrets",
    "select", "selectors", "signal", "socket", "socketserver", "ssl", "subprocess", "syslog", "termios", "threading",
    "time", "tty", "urllib", "uuid", "uvicorn", "webbrowser",
})  # fmt: skip
FILE_MODULES = frozenset({"os", "pathlib", "shutil", "tempfile", "glob", "fileinput", "mmap", "zipfile", "tarfile"})
# What of a module touches nothing, where the module as a whole does.
HARMLESS = {
    "pathlib": {"PurePath", "PurePosixPath"},
    "random": {"Random"},
    "urllib": {"parse"},
    "urllib.parse": {"urlsplit", "urlunsplit", "quote", "unquote", "parse_qsl", "urlencode", "urlparse"},
}
WORLD_CALLS = frozenset({"input", "print", "breakpoint", "exec", "eval", "__import__"})
NOW = re.compile(r"(?:^|\.)(?:datetime|date)\.(?:now|today|utcnow)$")
RANDOM = re.compile(r"^(?:random\.(?!Random$)\w+|(?:np|numpy)\.random\.(?!Generator$|PCG64$)\w+)$")
PROCESS = re.compile(r"^(?:sys\.(?:argv|stdin|stdout|stderr|path|exit)|os\.(?:environ|getenv|urandom|system|popen|fork))$")
PATH_IO = frozenset({"read_text", "read_bytes", "write_text", "write_bytes"})


def world_faults(source: str, *, files_allowed: bool = False) -> list[str]:
    """Every place where a source could touch a socket, clock, thread, global random, environment, process or file."""
    faults: list[str] = []
    tree = ast.parse(source)

    def fault(node: ast.stmt | ast.expr, what: str) -> None:
        faults.append(f"line {node.lineno}: {what}")

    def check_module(node: ast.stmt, name: str, members: set[str]) -> None:
        if members and members <= HARMLESS.get(name, set()):
            return
        top = name.split(".")[0]
        if top in WORLD_MODULES or (top in FILE_MODULES and not files_allowed):
            fault(node, f"import of {name}")
        elif top == "random" and members:
            fault(node, f"random.{', '.join(sorted(members))} draws from the global generator")

    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    check_module(node, alias.name, set())
            case ast.ImportFrom(module=str(name), level=0):
                members = {alias.name for alias in node.names}
                check_module(node, name, members)
                for member in members:
                    if PROCESS.match(f"{name}.{member}"):
                        fault(node, f"import of {name}.{member}")
            case ast.Call(func=ast.Name(id=str(called))):
                if called in WORLD_CALLS or (called == "open" and not files_allowed):
                    fault(node, f"call of {called}")
            case ast.Attribute():
                dotted = _dotted(node)
                if NOW.search(dotted):
                    fault(node, f"{dotted} reads the clock")
                elif RANDOM.match(dotted):
                    fault(node, f"{dotted} draws from the global generator")
                elif PROCESS.match(dotted):
                    fault(node, f"{dotted} is of the process")
                elif not files_allowed and (node.attr in PATH_IO or dotted == "io.open"):
                    fault(node, f"{dotted} touches a file")
    return faults


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def is_file_room(module: str) -> bool:
    return any(module == room or module.startswith(room + ".") for room in FILE_ROOMS)


PURE = [module for module in SOURCES if (room := room_of(module)) is not None and ROOMS[room] < FIRST_ROOM_WITH_IO]


@pytest.mark.parametrize("module", PURE)
def test_rooms_below_the_renderer_touch_nothing_of_the_world(module: str) -> None:
    assert world_faults(SOURCES[module], files_allowed=is_file_room(module)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import socket", "import os", "from os import path", "from pathlib import Path", "import threading",
        "def f():\n    import time", "from time import monotonic", "import subprocess", "import asyncio",
        "from playwright.sync_api import sync_playwright", "open('a')", "io.open('a')", "print('a')", "path.read_text()",
        "import datetime\ndatetime.datetime.now()", "datetime.now()", "date.today()", "import random\nrandom.random()",
        "from random import choice", "np.random.rand()", "import sys\nsys.argv", "from sys import stdout", "import uuid",
        "import urllib.request", "eval('1')",
    ],
)  # fmt: skip
def test_a_source_that_touches_the_world_is_found(source: str) -> None:
    assert len(world_faults(source)) == 1


@pytest.mark.parametrize("source", ["import socket", "import time", "datetime.now()", "os.environ", "random.random()", "print(1)"])
def test_a_room_that_may_use_files_may_use_nothing_else(source: str) -> None:
    assert len(world_faults(source, files_allowed=True)) == 1
    assert world_faults("import os\nfrom pathlib import Path\nopen('a')\nPath('a').read_bytes()", files_allowed=True) == []


@pytest.mark.parametrize(
    "source",
    ["from sys import intern", "import random\nrandom.Random(1).random()", "from random import Random", "from pathlib import PurePosixPath", "import io\nio.BytesIO(b'')", "import json, re, math", "self.open('a')", "from datetime import datetime\ndatetime.fromtimestamp(1, UTC)"],
)  # fmt: skip
def test_what_touches_nothing_is_no_fault(source: str) -> None:
    assert world_faults(source) == []


# --- at run time -----------------------------------------------------------------------------------------------------------

_WATCH = """
import sys
{prepare}
def work():
{work}
work()  # once before: modules that load on first use, caches
events = []
def hook(event, args):
    if watching and event.partition(".")[0] in ("open", "socket", "subprocess", "os", "shutil", "tempfile", "sqlite3", "import"):
        events.append((event, str(args)[:80]))
watching = False
sys.addaudithook(hook)
watching = True
work()
watching = False
print(events)
"""


def watched(prepare: str, work: str) -> str:
    """What an audit hook saw of files, sockets, processes and imports while `work` ran for the second time."""
    script = _WATCH.format(prepare=prepare, work="".join(f"    {line}\n" for line in work.splitlines()))
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


_TREE = """
from phoneworld.errors import DumpError
from phoneworld.testing.groceries import SIZE, Groceries
from phoneworld.ui.action import action_from_json
from phoneworld.ui.compare import compare_trees
from phoneworld.ui.geometry import Point
from phoneworld.ui.selector import find, node_keys, selector_for
from phoneworld.ui.xml import parse_hierarchy, write_hierarchy
tree = Groceries().tree()
dump = write_hierarchy(tree)
"""
_PHONE = """
from phoneworld.compiler.compile import compile_graph
from phoneworld.compiler.verify import replay
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import state_from_json, state_to_json
from phoneworld.testing.samples import sample_graph
from phoneworld.ui.action import PressKey, Tap, TypeText
from phoneworld.ui.xml import write_hierarchy
graph, pixels = sample_graph()
"""


@pytest.mark.parametrize(
    ("prepare", "work"),
    [
        (
            _TREE,
            "read = parse_hierarchy(dump)\nwrite_hierarchy(read)\nread.hit_test(Point(500, 900), 'tap', SIZE)\nnode_keys(read)\n"
            "find(read, selector_for(read, (0,)))\ncompare_trees(tree, read, SIZE)\n"
            "action_from_json({'kind': 'tap', 'x': 1, 'y': 2})",
        ),
        (
            _TREE,
            'evil = b\'<!DOCTYPE h [<!ENTITY e SYSTEM "file:///etc/hostname">]><hierarchy><node text="&e;"/></hierarchy>\'\n'
            "try:\n    parse_hierarchy(evil)\nexcept DumpError:\n    pass",
        ),
        (
            _PHONE,
            "program = compile_graph(graph, pixels).program\nphone = Phone([program])\nstate = phone.reset(seed=1)\n"
            "for action in (Tap(500, 900), TypeText('milk'), PressKey('back'), PressKey('home'), Tap(5, 5)):\n"
            "    state = phone.step(state, action).state\n"
            "    write_hierarchy(phone.view(state).hierarchy)\n"
            "state_from_json(state_to_json(state))\nreplay(program, graph)",
        ),
    ],
    ids=["trees", "external-entity", "compile-and-simulate"],
)  # fmt: skip
def test_no_file_or_socket_is_opened_during_calls(prepare: str, work: str) -> None:
    assert watched(prepare, work) == "[]"


@pytest.mark.parametrize("work", ["open('pyproject.toml').close()", "import socket\nsocket.socket().close()", "import os\nos.listdir('.')"])
def test_the_audit_hook_sees_files_and_sockets(work: str) -> None:
    assert watched("", work) != "[]"
