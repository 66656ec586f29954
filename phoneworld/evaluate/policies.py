"""Policies by the words of the command line: oracle, random, FILE.py, FILE.pt, http://…, openai:MODEL, adb:COMMAND."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from phoneworld.dialects.families import dialect_named
from phoneworld.env.policy import Policy, RandomPolicy
from phoneworld.errors import OptionError
from phoneworld.evaluate.adb_agent import AdbPolicy, words_of
from phoneworld.evaluate.asking import Line
from phoneworld.evaluate.chat import ChatPolicy, See
from phoneworld.evaluate.checkpoint import CheckpointFile, network_in
from phoneworld.evaluate.oracle import OraclePolicy
from phoneworld.evaluate.remote import HttpPolicy
from phoneworld.evaluate.script import ScriptFile, policy_in
from phoneworld.tasks.task import Task

RANDOM_FINISH = 0.05
KINDS = "oracle, random, FILE.py, FILE.pt, http://HOST/, openai:MODEL or adb:COMMAND"


@dataclass(frozen=True, slots=True)
class Options:
    """What some policies are told besides: how to be asked, and what to be shown."""

    see: See = "text"
    dialect: str = "qwen3"
    base_url: str = ""
    key_in: str = "OPENAI_API_KEY"
    history: int = 1
    temperature: float = 0.0
    max_tokens: int = 1024
    timeout_s: float = 120.0
    retries: int = 4
    pause_s: float = 1.0
    episode_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A policy, what headers say of it (where it is asked is not told), and whether it has to be shown pictures."""

    policy: Policy
    facts: Mapping[str, Any] = field(hash=False)
    pictures: bool = False
    asks: Literal["nobody", "http", "adb"] = "nobody"


def choose_policy(words: str, bundles: Sequence[str], tasks: Sequence[Task], apps: Mapping[str, str], options: Options = Options()) -> Chosen:
    """The policy that is meant. Raises OptionError for words that mean none, FileFormatError for a file that is not there."""
    kind, _, rest = words.partition(":")
    if words == "oracle":
        return Chosen(OraclePolicy(tuple(bundles), tuple(tasks)), {"name": "oracle"})
    if words == "random":
        return Chosen(RandomPolicy(finish=RANDOM_FINISH), {"name": "random", "finish": RANDOM_FINISH})
    if kind in ("http", "https"):
        return _http(words, options)
    if kind == "openai":
        return _chat(rest, apps, options)
    if kind == "adb":
        words_of(rest, "", "")
        return Chosen(AdbPolicy(rest, tuple(bundles), options.episode_s), {"name": words}, True, "adb")
    if words.endswith(".pt"):
        checkpoint = CheckpointFile(os.path.abspath(words), options.temperature > 0)
        facts = {"name": os.path.basename(words), "digest": checkpoint.digest, "sample": checkpoint.sample}
        network_in(checkpoint.path, checkpoint.sample)
        return Chosen(checkpoint, facts)
    file, _, cls = words.rpartition(":") if words.rpartition(":")[0].endswith(".py") else (words, "", "")
    if file.endswith(".py"):
        script = ScriptFile(os.path.abspath(file), cls)
        digest = script.digest
        policy_in(script.path, cls)
        return Chosen(script, {"name": os.path.basename(file) + (f":{cls}" if cls else ""), "digest": digest}, options.see != "text")
    raise OptionError(f"{words!r} is no policy that is known", hint=f"--policy {KINDS}")


def _http(url: str, options: Options) -> Chosen:
    _check_url(url, "--policy http://127.0.0.1:8000/act")
    pictures = options.see != "text"
    policy = HttpPolicy(Line(url, options.timeout_s, options.retries, options.pause_s), pictures)
    return Chosen(policy, {"name": "http", "see": options.see}, pictures, "http")


def _chat(model: str, apps: Mapping[str, str], options: Options) -> Chosen:
    if not model:
        raise OptionError("no model is named after openai:", hint="--policy openai:MODEL --base-url http://127.0.0.1:8000/v1")
    base = options.base_url or os.environ.get("OPENAI_BASE_URL", "")
    if not base:
        raise OptionError("where the model is asked is not said", hint="--base-url http://127.0.0.1:8000/v1, or OPENAI_BASE_URL in the environment")
    _check_url(base, "--base-url http://127.0.0.1:8000/v1")
    line = Line(base.rstrip("/") + "/chat/completions", options.timeout_s, options.retries, options.pause_s)
    policy = ChatPolicy(
        line, model, dialect_named(options.dialect), options.see, options.history, options.max_tokens, options.temperature, options.key_in, dict(apps)
    )
    facts = {
        "name": f"openai:{model}", "dialect": options.dialect, "see": options.see, "history": options.history, "temperature": options.temperature,
        "max_tokens": options.max_tokens,
    }  # fmt: skip
    return Chosen(policy, facts, options.see != "text", "http")


def _check_url(url: str, example: str) -> None:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine:
        raise OptionError(f"{url[:200]!r} is no address", hint=f"for example {example}")
