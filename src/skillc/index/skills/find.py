"""Find the skills that fit a task in several folders, in order of precedence.

A skill whose ID a folder of higher precedence has, too, is that folder's. Copies and near-copies are one
result, that of the highest precedence, which names the others.
"""

from __future__ import annotations

import os
from itertools import chain

from skillc import errors
from skillc.index.skills.database import Database, RecalledDatabase, library_file
from skillc.index.skills.explain import FoundSkill, FoundSkills, explain, name_words
from skillc.index.skills.folder import Folder
from skillc.index.skills.query import Candidate, Query
from skillc.index.skills.segment import FolderReader
from skillc.index.skills.tokens import STOP_WORDS, Stemmer, split_typed
from skillc.startup import RLock
from skillc.text import count_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from skillc.index.skills.explain import Explanation
    from skillc.index.skills.query import Order

    MayUse = Callable[[str, tuple[str, ...]], bool]
    Match = list[Candidate]  # skills that are twins, best first
    Places = list[tuple[str, str]]  # repositories and IDs
    Group = tuple[Candidate, Places]  # a skill and its copies

ATTEMPTS = 3  # when a folder changes while it is searched
MAX_INDEXES = 4  # that stay open in a process
MAX_CHECKED = 8  # copies whose files are read to see whether they fit
SPARE = 6  # candidates beyond the limit that are examined first


class Searchable:
    """A repository that can be searched: a folder, or skills in memory.

    `names` maps the repository's IDs to those in use here; skills that it leaves out are hidden.
    `time_out` is how many seconds bringing its index up to date may take.
    """

    def __init__(
        self, name: str, folder: Folder, names: Mapping[str, str] | None = None, time_out: float | None = None
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


class Scope:
    """What a search is limited to; empty texts are no limit. With `every`, copies are results of their own.

    A skill is in its collection and in those above; `capability` is one that it needs. `prefixes` are those
    of IDs in their repositories, of which one must be the ID or above it.
    """

    __slots__ = ("capability", "collection", "every", "prefixes", "repository", "tag")

    def __init__(
        self,
        repository: str = "",
        collection: str = "",
        capability: str = "",
        tag: str = "",
        every: bool = False,
        prefixes: Collection[str] | None = None,
    ) -> None:
        self.prefixes = prefixes
        self.repository = repository
        self.collection = collection.strip("/")
        self.capability = capability
        self.tag = tag.casefold()
        self.every = every

    def has(self, candidate: Candidate, repository: str) -> bool:
        """Return whether a skill of a repository is in it."""
        return (
            (not self.repository or self.repository == repository)
            and (not self.collection or candidate.skill_id.startswith(f"{self.collection}/"))
            and (not self.capability or self.capability in candidate.capabilities)
            and (not self.tag or self.tag in map(str.casefold, candidate.tags))
        )


EVERYTHING: Scope = Scope()


class SkillIndex:
    """The index of all skills in one file, and its folders. Safe to use from any thread."""

    def __init__(self, path: str, mapped: bool = True) -> None:
        self.database = Database(path, mapped)
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
        scope: Scope = EVERYTHING,
    ) -> FoundSkills:
        """Return the skills that fit a task, best first, equals by ID.

        Raises EmptyQuery for no words, InvalidOption for a scope with a repository that is not there.
        """
        if not any(map(str.isalnum, task)):
            raise errors.EmptyQuery
        names = dict.fromkeys(repository.name for repository in repositories)
        if scope.repository and scope.repository not in names:
            from skillc.spelling import unknown_repository  # only on the way to an error

            raise unknown_repository(scope.repository, names)
        for attempt in range(ATTEMPTS):
            numbers = [r.folder.refresh(attempt > 0, r.time_out) for r in repositories]
            pairs = [(r, n) for r, n in zip(repositories, numbers, strict=True) if n is not None]
            search = _Search(self, pairs, task, max(limit, 0), may_use, scope)
            with self.lock:
                results, is_current = search.run()
            if is_current or any(repository.folder.partial for repository in repositories):
                break  # a folder with more to read than its time allows would take as long again
        return results


