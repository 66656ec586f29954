"""Pictures compared: equal is 1, and more difference is less; the mock's own recorded screens are equal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from phoneworld.cli.fidelity import register
from phoneworld.fidelity.pixels import Grey, ssim
from phoneworld.graph.file import save_graph
from phoneworld.testing.samples import sample_bundle, sample_graph


@pytest.fixture
def picture() -> Grey:
    dice = np.random.default_rng(1)
    blocks = dice.integers(0, 256, (20, 12)).astype(np.float64)
    return np.kron(blocks, np.ones((8, 8)))


def test_a_picture_is_like_itself_and_less_like_what_differs_more(picture: Grey) -> None:
    dice = np.random.default_rng(2)
    noise = dice.normal(0, 1, picture.shape)
    found = [ssim(picture, picture + strength * noise) for strength in (0, 5, 40)]
    assert found[0] == pytest.approx(1) and found[0] > found[1] > found[2]
    assert ssim(picture, 255 - picture) < 0


def test_similarity_is_the_same_both_ways(picture: Grey) -> None:
    other = np.roll(picture, 3, axis=1)
    assert ssim(picture, other) == pytest.approx(ssim(other, picture))


def test_the_verb_compares_pictures_where_there_are_any(tmp_path: Path) -> None:
    graph, pictures = sample_graph()
    held = replace(graph, traces=graph.traces[:1])
    save_graph(held, tmp_path / "held.graph.json", pictures)
    bundle = sample_bundle(tmp_path / "app.bundle")
    verb = typer.Typer()
    register(verb)
    words = [str(bundle.path), "--against", str(tmp_path / "held.graph.json"), "--pixels", "--json", "--explain", "2"]
    found = CliRunner().invoke(verb, words)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["mock"]["pictures"]["steps"] == told["mock"]["changing"]["steps"] > 0
    assert told["mock"]["pictures"]["mean"] > 0.95
    assert told["explained"] == [] and sum(row["steps"] for row in told["on_course"]) == told["mock"]["all"]["steps"]
