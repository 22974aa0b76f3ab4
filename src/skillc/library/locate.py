"""Locate any skill by its name, path or canonical ID, as a folder.

`skc show company/billing/refunds` works on a skill of a git, HTTP or MCP repository as on a local one:
a remote skill becomes a folder (`copies`) on first use. A note beside the copies says which copy an ID
means for a configuration, and until when: an agent's second question asks no repository. The note is
never valid for longer than the repository's refresh interval.
"""

from __future__ import annotations

import os
from time import time

from skillc import paths
from skillc.errors import InvalidSkill, RepositoryUnavailable, SkillNotFound, warning
from skillc.library.stores import GLOBAL, PROJECT, Skill, folder_name, is_id, is_skill, resolve, stored_skills
from skillc.skills import SkillId
from skillc.startup import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.library.repositories import SkillsConfig
    from skillc.library.sources import CompositeSkillSource, CompositeSnapshot, SkillDocument

MAX_NOTE = 1 << 16  # bytes
MAX_AGE = 60.0  # seconds that a note is valid; shorter if the repository's refresh interval is


def locate_skill(name: str, cwd: str) -> Skill:
    """Return the skill that a name, a path or an ID means in `cwd`: from the stores, else from repositories.

    Don't call it from a running event loop: repositories are asked in one of their own.
    """
    try:
        return resolve(name, cwd)
    except (InvalidSkill, SkillNotFound) as error:
        return _locate_in_repositories(name, cwd, error)


def is_path(name: str) -> bool:
    """Return whether a command that manages skills takes a word for a path [D69].

    >>> is_path("./pdf"), is_path("~/pdf"), is_path("pdf"), is_path("billing/refunds")
    (True, True, False, False)
    """
    word = name.replace(os.sep, "/")
    return (
        word in (".", "..") or word.startswith(("./", "../", "/", "~")) or bool(os.path.splitdrive(name)[0])
    )


def resolve_installed(name: str, cwd: str) -> Skill:
    """Return the installed skill of a name, or the skill of a path; raises SkillNotFound or InvalidSkill.

    A folder in the working directory never hides an installed skill [D69].
    """
    try:
        return (
            resolve(os.path.expanduser(name), cwd) if is_path(name) else resolve(name, cwd, may_be_path=False)
        )
    except SkillNotFound:
        raise _with_nearest(name, cwd, ()) from None


def locate_installed(name: str, cwd: str) -> Skill:
    """Return what `resolve_installed` does, else the skill of a repository with that ID."""
    try:
        return resolve_installed(name, cwd)
    except (InvalidSkill, SkillNotFound) as error:
        return _locate_in_repositories(name, cwd, error)


def _locate_in_repositories(name: str, cwd: str, error: InvalidSkill | SkillNotFound) -> Skill:
    """Return the skill that an ID means; `error` says why no store has it, and may be raised."""
    if not is_id(name):
        raise (error if isinstance(error, InvalidSkill) else _with_nearest(name, cwd, ())) from None
    recent = recall(name, cwd)
    if recent is not None:
        return recent
    import asyncio  # agents mostly ask for skills that are in a store

    try:
        return asyncio.run(_locate(SkillId(name), cwd))
    except SkillNotFound:
        if isinstance(error, InvalidSkill):  # a store has a folder of that name
            raise error from None
        raise


async def _locate(skill_id: SkillId, cwd: str) -> Skill:
    from skillc.library.repositories import SkillsConfig, resolve_repositories

    config = SkillsConfig.load(cwd)
    library = resolve_repositories(config, next(paths.library_roots(cwd), None))
    snapshot = await library.snapshot()
    try:
        document = await snapshot.load(skill_id)
        directory = await snapshot.directory(skill_id)
    except (SkillNotFound, RepositoryUnavailable) as error:
        copy = _last_copy(skill_id, library, config)
        if copy is not None:
            return copy
        if isinstance(error, SkillNotFound):
            raise await _explain_absence(skill_id, cwd, library, snapshot) from None
        raise
    skill = _as_folder(document, directory, config, cwd)
    skill.diagnostics = tuple(library.warnings())
    if skill.is_copy and not skill.diagnostics:
        settings = next(r.settings for r in config.repositories if r.name == skill.repository)
        remember(skill, cwd, float(settings.get("refresh_seconds", MAX_AGE)))
    return skill


