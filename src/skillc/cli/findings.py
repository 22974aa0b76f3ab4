"""What commands show that look for something wrong: findings of `doctor`, `audit` and `lint`, and waste."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from skillc import audit, lint  # lazy
from skillc.cli import PlainStream, print_lines, show
from skillc.cli.lines import BAD, CODE, FAINT, GOOD, STRONG, WARNING, WHOLE, WORDS, Line, Mark, Table
from skillc.cli.output import print_json
from skillc.text import count_of, one_line

if TYPE_CHECKING:
    from skillc.audit import Audit
    from skillc.cli.syntax import Arguments
    from skillc.doctor import Examination, LibraryFindings
    from skillc.errors import SkillcError
    from skillc.install import Waste
    from skillc.lint import Report

MAX_LINES = 20  # findings of one check of the installation, or waste of one kind
NO_SKILLS = "No skills to check: there is no SKILL.md in the stores, or in the folders that were given."
SEVERITIES = {"ok": GOOD, "warning": WARNING, "error": BAD}


def show_examination(examination: Examination) -> Iterator[str]:
    """Yield what was repaired, a line for each finding with what puts it right, and the counts."""
    repairs, failures = examination.fixed or (), examination.not_fixed or ()
    for text in repairs:
        yield one_line(f"Fixed: {text}")
    for text in failures:
        yield one_line(f"Not fixed: {text}")
    if repairs or failures:
        yield ""
    counts: Counter[str] = Counter()
    for check in examination.checks:
        counts[check.name] += 1
        if counts[check.name] > MAX_LINES:
            continue
        status = Mark(f"{check.status:<8}", SEVERITIES[check.status])
        yield Line(status, one_line(f" {check.name:<14} {check.message}"), hang=24, breaks=WORDS)
        if check.fix:
            yield Line(f"{'':<23} fix: ", Mark(one_line(check.fix), CODE), breaks=WHOLE)
    for name, number in counts.items():
        if number > MAX_LINES:
            yield f"… and {number - MAX_LINES} more of '{name}'; --format json has them all"
    repairable = sum(check.repair is not None for check in examination.checks)
    hint = f"; 'skc doctor --fix' puts {repairable} of them right" if repairable else ""
    errors, warnings = count_of(examination.errors, "error"), count_of(examination.warnings, "warning")
    yield f"{errors}, {warnings}{hint}"


def show_library_findings(result: LibraryFindings) -> Iterator[str]:
    """Yield what was found in the library, the counts of each code, and what to do."""
    for each in result.diagnostics:
        kind = Mark(f"{each.severity}[{each.code}]:", SEVERITIES.get(each.severity, WARNING))
        text = ": ".join(filter(None, (each.source_name, each.path, each.message)))
        yield Line(kind, one_line(f" {text}"), hang=2)
    if not result.diagnostics:
        rest = f" here; {result.total:,} without the filters" if result.total else ""
        yield f"Nothing to report{rest}."
        return
    codes = ", ".join(f"{count:,} {code}" for code, count in result.count_codes())
    warnings = count_of(len(result.diagnostics) - result.errors, "warning")
    yield f"{count_of(result.errors, 'error')}, {warnings} ({codes})"
    if len(result.diagnostics) < result.total:
        yield f"{result.total:,} in all, without the filters"
    yield from result.advice()


def show_audit(result: Audit, cwd: str, *, is_one_of_many: bool, verbose: bool) -> Iterator[str]:
    """Yield what a skill asks for and what to look at in it; of one of many, only if there is something."""
    findings = [finding for finding in result.findings if verbose or finding.level != audit.NOTE]
    if is_one_of_many and not findings and not verbose:
        return  # the totals count it
    counts = ", ".join(count_of(result.count(level), level) for level in reversed(audit.LEVELS))
    suffix = f" ({result.allowed} allowed)" if result.allowed else ""
    yield Line(Mark(one_line(result.name), STRONG), f": {counts}{suffix}")
    if verbose or not is_one_of_many:
        yield from audit.render_asks(result.asks, verbose)
    base = os.path.join(os.path.realpath(cwd), "")
    styles = {audit.BLOCK: BAD, audit.REVIEW: WARNING, audit.NOTE: FAINT}
    for finding in findings:
        path = os.path.join(result.folder, finding.file).removeprefix(base)
        text = audit.render_finding(finding, path).removeprefix(f"  {finding.level}")
        yield Line("  ", Mark(finding.level, styles[finding.level]), text, hang=10, breaks=WORDS)


def show_report(report: Report, cwd: str, *, verbose: bool) -> Iterator[str]:
    """Yield the findings of each file of a skill, and what stands below them."""
    for file, findings in groupby(report.findings, key=lambda finding: finding.file):
        yield Line(Mark(one_line(lint.name_file(report, file, cwd)), STRONG), breaks=WORDS)
        for finding in findings:
            # A terminal shows the rule as the code; a pipe gets the line as RFC-0008 has it.
            place, kind, text = finding.parts(has_one_code=isinstance(sys.stdout, PlainStream))
            yield Line(Mark(place, FAINT), Mark(kind, SEVERITIES[finding.severity]), text, hang=6)
    for text in lint.summarise_report(report, verbose=verbose):
        # Costs in tokens are no findings.
        yield Line(Mark(text, FAINT), hang=4, breaks=WORDS) if text.startswith(" ") else text


def print_report(report: Report, arguments: Arguments, cwd: str, *, is_one_of_many: bool) -> None:
    """Print what there is to say of a skill before all are done: findings, and text for people."""
    name = one_line(report.skill.name)
    if report.skipped:
        print(f"info: skipping compiled skill '{name}'", file=sys.stderr)
    elif arguments.text("format") != "text" or arguments.has("statistics"):
        return
    elif arguments.has("diff"):
        lines = list(lint.diff_fixes(report.skill, report, lint.name_file(report, "", cwd)))
        print_lines(lines)
        if not lines and report.findings:
            print(f"info: --fix changes nothing in '{name}'", file=sys.stderr)
    else:
        print_lines(show_report(report, cwd, verbose=arguments.has("verbose")))
        if is_one_of_many and report.findings and sys.stdout.isatty():
            print()  # sets the next skill's findings apart


def print_reports(
    reports: Sequence[Report], failures: Sequence[SkillcError], cwd: str, arguments: Arguments
) -> None:
    """Print the result as a whole on stdout."""
    form, skills = arguments.text("format"), count_of(len(reports), "skill")
    if form == "sarif":
        print_json(lint.render_sarif(reports, cwd, failures))
    elif form == "github":
        for report in reports:
            for finding in report.findings:
                print(lint.render_workflow_command(finding, lint.name_file(report, finding.file, cwd)))
    elif arguments.has("statistics"):
        counts = lint.count_rules(reports)
        rules = [{"rule": rule.id, "name": rule.name, "count": count} for rule, count in counts]
        rows = [(f"{count:,}", rule.id, rule.name) for rule, count in counts]
        total = count_of(sum(count for _, count in counts), "finding")
        lines = [Table(("COUNT", "RULE", "NAME"), rows), f"{total} in {skills}"]
        nothing = "Nothing to fix." if reports or failures else NO_SKILLS
        value = {"rules": rules, "skills": len(reports), "failed": len(failures)}
        show(arguments, value, lines if counts else [nothing])
    elif form == "json":
        print_json(lint.summarise_reports(reports, failures))
    elif not reports and not failures:
        print_lines([NO_SKILLS])
    elif len(reports) + len(failures) > 1:
        problems, warnings = sum(r.errors for r in reports), sum(r.warnings for r in reports)
        print(f"{skills}: {count_of(problems, 'error')}, {count_of(warnings, 'warning')}")


def show_waste(waste: Sequence[Waste]) -> Iterator[str]:
    """Yield a table for each kind of waste, with its size, and the total."""
    if not waste:
        yield "Nothing to clean."
        return
    for kind in dict.fromkeys(item.kind for item in waste):
        items = [item for item in waste if item.kind == kind]
        yield f"{kind.capitalize()}s: {measure_waste(items)}"
        rows = [(f"  {item.size:,}", item.what, item.path, item.origin) for item in items[:MAX_LINES]]
        yield Table(("  BYTES", "WHAT", "PATH", "FROM"), rows)
        if len(items) > MAX_LINES:
            yield f"  … and {len(items) - MAX_LINES} more; --format json has them all"
        yield ""
    yield f"Total: {measure_waste(waste)}"


def measure_waste(items: Sequence[Waste]) -> str:
    """Return how much waste that is, for people."""
    return f"{count_of(len(items), 'item')}, {sum(item.size for item in items):,} bytes"
