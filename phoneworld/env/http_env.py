"""`HttpEnv`: the environment over a `phoneworld serve` somewhere else. Knows the server's API and nothing behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import httpx

from phoneworld.env.assignment import Assignment, TaskBook, Tasks
from phoneworld.env.env import Env
from phoneworld.env.observation import Observation, ObservationSpec, Picture, Reading, array_of, scaled_png
from phoneworld.env.outcome import Deadlines, Done, OnUnrecorded
from phoneworld.env.parsing import Parse
from phoneworld.env.rewards import Rewards
from phoneworld.env.state_id import StateNamer
from phoneworld.errors import ActionError, BrowserError, DeviceError, DeviceLost, ObservationError, SessionError
from phoneworld.sim.phone import Phone
from phoneworld.sim.state import PhoneState, state_from_json, state_to_json
from phoneworld.tasks.judge import Trail
from phoneworld.tasks.task import Task
from phoneworld.tasks.verdict import Verdict
from phoneworld.ui.action import Action, Status, action_to_json
from phoneworld.ui.device_state import DeviceState
from phoneworld.ui.geometry import Size
from phoneworld.ui.xml import parse_hierarchy

Reward = Callable[[Observation, Action, Observation], float]

_RAISED: dict[str, type[ActionError | SessionError | BrowserError]] = {
    "ActionError": ActionError, "SessionError": SessionError, "UnknownSession": SessionError, "TooManySessions": SessionError,
    "BrowserError": BrowserError,
}  # fmt: skip


class HttpEnv(Env[Observation]):
    """One session of a server at `url`, such as `http://127.0.0.1:8000`. It is made by the first reset and closed by `close`.

    `bundles` names the apps (see `GET /api/bundles`); without them the first one served. What the spec names is fetched when
    a step ends. `timeout_s` bounds each request; one that fails ends the episode as a fault. Tasks are drawn from `mock`, the same
    bundles here, and judged by the whole state, which the server tells: they end as those of `PhoneEnv` do.
    """

    def __init__(
        self,
        url: str,
        bundles: Sequence[str] | None = None,
        *,
        observe: ObservationSpec | None = None,
        max_steps: int | None = None,
        instruction: str = "",
        tasks: Tasks = (),
        mock: Phone | None = None,
        rewards: Rewards = Rewards(),
        reward: Reward | None = None,
        on_unrecorded: OnUnrecorded = "noop",
        deadlines: Deadlines = Deadlines(),
        parse: Parse | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        super().__init__(
            observe=observe, max_steps=max_steps, instruction=instruction, rewards=rewards, reward=reward,
            on_unrecorded=on_unrecorded, deadlines=deadlines, parse=parse,
        )  # fmt: skip
        self.book = None if mock is None else TaskBook(mock, tasks)
        self.url = url.rstrip("/")
        self.bundles = list(bundles) if bundles is not None else None
        self.session: str | None = None
        self._timeout_s = timeout_s
        self._http = httpx.Client(base_url=f"{self.url}/api", timeout=timeout_s)
        self._namer = StateNamer()
        self._name = ""
        self._state: PhoneState | None = None
        self._last: Observation | None = None

    def fork(self, n: int) -> tuple[HttpEnv, ...]:
        """`n` environments that stand where this one stands, each with a session of its own."""
        return tuple(self._forked() for _ in range(n))

    def close(self) -> None:
        """Ends the session; a server that is gone by now is left in peace."""
        if self.session is not None:
            session, self.session = self.session, None
            with suppress(httpx.HTTPError):
                self._http.delete(f"/sessions/{session}")
        self._http.close()

    def _forked(self) -> HttpEnv:
        twin = HttpEnv(
            self.url, self.bundles, observe=self.observe, max_steps=self.max_steps, instruction=self.instruction,
            rewards=self.rewards, reward=self.reward, on_unrecorded=self.on_unrecorded, deadlines=self.deadlines, parse=self._parse, timeout_s=self._timeout_s,
        )  # fmt: skip
        twin.book = self.book
        twin.session = self._ask("POST", f"/sessions/{self._open_session()}/fork").json()["id"]
        twin.seed, twin.steps, twin.termination, twin._started = self.seed, self.steps, self.termination, self._started
        twin.standing, twin._began = self.standing, self._began
        twin._look()
        return twin

    def _start(self, seed: int, start: str | None, phone: Any) -> None:
        if phone is not None:
            self._ask("POST", f"/sessions/{self._open_session()}/restore", {"snapshot": phone})
        elif self.session is None:
            self.session = self._ask(
                "POST", "/sessions", {"bundles": self.bundles, "seed": seed, "start": start}
            ).json()["id"]
        else:
            # The server keeps the last start where none is given; we mean the first one.
            named = start or self._ask("GET", f"/sessions/{self.session}").json()["starts"][0]
            self._ask("POST", f"/sessions/{self.session}/reset", {"seed": seed, "start": named})
        self._look()

    def _assign(self, task: Task | str, seed: int, language: str) -> Assignment:
        if self.book is None:
            raise SessionError(
                "the parameters of a task are drawn from the mock, and there is none here",
                hint="HttpEnv(url, mock=Phone([load_bundle(PATH).program]), tasks=...) with the bundle that is served",
            )
        return self.book.assign(task, seed, language)

    def _begin(self, assignment: Assignment) -> None:
        instance = assignment.instance
        self._start(instance.seed, instance.task.start.at or None, None)
        # What the server has there already stays; what the task changes is put in.
        self._ask("PATCH", f"/sessions/{self._open_session()}/state", state_to_json(instance.start))
        self._look()

    def _watch(self, assignment: Assignment, trail: Trail) -> Trail:
        return assignment.watch(trail, self._now())

    def _judge(self, assignment: Assignment, trail: Trail, answer: str | None, status: Status) -> Verdict:
        return assignment.verdict(trail, self._now(), answer, status)

    def _now(self) -> PhoneState:
        if self._state is None:
            raise SessionError("there is no episode yet", hint="call reset() first")
        return self._state

    def _act(self, action: Action) -> Done:
        told = self._ask("POST", f"/sessions/{self._open_session()}/step", {"action": action_to_json(action)}).json()
        self._look()
        return Done(told["changed"], told["valid"], told["evidence"], told["message"], tuple(told["rules"]))

    def _look(self) -> None:
        """Fetches what the spec names."""
        session = f"/sessions/{self._open_session()}"
        at = self._ask("GET", session).json()
        state = DeviceState(at["package"], at["activity"], at["keyboard"], at["rotation"], at["clock_ms"])
        size = Size(at["width"], at["height"])
        self._state = state_from_json(self._ask("GET", f"{session}/state").json())
        self._name = self._namer.name(self._state)
        xml = png = b""
        if self.observe.tree or self.observe.text:
            xml = self._ask("GET", f"{session}/tree?format=xml").content
        if self.observe.screenshot != "none":
            png = self._ask("GET", f"{session}/screenshot?width={self.observe.picture_size(size).width}").content
        reading = Reading(partial(_tree, xml), partial(_picture, png))
        self._last = Observation(self.observe, self.instruction, lambda: (state, size, reading))

    def observation(self) -> Observation:
        if self._last is None:
            raise SessionError("there is no episode yet", hint="call reset() first")
        return self._last

    def _moment(self) -> Observation:
        return self.observation()

    def _state_id(self) -> str:
        return self._name

    def screen_size(self) -> Size:
        return self.observation().size

    def _save(self) -> str:
        return str(self._ask("POST", f"/sessions/{self._open_session()}/snapshot").json()["snapshot"])

    def _open_session(self) -> str:
        if self.session is None:
            raise SessionError("there is no session yet", hint="call reset() first")
        return self.session

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        # Written here, in ASCII: httpx cannot send the halves of surrogate pairs that agents sometimes type.
        written = method in ("POST", "PATCH")
        content = json.dumps({k: v for k, v in (body or {}).items() if v is not None}).encode() if written else None
        headers = {"content-type": "application/json"} if written else {}
        try:
            answer = self._http.request(method, path, content=content, headers=headers)
        except (httpx.HTTPError, RuntimeError) as e:
            raise DeviceLost(f"{self.url} does not answer: {e}", hint="is `phoneworld serve` running there?") from None
        if answer.is_success:
            return answer
        try:
            told = answer.json()
            kind, message, hint = str(told["error"]), str(told["message"]), str(told.get("hint", ""))
        except (ValueError, KeyError, TypeError):
            raise DeviceError(
                f"{self.url} answered {answer.status_code}: {answer.text[:200]!r}", hint="is it a `phoneworld serve`?"
            ) from None
        if kind == "InvalidRequest" and path.endswith("/step"):
            raise ActionError(message, hint=hint)
        raise _RAISED.get(kind, DeviceError)(message, hint=hint)


def _tree(xml: bytes) -> Any:
    if not xml:
        raise ObservationError(
            "no tree was fetched at this step", hint="say observe=ObservationSpec(tree=True) when making the env"
        )
    return parse_hierarchy(xml)


def _picture(png: bytes, kind: Picture, size: Size) -> Any:
    if not png:
        raise ObservationError(
            "no picture was taken at this step",
            hint='say observe=ObservationSpec(screenshot="png") when making the env',
        )
    return array_of(png, size) if kind == "array" else scaled_png(png, size)
