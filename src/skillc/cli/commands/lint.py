"""`skc lint`: what to fix in a skill, and what it costs a context."""

from __future__ import annotations

import sys

from skillc.cli.syntax import Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.errors import SkillcError
    from skillc.library import Skill
    from skillc.lint import Finding, Report

COMMAND = Command(
    "lint",
    "Say what to fix in skills, and what they cost a context.",
    arguments=(
        Argument(
            "skill",
            "A skill's name, its folder, or any file of it; with --all, folders to look below.",
            required=False,
            repeat=True,
            completes="skills",
        ),
    ),
    options=(
        Option("--all", "Lint every skill of the stores, or every one below the folders that are given."),
        Option("--fix", "Put right what can be without changing what it says."),
        Option("--strict", "Take warnings for errors."),
        Option("--force", "Lint compiled skills, too."),
        Option(
            "--format",
            "How to print the result.",
            choices=("text", "json", "sarif", "github"),
            default="text",
        ),
    ),
    description=(
        "Ends with status 1 if a rule of severity error is broken. Rules are set in the nearest"
        " .skilllint.toml above the skill, and silenced by comments such as"
        " <!-- skilllint-disable-next-line SKL301 -->; docs/lint.md lists them."
    ),
    examples=(
        "skc lint pdf",
        "skc lint skills/pdf/SKILL.md --fix",
        "skc lint --all . --strict --format github",
        "skc lint --all --format sarif > lint.sarif",
    ),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.syntax import see
    from skillc.errors import InvalidOption
    from skillc.paths import current_directory

    names = arguments.texts("skill")
    everything = arguments.given("all")
    if not names and not everything:
        raise InvalidOption(f"<skill> is missing; give one, or --all; {see(COMMAND)}")
    cwd = current_directory()
    skills = _below(names, cwd) if everything else _named(names, cwd)
    reports, failures = _reports(skills, arguments, cwd)
    _print(reports, failures, cwd, arguments.text("format"))
    return 1 if failures or any(report.errors for report in reports) else 0


def _named(names: Sequence[str], cwd: str) -> list[Skill]:
    """Each skill once, in the order it was named: several files may be of one."""
    from skillc.lint import locate

    return list({skill.source: skill for skill in (locate(name, cwd) for name in names)}.values())


def _below(folders: Sequence[str], cwd: str) -> list[Skill]:
    import os

    from skillc.errors import DirectoryNotFound
    from skillc.library import stored_skills
    from skillc.lint import skills_below

    if not folders:
        return list(stored_skills(cwd))
    found: dict[str, Skill] = {}
    for folder in folders:
        path = os.path.join(cwd, folder)
        if not os.path.isdir(path):
            raise DirectoryNotFound(folder)
        found.update((skill.source, skill) for skill in skills_below(path))
    return list(found.values())


def _reports(
    skills: Sequence[Skill], arguments: Arguments, cwd: str
) -> tuple[list[Report], list[SkillcError]]:
    """Lint each skill and say what was found; one that can't be linted does not keep the others from it."""
    from skillc.cli.progress import Progress
    from skillc.errors import unexpected

    reports: list[Report] = []
    failures: list[SkillcError] = []
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                report = _report(skill, arguments, cwd)
            except Exception as error:
                if len(skills) == 1:
                    raise
                failures.append(unexpected(error))
                progress.say(f"{failures[-1].line()} ({skill.source})")
                continue
            progress.clear()
            reports.append(report)
            _tell(report, arguments, cwd)
    return reports, failures


def _report(skill: Skill, arguments: Arguments, cwd: str) -> Report:
    """Lint one skill, and note the access of one that was named."""
    from skillc.cli.output import warn
    from skillc.lint import fix_skill, lint_skill
    from skillc.usage import run_logged

    operation = fix_skill if arguments.given("fix") else lint_skill
    noted = {name: arguments.given(name) for name in ("force", "fix", "strict")}

    def run() -> Report:
        return operation(skill, force=noted["force"], strict=noted["strict"])

    if arguments.given("all"):
        return run()
    report, noticed = run_logged(skill, "lint", {**noted}, cwd, run)
    warn(noticed)
    return report


def _tell(report: Report, arguments: Arguments, cwd: str) -> None:
    """What there is to say of a skill before all are done: diagnostics, and text for people."""
    from skillc.text import one_line

    form = arguments.text("format")
    if report.skipped:
        print(f"info: skipping compiled skill '{one_line(report.skill.name)}'", file=sys.stderr)
        return
    if form != "github":  # its commands are the same lines again
        sys.stdout.flush()
        for finding in report.findings:
            print(finding.text(_place(report, finding, cwd)), file=sys.stderr)
    if form == "text":
        _print_text(report, arguments.given("verbose"))


def _print(reports: Sequence[Report], failures: Sequence[SkillcError], cwd: str, form: str) -> None:
    """The result as a whole, on stdout."""
    from skillc.cli.output import print_json

    if form == "json":
        from skillc.lint import summary

        print_json(summary(reports, failures))
    elif form == "sarif":
        from skillc.lint import sarif_log

        print_json(sarif_log(reports, cwd, failures))
    elif form == "github":
        from skillc.lint import workflow_command

        for report in reports:
            for finding in report.findings:
                print(workflow_command(finding, _place(report, finding, cwd)))
    elif not reports and not failures:
        print("No skills.")
    elif len(reports) + len(failures) > 1:
        errors, warnings = sum(r.errors for r in reports), sum(r.warnings for r in reports)
        print(f"{len(reports)} skills: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}")


def _print_text(report: Report, verbose: bool) -> None:
    from skillc.text import one_line

    for fixed in report.fixed:
        print(f"Fixed {fixed.rule} in {one_line(fixed.file)}")
    counts = f"{_counted(report.errors, 'error')}, {_counted(report.warnings, 'warning')}"
    fixable = f" ({report.fixable} can be fixed with --fix)" if report.fixable else ""
    print(f"{one_line(report.skill.name)}: {counts if report.findings else 'nothing to fix'}{fixable}")
    tokens = report.tokens
    if tokens is not None:
        files = f", {tokens.in_files} in {_counted(len(tokens.files), 'other file')}" if tokens.files else ""
        print(f"  about {tokens.metadata} tokens of metadata, {tokens.body} of body{files}")
        for name, count in tokens.files if verbose else ():
            print(f"  {count:>8}  {one_line(name)}")


def _place(report: Report, finding: Finding, cwd: str) -> str:
    """A finding's file as a terminal or a service finds it: relative to here where it is below."""
    import os

    path = os.path.join(report.skill.source, finding.file)
    here = os.path.join(os.path.realpath(cwd), "")
    return path.removeprefix(here)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
