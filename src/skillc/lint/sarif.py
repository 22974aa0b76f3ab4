"""Reports as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skillc import __version__
from skillc.lint.rules import RULES
from skillc.text import utf8_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillc.errors import SkillcError
    from skillc.lint.report import Finding, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_INDEX = {rule.id: number for number, rule in enumerate(RULES)}


def sarif_log(reports: Iterable[Report], base: str, failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """One log of all reports; files below the directory `base` are named relative to it."""
    results = [
        _result(finding, os.path.join(report.skill.source, finding.file), base)
        for report in reports
        for finding in report.findings
    ]
    rules = [
        {
            "id": rule.id,
            "name": rule.name,
            "shortDescription": {"text": rule.wants},
            "defaultConfiguration": {"level": rule.severity},
        }
        for rule in RULES
    ]
    notifications = [{"level": "error", "message": {"text": failure.line()}} for failure in failures]
    invocation = {"executionSuccessful": not failures, "toolExecutionNotifications": notifications}
    run = {
        "tool": {"driver": {"name": "skc lint", "version": __version__, "rules": rules}},
        "invocations": [invocation],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, path: str, base: str) -> dict[str, Any]:
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": _INDEX[finding.rule.id],
        "level": finding.severity,
        "message": {"text": utf8_text(finding.message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(path, base)},
                    "region": {"startLine": finding.line},
                }
            }
        ],
    }


def _uri(path: str, base: str) -> str:
    """A file's address: relative where it is below `base`, which services take for the repository."""
    from pathlib import Path

    try:
        return quote(os.fsencode(Path(path).relative_to(os.path.realpath(base)).as_posix()))
    except ValueError:
        return Path(path).as_uri()
