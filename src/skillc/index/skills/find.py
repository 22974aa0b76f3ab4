"""Find the skills that fit a task in several folders, in order of precedence.

A skill whose ID a folder of higher precedence has, too, is that folder's; the same SKILL.md under other
IDs in other folders is one result that names them all.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.index.skills.database import Database, library_file
from skillc.index.skills.explain import FoundSkill, explain
from skillc.index.skills.folder import Folder, MemoryFolder
from skillc.index.skills.query import Candidate, FolderReader, Query
from skillc.index.skills.tokens import Stemmer
from skillc.startup import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skillc.index.skills.explain import Explanation
    from skillc.index.skills.query import Order

    MayUse = Callable[[str, tuple[str, ...]], bool]
    Match = tuple[Candidate, list[tuple[str, str]]]  # a candidate, and repository and ID of its twins

ATTEMPTS = 3  # when a folder changes while it is searched
MAX_INDEXES = 4  # that stay open in a process
SPARE = 6  # candidates beyond the limit that are examined first


class Searchable:
    """A repository that can be searched: a folder, or skills in memory.

    `names` maps the repository's IDs to those in use here; skills that it leaves out are hidden.
    `time_out` is how many seconds bringing its index up to date may take.
    """

    def __init__(
        self,
        name: str,
        folder: Folder | MemoryFolder,
        names: Mapping[str, str] | None = None,
        time_out: float | None = None,
    ) -> None:
        self.name = name
        self.folder = folder
        self.names = names
        self.time_out = time_out
        self._repository_ids = {ours: theirs for theirs, ours in names.items()} if names is not None else None

    def rename(self, names: Mapping[str, str]) -> Searchable:
        """Return the same repository with its skills under other names."""
        if self.names is not None:
            names = {theirs: names[ours] for theirs, ours in self.names.items() if ours in names}
        return Searchable(self.name, self.folder, names, self.time_out)

    def local_id(self, skill_id: str) -> str | None:
        """Return the ID that a skill of the repository has here, None where it is hidden."""
        return self.names.get(skill_id) if self.names is not None else skill_id

    def repository_id(self, skill_id: str) -> str | None:
        """Return the ID that a skill has in the repository, None where it can't be one of its."""
        return self._repository_ids.get(skill_id) if self._repository_ids is not None else skill_id


class SkillIndex:
    """The index of all skills in one file, and its folders. Safe to use from any thread."""

    def __init__(self, path: str) -> None:
        self.database = Database(path)
        self.stemmer = Stemmer()
        self._folders: dict[tuple[str, bool], Folder] = {}
        self.lock = RLock()

    def folder(self, root: str, strict: bool) -> Folder:
        """Return a folder, always the same object for one path."""
        key = root, strict
        return self._folders.get(key) or self._folders.setdefault(key, Folder(root, strict, self.database))

    def find(
        self,
        repositories: Sequence[Searchable],
        task: str,
        limit: int,
        may_use: MayUse = lambda skill_id, needs: True,
    ) -> list[FoundSkill]:
        """Return the skills that fit a task, best first, equals by ID; raises EmptyQuery for no words."""
        if not any(map(str.isalnum, task)):
            raise errors.EmptyQuery
        for attempt in range(ATTEMPTS):
            numbers = [r.folder.refresh(attempt > 0, r.time_out) for r in repositories]
            pairs = [(r, n) for r, n in zip(repositories, numbers, strict=True) if n is not None]
            search = _Search(self, pairs, task, max(limit, 0), may_use)
            with self.lock:
                results, is_current = search.run()
            if is_current or any(repository.folder.partial for repository in repositories):
                break  # a folder with more to read than its time allows would take as long again
        return results


# One for each file and process, as SQLite wants; of those for other homes than the last few, none.
_indexes: dict[tuple[str, int], SkillIndex] = {}
_lock = RLock()


def skill_index() -> SkillIndex:
    """Return the skill index in the home directory; in memory where there is none."""
    key = library_file(), os.getpid()
    with _lock:
        index = _indexes.pop(key, None) or SkillIndex(key[0])
        for oldest in list(_indexes)[: 1 - MAX_INDEXES]:
            del _indexes[oldest]
        _indexes[key] = index
    return index