def _as_folder(document: SkillDocument, directory: str | None, config: SkillsConfig, cwd: str) -> Skill:
    """Return a skill with its own folder if that is on this machine, else with a copy."""
    from skillc.library import skill_cache
    from skillc.library.sources import SkillScope

    skill = document.descriptor
    home = paths.home() or ""
    if directory is not None and skill.scope is not SkillScope.REMOTE:
        project = next(paths.project_roots(cwd), "") if skill.scope is SkillScope.PROJECT else ""
        scope, root = (PROJECT, project) if project else (GLOBAL, home)
        return Skill(skill.id, os.path.realpath(directory), scope, root, True, skill.source_name)
    repository = next(r for r in config.repositories if r.name == skill.source_name)
    path = skill_cache.write_copy(
        skill_cache.copy_path(repository, skill.id), repository.name, document, directory
    )
    return Skill(skill.id, os.path.realpath(path), GLOBAL, home, True, repository.name, is_copy=True)


def _last_copy(skill_id: SkillId, library: CompositeSkillSource, config: SkillsConfig) -> Skill | None:
    """Return the copy of a skill from when its repository last answered."""
    from skillc.library import skill_cache

    home = paths.home()
    for repository in config.repositories if home else ():
        path = skill_cache.copy_path(repository, skill_id)
        if repository.name in library.failures and is_skill(path):
            stale = warning("W201", repository.name, library.failures[repository.name].reason)
            source = os.path.realpath(path)
            return Skill(skill_id, source, GLOBAL, home or "", True, repository.name, True, (stale,))
    return None


async def _explain_absence(
    skill_id: SkillId, cwd: str, library: CompositeSkillSource, snapshot: CompositeSnapshot
) -> SkillNotFound:
    """Return the error for an ID that no repository has, with warnings about those that did not answer."""
    diagnostics = tuple(library.warnings())
    names: list[str] = []
    if not library.failures:  # a repository that did not answer is not asked again just for names
        try:
            names = [str(skill.id) for skill in await snapshot.list()]
        except RepositoryUnavailable:
            pass  # it answered a moment ago; the names would only have been a help
    error = _with_nearest(str(skill_id), cwd, names)
    error.diagnostics = (*diagnostics, *error.diagnostics)
    return error


def _with_nearest(name: str, cwd: str, others: Iterable[str]) -> SkillNotFound:
    """Return the error for a name: that it is in the trash, or similar ones of the stores and `others`."""
    from skillc.library.records import find_record_damage
    from skillc.spelling import suggest

    names = (*(skill.name for skill in stored_skills(cwd)), *others)
    error = SkillNotFound(name, nearest=suggest(name, names))
    error.diagnostics = tuple(find_record_damage())  # it may be one that was deployed from elsewhere
    item = _find_in_trash(name, cwd)
    if item:
        error.details = f"hint: it is in the trash; 'skc restore {item}' brings it back"
    if not is_path(name) and is_skill(os.path.join(cwd, name)):  # for a command that takes names first [D69]
        error.details = f"hint: the folder here is './{name}'"
    return error


def _find_in_trash(name: str, cwd: str) -> str:
    """Return the ID in the trash of a skill that was in a store which `cwd` sees; empty if there is none."""
    from skillc import trash

    home = paths.home()
    try:
        items = trash.items() if home else []
    except OSError:
        return ""  # to look there was only a help
    for item in items:
        root = item.origin.removesuffix(os.path.join(paths.skills_store(os.sep), name))
        if root != item.origin and (root == home or f"{cwd}{os.sep}".startswith(f"{root}{os.sep}")):
            return item.id
    return ""


def recall(name: str, cwd: str) -> Skill | None:
    """Return the copy that a note says `name` means in `cwd`; None without a valid one."""
    home = paths.home()
    if home is None:
        return None
    try:
        note = paths.read_regular(_note(name, cwd), MAX_NOTE).decode()
        until, source, repository = note.split("\n")
        if not 0 <= float(until) - time() <= MAX_AGE or not is_skill(source):
            return None
    except (OSError, ValueError):
        return None
    return Skill(name, source, GLOBAL, home, True, repository, is_copy=True, is_recent=True)


def remember(skill: Skill, cwd: str, seconds: float) -> None:
    """Write the note for a skill; without one the next question takes longer, so errors are ignored."""
    from skillc import atomic  # not needed to read a note

    path = _note(skill.name, cwd)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        until = time() + min(seconds, MAX_AGE)
        atomic.write(path, f"{until}\n{skill.source}\n{skill.repository}".encode())
    except (OSError, ValueError):
        pass


def _note(name: str, cwd: str) -> str:
    """Return the note's path: another for each name and each state of the configuration."""
    key = sha256_hex(repr((name, paths.config_stamps(cwd))).encode("utf-8", "surrogateescape"))[:16]
    return os.path.join(paths.recent_copies(), f"{folder_name(name)[:64]}-{key}")
