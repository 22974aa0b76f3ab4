"""A folder of skills with what is known of it: a look costs a stat for each file, and only news are read.

What was learned is kept in the library's index, so that the next process starts from there.
"""

from __future__ import annotations

import os
from _thread import RLock
from time import perf_counter, time

from skillc.index.skills import rows
from skillc.index.skills.database import PATIENCE
from skillc.index.skills.parse import MAX_SKILL_FILE, UNSETTLED
from skillc.index.skills.scan import Walk
from skillc.index.skills.snapshot import Look, alike, is_news

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.database import Database
    from skillc.index.skills.query import Shelf
    from skillc.index.skills.scan import Found
    from skillc.index.skills.writer import Harvest

HASTE = 0.05  # seconds that listing waits for a process that writes; then it is not noted this time
MANY = 200  # files whose reading is worth keeping, and waiting for another process that may be at it
LARGE = 2000  # skills; a folder with fewer is looked at before every search
SHARE = 10  # a larger one not before so many times what a look takes have passed
FEW_DIRECTORIES = 200  # that are looked at even then, because they tell of skills that came or went


class Folder:
    """One folder. What is found when it is listed is kept where there is much; what is searched, always."""

    def __init__(self, root: str, strict: bool, database: Database) -> None:
        self.root = root
        self.strict = strict
        self.database = database
        self._lock = RLock()  # its own: a folder that hangs keeps nobody from the others
        self._look: Look | None = None
        self._kept = False  # whether the index knows of it
        self._took = 0.0  # seconds, the last look

    def look(self) -> Look:
        """The folder as it is now."""
        with self._lock:
            return self._looked(texts=False)

    def searchable(self, anew: bool = False) -> int | None:
        """Bring the index up to date; returns the folder's number there, None where it holds nothing.

        A large folder that was looked at a moment ago is only looked at again with `anew`.
        """
        with self._lock:
            number = None if anew else self.database.read(self._just_checked)
            if number is not None:
                return number
            number = self._indexed()
            look = self._look
            if number is not None and look is not None and len(look.entries) > LARGE:
                checked = time(), self._took, number
                sql = "UPDATE folders SET checked = ?, cost = ? WHERE number = ?"
                self.database.write(lambda execute: execute(sql, checked), HASTE)
            return number

    def _indexed(self) -> int | None:
        """Look, and put into the index what is not there; None where there is nothing."""
        look = self._looked(texts=True)
        if look.error is not None:
            return None  # what is known of it may serve again, but not now
        number = self.database.read(self._complete)
        if number is None and look.offered:  # another process has changed the index since it was read
            self._look = None
            self._looked(texts=True)
            number = self.database.read(self._complete)
        if number is None and look.offered:  # it can't be written: go on in memory
            self.database.leave()
            self._look = None
            self._looked(texts=True)
            number = self.database.read(self._complete)
        return number

    def is_there(self, shelf: Shelf) -> bool:
        """Whether an open index still knows this folder by its number."""
        return rows.number_of(shelf.execute, self.root, self.strict) == shelf.folder

    def is_current(self, path: str | bytes, stamp: tuple[int, int, int]) -> bool:
        """Whether a SKILL.md is the one that was read."""
        try:
            status = os.stat(os.path.join(self.root, os.fsdecode(path)))
        except OSError:
            return False
        known = stamp[1] if stamp[1] != UNSETTLED else status.st_mtime_ns
        return (status.st_size, status.st_mtime_ns, status.st_ctime_ns) == (stamp[0], known, stamp[2])

    def directory(self, path: str | bytes) -> str:
        """The folder of the skill whose SKILL.md is at `path`."""
        return os.path.dirname(os.path.join(self.root, os.fsdecode(path)))

    def content(self, path: str | bytes) -> bytes:
        """A SKILL.md as it stands; empty where it can't be read."""
        try:
            with open(os.path.join(self.root, os.fsdecode(path)), "rb") as file:
                return file.read(MAX_SKILL_FILE)
        except OSError:
            return b""

    def _complete(self, execute: Any) -> int | None:
        """The folder's number, if all of it is in the index."""
        number = rows.number_of(execute, self.root, self.strict)
        missing = (
            "SELECT 1 FROM skills WHERE folder = ? AND description IS NOT NULL AND segment IS NULL LIMIT 1"
        )
        return None if number is None or execute(missing, (number,)).fetchone() else number

    def _just_checked(self, execute: Any) -> int | None:
        """The folder's number, if it was looked at so shortly ago that it need not be again."""
        key = rows.stored_path(self.root), int(self.strict)
        row = execute(
            "SELECT number, checked, cost FROM folders WHERE root = ? AND strict = ?", key
        ).fetchone()
        if row is None or row[1] is None or not 0 <= time() - row[1] < SHARE * row[2]:
            return None
        known = execute(
            "SELECT path, modified, changed FROM directories WHERE folder = ? LIMIT ?",
            (row[0], FEW_DIRECTORIES + 1),
        ).fetchall()
        few = known if len(known) <= FEW_DIRECTORIES else []
        return self._complete(execute) if all(map(self._is_same, few)) else None

    def _is_same(self, known: tuple[str | bytes, int, int]) -> bool:
        try:
            path = known[0] if type(known[0]) is str else os.fsdecode(known[0])  # for each of many
            status = os.stat(f"{self.root}/{path}")
        except OSError:
            return False
        return (status.st_mtime_ns, status.st_ctime_ns) == known[1:]

    def _looked(self, texts: bool) -> Look:
        before, walk, todo = self._planned(self._before(), texts)
        lock = self.database.lock() if texts and len(todo) > MANY else None
        if lock is not None:
            with lock:
                if lock.contended:  # for another process, which may have done it
                    before, walk, todo = self._planned(self._known(), texts)
                look = self._carried_out(before, walk, todo, texts)
        else:
            look = self._carried_out(before, walk, todo, texts)
        if look.error is None:  # else what was known is good for the day it is there again
            self._look = look
        return look

    def _before(self) -> Look:
        """What is known: by us, unless another process has changed the index since."""
        known = self._look
        if known is not None and self.database.exists():
            revision = self.database.read(lambda execute: rows.revision(execute, self.root, self.strict))
            known = known if revision == known.revision else None
        return known or self._known()

    def _planned(self, before: Look, texts: bool) -> tuple[Look, Walk, list[Found]]:
        """What was known, what is there, and what of it is to be read."""
        started = perf_counter()
        walk = Walk(self.root, before.directories, before.entries)
        self._took = perf_counter() - started
        if texts and before.revision is None:  # the index says nothing; what we know may not be all of it
            return before, walk, walk.found
        todo = [found for found in walk.found if is_news(before.entries.get(found.path), found, texts)]
        return before, walk, todo

    def _known(self) -> Look:
        def ask(execute: Any) -> Look:
            number = rows.number_of(execute, self.root, self.strict)
            self._kept = number is not None
            directories, entries = rows.load(execute, number) if number else ({}, {})
            return Look(directories, entries, [], None, rows.revision(execute, self.root, self.strict))

        return self.database.read(ask) if self.database.exists() else Look({}, {}, [], None, None)

    def _carried_out(self, before: Look, walk: Walk, todo: list[Found], texts: bool) -> Look:
        same_directories = alike(before.directories, walk.directories)
        if walk.error is not None:  # the folder is not there; what is known of it may serve again
            return Look({}, {}, [], walk.error, before.revision)
        if not todo and len(walk.found) == len(before.entries) and same_directories and not walk.noticed:
            return before if not before.noticed and before.error is None else before.without_notices()
        harvest = self._gathered(todo, texts)
        read = {entry.path: entry for entry in harvest.entries}
        revision = before.revision
        whole = revision is not None or len(todo) == len(walk.found)  # what is noted first is noted whole
        if whole and (texts or len(walk.found) > MANY or self._kept):
            from skillc.index.skills.writer import Change

            directories = None if same_directories else walk.directories
            there = {found.path for found in walk.found}
            change = Change(self, there, directories, harvest, before.revision)
            made = self.database.write(change.made, PATIENCE if texts else HASTE)
            self._kept = self._kept or made is not None
            revision = made or revision
            if made == 0:  # the index does not know what we thought it did
                return self._carried_out(*self._planned(self._known(), texts), texts)
        if len(todo) > MANY:
            self.database.tidy()
        entries = {found.path: read.get(found.path) or before.entries[found.path] for found in walk.found}
        return Look(walk.directories, entries, walk.noticed, None, revision)

    def _gathered(self, todo: list[Found], texts: bool) -> Harvest:
        from skillc.index.skills.writer import Harvest, Outside, gather  # most looks find no news

        if not todo:
            return Harvest()
        known = Outside(self.database, self.root, self.strict) if texts else None
        watch = self.database.watch if len(todo) > LARGE else None

        def tell(done: int) -> None:
            if watch:
                watch(self.root, done, len(todo))

        tell(0)
        return gather(self.root, self.strict, todo, texts, known, tell)
