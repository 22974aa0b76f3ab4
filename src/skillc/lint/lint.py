"""Lint skills, one or many, and fix what is safe to fix.

Read a skill's folder, check every rule, apply the settings and suppressions. `--fix` writes what `fix` makes
of the files, and checks again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO

from skillc import atomic, errors, paths
from skillc.errors import SkillcError
from skillc.index import run_apart
from skillc.library import Skill, at_path, is_compiled, is_skill, locate_skill, stored_skills
from skillc.lint import frontmatter, headings, links, tokens
from skillc.lint.config import Choice, Settings, read_settings
from skillc.lint.fix import apply_fixes, find_fixable, group_by_file
from skillc.lint.page import Folder, read_folder
from skillc.lint.report import Finding, Problem, Repair, Report, Tokens
from skillc.lint.rules import BY_ID, OFF
from skillc.lint.suppress import silence
from skillc.paths import CASES_FOLDER
from skillc.skills import resolve_inside
from skillc.skills.document import main_file

MAX_DIRECTORIES = 100_000  # that are searched for skills
MAX_PASSES = 4  # a fix can uncover another; no skill is known to need more than two passes
MIN_JOBS = 32  # with fewer skills, one process is as fast
_COMPILED = "SKL001"
_FOREIGN = (".git", ".hg", ".svn", ".skillc-meta", ".venv", "node_modules", "__pycache__")


def ignore(_: OSError) -> None:
    """Take no notice of a folder that can't be read."""


def find_skill_of(name: str, cwd: str) -> Skill:
    """Find a skill by its name, a path to its folder, or a path to one of its files.

    A compiled folder means itself, so that it can be skipped, not its source as in other commands [D51].
    """
    path = os.path.join(cwd, name)
    if "\0" not in name and is_skill(path) and is_compiled(path):
        return at_path(path)
    try:
        return locate_skill(name, cwd)
    except errors.SkillNotFound:
        if not name or "\0" in name or not os.path.lexists(path):
            raise
    for directory in paths.with_parents(os.path.dirname(os.path.abspath(path))):
        if is_skill(directory):
            return at_path(directory)
    raise errors.InvalidSkill(name, "no SKILL.md beside it or above")


def find_skills_of(name: str, cwd: str, unreadable: Callable[[OSError], None] = ignore) -> list[Skill]:
    """Find a skill as `find_skill_of` does, or the skills below a folder that is none itself."""
    try:
        return [find_skill_of(name, cwd)]
    except (errors.InvalidSkill, errors.SkillNotFound):
        path = os.path.join(cwd, name)
        is_folder = name and "\0" not in name and os.path.isdir(path)
        skills = list(find_skills_below(path, unreadable)) if is_folder else []
        if skills:
            return skills
        raise


def find_skills_below(folder: str, unreadable: Callable[[OSError], None] = ignore) -> Iterator[Skill]:
    """Yield every skill in a folder or below it; folders below a skill are its files, not skills [D25].

    Includes dot-directories, where agents keep skills, but not the compiled skills of `build`. Raises
    InvalidOption for a folder with too many directories, and OSError for one that can't be read; of those
    below it, `unreadable` gets the error.
    """

    def refuse(error: OSError) -> None:
        if error.filename == folder:
            raise error
        unreadable(error)  # it may be anything, such as a cache

    for number, (directory, folders, _) in enumerate(os.walk(folder, onerror=refuse)):
        if number >= MAX_DIRECTORIES:
            raise errors.InvalidOption(
                f"'{folder}' has more than {MAX_DIRECTORIES} directories; name a smaller folder"
            )
        if is_skill(directory):
            folders[:] = []
            yield at_path(directory)
        output = ("runtime",) if os.path.basename(directory) == paths.DIRECTORY else ()
        folders[:] = sorted(name for name in folders if name not in (*_FOREIGN, *output))


def find_targets(
    names: Sequence[str],
    cwd: str,
    unreadable: Callable[[OSError], None] = ignore,
    *,
    everything: bool = False,
) -> tuple[list[Skill], bool]:
    """Find what to check, each skill once; say whether all of them were named, and no folder that has them.

    With `everything`, names are folders, and none means all stores.
    """
    if not everything:
        groups = [find_skills_of(name, cwd, unreadable) for name in names]
        return _unique(groups), all(len(group) == 1 for group in groups)  # several may be files of one
    for name in names:
        path = os.path.join(cwd, name)
        if os.path.isfile(path):
            raise errors.InvalidOption(f"'{name}' is a file; give --all folders, or leave --all out")
        if not os.path.isdir(path):
            raise errors.DirectoryNotFound(name)
    below = (find_skills_below(os.path.join(cwd, name), unreadable) for name in names)
    return _unique(below) if names else list(stored_skills(cwd)), False


