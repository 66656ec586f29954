"""The executor on Ray: actors with many environments each, on one machine or a cluster. Needs `pip install "phoneworld[ray]"`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from phoneworld.env.extras import need
from phoneworld.env.policy import Policy
from phoneworld.env.record import EpisodeRecord, lost_episode
from phoneworld.env.rollout import Job, Keep, MakeEnv, interleaved, twins
from phoneworld.errors import SessionError


class Plays:
    """What an actor is: environments, made when they are first needed."""

    def __init__(self, policy: Policy, make_env: MakeEnv, interleave: int, keep: Keep | None = None) -> None:
        self._policy, self._make_env, self._interleave, self._keep = policy, make_env, interleave, keep
        self._envs: list[Any] = []

    def play(self, batch: Sequence[tuple[int, Job]]) -> list[tuple[int, EpisodeRecord]]:
        """The episodes of a batch."""
        if not self._envs:
            self._envs = twins(self._make_env(), self._interleave, self._make_env)
        return list(interleaved(self._envs, batch, self._policy, self._keep))


@dataclass(frozen=True, slots=True)
class OnRay:
    """`actors` actors with `interleave` episodes at a time each. Ray is started where it is not running yet.

    An actor that dies is replaced, and its episodes are marked `infra`; so are those of one that takes longer than `episodes_s`.
    `resources` are what an actor needs besides `cpus`: for real phones say `{"android_device": 1}`, and start Ray's nodes with
    as many as they have phones.
    """

    actors: int = 2
    interleave: int = 8
    batch: int | None = None
    cpus: float = 0.25
    resources: Mapping[str, float] = field(default_factory=dict)
    episodes_s: float | None = None

    def run(self, jobs: Sequence[Job], policy: Policy, make_env: MakeEnv, keep: Keep | None = None) -> Iterator[tuple[int, EpisodeRecord]]:
        """Each job's number and its episode, in the order in which they end. Lost ones are marked `infra`."""
        if self.actors < 1 or self.interleave < 1:
            raise SessionError(f"{self.actors} actors with {self.interleave} episodes each run nothing", hint="at least 1 of both")
        ray = need("ray", "ray")
        started = not ray.is_initialized()
        if started:
            ray.init(include_dashboard=False, log_to_driver=False)
        cls = ray.remote(num_cpus=self.cpus, resources=dict(self.resources))(Plays)
        size = max(self.interleave, self.batch or self.interleave)
        numbered = list(enumerate(jobs))
        waiting = deque(numbered[i : i + size] for i in range(0, len(numbered), size))
        actors: set[Any] = set()

        def engage() -> Any:
            actor = cls.remote(policy, make_env, self.interleave, keep)
            actors.add(actor)
            return actor

        try:
            idle = [engage() for _ in range(min(self.actors, len(waiting)))]
            running: dict[Any, tuple[Any, list[tuple[int, Job]]]] = {}
            while waiting or running:
                while idle and waiting:
                    actor, batch = idle.pop(), waiting.popleft()
                    running[actor.play.remote(batch)] = (actor, batch)
                done, late = ray.wait(list(running), num_returns=1, timeout=self.episodes_s)
                ref = (done or late)[0]
                actor, batch = running.pop(ref)
                why = "" if done else f"the episodes took longer than {self.episodes_s} s"
                try:
                    yield from ray.get(ref) if done else []
                except ray.exceptions.RayActorError as e:
                    why = f"the actor died ({type(e).__name__})"
                except ray.exceptions.RayTaskError as e:
                    raise e.as_instanceof_cause() from None
                if why:
                    # A new one, for one that is being restarted refuses calls for a while.
                    actors.discard(actor)
                    ray.kill(actor)
                    actor = engage()
                    for number, job in batch:
                        record = lost_episode(job.name, job.seed, "infra", why)
                        if keep is not None:
                            keep.lost(job, record)
                        yield number, record
                idle.append(actor)
        finally:
            for actor in actors:
                ray.kill(actor)
            if started:
                ray.shutdown()
