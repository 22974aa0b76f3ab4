"""Any skill by its name: a path, the stores, and after them the repositories by canonical ID.

`skc show company/billing/refunds` works on a skill of a git, HTTP or MCP repository as on a local one:
a remote skill becomes a folder (`copies`) when somebody asks for it, and not before; the next question
finds it there (`recent`).
"""

from __future__ import annotations

from skillc.errors import InvalidSkill, RepositoryUnavailable, SkillNotFound
from skillc.library.stores import GLOBAL, PROJECT, Skill, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.library.config import SkillsConfig
    from skillc.library.descriptors import SkillDocument
    from skillc.library.library import CompositeSkillSource
    from skillc.skills import SkillId


def locate_anywhere(name: str, cwd: str) -> Skill:
    """The skill that `name` means in `cwd`, wherever it comes from; raises SkillNotFound and others.

    Not from a running event loop: repositories are asked in one of their own.
    """
    incomplete: InvalidSkill | None = None
    try:
        return resolve(name, cwd)
    except (InvalidSkill, SkillNotFound) as error:
        from skillc.skills import is_segment

        incomplete = error if isinstance(error, InvalidSkill) else None
        if not all(map(is_segment, name.split("/"))):
            raise (incomplete or _with_nearest(name, cwd, ())) from None
    from skillc.library.recent import recall

    known = recall(name, cwd)
    if known is not None:
        return known
    import asyncio  # for names that are in no store; they are not what agents ask for most

    from skillc.skills import SkillId

    try:
        return asyncio.run(_in_repositories(SkillId(name), cwd))
    except SkillNotFound:
        if incomplete is not None:  # a folder of that name was on the way
            raise incomplete from None
        raise


async def _in_repositories(skill_id: SkillId, cwd: str) -> Skill:
    from skillc import paths
    from skillc.library.config import SkillsConfig
    from skillc.library.repositories import resolve_repositories

    config = SkillsConfig.load(cwd)
    library = resolve_repositories(config, next(paths.library_roots(cwd), None))
    try:
        document = await library.load(skill_id)
    except (SkillNotFound, RepositoryUnavailable) as error:
        kept = _kept(skill_id, library, config)
        if kept is not None:
            return kept
        if isinstance(error, SkillNotFound):
            raise await _not_found(skill_id, cwd, library) from None
        raise
    found = _found(document, await library.directory(skill_id), config, cwd)
    found.diagnostics = tuple(library.warnings())
    if found.copied and not found.diagnostics:
        from skillc.library.recent import SECONDS, remember

        settings = next(r.settings for r in config.repositories if r.name == found.repository)
        remember(found, cwd, float(settings.get("refresh_seconds", SECONDS)))
    return found


def _found(document: SkillDocument, directory: str | None, config: SkillsConfig, cwd: str) -> Skill:
    """A skill's own folder where it is on this machine, else a copy."""
    import os

    from skillc import paths
    from skillc.library import copies
    from skillc.library.descriptors import SkillScope

    skill = document.descriptor
    home = paths.home() or ""
    if directory is not None and skill.scope is not SkillScope.REMOTE:
        project = next(paths.project_roots(cwd), "") if skill.scope is SkillScope.PROJECT else ""
        scope, root = (PROJECT, project) if project else (GLOBAL, home)
        return Skill(skill.id, os.path.realpath(directory), scope, root, True, skill.source_name)
    repository = next(r for r in config.repositories if r.name == skill.source_name)
    path = copies.write_copy(copies.copy_path(repository, skill.id), repository.name, document, directory)
    return Skill(skill.id, os.path.realpath(path), GLOBAL, home, True, repository.name, copied=True)


def _kept(skill_id: SkillId, library: CompositeSkillSource, config: SkillsConfig) -> Skill | None:
    """The copy of a skill that was there when its repository could last be asked."""
    import os

    from skillc import paths
    from skillc.errors import warning
    from skillc.library import copies
    from skillc.library.stores import is_skill

    home = paths.home()
    for repository in config.repositories if home else ():
        path = copies.copy_path(repository, skill_id)
        if repository.name in library.failures and is_skill(path):
            why = warning("W201", repository.name, library.failures[repository.name].reason)
            source = os.path.realpath(path)
            return Skill(skill_id, source, GLOBAL, home or "", True, repository.name, True, (why,))
    return None


async def _not_found(skill_id: SkillId, cwd: str, library: CompositeSkillSource) -> SkillNotFound:
    """The error for an ID that nobody has, with what was to say of those who could not be asked."""
    diagnostics = tuple(library.warnings())
    # Who did not answer is not asked again just for names.
    names: list[str] = []
    if not library.failures:
        try:
            names = [str(skill.id) for skill in await library.list()]
        except RepositoryUnavailable:
            pass  # it was there a moment ago; the names would only have been a help
    error = _with_nearest(str(skill_id), cwd, names)
    error.diagnostics = diagnostics
    return error


def _with_nearest(name: str, cwd: str, others: Iterable[str]) -> SkillNotFound:
    """The error for a name, with those of the stores and of `others` that are like it."""
    from skillc.library.stores import stored_skills
    from skillc.text import suggest

    stored = (skill.name for skill in stored_skills(cwd))
    return SkillNotFound(name, nearest=suggest(name, (*stored, *others)))
