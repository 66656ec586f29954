"""A policy out of a Python file: a class with `begin(task, seed)`. The file is run where the policy acts."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from phoneworld.env.policy import Actor, Policy
from phoneworld.errors import FileFormatError, OptionError

_EXAMPLE = "class Policy: def begin(self, task, seed) gives an object with act(observation, info)"


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """The class of a file, by its name; without one `Policy`, or the only class of the file that has a `begin`."""

    path: str
    cls: str = ""

    def begin(self, task: str | None, seed: int) -> Actor:
        """An actor of what the file's class makes."""
        return policy_in(self.path, self.cls).begin(task, seed)

    @property
    def digest(self) -> str:
        """SHA-256 of the file. Raises FileFormatError where it cannot be read."""
        try:
            return sha256(Path(self.path).read_bytes()).hexdigest()
        except OSError as e:
            raise FileFormatError(f"cannot read {self.path}: {e.strerror or e}", hint="--policy FILE.py, with a class Policy in it") from None


@lru_cache(maxsize=8)
def policy_in(path: str, cls: str) -> Policy:
    """The policy that a file's class makes without arguments. Raises FileFormatError and OptionError in words."""
    module = _module(path)
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type) and callable(getattr(value, "begin", None))}
    own = {name: value for name, value in classes.items() if value.__module__ == module.__name__}
    found = classes.get(cls) if cls else own.get("Policy") or (next(iter(own.values())) if len(own) == 1 else None)
    if found is None:
        told = f"no class {cls} with a `begin`" if cls else "no class Policy with a `begin`"
        raise OptionError(f"{path} has {told}" + (f"; it has {', '.join(sorted(classes))}" if classes else ""), hint=f"--policy {path}:NAME" if classes else _EXAMPLE)
    try:
        made: Any = found()
    except Exception as e:  # what a file of somebody else's does is told in words
        raise OptionError(f"{path}: {found.__name__}() raised {type(e).__name__}: {e}", hint="it is made without arguments") from e
    policy: Policy = made
    return policy


def _module(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise FileFormatError(f"{path}: there is no such file", hint="--policy FILE.py, with a class Policy in it")
    name = f"phoneworld_policy_{sha256(str(file.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise OptionError(f"{path} is no Python file", hint="--policy FILE.py, with a class Policy in it")
    module = importlib.util.module_from_spec(spec)
    # Its own module, so that dataclasses and pickles in it find their names; and what lies beside it can be imported.
    sys.modules[name] = module
    if str(file.resolve().parent) not in sys.path:
        sys.path.append(str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # as above
        del sys.modules[name]
        raise OptionError(f"{path} cannot be run: {type(e).__name__}: {e}", hint="python " + path + " says where") from e
    return module
