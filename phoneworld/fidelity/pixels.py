"""How alike a mock and the real app look: structural similarity (SSIM) of their pictures. Draws; the other figures need no pixel."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from phoneworld.fidelity.score import Score
from phoneworld.graph.graph import StateGraph
from phoneworld.program.program import Program
from phoneworld.render.frames import Renderer
from phoneworld.sim.phone import Phone

Grey = NDArray[np.float64]

_WIDTH = 270
_WINDOW = 7
# The constants of Wang et al. 2004, for values of 0 to 255.
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


@dataclass(frozen=True, slots=True)
class Alike:
    """Mean SSIM, 1 for equal pictures: over the steps that changed the real screen, and over those of them that are exact."""

    steps: int
    mean: float
    exact_steps: int
    mean_of_exact: float


def ssim(a: Grey, b: Grey) -> float:
    """Mean structural similarity of two grey pictures of one shape, over all windows of 7 x 7 pixels. Linear in the pixels."""
    mean_a, mean_b = _means(a), _means(b)
    var_a, var_b = _means(a * a) - mean_a**2, _means(b * b) - mean_b**2
    both = _means(a * b) - mean_a * mean_b
    found = (2 * mean_a * mean_b + _C1) * (2 * both + _C2) / ((mean_a**2 + mean_b**2 + _C1) * (var_a + var_b + _C2))
    return float(found.mean())


def _means(values: Grey) -> Grey:
    """The mean of each whole window, by running sums."""
    sums = np.pad(values.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    n = _WINDOW
    return np.asarray((sums[n:, n:] - sums[:-n, n:] - sums[n:, :-n] + sums[:-n, :-n]) / (n * n))


def alike(program: Program, score: Score, heldout: StateGraph, pictures: Mapping[str, bytes], renderer: Renderer) -> Alike:
    """Runs the held-out traces on the mock once more and compares what it draws with the recorded pictures.

    Steps without a picture are left out. Some 100 ms a step where the mock shows no recorded screen as it is.
    """
    phone = Phone([program])
    found: list[tuple[float, bool]] = []
    scored = score.traces
    for trace in heldout.traces:
        state = phone.reset()
        for step, transition in zip(scored[trace.id], trace.transitions, strict=True):
            state = phone.step(state, transition.action).state
            real = _grey(pictures.get(heldout.captures[transition.target].screenshot or ""))
            if real is None or not step.changed:
                continue
            drawn = Image.fromarray(renderer.array(phone.view(state)))
            found.append((ssim(real, _shrunk(drawn, real.shape)), step.match.exact))
    exact = [value for value, is_exact in found if is_exact]
    return Alike(len(found), _mean([value for value, _ in found]), len(exact), _mean(exact))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _grey(png: bytes | None) -> Grey | None:
    """A picture made small and grey; None where there is none that can be read."""
    if not png:
        return None
    try:
        with Image.open(io.BytesIO(png)) as image:
            return _shrunk(image, (max(_WINDOW, round(image.height * _WIDTH / image.width)), _WIDTH))
    except (UnidentifiedImageError, OSError, ValueError):
        return None


def _shrunk(image: Image.Image, shape: tuple[int, ...]) -> Grey:
    small = image.convert("L").resize((shape[1], shape[0]), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64)
