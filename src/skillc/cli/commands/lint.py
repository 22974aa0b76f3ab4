"""`skc lint`: what to fix in a skill, and what it costs a context."""

from __future__ import annotations

import sys
from contextlib import closing

from skillc import errors, lint
from skillc.cli import show, workspace
from skillc.cli.findings import print_report, print_reports
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc lint

Exits with status 1 if a rule of severity error is broken. Rules of style are off until --select, --strict or
the configuration switches them on. Configure rules in .skilllint.toml, in the skill's folder or above.
docs/lint-rules.md lists all rules.

To suppress one, write above the line: <!-- skilllint-disable-next-line SKL301 -->

[skill]... :skills  A skill's name, its folder, any file in it, or a folder with skills.
--all  Lint every skill in the stores, or below the given folders.
--fix  Fix what can be fixed without changing the meaning.
--diff  Print what --fix would change, and change nothing.
--strict  Check style as well, and treat warnings as errors.
--select <rules>... :rules  Check these rules alone: numbers, starts of numbers or names, with commas between
    them, such as SKL203,SKL3,no-orphans; or all.
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
    here = workspace(steps=True)
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
                print_report(result, arguments, here.cwd, is_one_of_many=len(skills) > 1)
            elif len(skills) == 1:
                raise result
            else:  # one that can't be linted does not stop the others
                failures.append(result)
                print(f"{result.line()} ({skill.source})", file=sys.stderr)
    print_reports(reports, failures, here.cwd, arguments)
    return 1 if failures or any(report.errors for report in reports) else 0


def _say_unreadable(error: OSError) -> None:
    print(f"info: skipping a folder: {errors.unexpected(error).message}", file=sys.stderr)
