"""The library: the folders that are known through one index, and finding skills in them."""

from __future__ import annotations

import os
from _thread import RLock

from skillc.errors import EmptyQuery
from skillc.index.skills import score
from skillc.index.skills.database import Database, library_file
from skillc.index.skills.folder import Folder
from skillc.index.skills.precedence import Query, within
from skillc.index.skills.tokens import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillc.index.skills.memory import Documents
    from skillc.index.skills.result import FoundSkill
    from skillc.index.skills.score import Scorer

    MayUse = Callable[[str, tuple[str, ...]], bool]

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
        best: Scorer = score.best,
    ) -> list[FoundSkill]:
        """The skills that fit a task, best first, equals by ID; raises EmptyQuery where it has no words."""
        if not any(map(str.isalnum, task)):
            raise EmptyQuery
        for attempt in range(TRIES):
            numbers = [part.holding.searchable(anew=attempt > 0) for part in parts]  # which may take long
            there = [(p, n) for p, n in zip(parts, numbers, strict=True) if n is not None]
            query = Query(self, [part for part, _ in there], task, max(limit, 0), may_use, best)
            with self.lock:
                found, fresh = within(query, [number for _, number in there])
            if fresh:
                break
        return found


_libraries: dict[tuple[str, int], Library] = {}  # a cache: one for each file and process, as SQLite wants


def library() -> Library:
    """The library of the index in the home directory; in memory where there is none."""
    key = library_file(), os.getpid()
    if key not in _libraries:
        _libraries.setdefault(key, Library(key[0]))
    return _libraries[key]
