"""Write SARIF 2.1.0, the format that code scanners and their services share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skillc import __version__
from skillc.errors import Diagnostic, SkillcError
from skillc.text import utf8_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def describe_rule(id: str, name: str, text: str, level: str) -> dict[str, Any]:
    """Return a rule of the tool; `level` is note, warning or error."""
    return {
        "id": id,
        "name": name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    }


def describe_result(rule: str, index: int, level: str, message: str, uri: str, line: int) -> dict[str, Any]:
    """Return a finding of a rule; `index` is the rule's place in the list of rules."""
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
    return {
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": {"text": utf8_text(message)},
        "locations": [{"physicalLocation": place}],
    }


def file_uri(path: str, base: str) -> str:
    """Return a file's address: relative to `base`, which services take for the repository, if it is below."""
    try:
        return quote(os.fsencode(Path(path).relative_to(os.path.realpath(base)).as_posix()))
    except ValueError:
        return Path(path).as_uri()


def render_log(
    tool: str,
    rules: list[dict[str, Any]],
    results: list[dict[str, Any]],
    failures: Sequence[SkillcError] = (),
    warnings: Iterable[Diagnostic] = (),
) -> dict[str, Any]:
    """Return a log of one run; `failures` are what could not be checked."""
    notifications = [{"level": "error", "message": {"text": failure.line()}} for failure in failures]
    notifications += [{"level": "warning", "message": {"text": warning.line()}} for warning in warnings]
    invocation = {"executionSuccessful": not failures, "toolExecutionNotifications": notifications}
    driver = {"name": tool, "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
