"""The results of linting, as values, JSON, SARIF 2.1.0 and GitHub workflow commands.

>>> from skillc.lint.rules import BY_ID
>>> Finding(BY_ID["SKL102"], "error", "'PDF' is not lower case", "SKILL.md", 2).text()
"error[E300]: SKL102 name-format: 'PDF' is not lower case (SKILL.md:2)"
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from skillc import sarif
from skillc.errors import LintFailed, SkillcError, warning
from skillc.library import Skill
from skillc.lint.rules import ERROR, OFF, RULES, Rule
from skillc.text import one_line, utf8_text

if TYPE_CHECKING:
    from skillc.lint.tokens import Tokens

DOCUMENTATION = "https://pypi.org/project/skillc/"  # which links to docs/lint.md
_RULE_INDEX = {rule.id: number for number, rule in enumerate(RULES)}
_MESSAGE_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = _MESSAGE_ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


class Problem(NamedTuple):
    """A broken rule, before settings and suppressions are applied.

    `cause` is the code of the lenient reader's diagnostic that the problem reports, if any.
    """

    rule: str
    message: str
    file: str
    line: int = 1
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule, how severe it is here, and where. `file` is below the skill's root."""

    rule: Rule
    severity: str
    message: str
    file: str
    line: int
    fixable: bool = False
    cause: str = ""

    def text(self, place: str = "") -> str:
        """Return the coded line; `place` is the path of the file to print."""
        message = f"{self.message} ({place or self.file}:{self.line})"
        if self.severity == ERROR:
            return LintFailed(self.rule.id, self.rule.name, message).line()
        return warning("W300", self.rule.id, self.rule.name, message).line()

    def line_text(self) -> str:
        """Return the coded line below the name of the file."""
        code = LintFailed.code if self.severity == ERROR else "W300"
        kind = "error" if self.severity == ERROR else "warning"
        fix = " [--fix]" if self.fixable else ""
        text = one_line(f"{self.rule.id} {self.rule.name}: {self.message}")
        return f"  line {self.line}: {kind}[{code}]: {text}{fix}"

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.id,
            "name": self.rule.name,
            "severity": self.severity,
            "message": utf8_text(self.message),
            "file": utf8_text(self.file),
            "line": self.line,
            "fixable": self.fixable,
        }


@dataclass(frozen=True, slots=True)
class Repair:
    """A rule that a file broke before `--fix`."""

    rule: Rule
    file: str

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule.id, "name": self.rule.name, "file": utf8_text(self.file)}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of linting one skill; a compiled one is `skipped`, without findings and estimate."""

    skill: Skill
    findings: tuple[Finding, ...] = ()
    tokens: Tokens | None = None
    fixed: tuple[Repair, ...] = ()
    skipped: bool = False

    @property
    def errors(self) -> int:
        return sum(finding.severity == ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    @property
    def fixable(self) -> int:
        return sum(finding.fixable for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the stable form, which docs/lint.md describes."""
        return {
            "id": utf8_text(self.skill.name),
            "skill": utf8_text(self.skill.name),  # as `id`; goes with the next release
            "path": utf8_text(self.skill.source),
            "skipped": self.skipped,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [finding.as_json() for finding in self.findings],
            "fixed": [repair.as_json() for repair in self.fixed],
            "tokens": self.tokens.as_json() if self.tokens else None,
        }


def summarise_reports(reports: Sequence[Report], failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """Return what `--format json` prints: all reports, and the skills that could not be linted."""
    return {
        "skills": [report.as_json() for report in reports],
        "failed": [{"code": failure.code, "message": failure.message} for failure in failures],
        "errors": sum(report.errors for report in reports),
        "warnings": sum(report.warnings for report in reports),
    }


def render_sarif(
    reports: Iterable[Report], base: str, failures: Sequence[SkillcError] = ()
) -> dict[str, Any]:
    """Return one SARIF log of all reports; files below the directory `base` are named relative to it."""
    results = [
        sarif.describe_result(
            finding.rule.id,
            _RULE_INDEX[finding.rule.id],
            finding.severity,
            finding.message,
            sarif.file_uri(os.path.join(report.skill.source, finding.file), base),
            finding.line,
        )
        for report in reports
        for finding in report.findings
    ]
    rules = [_describe_rule(rule) for rule in RULES]
    return sarif.render_log("skc lint", rules, results, failures)


def _describe_rule(rule: Rule) -> dict[str, Any]:
    level = "none" if rule.severity == OFF else rule.severity
    return sarif.describe_rule(rule.id, rule.name, rule.requirement, level) | {"helpUri": help_uri(rule)}


def help_uri(rule: Rule) -> str:
    """Return where a rule is explained."""
    return f"{DOCUMENTATION}#{rule.id.lower()}"


def render_workflow_command(finding: Finding, path: str) -> str:
    """Return the GitHub workflow command that annotates a line of the file at `path` in a pull request."""
    properties = {"file": utf8_text(path), "line": str(finding.line), "title": str(finding.rule)}
    listing = ",".join(f"{key}={value.translate(_PROPERTY_ESCAPES)}" for key, value in properties.items())
    message = one_line(utf8_text(finding.message)).translate(_MESSAGE_ESCAPES)
    return f"::{finding.severity} {listing}::{message}"
