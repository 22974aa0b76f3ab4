"""Check the cases by which a skill is evaluated, SKL601 and SKL602: are they read, and do they lead here."""

from __future__ import annotations

from collections.abc import Iterator

from skillc.library import Ranking, Skill
from skillc.lint.config import Settings
from skillc.lint.report import Problem
from skillc.paths import CASES_FOLDER
from skillc.skills.cases import Case, has_cases, read_cases


def check(skill: Skill, settings: Settings) -> Iterator[Problem]:
    if not has_cases(skill.source):
        return
    cases, diagnostics = read_cases(skill.source, skill.segment)
    for diagnostic in diagnostics:
        place, _, reason = diagnostic.message.removeprefix("evals: ").partition(": ")
        file, _, number = place.partition("#")
        where = f"case {number} " if number else ""
        yield Problem("SKL601", f"{where}{reason}", file if file != CASES_FOLDER else "SKILL.md")
    triggers = [case for case in cases if case.should_fire is not None]
    if triggers and not settings.is_off("SKL602"):  # which takes the index of all skills
        yield from _check_ranks(skill, triggers)


def _check_ranks(skill: Skill, triggers: list[Case]) -> Iterator[Problem]:
    ranking = Ranking(skill, skill.root)
    for case in triggers:
        rank = ranking.rank(case.prompt, case.acceptable)
        rivals = [rival.id for rival in rank.rivals]
        if case.should_fire and rank.rank != 1 and rivals:
            yield Problem("SKL602", f"'{case.name}' leads to {', '.join(rivals)} first", case.file)
        elif not case.should_fire and rank.rank == 1 and rank.offered:
            yield Problem("SKL602", f"'{case.name}' should not lead here, and does", case.file)