def _unique(groups: Iterable[Iterable[Skill]]) -> list[Skill]:
    return list({skill.source: skill for group in groups for skill in group}.values())


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
        return Report.of(skill, skipped=True)
    settings = settings or read_settings(skill.source)
    settings = settings.with_choice(choice) if choice else settings
    folder = read_folder(skill.source)
    costs = tokens.measure(folder, folder.main) if folder.main else None
    problems = [p for p in _check(skill, folder, costs, settings) if not settings.is_off(p.rule)]
    if any(b"skilllint-" in page.raw for page in folder.pages.values()):
        problems = silence(problems, folder.pages.values(), settings)
    problems = [problem for problem in problems if not settings.leaves_out(problem.file)]
    places = ((problem.file, problem.rule, problem.cause) for problem in problems)
    fixable = set() if is_output else find_fixable(places, skill, folder)
    if is_output:
        message = f"'{skill.name}' is compiled; its source is elsewhere"
        problems.append(Problem(_COMPILED, message, main_file(skill.source)))
    findings: list[Finding] = []
    for problem in _sort(problems, folder):
        severity = settings.severity(problem.rule)
        if severity != OFF:
            is_fixable = (problem.file, problem.rule, problem.cause) in fixable
            place = problem.file, problem.line, is_fixable, problem.cause
            findings.append(Finding.of(BY_ID[problem.rule], severity, problem.message, *place))
    return Report.of(skill, tuple(findings), costs)


def _check(skill: Skill, folder: Folder, costs: Tokens | None, settings: Settings) -> Iterator[Problem]:
    yield from folder.problems
    main = folder.main
    for page in folder.pages.values():
        yield from frontmatter.check_reading(page, main=page is main)
        if page is main:
            front = page.document.frontmatter
            yield from frontmatter.check(page, skill.segment, settings)
            yield from headings.check_main(page, (front.text("name") or "") if front else "")
            if "command" in page.text.casefold():
                from skillc.lint import tools  # most skills have none to look for

                yield from tools.check(folder, page, skill.segment)
        yield from headings.check(page)
    if main is not None and costs is not None:
        yield from tokens.check(main, costs, settings)
    yield from links.check(folder)
    if os.path.isdir(os.path.join(skill.source, CASES_FOLDER)):
        from skillc.lint import cases  # few skills have any

        yield from cases.check(skill, settings)


def _sort(problems: list[Problem], folder: Folder) -> list[Problem]:
    """Return each problem once: SKILL.md first, then by file and line."""

    def place(problem: Problem) -> tuple[bool, bool, bytes, int, str]:
        other = folder.main is None or problem.file != folder.main.name
        return problem.rule != _COMPILED, other, os.fsencode(problem.file), problem.line, problem.rule

    return sorted(dict.fromkeys(problems), key=place)


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
        raise errors.InvalidOption(
            f"'{skill.name}' is a copy from the repository '{skill.repository}'; fix it there"
        )
    settings = settings or read_settings(skill.source)
    repairs: dict[Repair, None] = {}
    report = lint_skill(skill, settings=settings, force=force, choice=choice)
    for _ in range(MAX_PASSES):
        new = _write_fixes(skill, report)
        if not new:
            break
        repairs.update(dict.fromkeys(new))
        report = lint_skill(skill, settings=settings, force=force, choice=choice)
    return Report.of(skill, report.findings, report.tokens, tuple(repairs), report.skipped)


def diff_fixes(skill: Skill, report: Report, folder: str = "") -> Iterator[str]:
    """Yield the lines of a unified diff of what `fix_skill` would change first, as `git apply` takes it.

    `folder` is the path of the skill's folder in it.
    """
    import difflib  # only for --diff

    for name, _, raw, data, _ in _find_changes(skill, report):
        old, new = (list(StringIO(text.decode("utf-8", "replace"), newline="\n")) for text in (raw, data))
        path = os.path.join(folder, name).replace(os.sep, "/").lstrip("/")
        for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"):
            yield line.removesuffix("\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


def _write_fixes(skill: Skill, report: Report) -> list[Repair]:
    repairs: list[Repair] = []
    for name, path, _, data, rules in _find_changes(skill, report):
        mode = os.stat(path).st_mode & 0o7777
        atomic.write(path, data, durable=True)  # it is the author's only copy
        if os.stat(path).st_mode & 0o7777 != mode:
            os.chmod(path, mode)
        repairs += [Repair(rule, BY_ID[rule].name, name) for rule in sorted(rules)]
    return repairs


def _find_changes(skill: Skill, report: Report) -> Iterator[tuple[str, str, bytes, bytes, set[str]]]:
    """Yield each file that can be fixed: its name and path, its bytes and the better ones, and the rules."""
    places = ((f.file, f.number, f.cause) for f in report.findings if f.fixable)
    for name, pairs in group_by_file(places).items():
        path = resolve_inside(skill.source, name)  # a link that stays inside is followed, not replaced
        with open(path, "rb") as file:
            raw = file.read()
        data, fixes = apply_fixes(raw, pairs, skill.segment, main=name == main_file(skill.source))
        if data != raw:
            yield name, path, raw, data, {rule for rule, _ in fixes}


def lint_skills(
    skills: Sequence[Skill], *, fix: bool = False, force: bool = False, choice: Choice | None = None
) -> Iterator[Report | SkillcError]:
    """Yield the report of each skill, in order; an error for one that can't be linted."""
    check = partial(fix_skill if fix else lint_skill, force=force, choice=choice)
    for skill, result in zip(skills, run_apart(check, skills, MIN_JOBS), strict=True):
        if result is None:
            yield SkillcError("linting it ended its process; please report the skill")
        else:
            yield replace(result, skill=skill) if isinstance(result, Report) else result
