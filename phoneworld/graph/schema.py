"""The pydantic models of `app.graph.json`, and the JSON Schema that is generated from them. Knows no graph and no disk."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema

from phoneworld.graph.graph import StartKind, TreeMode
from phoneworld.ui.action import KINDS

FORMAT: Literal["phoneworld.app-graph"] = "phoneworld.app-graph"
VERSION = 1


def _action_schema() -> dict[str, Any]:
    """One alternative for each kind of action, from the dataclasses themselves."""
    alternatives = []
    for kind, cls in KINDS.items():
        schema = TypeAdapter(cls).json_schema()
        schema["title"] = kind
        schema["properties"] = {"kind": {"const": kind}, **schema.get("properties", {})}
        schema["required"] = ["kind", *schema.get("required", [])]
        schema["additionalProperties"] = False
        alternatives.append(schema)
    return {"oneOf": alternatives}


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
CaptureId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:#-]{0,127}$")]
Natural = Annotated[int, Field(ge=0, lt=2**63)]
Pixels = Annotated[int, Field(ge=0, le=100_000)]
ActionObject = Annotated[dict[str, Any], WithJsonSchema(_action_schema())]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AppModel(_Model):
    package: str
    label: str = ""
    activity: str = ""
    version: str = ""


class DeviceModel(_Model):
    """What stays the same for the whole recording; the locale and the rest matter for text selectors."""

    width: Pixels
    height: Pixels
    density: Annotated[int, Field(gt=0, le=10_000)] = 420
    model: str = ""
    manufacturer: str = ""
    android: str = ""
    sdk: Natural = 0
    locale: str = ""
    timezone: str = ""
    font_scale: Annotated[float, Field(gt=0, le=10)] = 1.0
    night_mode: bool = False


class StateModel(_Model):
    package: str = ""
    activity: str = ""
    keyboard: bool = False
    rotation: Annotated[int, Field(ge=0, le=3)] = 0
    clock_ms: int | None = None


class CaptureModel(_Model):
    """`tree` is a key of `trees`; `screenshot` is the SHA-256 of a PNG in the assets folder."""

    id: CaptureId
    tree: Sha256
    width: Pixels
    height: Pixels
    screenshot: Sha256 | None = None
    state: StateModel = StateModel()
    time_ms: Natural = 0
    settled: bool = True
    tree_mode: TreeMode = "full"
    notes: list[str] = []


class TransitionModel(_Model):
    """`hit` is the path of the acted node in the source's tree: child indexes from the window down."""

    source: CaptureId
    action: ActionObject
    target: CaptureId
    hit: list[Natural] | None = None
    settle_ms: Natural = 0
    transients: list[CaptureId] = []
    notes: list[str] = []


class UnfinishedModel(_Model):
    """The action in which a trace broke off: its outcome was never captured, and `reason` says why."""

    action: ActionObject
    hit: list[Natural] | None = None
    reason: str = ""


class TraceModel(_Model):
    id: Annotated[str, Field(min_length=1, max_length=200)]
    start: CaptureId
    start_kind: StartKind = "unknown"
    instruction: str = ""
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    transitions: list[TransitionModel] = []
    unfinished: UnfinishedModel | None = None


class GraphModel(_Model):
    """A recorded app: what phoneworld records, imports and compiles."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title="app.graph.json")

    format: Literal["phoneworld.app-graph"]
    version: Literal[1]
    source: str = ""
    created: str = ""
    app: AppModel
    device: DeviceModel
    trees: Annotated[dict[Sha256, str], Field(description="UI Automator XML by the SHA-256 of its UTF-8 text")]
    captures: list[CaptureModel]
    traces: list[TraceModel]


def json_schema() -> bytes:
    """The JSON Schema of the current version, as published with the package."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **GraphModel.model_json_schema()}
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
