"""The door MCP: a phone for assistants that call tools. Needs `phoneworld[mcp]`.

    mcp_server(Phones(BUNDLE, tasks=TASKS)).run()          # over stdin and stdout

The tools are the gestures of `tools.py`, and `tasks`, `start` and `look`.
"""

from __future__ import annotations

from typing import Any

from phoneworld.env.extras import need
from phoneworld.env.observation import Observation, ObservationSpec
from phoneworld.env.outcome import Info
from phoneworld.env.phone_env import PhoneEnv
from phoneworld.env.rollout import Phones
from phoneworld.errors import PhoneWorldError
from phoneworld.serve.doors.tools import TOOLS, PhoneTools, in_words

_PICTURE = ObservationSpec(screenshot="png", scale=0.5, marks=True)


class McpPhone(PhoneTools):
    """One phone. `picture` makes an image for a reply of PNG bytes; None for replies in words only."""

    def __init__(self, env: PhoneEnv, picture: Any) -> None:
        super().__init__(env, {package: model.program.label for package, model in env.phone.models.items()})
        self._phone_env = env
        self._picture = picture
        self._info: Info = env.reset(0)[1]

    def tasks(self) -> str:
        """Lists the tasks that can be started."""
        return "\n".join(f"{task.id}: {next(iter(task.wordings.values()))[0]}" for task in self._phone_env.book.tasks.values()) or "There are none."

    def start(self, task: str = "", seed: int = 0) -> Any:
        """Puts the phone at its start, or where a task begins.

        Args:
            task: The id of a task, or nothing.
            seed: Which of its variants.
        """
        try:
            observation, self._info = self._phone_env.reset(seed, task=task or None)
        except PhoneWorldError as e:
            return f"Not done: {e.message}; {e.hint}"
        asked = f"The task: {observation.instruction}\n\n" if observation.instruction else ""
        return self._shown(observation, asked + in_words(observation, False, {**self._info, "changed": None}, ""))

    def look(self) -> Any:
        """Says what is on the screen now."""
        observation = self._phone_env.observation()
        return self._shown(observation, in_words(observation, False, {**self._info, "changed": None}, ""))

    def _reply(self, observation: Observation, reward: float, over: bool, info: Info, refused: str) -> Any:
        self._info = info
        words = in_words(observation, over, info, refused)
        if over and info["success"] is not None:
            words += " The task is done." if info["success"] else " The task is not done."
        return self._shown(observation, words)

    def _shown(self, observation: Observation, words: str) -> Any:
        return words if self._picture is None else [words, self._picture(observation.with_spec(_PICTURE).png)]


def mcp_server(phones: Phones, *, pictures: bool = False) -> Any:
    """The server; `run()` serves it. Raises MissingDependency."""
    server_module, utilities = need("mcp.server.mcpserver", "mcp"), need("mcp.server.mcpserver.utilities.types", "mcp")

    def picture(png: bytes) -> Any:
        return utilities.Image(data=png, format="png")

    phone = McpPhone(phones(), picture if pictures else None)
    server = server_module.MCPServer(
        "phoneworld", instructions="A phone to be used by tools. Start a task with `start`, or use the phone as it is; elements are numbered."
    )
    for name in ("tasks", "start", "look", *TOOLS):
        server.add_tool(getattr(phone, name), name=name, structured_output=False)
    return server
