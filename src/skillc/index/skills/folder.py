"""Folders of skills in the index.

A scan costs a stat for each file, and only changed files are read. Its results are stored in the index,
so that the next process starts from there.
"""

from __future__ import annotations

import os
from time import perf_counter, time

from skillc.index import UNSETTLED, has_times, stamp_file
from skillc.index.skills.database import LOCK_TIMEOUT, Database, checksum, verify
from skillc.index.skills.scan import Walk
from skillc.index.skills.snapshot import Snapshot, find_folder, load_snapshot, stored_path
from skillc.paths import MAX_SKILL_FILE
from skillc.startup import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index import Stamp
    from skillc.index.skills.batch import Batch
    from skillc.index.skills.scan import DiagnosticRow, SkillFile
    from skillc.index.skills.segment import FolderReader

    Plan = tuple[Snapshot, Walk, list[SkillFile]]  # the last snapshot, what is there, what must be read

SHORT_TIMEOUT = 0.05  # seconds that listing waits for a process that writes; else it stores nothing this time
MANY = 200  # files whose reading is worth storing, and waiting for another process that may be at it
LARGE = 2000  # skills; a folder with fewer is scanned before every search
READ_SHARE = 0.7  # of a time-out: the rest is for storing what was read, and for the answer
SCAN_SHARE = 10  # a larger one is scanned again after this many times the seconds that a scan takes
ATTEMPTS = 3  # to bring the index up to date: the second starts from what it has, the third in memory
FEW_DIRECTORIES = 200  # whose stamps are checked even then, because they tell of skills that came or went


