"""The commands of the phone's shell: a file a topic, one function a command. Importing this fills the table."""

from phoneworld.adbd.commands import (
    activity,
    control,
    dumps,
    events,
    files,
    inputs,
    installing,
    logs,
    packages,
    programs,
    providers,
    screen,
    settings,
    shell_builtins,
    system,
    text,
)
from phoneworld.adbd.commands.registry import CMD, COMMANDS, DUMPSYS

TOPICS = (
    activity, control, dumps, events, files, inputs, installing, logs, packages, programs, providers, screen, settings,
    shell_builtins, system, text,
)  # fmt: skip

__all__ = ["CMD", "COMMANDS", "DUMPSYS", "TOPICS"]
