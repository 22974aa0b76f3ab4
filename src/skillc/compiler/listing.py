"""Which skills there are and whether each is built: the value behind `skc list` (RFC-0007)."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from skillc.errors import MissingField, SkillcError, warning
from skillc.index import manifest
from skillc.index.sections import UnreadableIndex, is_of_build, read_index_meta
from skillc.library import stored_skills
from skillc.paths import SKILL_FILES, skills_store
from skillc.skills import list_files, main_file, metadata, parse, source_hash
from skillc.startup.digest import file_sha256_hex
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skillc.errors import Diagnostic
    from skillc.index.skills import Entry
    from skillc.library import Skill
    from skillc.skills import SourceFile

NORMAL, NOT_BUILT, OBSOLETE = "normal", "not-built", "obsolete"
STATUSES = (NORMAL, NOT_BUILT, OBSOLETE, "all")
SCOPES = ("project", "global", "all")
MANY = 200  # skills in a store that are asked of the library's index, which keeps what is larger


class Listed:
    """A skill with its status and its runtime directory."""

    __slots__ = ("runtime", "skill", "status")

    def __init__(self, skill: Skill, status: str, runtime: str) -> None:
        self.skill = skill
        self.status = status
        self.runtime = runtime


class Listing:
    """What was found: `skills` after filters and limit, `total` before any, `filtered` before the limit."""

    __slots__ = ("filtered", "skills", "skipped", "total")

    def __init__(
        self, skills: list[Listed], total: int, filtered: int, skipped: list[tuple[Skill, SkillcError]]
    ) -> None:
        self.skills = skills
        self.total = total
        self.filtered = filtered
        self.skipped = skipped

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was skipped, as warnings."""
        return [warning("W001", error.message, error.code).at(skill.source) for skill, error in self.skipped]

    def as_json(self) -> dict[str, Any]:
        skills = [
            {
                "name": entry.skill.name,
                "scope": entry.skill.scope,
                "status": entry.status,
                "source_path": entry.skill.source,
                "runtime_path": entry.runtime,
            }
            for entry in self.skills
        ]
        return {"skills": skills, "total": self.total, "filtered": self.filtered}


def list_skills(
    cwd: str,
    *,
    scope: str = "all",
    status: str = "all",
    pattern: str | None = None,
    limit: int | None = None,
    check_obsolete: bool = False,
) -> Listing:
    """The skills of the stores; one whose SKILL.md can't be used is skipped and reported."""
    found: list[Skill] = []
    skipped: list[tuple[Skill, SkillcError]] = []
    for store in _by_store(cwd):
        known = _known(store)
        for skill in store:
            error = _problem(skill, known)
            if error is None:
                found.append(skill)
            else:
                skipped.append((skill, error))
    wanted = [s for s in found if scope in ("all", s.scope) and (not pattern or fnmatchcase(s.name, pattern))]
    compare = check_obsolete or status == OBSOLETE
    stores: dict[str, tuple[str, list[str]]] = {}
    listed = [_listed(skill, _runtime_stores(skill, stores), compare) for skill in wanted]
    listed = [entry for entry in listed if status in ("all", entry.status)]
    listed.sort(key=lambda entry: (entry.skill.scope != "project", entry.skill.name))  # nearest first stays
    return Listing(listed[:limit], len(found), len(listed), skipped)


def _by_store(cwd: str) -> list[list[Skill]]:
    """The skills of the stores, those of each together."""
    stores: dict[str, list[Skill]] = {}
    for skill in stored_skills(cwd):
        stores.setdefault(skill.root, []).append(skill)
    return list(stores.values())


def _known(store: list[Skill]) -> Mapping[str, Entry]:
    """What the library's index knows of a store of many skills, by path; few are read as quickly."""
    if len(store) <= MANY:
        return {}
    from skillc.index.skills import skill_index  # most stores are small

    return skill_index().folder(os.path.abspath(skills_store(store[0].root)), False).snapshot().entries


def _problem(skill: Skill, known: Mapping[str, Entry]) -> SkillcError | None:
    """Why a SKILL.md can't be loaded: as the index says, where it says it in our words."""
    for name in SKILL_FILES:
        entry = known.get(f"{skill.name}/{name}")
        if entry is not None and entry.description is not None:
            return None
        if entry is not None and any(code == MissingField.code for code, _, _ in entry.diagnostics):
            return MissingField("description")
    return _problem_read(skill)


def _problem_read(skill: Skill) -> SkillcError | None:
    try:
        with open(os.path.join(skill.source, main_file(skill.source)), "rb") as file:
            metadata(parse(file.read()), skill.name)
    except OSError as error:
        return SkillcError(f"cannot read SKILL.md: {error.strerror}")
    except SkillcError as error:
        return error
    return None


def _runtime_stores(skill: Skill, known: dict[str, tuple[str, list[str]]]) -> tuple[str, list[str]]:
    """Where a skill would be compiled to, and where it may be: the same for all skills of a store."""
    if skill.root not in known:
        stores = skill.runtime_stores()
        known[skill.root] = stores[0], [store for store in stores if os.path.isdir(store)]
    return known[skill.root]


def _listed(skill: Skill, stores: tuple[str, list[str]], check_obsolete: bool) -> Listed:
    """A skill with its status; `stores` are those of `_runtime_stores`."""
    first, there = stores
    for store in there:
        runtime = os.path.join(store, skill.folder)
        written = manifest.read(runtime)
        fields = manifest.parse(written) if written else {}
        built = fields.get("source_hash")
        # A runtime directory of the same name may hold another project's skill.
        if isinstance(built, str) and built and fields.get("source", skill.source) == utf8_text(skill.source):
            obsolete = check_obsolete and current_hash(skill) != _built_hash(skill, runtime, built)
            return Listed(skill, OBSOLETE if obsolete else NORMAL, runtime)
    return Listed(skill, NOT_BUILT, os.path.join(first, skill.folder))


def _built_hash(skill: Skill, runtime: str, built: str) -> str:
    """The hash of the last build, also of one that was killed before its manifest was there."""
    try:
        found = read_index_meta(runtime, skill.source)
    except UnreadableIndex:
        return built
    return found["source_hash"] if is_of_build(found, manifest.read(runtime)) else built


def current_hash(skill: Skill) -> str | None:
    """The hash of a skill's files as they are now; None where they can't be read."""

    def digest(source: SourceFile) -> str:
        with open(source.path, "rb") as file:
            return file_sha256_hex(file, source.size)

    try:
        return source_hash((file.name, digest(file)) for file in list_files(skill.source))
    except (OSError, SkillcError):
        return None
