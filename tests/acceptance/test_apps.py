"""The mocks that are shipped: each is what its recording gives, and every recorded step replays on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from phoneworld.compiler.compile import compile_graph
from phoneworld.graph.file import load_graph
from phoneworld.program.bundle import dumps, load_bundle, source_dumps
from tests.webapps import ROOT

APPS = sorted(p.parent for p in (ROOT / "apps").glob("*/app.graph.json"))


def test_there_is_an_app() -> None:
    assert APPS


@pytest.mark.parametrize("app", APPS, ids=lambda p: p.name)
def test_a_shipped_app_is_what_its_recording_gives_and_replays_it(app: Path) -> None:
    bundle = load_bundle(app / "bundle")
    graph = load_graph(app / "app.graph.json")
    pixels = {sha: bundle.asset(sha) for sha in sorted(graph.screenshots()) if (app / "bundle" / "assets" / f"{sha}.png").is_file()}
    assert bundle.program.screenshots() <= pixels.keys()
    compiled = compile_graph(graph, pixels)
    assert not compiled.replay.faults
    fresh = {**dumps(compiled.program), "source.json": source_dumps(graph)}
    shipped = {p.relative_to(bundle.path).as_posix(): p.read_bytes() for p in bundle.path.rglob("*") if p.suffix in (".xml", ".json")}
    assert fresh.keys() == shipped.keys()
    assert fresh == shipped
