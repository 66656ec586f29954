"""AndroidWorld's HTTP server API over a mock, so that evaluators written for its emulator container run as they are.

    uvicorn.run(android_world_app(Phones(BUNDLE, tasks=TASKS)), port=5000)

One phone, as there. A task's `task_idx` is one of the instances that the suite's seed draws. As there, `answer` and `status` do not
end an episode: the answer is kept, and `/task/score` judges the phone as it stands. What has no score is an error, never 0.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Request
from starlette.responses import Response

from phoneworld.dialects.android_world import ANDROID_WORLD
from phoneworld.dialects.dialect import Screen
from phoneworld.env.observation import ObservationSpec
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Phones
from phoneworld.env.seeds import episode_seed
from phoneworld.errors import ActionError, BrowserError, CheckerError, PhoneWorldError, SessionError
from phoneworld.serve.json_response import SafeJson
from phoneworld.ui.action import Answer, Finish, PressKey

_ENDLESS = 1_000_000


class _Suite:
    """The phone, the tasks and their instances. One request at a time."""

    def __init__(self, phones: Phones) -> None:
        self.env: PhoneEnv = replace(phones, observe=ObservationSpec(screenshot="array"), max_steps=_ENDLESS)()
        self.lock = Lock()
        self.instances, self.seed = 2, 42
        self.answer: str | None = None
        self.env.reset(0)

    def screen(self) -> Screen:
        return Screen(self.env.screen_size(), {p: m.program.label for p, m in self.env.phone.models.items()})

    def seed_of(self, task: str, number: int) -> int:
        self.env.book.find(task)
        if not 0 <= number < self.instances:
            raise SessionError(f"{task} has no instance {number}", hint=f"0 to {self.instances - 1}; more by /suite/reinitialize")
        return episode_seed(self.seed, number + 1)

    def do(self, given: dict[str, Any]) -> str:
        actions = ANDROID_WORLD.actions(given, self.screen())
        for action in actions:
            if isinstance(action, Answer):
                self.answer = action.text
            elif not isinstance(action, Finish):
                info = self.env.step(action)[4]
                if info["invalid_action"]:
                    raise ActionError(info["invalid_action"])
        return ", ".join(map(str, actions))

    def score(self, task: str, number: int) -> float:
        assignment = self.env.standing.assignment
        seed = self.seed_of(task, number)
        if assignment is None or (assignment.instance.task.id, assignment.instance.seed) != (task, seed):
            raise SessionError(f"{task} {number} is not what the phone is at", hint="POST /task/initialize first")
        return float(assignment.verdict(self.env.standing.trail, self.env.state, self.answer, "success").success is True)


def android_world_app(phones: Phones) -> FastAPI:
    """The FastAPI app, with AndroidWorld's addresses."""
    suite = _Suite(phones)
    app = FastAPI(title="AndroidWorld's API over PhoneWorld", default_response_class=SafeJson)
    suites, tasks = APIRouter(prefix="/suite", tags=["suite"]), APIRouter(prefix="/task", tags=["task"])

    def fine(message: str) -> dict[str, str]:
        return {"status": "success", "message": message}

    @app.post("/reset")
    def reset(go_home: bool) -> dict[str, str]:
        with suite.lock:
            if go_home:
                suite.env.step(PressKey("home"))
        return fine(f"Environment reset with go_home={go_home}.")

    @app.get("/screenshot")
    def screenshot(wait_to_stabilize: bool = False) -> dict[str, Any]:
        # A mock is at rest whenever it is asked.
        with suite.lock:
            return {"pixels": suite.env.observation().screenshot.tolist()}

    @app.post("/execute_action")
    def execute_action(action: Annotated[dict[str, Any], Body()]) -> dict[str, str]:
        with suite.lock:
            return fine(f"Action {suite.do(action)} executed.")

    @app.post("/close")
    def close() -> dict[str, str]:
        with suite.lock:
            suite.env.close()
        return {"status": "success"}

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "success"}

    @suites.get("/task_list")
    def task_list(max_index: int = -1) -> dict[str, list[str]]:
        names = list(suite.env.book.tasks)
        return {"task_list": names if max_index > len(names) or max_index < 0 else names[:max_index]}

    @suites.get("/task_length")
    def task_length(task_type: str) -> dict[str, int]:
        suite.env.book.find(task_type)
        return {"length": suite.instances}

    @suites.get("/reinitialize")
    def reinitialize(n_task_combinations: int = 2, seed: int = 42, task_family: str = "android_world") -> dict[str, str]:
        with suite.lock:
            suite.instances, suite.seed = max(1, n_task_combinations), seed
        return fine(f"Task suite re-initialized with n_task_combinations={n_task_combinations}, seed={seed}.")

    @tasks.post("/initialize")
    def initialize(task_type: str, task_idx: int) -> dict[str, str]:
        with suite.lock:
            suite.env.reset(suite.seed_of(task_type, task_idx), task=task_type)
            suite.answer = None
        return fine(f"Task {task_type} {task_idx} initialized.")

    @tasks.post("/tear_down")
    def tear_down(task_type: str, task_idx: int) -> dict[str, str]:
        with suite.lock:
            suite.env.reset(suite.seed_of(task_type, task_idx))
            suite.answer = None
        return fine(f"Task {task_type} {task_idx} torn down.")

    @tasks.get("/score")
    def score(task_type: str, task_idx: int) -> dict[str, float]:
        with suite.lock:
            return {"score": suite.score(task_type, task_idx)}

    @tasks.get("/goal")
    def goal(task_type: str, task_idx: int) -> dict[str, str]:
        with suite.lock:
            seed = suite.seed_of(task_type, task_idx)
            return {"goal": suite.env.book.assign(task_type, seed, "en").instance.instruction}

    @tasks.get("/template")
    def template(task_type: str, task_idx: int = 0) -> dict[str, str]:
        wordings = suite.env.book.find(task_type).wordings
        return {"template": next(iter(wordings.get("en") or next(iter(wordings.values()))))}

    app.include_router(suites)
    app.include_router(tasks)
    app.add_exception_handler(PhoneWorldError, _ours)
    return app


def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, PhoneWorldError)
    broken = isinstance(error, CheckerError | BrowserError)
    return SafeJson({"status": "error", "detail": error.message, "hint": error.hint}, 500 if broken else 422)
