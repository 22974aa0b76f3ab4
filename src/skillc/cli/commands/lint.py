"""`skc lint`: what to fix in a skill, and what it costs a context."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from skillc import lint
from skillc.cli import workspace
from skillc.cli.mistakes import see
from skillc.cli.output import print_json
from skillc.cli.progress import Progress
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.errors import DirectoryNotFound, InvalidOption, SkillcError, unexpected
from skillc.library import Skill, stored_skills
from skillc.text import one_line
from skillc.workspace import Workspace

FORMATS = ("text", "json", "sarif", "github")

COMMAND = Command(
    "lint",
    arguments=(
        Argument(
            "skill",
            "A skill's name, its folder, or any file in it. With --all: folders to search for skills.",
            required=False,
            repeat=True,
            completes="skills",
        ),
    ),
    options=(
        Option("--all", "Lint every skill in the stores, or below the given folders."),
        Option("--fix", "Fix what can be fixed without changing the meaning."),
        Option("--strict", "Treat warnings as errors."),
        Option("--force", "Also lint compiled skills."),
        Option("--format", "Output format.", choices=FORMATS, default="text"),
    ),
    description=(
        "Exits with status 1 if a rule of severity error is broken. Configure rules in .skilllint.toml, in"
        " the skill's folder or above. Suppress them with comments such as"
        " <!-- skilllint-disable-next-line SKL301 -->. docs/lint.md lists all rules."
    ),
    examples=(
        "skc lint pdf",
        "skc lint skills/pdf/SKILL.md --fix",
        "skc lint --all . --strict --format github",
        "skc lint --all --format sarif > lint.sarif",
    ),
)


def run(arguments: Arguments) -> int:
    names = arguments.texts("skill")
    everything = arguments.has("all")
    if not names and not everything:
        raise InvalidOption(f"<skill> is missing; give one, or --all; {see(COMMAND)}")
    here = workspace()
    if everything:
        skills = _below(names, here.cwd)
    else:  # several names may be files of one skill
        skills = _unique(lint.find_skill_of(name, here.cwd) for name in names)
    reports, failures = _lint(skills, arguments, here)
    _print(reports, failures, here.cwd, arguments.text("format"))
    return 1 if failures or any(report.errors for report in reports) else 0


def _unique(skills: Iterable[Skill]) -> list[Skill]:
    return list({skill.source: skill for skill in skills}.values())


def _below(folders: Sequence[str], cwd: str) -> list[Skill]:
    if not folders:
        return list(stored_skills(cwd))
    for folder in folders:
        if not os.path.isdir(os.path.join(cwd, folder)):
            raise DirectoryNotFound(folder)
    return _unique(skill for folder in folders for skill in lint.find_skills_below(os.path.join(cwd, folder)))


def _lint(
    skills: Sequence[Skill], arguments: Arguments, here: Workspace
) -> tuple[list[lint.Report], list[SkillcError]]:
    """Lint each skill and print its findings; one that can't be linted does not stop the others."""
    reports: list[lint.Report] = []
    failures: list[SkillcError] = []
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                report = _report(skill, arguments, here)
            except Exception as error:
                if len(skills) == 1:
                    raise
                failures.append(unexpected(error))
                progress.say(f"{failures[-1].line()} ({skill.source})")
                continue
            progress.clear()
            reports.append(report)
            _print_findings(report, arguments, here.cwd)
    return reports, failures


def _report(skill: Skill, arguments: Arguments, here: Workspace) -> lint.Report:
    """Lint one skill; the access is logged where it was named."""
    fix, force, strict = (arguments.has(name) for name in ("fix", "force", "strict"))
    if not arguments.has("all"):
        return here.lint(skill, fix=fix, force=force, strict=strict)
    return (lint.fix_skill if fix else lint.lint_skill)(skill, force=force, strict=strict)


def _print_findings(report: lint.Report, arguments: Arguments, cwd: str) -> None:
    """Print what there is to say of a skill before all are done: findings, and text for people."""
    form = arguments.text("format")
    if report.skipped:
        print(f"info: skipping compiled skill '{one_line(report.skill.name)}'", file=sys.stderr)
        return
    if form != "github":  # its commands are the same lines again
        sys.stdout.flush()
        for finding in report.findings:
            print(finding.text(_path(report, finding, cwd)), file=sys.stderr)
    if form == "text":
        _print_text(report, arguments.has("verbose"))


def _print(reports: Sequence[lint.Report], failures: Sequence[SkillcError], cwd: str, form: str) -> None:
    """Print the result as a whole on stdout."""
    if form == "json":
        print_json(lint.summarise_reports(reports, failures))
    elif form == "sarif":
        print_json(lint.render_sarif(reports, cwd, failures))
    elif form == "github":
        for report in reports:
            for finding in report.findings:
                print(lint.render_workflow_command(finding, _path(report, finding, cwd)))
    elif not reports and not failures:
        print("No skills.")
    elif len(reports) + len(failures) > 1:
        errors, warnings = sum(r.errors for r in reports), sum(r.warnings for r in reports)
        print(f"{len(reports)} skills: {_count(errors, 'error')}, {_count(warnings, 'warning')}")


def _print_text(report: lint.Report, verbose: bool) -> None:
    for fix in report.fixed:
        print(f"Fixed {fix.rule} in {one_line(fix.file)}")
    counts = f"{_count(report.errors, 'error')}, {_count(report.warnings, 'warning')}"
    fixable = f" ({report.fixable} can be fixed with --fix)" if report.fixable else ""
    print(f"{one_line(report.skill.name)}: {counts if report.findings else 'nothing to fix'}{fixable}")
    tokens = report.tokens
    if tokens is not None:
        files = f", {tokens.in_files} in {_count(len(tokens.files), 'other file')}" if tokens.files else ""
        print(f"  about {tokens.metadata} tokens of metadata, {tokens.body} of body{files}")
        for name, count in tokens.files if verbose else ():
            print(f"  {count:>8}  {one_line(name)}")


def _path(report: lint.Report, finding: lint.Finding, cwd: str) -> str:
    """Return a finding's file as a terminal or a service finds it: relative to here where it is below."""
    path = os.path.join(report.skill.source, finding.file)
    return path.removeprefix(os.path.join(os.path.realpath(cwd), ""))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
