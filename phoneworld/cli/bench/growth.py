"""How long a recording takes to build, as it grows: recordings made by acting on the mock itself, each built in a process of its own."""

from __future__ import annotations

import multiprocessing
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from phoneworld.compiler.compile import compile_graph
from phoneworld.fidelity.acting import TRAINING, Memory, choose
from phoneworld.graph.graph import Capture, RecordedApp, StateGraph, Trace, Transition
from phoneworld.program.bundle import load_bundle
from phoneworld.program.program import Program
from phoneworld.sim.phone import Phone
from recorder.attribute import attribute

TRACE_STEPS = 20


@dataclass(frozen=True, slots=True)
class Build:
    """One build: `captures` of the recording, seconds of the processor, the most memory in MB beyond what the process began with."""

    captures: int
    seconds: float
    peak_mb: float


def grown(program: Program, captures: int, seed: int = 1) -> StateGraph:
    """A recording of so many captures: an app acted on at random, in traces of `TRACE_STEPS` steps from its start."""
    phone, dice, memory = Phone([program]), Random(seed), Memory()
    size = program.device.size
    kept: dict[str, Capture] = {}
    traces: list[Trace] = []

    def keep() -> Capture:
        view = phone.view(state)
        capture = Capture(f"c{len(kept) + 1}", view.hierarchy, size, None, view.state)
        kept[capture.id] = capture
        return capture

    while len(kept) < captures:
        state = phone.reset(seed=len(traces))
        here = start = keep()
        steps: list[Transition] = []
        last = None
        while len(steps) < TRACE_STEPS and len(kept) < captures:
            action = choose(
                here.hierarchy, size, keyboard=here.state.keyboard, package=program.package, dice=dice, words=TRAINING, memory=memory, last=last
            )
            state = phone.step(state, action).state
            there, hit = keep(), attribute(here.hierarchy, action, size)
            memory.learn(here.hierarchy, hit, there.hierarchy, size, program.package)
            steps.append(Transition(here.id, action, there.id, hit, 300))
            here, last = there, action
        traces.append(Trace(f"t{len(traces) + 1}", start.id, tuple(steps), "fresh"))
    return StateGraph(RecordedApp(program.package, program.label, ""), program.device, kept, tuple(traces))


def build_of(bundle: Path, captures: int) -> Build:
    """The build of a recording of so many captures, in a process of its own: its memory is told from nothing else's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_build, (bundle, captures))


def _build(bundle: Path, captures: int) -> Build:
    graph = grown(load_bundle(bundle).program, captures)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    compile_graph(graph)
    took = time.process_time() - began
    return Build(captures, took, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
