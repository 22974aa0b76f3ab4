"""`skc lint`: what to fix in a skill, and what it costs a context."""

from __future__ import annotations

import os
import sys

from skillc import errors, library, lint
from skillc.cli import show, workspace
from skillc.cli.mistakes import see
from skillc.cli.output import print_json, table
from skillc.cli.style import FAINT, STRONG, paint, paint_findings, paint_report
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.text import count_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from skillc.errors import SkillcError
    from skillc.library import Skill
    from skillc.workspace import Workspace

FORMATS = ("text", "json", "sarif", "github")

RULES_PAGE = "; docs/lint.md lists all rules"
NO_SKILLS = "No skills to check: there is no SKILL.md in the stores, or in the folders that were given."
COMMAND = Command(
    "lint",
    arguments=(
        Argument(
            "skill",
            "A skill's name, its folder, any file in it, or a folder with skills.",
            required=False,
            repeat=True,
            completes="skills",
        ),
    ),
    options=(
        Option("--all", "Lint every skill in the stores, or below the given folders."),
        Option("--fix", "Fix what can be fixed without changing the meaning."),
        Option("--diff", "Print what --fix would change, and change nothing."),
        Option("--strict", "Check style as well, and treat warnings as errors."),
        Option(
            "--select",
            "Check these rules alone, by number, its start, or name: SKL203,SKL3,no-orphans; all.",
            value="<rules>",
            repeat=True,
            completes="rules",
        ),
        Option("--ignore", "Do not check these rules.", value="<rules>", repeat=True, completes="rules"),
        Option(
            "--explain", "Say what a rule wants and how to satisfy it.", value="<rule>", completes="rules"
        ),
        Option("--statistics", "Print how often each rule is broken, most first."),
        Option("--force", "Also lint compiled skills."),
        Option("--format", "Output format.", choices=FORMATS, default="text"),
    ),
    description=(
        "Exits with status 1 if a rule of severity error is broken. Rules of style are off until --select,"
        " --strict or the configuration switches them on. Configure rules in .skilllint.toml, in"
        " the skill's folder or above. Suppress them with comments such as"
        " <!-- skilllint-disable-next-line SKL301 -->. docs/lint.md lists all rules."
    ),
    examples=(
        "skc lint pdf",
        "skc lint skills/pdf/SKILL.md --fix",
        "skc lint --all . --strict --format github",
        "skc lint --all --statistics",
        "skc lint --explain SKL301",
        "skc lint --all --format sarif > lint.sarif",
    ),
)


def run(arguments: Arguments) -> int:
    if rule := arguments.optional("explain"):
        return _explain(arguments, rule)
    names = arguments.texts("skill")
    everything = arguments.has("all")
    if not names and not everything:
        raise errors.InvalidOption(f"<skill> is missing; give one, or --all; {see(COMMAND)}")
    here = workspace()
    if everything:
        skills, is_named = _below(names, here.cwd), False
    else:
        skills, is_named = _find(names, here.cwd)
    results = _check(skills, arguments, here, is_named)
    try:
        reports, failures = _collect(skills, results, arguments, here.cwd)
    finally:
        results.close()  # after an interrupt, too: its worker processes end now
    _print(reports, failures, here.cwd, arguments)
    return 1 if failures or any(report.errors for report in reports) else 0


def _choice(arguments: Arguments) -> lint.Choice:
    select, ignore = (_rules(name, arguments.texts(name)) for name in ("select", "ignore"))
    return lint.Choice(select, ignore, arguments.has("strict"))


def _rules(option: str, words: Sequence[str]) -> frozenset[str]:
    """Return the numbers of the rules that words with commas between them select."""
    numbers: set[str] = set()
    for word in filter(None, (part.strip() for text in words for part in text.split(","))):
        rules = lint.find_rules(word)
        if not rules:
            raise errors.InvalidOption(f"there is no rule '{word}'{lint.suggest_rule(word) or RULES_PAGE}")
        numbers |= {rule.id for rule in rules}
    if words and not numbers:  # none would mean all
        raise errors.InvalidOption(f"--{option} needs a rule; {see(COMMAND)}")
    return frozenset(numbers)


def _explain(arguments: Arguments, word: str) -> int:
    rules = lint.find_rules(word)
    if not rules:
        raise errors.InvalidOption(f"there is no rule '{word}'{lint.suggest_rule(word) or RULES_PAGE}")
    return show(
        arguments,
        lambda: {"rules": rules},
        lambda: (line for rule in rules for line in rule.lines()),
    )


def _find(names: Sequence[str], cwd: str) -> tuple[list[Skill], bool]:
    """Return the skills of all names, and whether each was named, and not a folder that has skills."""
    skills = [lint.find_skills_of(name, cwd, _say_unreadable) for name in names]
    is_named = all(len(group) == 1 for group in skills)
    return _unique(skill for group in skills for skill in group), is_named  # several may be files of one


def _unique(skills: Iterable[Skill]) -> list[Skill]:
    return list({skill.source: skill for skill in skills}.values())


def _below(folders: Sequence[str], cwd: str) -> list[Skill]:
    if not folders:
        return list(library.stored_skills(cwd))
    for folder in folders:
        path = os.path.join(cwd, folder)
        if os.path.isfile(path):
            raise errors.InvalidOption(f"'{folder}' is a file; give --all folders, or leave --all out")
        if not os.path.isdir(path):
            raise errors.DirectoryNotFound(folder)
    paths = [os.path.join(cwd, folder) for folder in folders]
    return _unique(skill for path in paths for skill in lint.find_skills_below(path, _say_unreadable))


