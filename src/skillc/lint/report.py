"""The results of linting, and how they are shown: to people, as SARIF 2.1.0, as GitHub workflow commands.

>>> from skillc.lint.rules import BY_ID
>>> Finding.of(BY_ID["SKL102"], "error", "'PDF' is not lower case", "SKILL.md", 2).line_text()
"  line 2: error[E300]: SKL102 name-format: 'PDF' is not lower case"
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from skillc.contract import KEY, Failure, hidden
from skillc.errors import SkillcError
from skillc.library import Skill
from skillc.lint.rules import BY_ID, ERROR, OFF, RULES, Rule
from skillc.text import count_of, one_line, utf8_text

# What the rules about the format stand on. Rules of ours have no page on the network that stays where it is.
SPECIFICATION = "https://agentskills.io/specification"
_OF_THE_FORMAT = ("SKL1", "SKL2", "SKL3", "SKL4")
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

    number: str = field(metadata={KEY: "rule"})
    name: str
    severity: str
    message: str
    file: str
    line: int
    fixable: bool = False
    cause: str = hidden("")

    @staticmethod
    def of(rule: Rule, severity: str, message: str, file: str, line: int, *rest: Any) -> Finding:
        return Finding(rule.id, rule.name, severity, message, file, line, *rest)

    @property
    def rule(self) -> Rule:
        return BY_ID[self.number]

    def parts(self, *, has_one_code: bool) -> tuple[str, str, str]:
        """Return where it is, its code, and what is wrong, which are one line.

        The code is the rule, or with the rule behind it that of all findings of this severity.
        """
        whole = "error[E300]" if self.severity == ERROR else "warning[W300]"
        kind, rule = (f"{self.severity}[{self.number}]", self.name) if has_one_code else (whole, self.rule)
        text = one_line(f"{rule}: {self.message}") + (" [--fix]" if self.fixable else "")
        return f"  line {self.line}: ", f"{kind}: ", text

    def line_text(self) -> str:
        """Return the coded line below the name of the file."""
        return "".join(self.parts(has_one_code=False))


@dataclass(frozen=True, slots=True)
class Repair:
    """A rule that a file broke before `--fix`."""

    number: str = field(metadata={KEY: "rule"})
    name: str
    file: str

    @property
    def rule(self) -> Rule:
        return BY_ID[self.number]


@dataclass(frozen=True, slots=True)
class FileTokens:
    """About how many tokens a file costs."""

    file: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a skill: its metadata always, its body when used, each other text file when read."""

    metadata: int
    body: int
    files: tuple[FileTokens, ...]
    total: int

    @staticmethod
    def of(metadata: int, body: int, files: tuple[FileTokens, ...]) -> Tokens:
        return Tokens(metadata, body, files, metadata + body + sum(file.tokens for file in files))

    @property
    def in_files(self) -> int:
        return self.total - self.metadata - self.body


@dataclass(frozen=True, slots=True)
class Report:
    """The result of linting one skill; a compiled one is `skipped`, without findings and estimate."""

    id: str
    name: str = field(metadata={KEY: "skill"})  # as `id`; goes with the next release
    path: str
    skipped: bool
    errors: int
    warnings: int
    findings: tuple[Finding, ...]
    fixed: tuple[Repair, ...]
    tokens: Tokens | None
    skill: Skill = field(metadata={KEY: ""})

    @staticmethod
    def of(
        skill: Skill,
        findings: tuple[Finding, ...] = (),
        tokens: Tokens | None = None,
        fixed: tuple[Repair, ...] = (),
        skipped: bool = False,
    ) -> Report:
        count = sum(finding.severity == ERROR for finding in findings)
        counts = count, len(findings) - count
        return Report(skill.name, skill.name, skill.source, skipped, *counts, findings, fixed, tokens, skill)

    @property
    def fixable(self) -> int:
        return sum(finding.fixable for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Summary:
    """All reports, and the skills that could not be linted: what `--format json` prints."""

    skills: tuple[Report, ...]
    failed: tuple[Failure, ...]
    errors: int
    warnings: int


def name_file(report: Report, file: str, cwd: str) -> str:
    """Return a skill's file as a terminal or a service finds it: relative to `cwd` where it is below."""
    return os.path.join(report.path, file).removeprefix(os.path.join(os.path.realpath(cwd), ""))


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
    lines.append(f"{one_line(report.id)}: {counts if report.findings else 'nothing to fix'}{fixable}")
    tokens = report.tokens
    if tokens is not None:
        others = count_of(len(tokens.files), "other file")
        files = f", {tokens.in_files:,} in {others}" if tokens.files else ""
        lines.append(f"  about {tokens.metadata:,} tokens of metadata, {tokens.body:,} of body{files}")
        lines += [f"  {each.tokens:>8,}  {one_line(each.file)}" for each in tokens.files if verbose]
    return lines


def summarise_reports(reports: Sequence[Report], failures: Sequence[SkillcError] = ()) -> Summary:
    """Return all reports, and the skills that could not be linted, with their counts."""
    failed = tuple(Failure(failure.code, failure.message) for failure in failures)
    counts = sum(report.errors for report in reports), sum(report.warnings for report in reports)
    return Summary(tuple(reports), failed, *counts)


def count_rules(reports: Iterable[Report]) -> list[tuple[Rule, int]]:
    """Return how often each rule is broken, most first."""
    return Counter(finding.rule for report in reports for finding in report.findings).most_common()


def render_sarif(
    reports: Iterable[Report], base: str, failures: Sequence[SkillcError] = ()
) -> dict[str, Any]:
    """Return one SARIF log of all reports; files below the directory `base` are named relative to it."""
    from skillc import sarif  # loads pathlib, and few ask for SARIF

    results = [
        sarif.describe_result(
            finding.number,
            _RULE_INDEX[finding.number],
            finding.severity,
            finding.message,
            sarif.file_uri(os.path.join(report.path, finding.file), base),
            finding.line,
        )
        for report in reports
        for finding in report.findings
    ]
    rules = [_describe_rule(rule) for rule in RULES]
    return sarif.render_log("skc lint", rules, results, failures)


def _describe_rule(rule: Rule) -> dict[str, Any]:
    from skillc import sarif

    level = "none" if rule.severity == OFF else rule.severity
    entry = sarif.describe_rule(rule.id, rule.name, rule.requirement, level)
    entry["help"] = {"text": rule.advice}
    if rule.id.startswith(_OF_THE_FORMAT):
        entry["helpUri"] = SPECIFICATION
    return entry


def render_workflow_command(finding: Finding, path: str) -> str:
    """Return the GitHub workflow command that annotates a line of the file at `path` in a pull request."""
    properties = {
        "file": utf8_text(path),
        "line": str(finding.line),
        "title": str(finding.rule),
    }
    listing = ",".join(f"{key}={value.translate(_PROPERTY_ESCAPES)}" for key, value in properties.items())
    message = one_line(utf8_text(finding.message)).translate(_MESSAGE_ESCAPES)
    return f"::{finding.severity} {listing}::{message}"
