"""Mock episodes in other processes and on Ray: the same numbers however many are at work, and a clear end where one dies."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch", reason='torch is not installed: pip install "phoneworld[train]"')

from phoneworld.agent.network import Network, Shape
from phoneworld.agent.play import Spent
from phoneworld.env.rollout import Job, jobs
from phoneworld.errors import OptionError, PhoneWorldError
from phoneworld.train.demonstrations import demonstrations
from phoneworld.train.places import TrainedApp
from phoneworld.train.rl import RlOptions, Run
from phoneworld.train.sft import SftOptions, train
from phoneworld.train.sources import MOCK
from phoneworld.train.spread import ByProcesses, SpreadMocks
from tests.doors.trainers import RAY, trainer
from tests.study.tiny import write_study
from tests.webapps import ROOT

SMALL = Shape(width=16, heads=2, layers=1)


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedApp, ...]:
    folder = tmp_path_factory.mktemp("apps")
    write_study(folder)
    return tuple(TrainedApp.of(folder / name / "bundle", folder / name / "tasks") for name in ("shop", "store"))


@pytest.fixture(scope="module")
def begun(apps: tuple[TrainedApp, ...]) -> Network:
    """A policy that now succeeds and now does not, so that there is something to learn."""
    network = Network(SMALL, seed=2)
    shown = [one for app in apps for one in demonstrations(app.env, jobs(app.trained, range(2)))[0]]
    train(network, shown, SftOptions(epochs=12, batch=8, rate=3e-3, entropy=0.05))
    return network


def test_one_process_and_two_train_the_same_policy(apps: tuple[TrainedApp, ...], begun: Network) -> None:
    runs = []
    for workers in (1, 2):
        network = deepcopy(begun)
        # Forty episodes an update: three chunks at least.
        run = Run(network, {MOCK: SpreadMocks(apps, ByProcesses(apps, workers))}, RlOptions(updates=2, groups=10, members=4), seed=3)
        try:
            run.train()
        finally:
            run.close()
        assert run.spent[MOCK].steps == sum(u.steps[MOCK] for u in run.updates) > 0 and run.spent[MOCK].wall_s > 0
        runs.append(([u.to_json() for u in run.updates], weights(network)))
    assert runs[0] == runs[1] and sum(u["kept"] for u in runs[0][0]) > 0 and runs[0][1] != weights(begun)


def weights(network: Network) -> dict[str, list[float]]:
    return {name: of.flatten().tolist() for name, of in network.state_dict().items()}


@pytest.mark.slow
def test_ray_trains_the_same_policy_here_and_on_a_cluster(tmp_path: Path) -> None:
    write_study(tmp_path)
    python = trainer("ray-train", RAY[1], "torch==2.13.0")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

    def phoneworld(*words: str, exits: int = 0) -> str:
        done = subprocess.run([str(python), "-m", "phoneworld", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500, check=False)
        assert done.returncode == exits, done.stderr[-3000:]
        return done.stderr

    def ray(*words: str) -> None:
        subprocess.run([str(python.with_name("ray")), *words], env=environment, capture_output=True, timeout=200, check=True)

    phoneworld("train", "sft", "shop", "store", "-o", "policy.pt", "--seeds", "2", "--epochs", "3", "--scored", "0")
    rl = ("train", "rl", "shop", "store", "--from", "policy.pt", "--updates", "2", "--groups", "10", "--members", "4", "--scored", "0", "--executor")
    phoneworld(*rl, "processes", "--workers", "1", "-o", "processes")
    phoneworld(*rl, "ray", "--workers", str((os.cpu_count() or 1) + 1), "-o", "here")
    ray("start", "--head", "--num-cpus", "2", "--include-dashboard", "false")
    try:
        phoneworld(*rl, "ray", "--workers", "2", "--address", "auto", "-o", "cluster")
        assert "the Ray cluster has 2" in phoneworld(*rl, "ray", "--workers", "3", "--address", "auto", "-o", "wide", exits=2)
    finally:
        ray("stop", "--force")
    reports = [(tmp_path / name / "report.json").read_bytes() for name in ("processes", "here", "cluster")]
    assert reports[0] == reports[1] == reports[2]
    assert len({(tmp_path / name / "policy.pt").read_bytes() for name in ("processes", "here", "cluster")}) == 1


def test_a_process_that_dies_is_told(apps: tuple[TrainedApp, ...]) -> None:
    place = SpreadMocks(apps, ByProcesses(apps, 1))
    todo = [(Job(task, 0), None) for task in place.tasks.lengths]
    assert len(place.play(Network(SMALL), todo, Spent())) == len(todo)
    for child in psutil.Process().children():
        if "spawn_main" in " ".join(child.cmdline()):
            child.kill()
    with pytest.raises(PhoneWorldError, match="died"):
        place.play(Network(SMALL), todo, Spent())
    place.close()


PLAYS_AND_WAITS = """
import sys, time, psutil
from pathlib import Path
from phoneworld.agent.network import Network
from phoneworld.agent.play import Spent
from phoneworld.env.rollout import Job
from phoneworld.train.places import TrainedApp
from phoneworld.train.spread import ByProcesses, SpreadMocks
app = TrainedApp.of(Path(sys.argv[1]) / "bundle", Path(sys.argv[1]) / "tasks")
place = SpreadMocks((app,), ByProcesses((app,), 1))
place.play(Network(), [(Job(app.trained[0].id, 0), None)], Spent())
print(*(p.pid for p in psutil.Process().children()), flush=True)
time.sleep(600)
"""


def test_processes_end_with_a_run_that_was_killed(apps: tuple[TrainedApp, ...]) -> None:
    command = [sys.executable, "-c", PLAYS_AND_WAITS, str(Path(apps[0].bundle).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
        assert run.stdout is not None
        children = [psutil.Process(int(pid)) for pid in run.stdout.readline().split()]
        run.kill()
    assert children and psutil.wait_procs(children, timeout=60)[1] == []


def test_no_workers_play_nothing(apps: tuple[TrainedApp, ...]) -> None:
    with pytest.raises(OptionError):
        ByProcesses(apps, 0)
