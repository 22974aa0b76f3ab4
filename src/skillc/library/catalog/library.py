"""Finding skills over several folders, in order of precedence: what is shadowed or twice, and why one fits.

A skill that a folder of higher precedence has, too, is that one's; the same SKILL.md under other names in
other folders is one result, with the others named.
"""

from __future__ import annotations

import os
from _thread import RLock

from skillc.errors import EmptyQuery
from skillc.library.catalog import scoring
from skillc.library.catalog.database import Database, library_file
from skillc.library.catalog.finding import Candidate, Search, Shelf
from skillc.library.catalog.folder import Folder
from skillc.library.catalog.terms import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skillc.library.catalog.documents import Documents
    from skillc.library.catalog.scoring import Scorer

    MayUse = Callable[[str, tuple[str, ...]], bool]
    Reasons = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]  # words with their fields; the section

SPARE = 6  # skills beyond the wanted ones that are looked at closely first
TRIES = 3  # when a folder changes while it is searched


class Part:
    """A repository that can be searched: a folder, or documents from elsewhere.

    `names` is what the skills there are called here, by their IDs; those that it leaves out are not seen.
    """

    __slots__ = ("_theirs", "holding", "name", "names")

    def __init__(
        self, name: str, holding: Folder | Documents, names: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.holding = holding
        self.names = names
        self._theirs = {ours: theirs for theirs, ours in names.items()} if names is not None else None

    def seen_as(self, names: Mapping[str, str]) -> Part:
        """The same with its skills under other names."""
        if self.names is not None:
            names = {theirs: names[ours] for theirs, ours in self.names.items() if ours in names}
        return Part(self.name, self.holding, names)

    def ours(self, skill_id: str) -> str | None:
        """What a skill of the repository is called here, if it is seen."""
        return self.names.get(skill_id) if self.names is not None else skill_id

    def theirs(self, skill_id: str) -> str | None:
        """What the repository calls a skill, if it can be one of its."""
        return self._theirs.get(skill_id) if self._theirs is not None else skill_id


class FoundSkill:
    """A skill that fits a task, and why: the task's words it has, and the section to read first.

    `also` names where else it is: repository and ID. `directory` is its folder, where it has one.
    """

    __slots__ = ("_reasons", "_why", "also", "description", "directory", "id", "name", "score", "source_name")

    def __init__(
        self,
        candidate: Candidate,
        source_name: str,
        also: list[tuple[str, str]],
        directory: str,
        reasons: Callable[[], Reasons],
    ) -> None:
        self.id = candidate.skill_id
        self.name = candidate.skill_id.rpartition("/")[2]
        self.description: str = candidate.description
        self.score = candidate.score
        self.source_name = source_name
        self.also = tuple(also)
        self.directory = directory
        self._reasons = reasons
        self._why: Reasons | None = None

    @property
    def matched(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The task's words that the skill has, strongest first, each with the fields it is in."""
        return self._known()[0]

    @property
    def section(self) -> str | None:
        """The heading of the section to read first; None where the best is what stands before any."""
        return self._known()[1] or None

    @property
    def read(self) -> str:
        """The command that shows it."""
        return _command(self.id, self.directory, self.section or "")

    def _known(self) -> Reasons:
        if self._why is None:
            self._why = self._reasons()  # reads the file: see `reasons`
        return self._why

    def as_json(self) -> dict[str, Any]:
        """The wire format of `skc find`, of `GET /search` and of the tools."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "score": self.score,
            "source_name": self.source_name,
            "also": [{"source_name": name, "id": skill_id} for name, skill_id in self.also],
            "matched": [{"term": word, "fields": list(fields)} for word, fields in self.matched],
            "section": self.section,
            "read": self.read,
        }


class Library:
    """The index of one file and the folders that were looked at through it. Safe to use from any thread."""

    def __init__(self, path: str) -> None:
        self.database = Database(path)
        self.stemmer = Stemmer()
        self._folders: dict[tuple[str, bool], Folder] = {}
        self.lock = RLock()

    def folder(self, root: str, strict: bool) -> Folder:
        """A folder, the same object for all who ask."""
        key = root, strict
        return self._folders.get(key) or self._folders.setdefault(key, Folder(root, strict, self.database))

    def find(
        self,
        parts: Sequence[Part],
        task: str,
        limit: int,
        may_use: MayUse = lambda skill_id, needs: True,
        best: Scorer = scoring.best,
    ) -> list[FoundSkill]:
        """The skills that fit a task, best first, equals by ID; raises EmptyQuery where it has no words."""
        if not any(map(str.isalnum, task)):
            raise EmptyQuery
        for attempt in range(TRIES):
            numbers = [part.holding.searchable(anew=attempt > 0) for part in parts]  # which may take long
            there = [(p, n) for p, n in zip(parts, numbers, strict=True) if n is not None]
            query = _Query(self, [part for part, _ in there], task, max(limit, 0), may_use, best)
            with self.lock:
                found, fresh = _within(query, [number for _, number in there])
            if fresh:
                break
        return found


def _within(query: _Query, numbers: list[int]) -> tuple[list[FoundSkill], bool]:
    """Ask with all indexes open, each in one state; what was damaged meanwhile is asked again."""
    databases = list({id(part.holding.database): part.holding.database for part in query.parts}.values())

    def deeper(opened: dict[int, Any], left: list[Any]) -> tuple[list[FoundSkill], bool]:
        if left:
            first, *rest = left
            return first.read(lambda execute: deeper(opened | {id(first): execute}, rest))  # type: ignore[no-any-return]
        return query.answer(
            [
                Shelf(part.name, opened[id(part.holding.database)], number, part.holding.database.remembered)
                for part, number in zip(query.parts, numbers, strict=True)
            ]
        )

    return deeper({}, databases)


class _Query:
    """One question, ready to be put to open indexes."""

    def __init__(
        self, library: Library, parts: list[Part], task: str, limit: int, may_use: MayUse, best: Scorer
    ) -> None:
        self.parts = parts
        self._library = library
        self._task = task
        self._limit = limit
        self._may_use = may_use
        self._best = best

    def answer(self, shelves: list[Shelf]) -> tuple[list[FoundSkill], bool]:
        """The results, and whether they are what the folders hold right now."""
        search = Search(shelves, self._task, self._library.stemmer)
        if not all(part.holding.is_there(shelf) for part, shelf in zip(self.parts, shelves, strict=True)):
            return [], False  # an index was damaged and made anew since it was brought up to date
        wanted = self._limit + SPARE
        while True:
            candidates, complete = search.candidates(wanted, self._best)
            chosen = self._chosen(candidates, shelves)
            if complete or len(chosen) >= self._limit:
                break
            wanted *= 8
        chosen = chosen[: self._limit]
        fresh = all(self.parts[c.shelf].holding.is_current(c.path, c.stamp) for c, _ in chosen)
        return [self._told(search, candidate, also, shelves) for candidate, also in chosen], fresh

    def _chosen(
        self, candidates: list[Candidate], shelves: list[Shelf]
    ) -> list[tuple[Candidate, list[tuple[str, str]]]]:
        """The candidates that are offered, each with the others that are the same."""
        chosen: list[tuple[Candidate, list[tuple[str, str]]]] = []
        same: dict[int, int] = {}  # digest to place in chosen
        for candidate in self._seen(candidates):
            holders = self._holders(candidate, shelves)
            if holders[0] != candidate.shelf or not self._may_use(candidate.skill_id, candidate.capabilities):
                continue
            also = [(shelves[place].name, candidate.skill_id) for place in holders[1:]]
            at = same.get(candidate.digest) if candidate.digest else None
            if at is None or chosen[at][0].shelf == candidate.shelf:
                same.setdefault(candidate.digest, len(chosen))
                chosen.append((candidate, also))
                continue
            twin, others = chosen[at]
            first, second = sorted((twin, candidate), key=lambda one: one.shelf)
            name = shelves[second.shelf].name
            chosen[at] = first, [*others, (name, second.skill_id), *also]
        return chosen

    def _seen(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates under the names they have here, without those that are not seen."""
        if all(part.names is None for part in self.parts):
            return candidates
        seen = []
        for candidate in candidates:
            ours = self.parts[candidate.shelf].ours(candidate.skill_id)
            if ours is not None:
                candidate.skill_id = ours
                seen.append(candidate)
        return sorted(seen, key=Candidate.order)

    def _holders(self, candidate: Candidate, shelves: list[Shelf]) -> list[int]:
        """The places of all shelves that offer a candidate's ID."""
        if len(shelves) == 1:
            return [0]
        sql = "SELECT 1 FROM skills WHERE id = ? AND folder = ? AND offered"
        holders = []
        for place, (part, shelf) in enumerate(zip(self.parts, shelves, strict=True)):
            theirs = part.theirs(candidate.skill_id)
            if place == candidate.shelf or (theirs and shelf.execute(sql, (theirs, shelf.folder)).fetchone()):
                holders.append(place)
        return holders

    def _told(
        self, search: Search, candidate: Candidate, also: list[tuple[str, str]], shelves: list[Shelf]
    ) -> FoundSkill:
        holding, library = self.parts[candidate.shelf].holding, self._library

        def reasons() -> Reasons:
            from skillc.library.catalog.reasons import explain  # with the Markdown parser

            with library.lock:
                data = holding.content(candidate.path)
                found, section = explain(
                    candidate.skill_id, candidate.description, data, search.weights, library.stemmer
                )
            return tuple((search.word(term), fields) for term, fields in found), section

        directory = holding.directory(candidate.path)
        return FoundSkill(candidate, shelves[candidate.shelf].name, also, directory, reasons)


def _command(skill_id: str, directory: str, section: str) -> str:
    """What to run to read a skill: its best section, or all of it."""
    if not section or not directory:
        return f"skc load {skill_id}"
    parent, name = os.path.split(directory)
    in_store = parent.replace("\\", "/").endswith("/.skillc/skills")
    return f"skc show {_quoted(name if in_store else directory)} --section {_quoted(section)}"


def _quoted(text: str) -> str:
    """`text` as one word of a POSIX shell."""
    if text and all(c.isascii() and (c.isalnum() or c in "/._-") for c in text) and text[0] != "-":
        return text
    if not any(c in '"$`\\!' for c in text):
        return f'"{text}"'
    inner = text.replace("'", "'\"'\"'")
    return f"'{inner}'"


_libraries: dict[tuple[str, int], Library] = {}  # a cache: one for each file and process, as SQLite wants


def library() -> Library:
    """The library of the index in the home directory; in memory where there is none."""
    key = library_file(), os.getpid()
    if key not in _libraries:
        _libraries.setdefault(key, Library(key[0]))
    return _libraries[key]
