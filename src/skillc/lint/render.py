"""Show the results of linting to people, and as JSON, SARIF 2.1.0 and GitHub workflow commands."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from skillc import sarif
from skillc.errors import SkillcError
from skillc.lint.report import Finding, Report
from skillc.lint.rules import OFF, RULES, Rule
from skillc.text import count_of, one_line, utf8_text

# What the rules about the format stand on. Rules of ours have no page on the network that stays where it is.
SPECIFICATION = "https://agentskills.io/specification"
_OF_THE_FORMAT = ("SKL1", "SKL2", "SKL3", "SKL4")
_RULE_INDEX = {rule.id: number for number, rule in enumerate(RULES)}
_MESSAGE_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = _MESSAGE_ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


def name_file(report: Report, file: str, cwd: str) -> str:
    """Return a skill's file as a terminal or a service finds it: relative to `cwd` where it is below."""
    return os.path.join(report.skill.source, file).removeprefix(os.path.join(os.path.realpath(cwd), ""))


def group_findings(report: Report, cwd: str) -> list[tuple[str, list[str]]]:
    """Return the findings for people: the files, each with a line for each of its findings."""
    groups = groupby(report.findings, key=lambda finding: finding.file)
    return [
        (one_line(name_file(report, file, cwd)), [each.line_text() for each in group])
        for file, group in groups
    ]


def summarise_report(report: Report, *, verbose: bool = False) -> list[str]:
    """Return what stands below the findings: what was fixed, how many there are, and the cost in tokens."""
    lines = [f"Fixed {fix.rule} in {one_line(fix.file)}" for fix in report.fixed]
    counts = f"{count_of(report.errors, 'error')}, {count_of(report.warnings, 'warning')}"
    fixable = f" ({report.fixable} can be fixed with --fix)" if report.fixable else ""
    lines.append(f"{one_line(report.skill.name)}: {counts if report.findings else 'nothing to fix'}{fixable}")
    tokens = report.tokens
    if tokens is not None:
        others = count_of(len(tokens.files), "other file")
        files = f", {tokens.in_files:,} in {others}" if tokens.files else ""
        lines.append(f"  about {tokens.metadata:,} tokens of metadata, {tokens.body:,} of body{files}")
        lines += [f"  {count:>8,}  {one_line(name)}" for name, count in tokens.files if verbose]
    return lines


def summarise_reports(reports: Sequence[Report], failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """Return what `--format json` prints: all reports, and the skills that could not be linted."""
    return {
        "skills": [report.as_json() for report in reports],
        "failed": [{"code": failure.code, "message": failure.message} for failure in failures],
        "errors": sum(report.errors for report in reports),
        "warnings": sum(report.warnings for report in reports),
    }


def count_rules(reports: Iterable[Report]) -> list[tuple[Rule, int]]:
    """Return how often each rule is broken, most first."""
    return Counter(finding.rule for report in reports for finding in report.findings).most_common()


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
    entry = sarif.describe_rule(rule.id, rule.name, rule.requirement, level)
    entry["help"] = {"text": rule.advice}
    if rule.id.startswith(_OF_THE_FORMAT):
        entry["helpUri"] = SPECIFICATION
    return entry


def render_workflow_command(finding: Finding, path: str) -> str:
    """Return the GitHub workflow command that annotates a line of the file at `path` in a pull request."""
    properties = {"file": utf8_text(path), "line": str(finding.line), "title": str(finding.rule)}
    listing = ",".join(f"{key}={value.translate(_PROPERTY_ESCAPES)}" for key, value in properties.items())
    message = one_line(utf8_text(finding.message)).translate(_MESSAGE_ESCAPES)
    return f"::{finding.severity} {listing}::{message}"
