"""Show the results of linting to people: findings by file, and what stands below them."""

from __future__ import annotations

import os
from itertools import groupby

from skillc.text import count_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.lint.report import Report


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
