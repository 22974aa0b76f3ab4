"""Lint a skill: read its folder, check every rule, apply the settings and suppressions, write safe fixes."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from skillc import atomic, paths
from skillc.errors import InvalidOption, InvalidSkill, SkillNotFound
from skillc.library import Skill, at_path, is_compiled, is_skill, locate_skill
from skillc.lint import frontmatter, headings, links, tokens, tools
from skillc.lint.config import Choice, Settings, read_settings
from skillc.lint.fix import FIXABLE, apply_fixes
from skillc.lint.page import Folder, read_folder
from skillc.lint.report import Finding, Problem, Repair, Report
from skillc.lint.rules import BY_ID
from skillc.lint.suppress import silence
from skillc.skills import main_file, resolve_inside

MAX_PASSES = 4  # a fix can uncover another; no skill is known to need more than two passes
MAX_DIRECTORIES = 100_000  # that are searched for skills
_COMPILED = "SKL001"
_FOREIGN = (".git", ".hg", ".svn", ".skillc-meta", ".venv", "node_modules", "__pycache__")


def find_skill_of(name: str, cwd: str) -> Skill:
    """Find a skill by its name, a path to its folder, or a path to one of its files.

    A compiled folder means itself, so that it can be skipped, not its source as in other commands [D51].
    """
    path = os.path.join(cwd, name)
    if "\0" not in name and is_skill(path) and is_compiled(path):
        return at_path(path)
    try:
        return locate_skill(name, cwd)
    except SkillNotFound:
        if not name or "\0" in name or not os.path.lexists(path):
            raise
    for directory in map(str, Path(os.path.abspath(path)).parents):
        if is_skill(directory):
            return at_path(directory)
    raise InvalidSkill(name, "no SKILL.md beside it or above")


def find_skills_below(folder: str) -> Iterator[Skill]:
    """Yield every skill in a folder or below it; folders below a skill are its files, not skills [D25].

    Includes dot-directories, where agents keep skills, but not the compiled skills of `build`. Raises
    InvalidOption for a folder with too many directories.
    """
    for number, (directory, folders, _) in enumerate(os.walk(folder)):
        if number >= MAX_DIRECTORIES:
            raise InvalidOption(
                f"'{folder}' has more than {MAX_DIRECTORIES} directories; name a smaller folder"
            )
        if is_skill(directory):
            folders[:] = []
            yield at_path(directory)
        output = ("runtime",) if os.path.basename(directory) == paths.DIRECTORY else ()
        folders[:] = sorted(name for name in folders if name not in (*_FOREIGN, *output))


def lint_skill(
    skill: Skill,
    *,
    settings: Settings | None = None,
    force: bool = False,
    choice: Choice | None = None,
) -> Report:
    """Report what to fix in a skill, by the rules of a choice; skip a compiled one unless forced.

    Without `settings`, uses those of the nearest `.skilllint.toml`. Raises InvalidConfiguration for one
    that can't be used, and InvalidSkill for a folder that has no SKILL.md.
    """
    is_output = is_compiled(skill.source)
    if is_output and not force:
        return Report(skill, skipped=True)
    settings = settings or read_settings(skill.source)
    settings = replace(settings, choice=choice) if choice else settings
    folder = read_folder(skill.source)
    costs = tokens.measure(folder, folder.main) if folder.main else None
    problems = [p for p in _check(skill, folder, costs, settings) if not settings.is_off(p.rule)]
    problems = silence(problems, folder.pages.values(), settings)
    problems = [problem for problem in problems if not settings.leaves_out(problem.file)]
    fixable = set() if is_output else _find_fixable(problems, skill, folder)
    if is_output:
        message = f"'{skill.name}' is compiled; its source is elsewhere"
        problems.append(Problem(_COMPILED, message, main_file(skill.source)))
    findings: list[Finding] = []
    for rule, message, file, line, cause in _sort(problems, folder):
        if not settings.is_off(rule):
            is_fixable = (file, rule, cause) in fixable
            severity = settings.severity(rule)
            findings.append(Finding(BY_ID[rule], severity, message, file, line, is_fixable, cause))
    return Report(skill, tuple(findings), costs)


def _check(
    skill: Skill, folder: Folder, costs: tokens.Tokens | None, settings: Settings
) -> Iterator[Problem]:
    yield from folder.problems
    main = folder.main
    for page in folder.pages.values():
        yield from frontmatter.check_reading(page, main=page is main)
        if page is main:
            front = page.document.frontmatter
            yield from frontmatter.check(page, skill.segment, settings)
            yield from headings.check_main(page, (front.text("name") or "") if front else "")
            if "command" in page.text.casefold():  # most skills have no tools to look for
                yield from tools.check(folder, page, skill.segment)
        yield from headings.check(page)
    if main is not None and costs is not None:
        yield from tokens.check(main, costs, settings)
    yield from links.check(folder)


def _sort(problems: list[Problem], folder: Folder) -> list[Problem]:
    """Return each problem once: SKILL.md first, then by file and line."""

    def place(problem: Problem) -> tuple[bool, bool, bytes, int, str]:
        other = folder.main is None or problem.file != folder.main.name
        return problem.rule != _COMPILED, other, os.fsencode(problem.file), problem.line, problem.rule

    return sorted(dict.fromkeys(problems), key=place)


def _find_fixable(problems: list[Problem], skill: Skill, folder: Folder) -> set[tuple[str, str, str]]:
    """Return file, rule and cause of what `fix_skill` would fix: apply the fixes without writing."""
    places = ((p.file, p.rule, p.cause) for p in problems if p.rule in FIXABLE and p.file in folder.pages)
    fixable: set[tuple[str, str, str]] = set()
    for name, pairs in _group_by_file(places).items():
        page = folder.pages[name]
        _, repairs = apply_fixes(page.raw, pairs, skill.segment, main=page is folder.main)
        fixable |= {(name, *pair) for pair in repairs}
    return fixable


def _group_by_file(places: Iterable[tuple[str, str, str]]) -> dict[str, set[tuple[str, str]]]:
    """Return the pairs of rule and cause of each file."""
    pairs_by_file: dict[str, set[tuple[str, str]]] = {}
    for file, rule, cause in places:
        pairs_by_file.setdefault(file, set()).add((rule, cause))
    return pairs_by_file


def fix_skill(
    skill: Skill,
    *,
    settings: Settings | None = None,
    force: bool = False,
    choice: Choice | None = None,
) -> Report:
    """Write every safe fix, and report the repairs and the findings that are left.

    Fixes only rules that are on and not suppressed, only in files that are really inside of the skill,
    and never in a compiled one, because the next build would undo it.
    """
    if skill.is_copy:
        raise InvalidOption(
            f"'{skill.name}' is a copy from the repository '{skill.repository}'; fix it there"
        )
    settings = settings or read_settings(skill.source)
    lint = partial(lint_skill, skill, settings=settings, force=force, choice=choice)
    repairs: dict[Repair, None] = {}
    report = lint()
    for _ in range(MAX_PASSES):
        new = _write_fixes(skill, report)
        if not new:
            break
        repairs.update(dict.fromkeys(new))
        report = lint()
    return replace(report, fixed=tuple(repairs))


def diff_fixes(skill: Skill, report: Report) -> Iterator[str]:
    """Yield the lines of a unified diff of what `fix_skill` would change first."""
    for name, _, raw, data, _ in _find_changes(skill, report):
        old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (raw, data))
        for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
            yield line.rstrip("\r\n")


def _write_fixes(skill: Skill, report: Report) -> list[Repair]:
    repairs: list[Repair] = []
    for name, path, _, data, rules in _find_changes(skill, report):
        mode = os.stat(path).st_mode & 0o7777
        atomic.write(path, data, durable=True)  # it is the author's only copy
        if os.stat(path).st_mode & 0o7777 != mode:
            os.chmod(path, mode)
        repairs += [Repair(BY_ID[rule], name) for rule in sorted(rules)]
    return repairs


def _find_changes(skill: Skill, report: Report) -> Iterator[tuple[str, str, bytes, bytes, set[str]]]:
    """Yield each file that can be fixed: its name and path, its bytes and the better ones, and the rules."""
    places = ((f.file, f.rule.id, f.cause) for f in report.findings if f.fixable)
    for name, pairs in _group_by_file(places).items():
        path = resolve_inside(skill.source, name)  # a link that stays inside is followed, not replaced
        with open(path, "rb") as file:
            raw = file.read()
        data, fixes = apply_fixes(raw, pairs, skill.segment, main=name == main_file(skill.source))
        if data != raw:
            yield name, path, raw, data, {rule for rule, _ in fixes}
