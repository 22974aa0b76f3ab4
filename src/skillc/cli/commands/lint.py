"""`skc lint`: what to fix in a skill, and what it costs a context."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing

from skillc import errors, lint
from skillc.cli import print_lines, show
from skillc.cli.approval import attended_workspace
from skillc.cli.findings import show_report
from skillc.cli.output import print_json, table
from skillc.cli.syntax import Arguments, Command
from skillc.text import count_of, one_line

NO_SKILLS = "No skills to check: there is no SKILL.md in the stores, or in the folders that were given."
COMMAND = Command("""
skc lint

Exits with status 1 if a rule of severity error is broken. Rules of style are off until --select, --strict or
the configuration switches them on. Configure rules in .skilllint.toml, in the skill's folder or above.
Suppress them with comments such as <!-- skilllint-disable-next-line SKL301 -->. docs/lint-rules.md lists all
rules.

[skill]... :skills  A skill's name, its folder, any file in it, or a folder with skills.
--all  Lint every skill in the stores, or below the given folders.
--fix  Fix what can be fixed without changing the meaning.
--diff  Print what --fix would change, and change nothing.
--strict  Check style as well, and treat warnings as errors.
--select <rules>... :rules  Check these rules alone, by number, its start, or name: SKL203,SKL3,no-orphans;
    all.
--ignore <rules>... :rules  Do not check these rules.
--explain <rule> :rules  Say what a rule wants and how to satisfy it.
--statistics  Print how often each rule is broken, most first.
--force  Also lint compiled skills.
--format text|json|sarif|github =text  Output format.

$ skc lint pdf
$ skc lint skills/pdf/SKILL.md --fix
$ skc lint --all . --strict --format github
$ skc lint --all --statistics
$ skc lint --explain SKL301
$ skc lint --all --format sarif > lint.sarif
""")


def run(arguments: Arguments) -> int:
    if word := arguments.optional("explain"):
        rules = lint.require_rules(word)
        return show(arguments, {"rules": rules}, (line for rule in rules for line in rule.lines()))
    names, everything = arguments.texts("skill"), arguments.has("all")
    if not names and not everything:
        raise arguments.error("<skill> is missing; give one, or --all")
    here = attended_workspace(arguments)
    skills, is_named = lint.find_targets(names, here.cwd, _say_unreadable, everything=everything)
    fix, force = arguments.has("fix") and not arguments.has("diff"), arguments.has("force")
    select, ignore = (lint.choose_rules(arguments.texts(name), f"--{name}") for name in ("select", "ignore"))
    choice = lint.Choice(select, ignore, arguments.has("strict"))
    reports: list[lint.Report] = []
    failures: list[errors.SkillcError] = []
    results = here.lint_many(skills, fix=fix, force=force, choice=choice, log=is_named)
    with closing(results):  # after an interrupt, too: its worker processes end now
        for skill, result in zip(skills, results, strict=True):
            if not isinstance(result, errors.SkillcError):
                reports.append(result)
                _print_report(result, arguments, here.cwd, is_one_of_many=len(skills) > 1)
            elif len(skills) == 1:
                raise result
            else:  # one that can't be linted does not stop the others
                failures.append(result)
                print(f"{result.line()} ({skill.source})", file=sys.stderr)
    _print_all(reports, failures, here.cwd, arguments)
    return 1 if failures or any(report.errors for report in reports) else 0


def _say_unreadable(error: OSError) -> None:
    print(f"info: skipping a folder: {errors.unexpected(error).message}", file=sys.stderr)


def _print_report(report: lint.Report, arguments: Arguments, cwd: str, *, is_one_of_many: bool) -> None:
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


def _print_all(
    reports: Sequence[lint.Report], failures: Sequence[errors.SkillcError], cwd: str, arguments: Arguments
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
        lines = [*table(("COUNT", "RULE", "NAME"), rows), f"{total} in {skills}"]
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
