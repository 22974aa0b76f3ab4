"""Find out what is known of the skills that are here, for 'skc list' and 'skc info'.

It is put together from the stores, their locks, deployments and what the origins said last; none is asked.
What takes reading a file or a folder is noted with its stamp (`state`), and read again once that changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from skillc import paths
from skillc.compiler import (
    OBSOLETE,
    find_build,
    find_deployments,
    find_edited_builds,
    find_problem,
    inspect_deployment,
)
from skillc.errors import Diagnostic, InvalidConfiguration, InvalidSkill, SkillcError, warning
from skillc.install.entry import COPY
from skillc.install.lock import lock_file, lock_folder, read_lock, store_folder
from skillc.install.skill_info import (
    EDITED,
    LINK,
    OTHER,
    AgentSkill,
    InstalledSkills,
    SkillInfo,
    TokenCounts,
    Use,
    find_foreign,
)
from skillc.install.state import KnownVersion, Memo, find_edited, recall_latest, stamp_files, stamp_folder
from skillc.library import PROJECT, Skill, locate_installed, read_import, stored_skills
from skillc.library.records import DeploymentRecord, deployments_by_source, read_switches
from skillc.skills import digest_skill
from skillc.text import utf8_text

if TYPE_CHECKING:
    from skillc.install.entry import LockEntry
    from skillc.surface import Here

KIND = "list"  # of notes
TIME_OUT = 5.0  # seconds for reading the texts of new skills; the next list goes on with the rest


def list_installed(
    cwd: str,
    *,
    scope: str = "all",
    status: str = "all",
    pattern: str | None = None,
    limit: int | None = None,
    check_obsolete: bool = False,
    licenses: bool = False,
) -> InstalledSkills:
    """Return the skills of the stores, with their licences if asked; an unusable SKILL.md is a diagnostic."""
    stores, compare = _Stores(), check_obsolete or status == OBSOLETE
    found: list[tuple[Skill, tuple[str, str], str]] = []
    sources: dict[str, str] = {}  # of the first skill of each name, which is the one that it means
    diagnostics: list[Diagnostic] = []
    total = 0
    for skill in stored_skills(cwd):
        if error := stores.store_of(skill).find_problem(skill):
            diagnostics.append(warning("W005", error.message, error.code).at(skill.source))
            continue
        total += 1
        first = sources.setdefault(skill.name, skill.source)
        if scope in ("all", skill.scope) and (not pattern or fnmatchcase(skill.name, pattern)):
            build = find_build(skill, compare=compare)
            if status in ("all", build[0]):
                found.append((skill, build, "" if first == skill.source else first))
    found.sort(key=lambda each: (each[0].scope != PROJECT, each[0].name))  # nearest first stays
    skills = []
    for skill, build, shadow in found[:limit]:
        with suppress(InvalidSkill, OSError):  # another command took it out just now
            info = stores.describe(skill, build, shadow)
            skills.append(replace(info, licence=_licence_of(skill) or "") if licenses else info)
    stores.keep(is_all=len(skills) == total)
    return InstalledSkills(skills, total, len(found), find_foreign(cwd), [*diagnostics, *stores.diagnostics])


def describe_skill(here: Here, name: str) -> SkillInfo:
    """Return everything about a skill, an installed one first [D69]; report what is wrong around it."""
    from skillc.lint import measure_skill  # a list needs none of these
    from skillc.listing import list_agents
    from skillc.usage import compute_stats, count_offers_by_day

    skill = locate_installed(name, here.cwd)
    here.tell(skill.diagnostics)
    stores = _Stores()
    info = stores.describe(skill, find_build(skill), records=find_deployments(skill))
    stores.keep(is_all=False)
    tokens = measure_skill(skill.source)
    digest = ""
    with suppress(SkillcError):  # a link that leaves the folder [D64]
        digest = digest_skill(skill.source).digest
    use, offers = compute_stats(skill), count_offers_by_day([skill])
    places = {os.path.realpath(each.path) for each in info.agents}
    states = {
        agent.agent: each.state
        for agent in (list_agents(here.cwd).agents if places else ())
        for each in agent.skills
        if each.state and os.path.realpath(os.path.dirname(each.path)) in places
    }
    here.tell([*stores.diagnostics, *use.diagnostics])
    return replace(
        info,
        tokens=TokenCounts(tokens.metadata, tokens.body, tokens.in_files) if tokens else None,
        listing=states or None,
        digest=digest,
        signed=_signer_of(skill),
        licence=_licence_of(skill),
        used=Use(sum(count for _, count, _ in offers), use.data["total_accesses"], use.end),
    )


def _signer_of(skill: Skill) -> str | None:
    """Return by whom a skill was signed when it came in, as its lock has it."""
    entry = read_lock(skill.root).get(skill.name) if skill.is_stored else None
    return entry.signer.who if entry and entry.signer else None


def _licence_of(skill: Skill) -> str | None:
    from skillc.origins import find_licence  # a list needs none of these
    from skillc.skills.document import parse, read_main_file

    front = parse(read_main_file(skill.source)).frontmatter
    return find_licence(skill.source, front.fields.get("license") if front else None).label or None


class _Stores:
    """Goes through skills, and reads what several of them share once: locks, notes and deployments."""

    def __init__(self) -> None:
        self._deadline = monotonic() + TIME_OUT
        self._stores: dict[str, _Store] = {}
        self._switches = read_switches()
        self._deployments = cache(deployments_by_source)
        self.diagnostics: list[Diagnostic] = []

    def store_of(self, skill: Skill) -> _Store:
        """Return the store of a skill."""
        if skill.root not in self._stores:
            self._stores[skill.root] = _Store(skill.root, self._deadline, self.diagnostics)
        return self._stores[skill.root]

    def describe(
        self,
        skill: Skill,
        build: tuple[str, str],
        shadow: str = "",
        records: Sequence[DeploymentRecord] | None = None,
    ) -> SkillInfo:
        """Return what is known of a skill; without `records`, its deployments are those on record.

        `build` is its status and its runtime directory, `shadow` the folder that its name means here.
        """
        store = self.store_of(skill)
        entry, is_edited = store.entries.get(skill.name if skill.is_stored else "", (None, False))
        known = store.latest.get(entry.name) if entry else None
        main = store.read_main(skill)
        if error := main.get("error"):
            raise InvalidSkill(skill.source, error[0])
        if records is None:
            records = self._deployments().get(utf8_text(skill.source), ())
        switch = self._switches.get(utf8_text(skill.source))
        agents = tuple(store.inspect(skill, records))
        version = (entry.own_text("version") if entry else "") or main["version"]
        others = [each.path for each in agents if each.state == OTHER]
        return SkillInfo(
            skill=skill,
            id=skill.name,
            name=skill.name,
            scope=skill.scope,
            status=build[0],
            source_path=skill.source,
            runtime_path=build[1],
            description=main["description"],
            version=version,
            origin=_origin_of(skill, entry) if entry else main["origin"],
            ref=entry.text("ref") if entry else "",
            commit=entry.commit if entry else "",
            path=skill.source,
            agents=agents,
            tokens=TokenCounts(*main["tokens"]) if main["tokens"] else None,
            edited=is_edited,
            pinned=entry is not None and entry.is_pinned,
            outdated=bool(known.name) if known else None,
            latest=(known.name or version or (entry.commit[:12] if entry else "")) if known else None,
            checked=known.time if known else None,
            conflicts=(*others, *(store.find_marks(skill) if is_edited else ())),
            disabled=switch.text if switch else "",
            shadowed_by=shadow,
            is_locked=entry is not None,
        )

    def keep(self, *, is_all: bool) -> None:
        for store in self._stores.values():
            store.memo.keep(is_all=is_all)


class _Store:
    """A store with its lock, and the notes on its skills. After the deadline, nothing new is read."""

    def __init__(self, root: str, deadline: float, diagnostics: list[Diagnostic]) -> None:
        self.memo = Memo(KIND, root)
        self.entries: dict[str, tuple[LockEntry, bool]] = {}  # by folder, and whether that was edited
        self.latest: dict[str, KnownVersion] = {}
        self._deadline = deadline
        if not root or not os.path.lexists(lock_file(root)):
            return
        try:
            entries = read_lock(root)
        except InvalidConfiguration as error:
            diagnostics.append(warning("W071", lock_file(root), error.message))
            return
        self.latest = recall_latest(root, entries)
        edited = find_edited(root, entries.values(), is_all=True)
        for name, entry in entries.items():
            is_edited = name in edited and not entry.is_damaged
            self.entries[os.path.basename(store_folder(root, name))] = entry, is_edited

    def read_main(self, skill: Skill) -> dict[str, Any]:
        """Return what a SKILL.md says, and its tokens; nothing of a new one once time is over."""
        files = (os.path.join(skill.source, name) for name in paths.SKILL_FILES)
        stamp = stamp_files(next(filter(os.path.exists, files), ""))
        key = f"main {skill.source}"
        if monotonic() >= self._deadline and self.memo.find(key, stamp) is None:
            return {"description": "", "version": "", "origin": "", "tokens": None}
        main: dict[str, Any] = self.memo.get(key, stamp, lambda: _read_main(skill))
        return main

    def find_problem(self, skill: Skill) -> SkillcError | None:
        """Return what is wrong with a SKILL.md, as when it was read last if it did not change."""
        try:
            problem = self.read_main(skill).get("error")
        except OSError:
            return find_problem(skill)
        if problem is None:
            return None
        error = SkillcError(problem[0])
        error.code = problem[1]
        return error

    def inspect(self, skill: Skill, records: Sequence[DeploymentRecord]) -> Iterator[AgentSkill]:
        """Yield the deployments of a skill, with what is in their places."""
        edits = {runtime: self._is_edited(skill, runtime) for runtime in {each.runtime for each in records}}
        for record in records:
            state = self._inspect(record)
            if state == LINK and edits[record.runtime]:
                state = EDITED
            yield AgentSkill(record.target, record.path, record.method, state)

    def _inspect(self, record: DeploymentRecord) -> str:
        def inspect() -> str:
            return inspect_deployment(record).value

        is_copy = record.method == COPY and os.path.isdir(record.path) and not os.path.islink(record.path)
        stamp = f"{record.digest} {folder}" if is_copy and (folder := stamp_folder(record.path)) else ""
        return str(self.memo.get(f"copy {record.path}", stamp, inspect)) if stamp else inspect()

    def _is_edited(self, skill: Skill, runtime: str) -> bool:
        """Return whether the stub in a runtime directory, which links lead to, is not as it was built."""
        stamp = stamp_files(paths.stub_file(runtime), paths.index_file(runtime, skill.source))
        return bool(self.memo.get(f"stub {runtime}", stamp, lambda: runtime in find_edited_builds(skill)))

    def find_marks(self, skill: Skill) -> list[str]:
        """Return the files in which a conflict of an update is open."""
        from skillc.install.merge import find_marks  # seldom

        def find() -> list[str]:
            try:
                return [os.path.join(skill.source, name) for name in find_marks(skill.source)]
            except (SkillcError, OSError):  # a link that leaves the folder
                return []

        return list(self.memo.get(f"marks {skill.source}", stamp_folder(skill.source), find))


def _read_main(skill: Skill) -> dict[str, Any]:
    """Return what a SKILL.md says, or what is wrong with it: the message and the code."""
    from skillc.lint import measure_main  # where nothing changed, none is read
    from skillc.skills.document import parse, read_main_file, read_metadata

    try:
        document = parse(read_main_file(skill.source))
        metadata = read_metadata(document, skill.segment)
    except SkillcError as error:
        return {"error": [error.message, error.code]}
    more = metadata.fields.get("metadata")
    version = metadata.fields.get("version", more.get("version") if isinstance(more, dict) else None)
    is_version = isinstance(version, str | int | float) and not isinstance(version, bool)
    origin = skill.repository  # or the folder that a skill without a lock is a copy of
    if skill.is_stored and not origin:
        store = os.path.realpath(paths.skills_store(skill.root))
        origin = read_import(os.path.join(store, skill.name))[0]
    return {
        "description": utf8_text(metadata.description),
        "version": utf8_text(str(version)) if is_version else "",
        "tokens": measure_main(document),
        "origin": utf8_text(origin),
    }


def _origin_of(skill: Skill, entry: LockEntry) -> str:
    """Return where a locked skill came from."""
    source = entry.text("sourceUrl" if entry.text("sourceType") == "well-known" else "source")
    if entry.text("sourceType") == "local":
        return os.path.normpath(os.path.join(lock_folder(skill.root), source))
    return source
