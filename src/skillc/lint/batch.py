"""Lint many skills on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from skillc.errors import SkillcError, unexpected
from skillc.index import LOST, Pool, can_fork, count_cores
from skillc.library import Skill
from skillc.lint.config import Choice
from skillc.lint.lint import lint_skill
from skillc.lint.repair import fix_skill
from skillc.lint.report import Finding, Repair, Report
from skillc.lint.rules import BY_ID
from skillc.lint.tokens import Tokens

MIN_JOBS = 32  # with fewer skills, one process is as fast


def lint_skills(
    skills: Sequence[Skill], *, fix: bool = False, force: bool = False, choice: Choice | None = None
) -> Iterator[Report | SkillcError]:
    """Yield the report of each skill, in order; an error for one that can't be linted."""
    pool = Pool(_make_job, fix, force, choice)
    cores = count_cores() if len(skills) >= MIN_JOBS and can_fork() else 1
    results = pool.run_apart(skills, cores if cores > 1 else 0)
    return (_unpack(result, skill) for skill, result in zip(skills, results, strict=True))


def _make_job(fix: bool, force: bool, choice: Choice | None) -> Callable[[Skill], Any]:
    check = fix_skill if fix else lint_skill

    def lint(skill: Skill) -> Any:
        try:
            return _pack(check(skill, force=force, choice=choice))
        except Exception as error:
            failure = unexpected(error)
            return failure.code, failure.message

    return lint


def _pack(report: Report) -> Any:
    """Return a report as values that a pipe between processes takes."""
    findings = [
        (f.rule.id, f.severity, f.message, f.file, f.line, f.fixable, f.cause) for f in report.findings
    ]
    tokens = report.tokens and (report.tokens.metadata, report.tokens.body, report.tokens.files)
    return findings, tokens, [(repair.rule.id, repair.file) for repair in report.fixed], report.skipped


def _unpack(result: Any, skill: Skill) -> Report | SkillcError:
    if result is LOST:
        return SkillcError("linting it ended its process; please report the skill")
    if len(result) == 2:
        code, message = result
        error = SkillcError(message)
        error.code = code
        return error
    rows, costs, repairs, is_skipped = result
    findings = tuple(Finding(BY_ID[rule], *rest) for rule, *rest in rows)
    tokens = Tokens(*costs) if costs else None
    fixed = tuple(Repair(BY_ID[rule], file) for rule, file in repairs)
    return Report(skill, findings, tokens, fixed, is_skipped)