class _Search:
    """One search through repositories, each with the number of its folder in its database."""

    def __init__(
        self, index: SkillIndex, pairs: list[tuple[Searchable, int]], task: str, limit: int, may_use: MayUse
    ) -> None:
        self._index = index
        self._repositories = [repository for repository, _ in pairs]
        self._numbers = [number for _, number in pairs]
        self._task, self._limit, self._may_use = task, limit, may_use
        self._readers: list[FolderReader] = []

    def run(self) -> tuple[list[FoundSkill], bool]:
        """Return the results, and whether they are what the folders hold now.

        All databases are open at once, each in one transaction. The file comes last, so that after damage
        only its own query runs again.
        """
        databases = list({id(r.folder.database): r.folder.database for r in self._repositories}.values())
        return self._open(sorted(databases, key=lambda database: database.persistent), {})

    def _open(self, databases: list[Database], transactions: dict[int, Any]) -> tuple[list[FoundSkill], bool]:
        if databases:
            first, *rest = databases
            return first.read(lambda execute: self._open(rest, {**transactions, id(first): execute}))
        self._readers = [
            FolderReader(r.name, transactions[id(r.folder.database)], number, r.folder.database.segments)
            for r, number in zip(self._repositories, self._numbers, strict=True)
        ]
        return self._find()

    def _find(self) -> tuple[list[FoundSkill], bool]:
        query = Query(self._readers, self._task, self._index.stemmer)
        pairs = zip(self._repositories, self._readers, strict=True)
        if not all(repository.folder.is_read_by(reader) for repository, reader in pairs):
            return [], False  # an index was damaged and rebuilt since it was refreshed
        limit = self._limit + SPARE
        while True:
            candidates, end = query.candidates(limit)
            matches = self._match(candidates)
            if end is None or self._count_certain(matches, end) >= self._limit:
                break
            limit *= 8
        matches = matches[: self._limit]
        is_current = all(self._folder(match).is_current(match.path, match.stamp) for match, _ in matches)
        return [self._result(query, candidate, also) for candidate, also in matches], is_current

    def _folder(self, candidate: Candidate) -> Folder | MemoryFolder:
        return self._repositories[candidate.precedence].folder

    def _count_certain(self, matches: list[Match], end: Order) -> int:
        """Return how many matches come before every skill that was not examined, which is after `end`."""
        if any(r.names is not None for r in self._repositories):  # equals have another order when renamed
            end = end[0], "", 0
        return sum(1 for candidate, _ in matches if candidate.order() <= end)

    def _match(self, candidates: list[Candidate]) -> list[Match]:
        """Return the candidates that are neither shadowed nor forbidden, each with its twins."""
        matches: list[Match] = []
        positions: dict[int, int] = {}  # of a digest in matches
        for candidate in self._rename(candidates):
            owners = self._owners(candidate)
            may_use = self._may_use(candidate.skill_id, candidate.capabilities)
            if owners[0] != candidate.precedence or not may_use:
                continue
            also = [(self._readers[owner].name, candidate.skill_id) for owner in owners[1:]]
            at = positions.get(candidate.digest) if candidate.digest else None
            if at is None or matches[at][0].precedence == candidate.precedence:
                positions.setdefault(candidate.digest, len(matches))
                matches.append((candidate, also))
                continue
            twin, others = matches[at]
            first, second = sorted((twin, candidate), key=lambda one: one.precedence)
            first.score = max(first.score, second.score)  # the better one's place
            matches[at] = first, [*others, (self._readers[second.precedence].name, second.skill_id), *also]
        return matches

    def _rename(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates under their local IDs, without hidden ones."""
        if all(repository.names is None for repository in self._repositories):
            return candidates
        visible = []
        for candidate in candidates:
            local_id = self._repositories[candidate.precedence].local_id(candidate.skill_id)
            if local_id is not None:
                candidate.skill_id = local_id
                visible.append(candidate)
        return sorted(visible, key=Candidate.order)

    def _owners(self, candidate: Candidate) -> list[int]:
        """Return the precedence of each repository that offers a candidate's ID, highest first."""
        if len(self._readers) == 1:
            return [0]
        owners = []
        for precedence, reader in enumerate(self._readers):
            theirs = self._repositories[precedence].repository_id(candidate.skill_id)
            if precedence == candidate.precedence or (
                theirs and self._repositories[precedence].folder.offers(theirs, reader)
            ):
                owners.append(precedence)
        return owners

    def _result(self, query: Query, candidate: Candidate, also: list[tuple[str, str]]) -> FoundSkill:
        folder, index = self._folder(candidate), self._index

        def explain_match() -> Explanation:
            with index.lock:
                data = folder.read_skill_file(candidate.path)
                terms, section = explain(
                    candidate.skill_id, candidate.description, data, query.weights, index.stemmer
                )
            return tuple((query.word(term), fields) for term, fields in terms), section

        name, directory = self._readers[candidate.precedence].name, folder.skill_directory(candidate.path)
        return FoundSkill(candidate, name, also, directory, explain_match)
