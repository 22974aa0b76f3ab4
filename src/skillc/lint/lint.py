"""Lint a skill: read the folder, ask every rule, then the settings and the comments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillc.library import is_compiled
from skillc.lint import budget, frontmatter, headings, links
from skillc.lint.config import Settings, settings_for
from skillc.lint.fixes import mend
from skillc.lint.page import Folder, Page, read
from skillc.lint.report import Finding, Problem, Report
from skillc.lint.rules import BY_ID, ERROR, OFF
from skillc.lint.suppress import silence
from skillc.skills import main_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill
    from skillc.lint.tokens import Tokens

_FORCED = "SKL001"


def lint_skill(
    skill: Skill, *, settings: Settings | None = None, force: bool = False, strict: bool = False
) -> Report:
    """What to fix in a skill; a compiled one is skipped unless forced, `strict` makes warnings errors.

    Without `settings`, those of the nearest `.skilllint.toml`. Raises InvalidConfiguration for one
    that can't be used, and InvalidSkill for a folder that has no SKILL.md.
    """
    compiled = is_compiled(skill.source)
    if compiled and not force:
        return Report(skill, skipped=True)
    settings = settings or settings_for(skill.source)
    folder = read(skill.source)
    tokens = budget.measure(folder, folder.main) if folder.main else None
    problems = [p for p in _problems(skill, folder, tokens, settings) if not settings.is_off(p.rule)]
    kept = [p for p in silence(problems, folder.pages.values(), settings) if not settings.leaves_out(p.file)]
    if compiled:
        main = main_file(skill.source)
        kept.append(Problem(_FORCED, f"'{skill.name}' is compiled; its source is elsewhere", main))
    return Report(skill, tuple(_findings(kept, skill, folder, settings, strict)), tokens)


def _problems(skill: Skill, folder: Folder, tokens: Tokens | None, settings: Settings) -> Iterator[Problem]:
    yield from folder.problems
    main = folder.main
    for page in folder.pages.values():
        if page is main:
            yield from frontmatter.check(page, skill.segment, settings)
            yield from headings.check_main(page, _name(page))
            yield from _of_tools(skill, folder, page)
        else:
            yield from frontmatter.check_reference(page)
        yield from headings.check(page)
    if main is not None and tokens is not None:
        yield from budget.check(main, tokens, settings)
    yield from links.check(folder)


def _of_tools(skill: Skill, folder: Folder, page: Page) -> Iterator[Problem]:
    if "command" not in page.text.casefold():
        return
    from skillc.lint.tools import check  # most skills have no tools, and need not be taken apart for them

    yield from check(folder, page, skill.segment)


def _name(page: Page) -> str:
    front = page.document.frontmatter
    return (front.text("name") or "") if front else ""


def _findings(
    problems: list[Problem], skill: Skill, folder: Folder, settings: Settings, strict: bool
) -> Iterator[Finding]:
    """The problems with their severities, in order: SKILL.md first, then by file and line."""
    fixable = fixable_in(problems, skill, folder)

    def place(problem: Problem) -> tuple[bool, bool, bytes, int, str]:
        other = folder.main is None or problem.file != folder.main.name
        return problem.rule != _FORCED, other, os.fsencode(problem.file), problem.line, problem.rule

    for problem in sorted(dict.fromkeys(problems), key=place):
        severity = settings.severity(problem.rule)
        if severity == OFF:
            continue
        yield Finding(
            BY_ID[problem.rule],
            ERROR if strict and problem.rule != _FORCED else severity,
            problem.message,
            problem.file,
            problem.line,
            (problem.file, problem.rule, problem.cause) in fixable,
            problem.cause,
        )


def fixable_in(problems: list[Problem], skill: Skill, folder: Folder) -> set[tuple[str, str, str]]:
    """File, rule and cause of what `fix` would put right: what it does, without writing it."""
    if is_compiled(skill.source):
        return set()
    wanted: dict[str, set[tuple[str, str]]] = {}
    for problem in problems:
        if BY_ID[problem.rule].fixes and problem.file in folder.pages:
            wanted.setdefault(problem.file, set()).add((problem.rule, problem.cause))
    found: set[tuple[str, str, str]] = set()
    for name, pairs in wanted.items():
        page = folder.pages[name]
        done = mend(page.raw, pairs, skill.segment, main=page is folder.main).done
        found |= {(name, rule, cause) for rule, cause in done}
    return found
