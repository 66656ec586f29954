"""The MCP server, called by the real client: in memory, and over stdin and stdout as an assistant starts it."""

from __future__ import annotations

import sys

import pytest

from phoneworld.env.rollout import Phones
from phoneworld.errors import MissingDependency
from phoneworld.serve.doors.mcp import mcp_server
from tests.doors.trainers import MCP, run_in, trainer

_SCRIPT = '''
import asyncio, sys
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from phoneworld.env.rollout import Phones
from phoneworld.serve.doors.mcp import mcp_server
from phoneworld.serve.doors.tools import TOOLS

async def use(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"tasks", "start", "look", *TOOLS}, set(tools)
    schema = tools["type_text"].input_schema
    assert set(schema["properties"]) == {"text", "element"} and schema["required"] == ["text"], schema

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        return result.content[0].text

    assert "shop/cheap-v1: Show what is cheap only." in await call("tasks")
    told = await call("start", task="shop/cheap-v1")
    assert told.startswith("The task: Show what is cheap only."), told
    assert 'switch "Cheap" on' in await call("tap", element=1)
    assert "Not done: there is no element 99" in await call("tap", element=99)
    assert "Not done: no task" in await call("start", task="shop/nothing-v1")
    assert "Empty" in await call("tap_at", x=300, y=60)
    assert "Empty" in await call("look")
    assert (await call("finish")).endswith("The task is done.")

async def main():
    async with Client(mcp_server(Phones(sys.argv[1], tasks=sys.argv[2]))) as client:
        await use(client)
    command = [sys.executable, "-m", "phoneworld", "door", "mcp", sys.argv[1], "--tasks", sys.argv[2]]
    async with Client(stdio_client(StdioServerParameters(command=command[0], args=command[1:]))) as client:
        await use(client)

asyncio.run(main())
print("USED")
'''


def test_without_mcp_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, phones: Phones) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingDependency) as e:
        mcp_server(phones)
    assert e.value.hint == 'pip install "phoneworld[mcp]"'


@pytest.mark.slow
def test_an_assistant_does_a_task_by_tools(phones: Phones) -> None:
    done = run_in(trainer(*MCP), _SCRIPT, str(phones.bundles), str(phones.tasks))
    assert done.returncode == 0 and "USED" in done.stdout, done.stdout[-1500:] + done.stderr[-4000:]