class Folder:
    """One folder. Listings are stored in the index above MANY skills; search data always is."""

    def __init__(self, root: str, strict: bool, database: Database) -> None:
        self.root = root
        self.strict = strict
        self.key = root, strict  # in the index
        self.database = database
        self._lock = RLock()  # its own, so that a folder that hangs does not block others
        self._snapshot: Snapshot | None = None
        self._in_index = False  # whether the index has the folder
        self._scan_seconds = 0.0
        self.partial = ""  # how much was read at the last look, if its time was not enough for all

    def snapshot(self, until: float | None = None) -> Snapshot:
        """Return the folder as it is, or what was read by the time `until`; the next call goes on."""
        with self._lock:
            return self._scan(with_text=False, until=until)

    def refresh(self, force: bool = False, time_out: float | None = None) -> int | None:
        """Bring the index up to date; return the folder's number there, None where it holds nothing.

        A large folder that was scanned a moment ago is scanned again only with `force`. If `time_out`, in
        seconds, is not enough for all that is new, `partial` says so, and the next call goes on.
        """
        with self._lock:
            number = None if force else self.database.read(self._number_if_recent)
            if number is not None:
                return number
            number = self._update(None if time_out is None else time_out * READ_SHARE)
            snapshot = self._snapshot
            if number is not None and snapshot is not None and len(snapshot.entries) > LARGE:
                now, cost = 0.0 if self.partial else time(), self._scan_seconds
                values = now, cost, checksum(number, now, cost), number
                sql = "UPDATE folders SET checked = ?, cost = ?, checksum = ? WHERE number = ?"
                self.database.write(lambda execute: execute(sql, values), SHORT_TIMEOUT)
            return number

    def recall(self) -> int | None:
        """Return the folder's number, without a look at its files; None where names in it have changed."""
        return self.database.read(self._number_if_same)

    def has_skills(self, number: int) -> bool:
        """Return whether the index has text of any skill of the folder."""
        sql = "SELECT 1 FROM segments WHERE folder = ? LIMIT 1"
        return bool(self.database.read(lambda execute: execute(sql, (number,)).fetchone()))

    def is_read_by(self, reader: FolderReader) -> bool:
        """Return whether an open index still has this folder under the reader's number."""
        return find_folder(reader.execute, *self.key)[0] == reader.folder

    def offers(self, skill_id: str, reader: FolderReader) -> bool:
        """Return whether a skill of this folder can be found under an ID.

        After a scan, the snapshot says so, because an index can't show that nothing is missing in it.
        """
        snapshot = self._snapshot
        if snapshot is not None and len(snapshot.entries) <= LARGE:
            return skill_id in snapshot.skills
        return reader.has_skill(skill_id)

    def unreadable(self) -> list[tuple[str, DiagnosticRow]]:
        """Return what the last scan of this process could not read below the root."""
        return self._snapshot.unreadable() if self._snapshot is not None else []

    def is_current(self, path: str | bytes, stamp: Stamp) -> bool:
        """Return whether a SKILL.md is the one that was indexed."""
        now = stamp_file(self._path(path))
        if now is not None and stamp[1] == UNSETTLED:
            stamp = stamp[0], now[1], stamp[2]
        return now == stamp

    def skill_directory(self, path: str | bytes) -> str:
        """Return the directory of the skill whose SKILL.md is at `path`."""
        return os.path.dirname(self._path(path))

    def read_skill_file(self, path: str | bytes) -> bytes:
        """Return a SKILL.md as it is now; empty where it can't be read."""
        try:
            with open(self._path(path), "rb") as file:
                return file.read(MAX_SKILL_FILE)
        except OSError:
            return b""

    def _path(self, path: str | bytes) -> str:
        return os.path.join(self.root, os.fsdecode(path))

    def _update(self, seconds: float | None) -> int | None:
        """Scan, and index what is new; return the folder's number, None where there is nothing.

        Reading ends after some `seconds`, so that the index may have a part of it.
        """
        for attempt in range(ATTEMPTS):
            snapshot = self._scan(with_text=True, until=None if seconds is None else time() + seconds)
            if snapshot.error is not None:
                return None  # what the index has of it may serve again later
            number = self.database.read(self._number)
            if number is not None or not snapshot.skills:
                break
            if attempt == 1:  # the index can't be written: go on in memory
                self.database.move_to_memory()
            self._snapshot = None  # another process has changed the index since it was read
        return number

    def _number(self, execute: Any) -> int | None:
        """Return the folder's number, if the index has the text of all its skills that were read."""
        number, *_ = find_folder(execute, *self.key)
        sql = "SELECT 1 FROM skills WHERE folder = ? AND description IS NOT NULL AND segment IS NULL LIMIT 1"
        return number if self.partial or not execute(sql, (number,)).fetchone() else None

    def _number_if_recent(self, execute: Any) -> int | None:
        """Return the folder's number, if it was scanned so recently that it need not be again."""
        sql = "SELECT checked, cost, checksum, number FROM folders WHERE root = ? AND strict = ?"
        row = execute(sql, (stored_path(self.root), int(self.strict))).fetchone()
        if row is None or row[0] is None or not 0 <= time() - row[0] < SCAN_SHARE * row[1] or self.partial:
            return None
        scan_time, cost, check, number = row
        verify(check, number, scan_time, cost)
        for path, modified, changed in self._few_directories(execute, number):
            if not has_times(path, (modified, changed)):
                return None
        return self._number(execute)

    def _number_if_same(self, execute: Any) -> int | None:
        """Return the folder's number, if no skill came or went, as far as a few directories tell."""
        number, *_ = find_folder(execute, *self.key)
        for path, modified, changed in self._few_directories(execute, number):
            now = stamp_file(path)
            is_settled = modified != UNSETTLED
            # What a link leads to has no times at all.
            if changed and (now is None or now[2] != changed or (is_settled and now[1] != modified)):
                return None
        return number

    def _few_directories(self, execute: Any, number: int | None) -> list[tuple[str, int, int]]:
        """Return the directories with their times, as they were; none if there are too many to check."""
        sql = "SELECT path, modified, changed FROM directories WHERE folder = ? LIMIT ?"
        rows = execute(sql, (number, FEW_DIRECTORIES + 1)).fetchall()
        few = rows if len(rows) <= FEW_DIRECTORIES else []
        return [(f"{self.root}/{os.fsdecode(path)}", modified, changed) for path, modified, changed in few]

    def _scan(self, with_text: bool, until: float | None = None) -> Snapshot:
        plan = self._plan(self._last_snapshot(), with_text, until)
        lock = self.database.lock(until) if with_text and len(plan[2]) > MANY else None
        if lock is None:
            snapshot = self._carry_out(plan, with_text, until)
        else:
            with lock:
                if lock.had_to_wait:  # for another process, which may have done the work
                    plan = self._plan(self._load(), with_text, until)
                if lock.is_late:
                    snapshot = plan[0].in_part("another process is still reading it")
                else:
                    snapshot = self._carry_out(plan, with_text, until)
        self.partial = snapshot.partial
        if snapshot.error is None:  # else the last one will serve when the folder is back
            self._snapshot = snapshot
        return snapshot

    def _last_snapshot(self) -> Snapshot:
        """Return our own last snapshot, unless another process has changed the index since."""
        last = self._snapshot
        if last is not None and self.database.exists():
            found = self.database.read(lambda execute: find_folder(execute, *self.key))
            last = last if found[1] == last.revision else None
        return last or self._load()

    def _load(self) -> Snapshot:
        if not self.database.exists():
            return Snapshot({}, {}, [], None, None)
        last = self.database.read(lambda execute: load_snapshot(execute, *self.key))
        self._in_index = last.revision is not None
        return last

    def _plan(self, last: Snapshot, with_text: bool, until: float | None = None) -> Plan:
        start = perf_counter()
        walk_until = None if until is None else (time() + until) / 2  # leave time to read what it finds
        walk = Walk(self.root, last.directories, last.entries, walk_until, self.database.on_progress)
        self._scan_seconds = perf_counter() - start
        entries, todo = last.entries, walk.files
        if not with_text or last.revision is not None:  # else the index has nothing and needs all
            todo = [f for f in todo if f.path not in entries or entries[f.path].is_outdated(f, with_text)]
        # New ones first, if time may end before all are read: each call gets further.
        todo = sorted(todo, key=lambda f: (until is not None and f.path in entries, f.skill_id, f.path))
        return last, walk, todo

    def _carry_out(self, plan: Plan, with_text: bool, until: float | None) -> Snapshot:
        last, walk, todo = plan
        if walk.error is not None:
            return Snapshot({}, {}, [], walk.error, last.revision)
        same_directories = last.has_directories(walk.directories)
        is_quiet = not walk.diagnostics and not walk.is_late
        if not todo and len(walk.files) == len(last.entries) and same_directories and is_quiet:
            return last.in_part("") if last.diagnostics or last.partial else last
        batch = self._read(todo, with_text, until)
        revision = last.revision
        # The first time, a folder is stored only as a whole.
        is_whole = revision is not None or len(todo) == len(walk.files)
        new = {entry.path: entry for entry in batch.entries}
        entries = last.entries | new
        files = [file for file in walk.files if file.path in entries]
        for file in walk.files if len(files) < len(walk.files) else ():
            if file.path not in entries:  # the next walk has to find it again
                walk.unsettle_parent(os.path.dirname(file.path))
                same_directories = False
        partial = ""
        if len(new) < len(todo) or walk.is_late:
            there = f"{'at least ' if walk.is_late else ''}{len(walk.files)}"
            partial = f"{len(walk.files) - len(todo) + len(new)} of {there} skills were read in time"
        if is_whole and (with_text or len(walk.files) > MANY or self._in_index or partial):
            from skillc.index.skills.writer import update_folder  # most scans find no changes

            paths = {file.path for file in files}
            directories = None if same_directories else walk.directories
            result = self.database.write(
                lambda execute: update_folder(execute, self, last.revision, paths, directories, batch),
                LOCK_TIMEOUT if with_text else SHORT_TIMEOUT,
            )
            self._in_index = self._in_index or result is not None
            revision = result or revision
            if result == 0:  # the index has another revision: plan again
                return self._carry_out(self._plan(self._load(), with_text, until), with_text, until)
        if len(todo) > MANY:
            self.database.checkpoint()
        entries = {file.path: entries[file.path] for file in files}
        return Snapshot(walk.directories, entries, walk.diagnostics, None, revision, partial)

    def _read(self, todo: list[SkillFile], with_text: bool, until: float | None) -> Batch:
        from skillc.index.skills.batch import Batch, read_batch

        if not todo:
            return Batch()

        def on_progress(count: int) -> None:
            if len(todo) > LARGE:
                self.database.on_progress(self.root, count, len(todo))

        on_progress(0)
        batch = read_batch(self.root, self.strict, todo, with_text, on_progress, until)
        if len(batch.entries) < len(todo):
            on_progress(len(todo))  # for this time it is all
        return batch