def _say_unreadable(error: OSError) -> None:
    print(f"info: skipping a folder: {errors.unexpected(error).message}", file=sys.stderr)


def _check(
    skills: Sequence[Skill], arguments: Arguments, here: Workspace, is_named: bool
) -> Generator[lint.Report | SkillcError, None, None]:
    """Yield the result of each skill; accesses are logged where the skills were named."""
    fix, force = arguments.has("fix") and not arguments.has("diff"), arguments.has("force")
    choice = _choice(arguments)
    if len(skills) == 1 and is_named:
        yield here.lint(skills[0], fix=fix, force=force, choice=choice)
    else:
        results = here.lint_many(skills, fix=fix, force=force, choice=choice, log=is_named)
        yield from _count_off(skills, results)


def _count_off(
    skills: Sequence[Skill], results: Iterable[lint.Report | SkillcError]
) -> Iterator[lint.Report | SkillcError]:
    """Yield the results, and show on a terminal how many there are."""
    from skillc.cli.progress import Progress  # takes longer to load than one skill to lint

    with Progress(len(skills), "skills") as progress:
        for skill, result in zip(skills, results, strict=True):
            progress.step(skill.name)
            yield result


def _collect(
    skills: Sequence[Skill], results: Iterable[lint.Report | SkillcError], arguments: Arguments, cwd: str
) -> tuple[list[lint.Report], list[SkillcError]]:
    """Print the findings of each skill; one that can't be linted does not stop the others."""
    reports: list[lint.Report] = []
    failures: list[SkillcError] = []
    for skill, result in zip(skills, results, strict=True):
        if not isinstance(result, errors.SkillcError):
            reports.append(result)
            _print_findings(result, arguments, cwd, is_one_of_many=len(skills) > 1)
        elif len(skills) == 1:
            raise result
        else:
            failures.append(result)
            print(f"{result.line()} ({skill.source})", file=sys.stderr)
    return reports, failures


def _print_findings(report: lint.Report, arguments: Arguments, cwd: str, *, is_one_of_many: bool) -> None:
    """Print what there is to say of a skill before all are done: findings, and text for people."""
    if report.skipped:
        print(f"info: skipping compiled skill '{one_line(report.skill.name)}'", file=sys.stderr)
    elif arguments.text("format") != "text" or arguments.has("statistics"):
        return
    elif arguments.has("diff"):
        _print_diff(report, cwd)
    else:
        _print_text(report, cwd, arguments.has("verbose"))
        if is_one_of_many and report.findings and sys.stdout.isatty():
            print()  # sets the next skill's findings apart


def _print_diff(report: lint.Report, cwd: str) -> None:
    lines = list(lint.diff_fixes(report.skill, report, lint.name_file(report, "", cwd)))
    for line in lines:
        print(line)
    if not lines and report.findings:
        print(f"info: --fix changes nothing in '{one_line(report.skill.name)}'", file=sys.stderr)


def _print(
    reports: Sequence[lint.Report], failures: Sequence[SkillcError], cwd: str, arguments: Arguments
) -> None:
    """Print the result as a whole on stdout."""
    form = arguments.text("format")
    if form in ("text", "json") and arguments.has("statistics"):
        _print_statistics(reports, failures, form)
    elif form == "json":
        print_json(lint.summarise_reports(reports, failures))
    elif form == "sarif":
        print_json(lint.render_sarif(reports, cwd, failures))
    elif form == "github":
        for report in reports:
            for finding in report.findings:
                print(lint.render_workflow_command(finding, lint.name_file(report, finding.file, cwd)))
    elif not reports and not failures:
        print(NO_SKILLS)
    elif len(reports) + len(failures) > 1:
        errors, warnings = sum(r.errors for r in reports), sum(r.warnings for r in reports)
        totals = f"{count_of(errors, 'error')}, {count_of(warnings, 'warning')}"
        print(f"{count_of(len(reports), 'skill')}: {totals}")


def _print_statistics(reports: Sequence[lint.Report], failures: Sequence[SkillcError], form: str) -> None:
    counts: dict[lint.Rule, int] = {}
    for finding in (finding for report in reports for finding in report.findings):
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    most_first = sorted(counts.items(), key=lambda item: -item[1])
    if form == "json":
        rules = [{"rule": rule.id, "name": rule.name, "count": count} for rule, count in most_first]
        print_json({"rules": rules, "skills": len(reports), "failed": len(failures)})
        return
    if not reports and not failures:
        print(NO_SKILLS)
        return
    rows = [(f"{count:,}", rule.id, rule.name) for rule, count in most_first]
    skills = count_of(len(reports), "skill")
    total = f"{count_of(sum(counts.values()), 'finding')} in {skills}"
    for line in [*table(("COUNT", "RULE", "NAME"), rows), total] if rows else ["Nothing to fix."]:
        print(line)


def _print_text(report: lint.Report, cwd: str, verbose: bool) -> None:
    for file, findings in lint.group_findings(report, cwd):
        print(paint(file, STRONG))
        for line in paint_findings(findings):
            print(line)
    for text in lint.summarise_report(report, verbose=verbose):
        for line in paint_report([text]):
            print(paint(line, FAINT) if text.startswith(" ") else line)  # costs in tokens are no findings
