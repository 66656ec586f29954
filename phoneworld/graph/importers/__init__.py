"""Foreign recordings in: one module a format, and the registry that finds the right one."""

from __future__ import annotations

from pathlib import Path

from phoneworld.errors import FileFormatError, OptionError
from phoneworld.graph.importers import appium, droidbot, episodes, folder, getevent, maestro, monkey
from phoneworld.graph.importers.recording import ImportedRecording, Importer

# In the order in which they are asked; the plain folder takes whatever is left.
IMPORTERS: tuple[Importer, ...] = (droidbot, maestro, appium, monkey, getevent, episodes, folder)

__all__ = ["IMPORTERS", "ImportedRecording", "Importer", "formats", "import_recording"]


def formats() -> tuple[str, ...]:
    """The names that `format` may have."""
    return tuple(importer.NAME for importer in IMPORTERS)


def import_recording(path: Path | str, format: str | None = None, *, package: str | None = None) -> ImportedRecording:
    """Reads somebody else's recording: what can be used becomes a graph, what cannot is listed with its reason.

    `format` is one of `formats()`, None to find out. `package` names the recorded app where the recording does not.
    Raises OptionError for another format, FileFormatError where the path does not exist, no format fits, or nothing in it could be used.
    """
    path = Path(path)
    if not path.exists():
        raise FileFormatError(f"{path} does not exist", hint="check the path")
    if format is not None:
        chosen = [importer for importer in IMPORTERS if format == importer.NAME]
        if not chosen:
            raise OptionError(f"unknown format {format!r}", hint="one of " + ", ".join(formats()))
    else:
        chosen = [importer for importer in IMPORTERS if importer.recognises(path)]
    if not chosen:
        what = "JSON, but no hierarchy of Maestro's" if path.suffix.lower() == ".json" else "no recording that phoneworld reads"
        raise FileFormatError(
            f"{path} is {what}",
            hint="expected a DroidBot output folder, Maestro flows or hierarchies, an Appium, monkey or getevent log, episodes in "
            "parquet, a folder of UI Automator dumps (*.xml) and pictures, or one dump",
        )
    return chosen[0].read(path, package=package)
