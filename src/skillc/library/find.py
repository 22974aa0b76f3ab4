"""Find skills from a directory: from the index alone if all repositories are folders, as they mostly are.

Which repositories there are is in TOML files and in installed packages, and reading those takes longer than
a search. If all of them are folders, the list is cached in the index, under everything it depends on:
files and directories with their times of change.
"""

from __future__ import annotations

import os
import sys

from skillc import paths
from skillc.errors import InvalidSkill, SkillNotFound, warning
from skillc.index.skills import EVERYTHING, FoundSkills, Searchable, read_note, skill_index, write_note
from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from skillc.errors import Diagnostic
    from skillc.index.skills import FoundSkill, Scope

    # A repository's name, its folder, whether it is strict, whether it is required, its time-out in seconds.
    Row = tuple[str, str, bool, bool, float]

FORMAT = 3  # of the cached lists
MAX_LISTS = 200  # cached lists, one for each directory; at the limit all are dropped
MAX_WORDS = 12  # that `format_results` names
MAX_COPIES = 8  # likewise
MAX_NAMED = 8  # folders that can't be read, of each repository
MIN_WHOLE = 3  # results that are always described
UNLIKELY = 0.1  # confidence below which a later result is a name alone


def find_skills(
    cwd: str,
    task: str,
    limit: int = 10,
    *,
    scope: Scope = EVERYTHING,
    capabilities: Collection[str] = (),
    tell: Callable[[Diagnostic], None] = lambda diagnostic: None,
) -> FoundSkills:
    """Return the skills of all repositories of `cwd` that fit a task, best first; raises EmptyQuery.

    Skills that need a capability besides `capabilities` are left out.
    `tell` is called with each warning: about skills.toml, and repositories that did not answer. Don't call
    this from a running event loop: repositories that are no folders are asked in one of their own.
    """

    def may_use(skill_id: str, needs: tuple[str, ...]) -> bool:
        return all(need in capabilities for need in needs)

    parts = list_folders(cwd)
    if parts is None:
        results = _find_in_repositories(cwd, task, limit, may_use, scope, tell)
    else:
        results = skill_index().find(parts, task, limit, may_use, scope)
        for part in parts:
            if part.folder.partial:
                tell(warning("W203", part.name, part.folder.partial))
            for path, (code, _, message) in part.folder.unreadable()[:MAX_NAMED]:
                tell(warning("W005", message, code).at(os.path.join(part.folder.root, path)))
    for skill in results:
        skill.refer = lambda skill_id, directory: _refer_to(skill_id, directory, cwd)
    return results


def _refer_to(skill_id: str, directory: str, cwd: str) -> str:
    """Return what `skc show` takes for a skill: its ID, unless a store or `cwd` has another under it."""
    from skillc.library.stores import resolve  # for results that are shown

    try:
        source = resolve(skill_id, cwd).source
    except (InvalidSkill, SkillNotFound):
        return skill_id  # which the repositories are asked for next
    return skill_id if source == os.path.realpath(directory) else directory


def _find_in_repositories(
    cwd: str,
    task: str,
    limit: int,
    may_use: Callable[[str, tuple[str, ...]], bool],
    scope: Scope,
    tell: Callable[[Diagnostic], None],
) -> FoundSkills:
    import asyncio  # together they take longer to import than a search of folders

    from skillc.library.repositories import SkillsConfig, resolve_repositories
    from skillc.library.sources import find_in_source

    config = SkillsConfig.load(cwd)
    for diagnostic in config.diagnostics:
        tell(diagnostic)
    if not config.enabled:
        tell(warning("W072", config.enabled_by))
        return FoundSkills()
    source = resolve_repositories(config, next(paths.library_roots(cwd), None))

    def is_usable(skill_id: str, needs: tuple[str, ...]) -> bool:
        return may_use(skill_id, tuple(need for need in needs if need not in config.capabilities))

    results = asyncio.run(find_in_source(source, task, limit, is_usable, scope))
    for diagnostic in source.warnings():
        tell(diagnostic)
    return results


def list_folders(cwd: str) -> list[Searchable] | None:
    """Return the folders of all repositories in order of precedence.

    None if a repository is something else or can't be read, and if skills are switched off.
    """
    index = skill_index()
    key = _key(cwd)
    note = index.database.read(lambda execute: read_note(execute, key)) if key else None
    rows = _parse(note) if note else _resolve(cwd)
    if rows is None:
        return None
    if key and not note:
        index.database.write(lambda execute: _store(execute, key, rows), 0.05)
    roots = [root for _, root, _, is_required, _ in rows if is_required]
    if not all(os.access(root, os.R_OK | os.X_OK) and os.path.isdir(root) for root in roots):
        return None
    return [
        Searchable(name, index.folder(root, strict), None, time_out)
        for name, root, strict, _, time_out in rows
    ]


