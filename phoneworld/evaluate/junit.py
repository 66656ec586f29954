"""The figures of an evaluation as JUnit XML, which every CI shows: a test an episode, failed where the policy failed, an error without a score."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(figures: Mapping[str, Any], seconds: Mapping[str, float]) -> bytes:
    """The XML. `seconds` says how long episodes took, by their names."""
    suites = ElementTree.Element("testsuites", name="phoneworld eval")
    by_task: dict[str, list[Mapping[str, Any]]] = {}
    for one in figures["each"]:
        by_task.setdefault(one["name"].rpartition("/")[0], []).append(one)
    for task, each in by_task.items():
        count = {
            "tests": len(each), "failures": sum(e["success"] is False for e in each), "errors": sum(e["ended"] in ("infra", "checker", "env") for e in each),
            "skipped": sum(e["ended"] == "unknown" for e in each),
        }  # fmt: skip
        took = sum(seconds.get(e["name"], 0.0) for e in each)
        suite = ElementTree.SubElement(suites, "testsuite", name=_text(task), attrib={k: str(v) for k, v in count.items()}, time=f"{took:.3f}")
        for one in each:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_text(task.replace("/", ".")), name=_text(one["name"].rpartition("/")[2]), time=f"{seconds.get(one['name'], 0.0):.3f}"
            )
            progress = "" if one["progress"] is None else f", progress {one['progress']:.0%}"
            told = _text(one["message"] or f"{one['ended']} after {one['steps']} steps{progress}")
            if one["success"] is False:
                ElementTree.SubElement(case, "failure", type=one["ended"], message=told)
            elif one["ended"] == "unknown":
                ElementTree.SubElement(case, "skipped", message="cannot be told on this phone")
            elif one["success"] is None:
                ElementTree.SubElement(case, "error", type=one["ended"], message=told)
    ElementTree.indent(suites)
    xml: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _text(words: str) -> str:
    """Words without what XML cannot hold."""
    return _NO_XML.sub("\ufffd", words)
