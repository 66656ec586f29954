"""`content`: the settings as a provider."""
from phoneworld.adbd.commands.registry import command
from phoneworld.adbd.shell import Call

@command("content")
async def content(call: Call) -> int:
    return 1