def _key(cwd: str) -> str:
    """Return everything that the list depends on; empty if it can't be stored."""
    from skillc.index.skills import stored_path

    roots = list(paths.library_roots(cwd))
    packages = [(path, _stamp(path)) for path in sys.path]
    home = os.environ.get("HOME")
    key = repr((FORMAT, roots, paths.home(), home, sys.prefix, paths.config_stamps(cwd), packages))
    return key if isinstance(stored_path(key), str) else ""


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path or os.curdir)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _parse(text: str) -> list[Row]:
    rows = [line.split("\t", 4) for line in text.split("\n")]
    return [
        (name, root, strict == "1", required == "1", float(time_out))
        for name, strict, required, time_out, root in rows
    ]


def _store(execute: Any, key: str, rows: list[Row]) -> None:
    lines = [
        f"{name}\t{strict:d}\t{required:d}\t{time_out}\t{root}"
        for name, root, strict, required, time_out in rows
    ]
    write_note(execute, key, "\n".join(lines), MAX_LISTS)


def _resolve(cwd: str) -> list[Row] | None:
    from skillc.library.repositories import SkillsConfig, resolve_repositories
    from skillc.library.sources import CompositeSkillSource, FilesystemSkillSource

    config = SkillsConfig.load(cwd)
    if config.diagnostics or config.capabilities or not config.enabled:
        return None  # the diagnostics are to be shown each time, and the list has no place for the others
    rows: list[Row] = []
    library = resolve_repositories(config, next(paths.library_roots(cwd), None))
    for member in library.sources:
        source = member.source
        # The embedded skills are those of several packages.
        several = source.sources if isinstance(source, CompositeSkillSource) else (member,)
        for folder in (each.source for each in several):
            if not isinstance(folder, FilesystemSkillSource):
                return None
            if any(c in member.name + folder.root for c in "\t\n"):
                return None
            time_out = member.time_out or library.time_out
            rows.append((member.name, folder.root, folder.strict, folder.required, time_out))
    return rows


def format_results(results: FoundSkills) -> Iterator[str]:
    """Yield a few lines for each skill, best first: the text of `skc find` and of the tool."""
    for typo, word in results.corrections.items():
        yield f"{typo}: showing {word}"
    likely, unlikely = part_unlikely(results)
    for skill in likely:
        yield f"{one_line(skill.id)}  ({skill.confidence:.0%}, {one_line(skill.source_name)})"
        for label, text in describe_result(skill):
            yield f"  {label}: {text}" if label else f"  {text}"
    if unlikely:
        yield f"less likely: {unlikely}"
    if not results:
        yield "No skills fit."


def part_unlikely(results: Sequence[FoundSkill]) -> tuple[Sequence[FoundSkill], str]:
    """Return the results to describe, and the names of those that hardly fit, which would fill a context."""
    count = len(results)
    while count > MIN_WHOLE and results[count - 1].confidence < UNLIKELY:
        count -= 1
    return results[:count], ", ".join(one_line(skill.id) for skill in results[count:])


def describe_result(skill: FoundSkill) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a skill that was found, line by line, each with its label or none."""
    yield "", one_line(" ".join(skill.description.split()))
    yield "matched", one_line(", ".join(word for word, _ in skill.matched[:MAX_WORDS]))
    if skill.copies:
        yield "", one_line(_name_copies(skill.copies))
    also = [f"{skill_id} ({name})" for name, skill_id in skill.also if (name, skill_id) not in skill.copies]
    if also:
        yield "also", one_line(", ".join(also))
    yield "read", one_line(skill.read)


def _name_copies(copies: Sequence[tuple[str, str]]) -> str:
    """Say where copies are: `and 3 copies in user: a, b; team: c`."""
    places: dict[str, list[str]] = {}
    for name, skill_id in copies[:MAX_COPIES]:
        places.setdefault(name, []).append(skill_id)
    text = "; ".join(f"{name}: {', '.join(ids)}" for name, ids in places.items())
    more = f"; {len(copies) - MAX_COPIES} more" if len(copies) > MAX_COPIES else ""
    return f"and {len(copies)} {'copy' if len(copies) == 1 else 'copies'} in {text}{more}"