class RecalledIndex(SkillIndex):
    """The index as it is: opened for reading alone, never repaired; no folder is looked through."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.database = RecalledDatabase(path)

    def recall(
        self, repositories: Sequence[Searchable], task: str, limit: int, may_use: MayUse
    ) -> FoundSkills | None:
        """Return the skills that fit a task; None where the index lacks a folder, or a folder has changed.

        Raises EmptyQuery for no words, and SQLite's errors.
        """
        if not any(map(str.isalnum, task)):
            raise errors.EmptyQuery
        pairs = []
        for repository in repositories:
            number = repository.folder.recall()
            if number is None:
                return None
            if repository.folder.has_skills(number):  # each folder more takes a look at all results
                pairs.append((repository, number))
        results, is_current = _Search(self, pairs, task, limit, may_use, EVERYTHING).run()
        return results if is_current else None


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
        self,
        index: SkillIndex,
        pairs: list[tuple[Searchable, int]],
        task: str,
        limit: int,
        may_use: MayUse,
        scope: Scope,
    ) -> None:
        self._index = index
        self._pairs = pairs
        self._task, self._limit, self._may_use, self._scope = task, limit, may_use, scope
        self._readers: list[FolderReader] = []

    def run(self) -> tuple[FoundSkills, bool]:
        """Return the results, and whether they are what the folders hold now.

        All databases are open at once, each in one transaction. The file comes last, so that after damage
        only its own query runs again.
        """
        databases = {id(r.folder.database): r.folder.database for r, _ in self._pairs}
        return self._open(sorted(databases.values(), key=lambda database: database.persistent), {})

    def _open(self, databases: list[Database], transactions: dict[int, Any]) -> tuple[FoundSkills, bool]:
        if databases:
            first, *rest = databases
            return first.read(lambda execute: self._open(rest, {**transactions, id(first): execute}))
        self._readers = [FolderReader(r, transactions[id(r.folder.database)], n) for r, n in self._pairs]
        return self._find()

    def _find(self) -> tuple[FoundSkills, bool]:
        query = Query(self._readers, self._task, self._index.stemmer, self._scope.prefixes)
        if not all(reader.repository.folder.is_read_by(reader) for reader in self._readers):
            return FoundSkills(), False  # an index was damaged and rebuilt since it was refreshed
        limit = self._limit + SPARE
        while True:
            candidates, end = query.candidates(limit)
            matches = self._match(candidates)
            if end is None or self._count_certain(matches, end) >= self._limit:
                break
            limit *= 8
        groups = [self._complete(query, match) for match in matches[: self._limit]]
        is_current = all(self._folder(first).is_current(first.path, first.stamp) for first, _ in groups)
        corrections = self._spell(query, [first for first, _ in groups]) if query.corrections else {}
        if query.corrections and not corrections:
            return FoundSkills(), is_current  # what was found has other words than those that were typed
        confidences = query.judge([first for first, _ in groups])
        results = [self._result(query, *each) for each in zip(groups, confidences, strict=True)]
        return FoundSkills(results, corrections), is_current

    def _spell(self, query: Query, results: list[Candidate]) -> dict[str, str]:
        """Return the corrections in words of the results; a term is only the stem of a word.

        Stems may be near where words are not: that of `several` is one letter away from `server`.
        """
        from skillc.index.skills.typos import allowed_edits  # few tasks have corrections

        corrections = {}
        for typo, term in query.corrections.items():
            heads = (f"{result.skill_id} {result.description}".encode() for result in results)
            files = (self._folder(result).read_skill_file(result.path) for result in results)
            words = (self._find_word(term, typo, text) for text in chain(heads, files))
            word = next(filter(None, words), None)
            limit = allowed_edits(typo) + 1  # and an ending
            if word is not None and count_edits(typo, word, limit) <= limit:
                corrections[typo] = word
                query.spell(term, word)
        return corrections

    def _find_word(self, term: str, typo: str, text: bytes) -> str | None:
        """Return the word of a text for a term, the one that is nearest to what was typed."""
        start = term[:2].encode()
        words = [word for word in split_typed(text) if word.startswith(start) or not word.isascii()]
        stems = self._index.stemmer.stem(words)
        matches = [word.decode() for word, stem in zip(words, stems, strict=True) if stem == term.encode()]
        return min(matches, key=lambda word: count_edits(typo, word, len(typo)), default=None)

    def _folder(self, candidate: Candidate) -> Folder:
        return self._readers[candidate.precedence].repository.folder

    def _count_certain(self, matches: list[Match], end: Order) -> int:
        """Return how many matches come before every skill that was not examined, which is after `end`."""
        if any(r.names is not None for r, _ in self._pairs):  # equals have another order when renamed
            end = end[0], "", 0
        return sum(1 for match in matches if match[0].order() <= end)

    def _match(self, candidates: list[Candidate]) -> list[Match]:
        """Return the candidates that are neither shadowed nor forbidden, twins together."""
        matches: list[Match] = []
        groups: dict[object, Match] = {}
        for candidate in self._rename(candidates):
            if not self._is_eligible(candidate):
                continue
            key = self._group(candidate)
            match = None if self._scope.every else groups.get(key) or self._foreign_twin(candidate, matches)
            if match is None:
                match = []
                matches.append(match)
            groups[key] = match
            match.append(candidate)
        return matches

    def _is_eligible(self, candidate: Candidate) -> bool:
        name = self._readers[candidate.precedence].repository.name
        return self._scope.has(candidate, name) and self._may_show(candidate)

    def _may_show(self, candidate: Candidate) -> bool:
        is_shadowed = self._owners(candidate)[0] != candidate.precedence
        return not is_shadowed and self._may_use(candidate.skill_id, candidate.capabilities)

    def _group(self, candidate: Candidate) -> object:
        """Return what identifies its group; a skill without twins may be in two repositories of a folder."""
        reader = self._readers[candidate.precedence]
        return id(reader.execute), candidate.group or (reader.folder, candidate.path)

    def _foreign_twin(self, candidate: Candidate, matches: list[Match]) -> Match | None:
        """Return the match whose skill in another database is a twin: groups are within one."""
        execute = self._readers[candidate.precedence].execute
        if all(reader.execute is execute for reader in self._readers):
            return None
        traits = candidate.traits()
        others = (match for match in matches if self._readers[match[0].precedence].execute is not execute)
        return next((match for match in others if traits.are_of_twin(match[0].traits())), None)

    def _complete(self, query: Query, match: Match) -> Group:
        """Return the twin of the highest precedence, and where all others are."""
        first = match[0]
        if len(match) == 1 and (first.group is None or self._scope.every):
            return first, []
        members = {(member.precedence, member.path): member for member in match}
        groups = {self._group(member): member for member in match if member.group}
        for member in groups.values():
            for twin in self._rename(query.twins(member)):
                members.setdefault((twin.precedence, twin.path), twin)
        candidates = filter(self._is_eligible, members.values())
        ranking = sorted(candidates, key=lambda member: (member.precedence, *member.order()))[:MAX_CHECKED]
        # A copy may be without the words that another one was found by, and not fit the task at all.
        first = next((m for m in ranking if m.score or self._explain(query, m)[0]), match[0])
        first.score, first.place = match[0].score, match[0].place  # those of the best one
        visible = {member.skill_id for member in members.values() if self._may_show(member)}
        copies = [
            (self._readers[member.precedence].repository.name, member.skill_id)
            for member in sorted(members.values(), key=lambda member: (member.precedence, member.skill_id))
            if member is not first and member.skill_id in visible
        ]
        return first, copies

    def _rename(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates under their local IDs, without hidden ones."""
        if all(repository.names is None for repository, _ in self._pairs):
            return candidates
        visible = []
        for candidate in candidates:
            local_id = self._readers[candidate.precedence].repository.local_id(candidate.skill_id)
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
            repository = reader.repository
            theirs = repository.repository_id(candidate.skill_id)
            if precedence == candidate.precedence or (theirs and repository.folder.offers(theirs, reader)):
                owners.append(precedence)
        return owners

    def _result(self, query: Query, group: Group, confidence: float) -> FoundSkill:
        candidate, copies = group
        directory = self._folder(candidate).skill_directory(candidate.path)
        name, owners = self._readers[candidate.precedence].repository.name, self._owners(candidate)
        also = [(self._readers[owner].repository.name, candidate.skill_id) for owner in owners[1:]]
        explain = lambda: self._explain(query, candidate)  # noqa: E731
        return FoundSkill(candidate, confidence, name, also, copies, directory, explain)

    def _explain(self, query: Query, candidate: Candidate) -> Explanation:
        """Return the task's words that a skill has, without stop words if there are others; and a section."""
        with self._index.lock:
            folder = self._folder(candidate)
            data, directory = folder.read_skill_file(candidate.path), folder.skill_directory(candidate.path)
            terms, section, file = explain(candidate, data, directory, query.weights, self._index.stemmer)
        words = name_words(terms, query.word)
        keywords = tuple(pair for pair in words if pair[0].encode() not in STOP_WORDS)
        return keywords or words, section, file
