"""The verbs of the command line. A new one is a line here and a file that adds it."""

from __future__ import annotations

VERBS = {
    "record": "record",
    "import": "graph",
    "graph": "graph",
    "build": "build",
    "serve": "serve",
    "door": "door",
    "state": "state",
    "fidelity": "fidelity",
    "phone": "phone",
    "devices": "phone",
    "play": "play",
    "tasks": "tasks",
    "check": "tasks",
    "eval": "evaluate",
    "episodes": "episodes",
    "export": "export",
    "train": "train",
    "bench": "bench",
    "doctor": "doctor",
}
"""Each verb and the module that adds it. The module of a verb that is asked for is the only one imported: a start costs what it needs."""
