"""Lint a skill: read its folder, check every rule, apply the settings and the comments that silence rules."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillc import paths
from skillc.errors import InvalidSkill, SkillNotFound
from skillc.library import at_path, is_compiled, is_skill, locate_skill
from skillc.lint import frontmatter, headings, links, tokens, tools
from skillc.lint.config import Settings, read_settings
from skillc.lint.fixes import apply_fixes
from skillc.lint.page import Folder, read_folder
from skillc.lint.report import Finding, Problem, Report
from skillc.lint.rules import BY_ID, ERROR, OFF
from skillc.lint.suppress import silence
from skillc.skills import main_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill

_FORCED = "SKL001"
_FOREIGN = (".git", ".hg", ".svn", ".skillc-meta", ".venv", "node_modules", "__pycache__")


def locate(name: str, cwd: str) -> Skill:
    """Find a skill by its name, a path to its folder, or a path to one of its files."""
    try:
        return locate_skill(name, cwd)
    except SkillNotFound:
        path = os.path.join(cwd, name)
        if not name or "\0" in name or not os.path.lexists(path):
            raise
    directory = os.path.dirname(os.path.abspath(path))
    while not is_skill(directory):
        parent = os.path.dirname(directory)
        if parent == directory:
            raise InvalidSkill(name, "no SKILL.md beside it or above")
        directory = parent
    return at_path(directory)


def skills_below(folder: str) -> Iterator[Skill]:
    """Yield every skill in a folder or below it; folders below a skill are its files, not skills [D25].

    Includes dot-directories, where agents keep skills, but not the compiled skills of `build`.
    """
    for directory, folders, _ in os.walk(folder):
        if is_skill(directory):
            folders[:] = []
            yield at_path(directory)
        output = ("runtime",) if os.path.basename(directory) == paths.DIRECTORY else ()
        folders[:] = sorted(name for name in folders if name not in (*_FOREIGN, *output))


def lint_skill(
    skill: Skill, *, settings: Settings | None = None, force: bool = False, strict: bool = False
) -> Report:
    """Report what to fix in a skill; skip a compiled one unless forced; `strict` makes warnings errors.

    Without `settings`, those of the nearest `.skilllint.toml`. Raises InvalidConfiguration for one
    that can't be used, and InvalidSkill for a folder that has no SKILL.md.
    """
    compiled = is_compiled(skill.source)
    if compiled and not force:
        return Report(skill, skipped=True)
    settings = settings or read_settings(skill.source)
    folder = read_folder(skill.source)
    costs = tokens.measure(folder, folder.main) if folder.main else None
    problems = [p for p in _check(skill, folder, costs, settings) if not settings.is_off(p.rule)]
    problems = silence(problems, folder.pages.values(), settings)
    problems = [problem for problem in problems if not settings.leaves_out(problem.file)]
    fixable = set() if compiled else _find_fixable(problems, skill, folder)
    if compiled:
        message = f"'{skill.name}' is compiled; its source is elsewhere"
        problems.append(Problem(_FORCED, message, main_file(skill.source)))
    findings: list[Finding] = []
    for problem in _sort(problems, folder):
        severity = settings.severity(problem.rule)
        if severity != OFF:
            rule, message, file, line, cause = problem
            severity = ERROR if strict and rule != _FORCED else severity
            is_fixable = (file, rule, cause) in fixable
            findings.append(Finding(BY_ID[rule], severity, message, file, line, is_fixable, cause))
    return Report(skill, tuple(findings), costs)


def _check(
    skill: Skill, folder: Folder, costs: tokens.Tokens | None, settings: Settings
) -> Iterator[Problem]:
    yield from folder.problems
    main = folder.main
    for page in folder.pages.values():
        if page is main:
            front = page.document.frontmatter
            yield from frontmatter.check(page, skill.segment, settings)
            yield from headings.check_main(page, (front.text("name") or "") if front else "")
            if "command" in page.text.casefold():  # most skills have no tools to look for
                yield from tools.check(folder, page, skill.segment)
        else:
            yield from frontmatter.check_reference(page)
        yield from headings.check(page)
    if main is not None and costs is not None:
        yield from tokens.check(main, costs, settings)
    yield from links.check(folder)


def _sort(problems: list[Problem], folder: Folder) -> list[Problem]:
    """Return each problem once: SKILL.md first, then by file and line."""

    def place(problem: Problem) -> tuple[bool, bool, bytes, int, str]:
        other = folder.main is None or problem.file != folder.main.name
        return problem.rule != _FORCED, other, os.fsencode(problem.file), problem.line, problem.rule

    return sorted(dict.fromkeys(problems), key=place)


def _find_fixable(problems: list[Problem], skill: Skill, folder: Folder) -> set[tuple[str, str, str]]:
    """Return file, rule and cause of what `fix` would put right: apply the fixes without writing."""
    pairs_by_file: dict[str, set[tuple[str, str]]] = {}
    for problem in problems:
        if BY_ID[problem.rule].fixes and problem.file in folder.pages:
            pairs_by_file.setdefault(problem.file, set()).add((problem.rule, problem.cause))
    fixable: set[tuple[str, str, str]] = set()
    for name, pairs in pairs_by_file.items():
        page = folder.pages[name]
        result = apply_fixes(page.raw, pairs, skill.segment, main=page is folder.main)
        fixable |= {(name, rule, cause) for rule, cause in result.repairs}
    return fixable
