"""Know the level of many skills' audits without waiting: a process beside this one finds it.

Auditing what one page lists takes up to a second. So a page shows what is known, and whatever is new or may
have changed is looked at meanwhile. What was found is kept in the home, for these rules:

    ~/.skillc/cache/levels/<hash>.json    {"version": "9", "levels": {"<folder>": ["…", "<digest>", "block"]}}

An entry has a stamp, a digest and a level. The stamp is of SKILL.md and its folder, and costs next to
nothing to compare. The digest is of the names, sizes and times of all files: a skill is audited again when it
differs.

    levels = Levels()
    levels.find([("/home/me/.skillc/skills/pdf", "pdf")])      ["pending"], and a moment later ["none"]
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from time import monotonic

from skillc.audit.audit import audit_folder
from skillc.audit.rules import VERSION
from skillc.errors import SkillcError
from skillc.index import Companion, stamp_file
from skillc.paths import home
from skillc.records import read_notes, write_notes
from skillc.skills import list_files
from skillc.skills.document import main_file
from skillc.startup import sha256_hex

NO_FINDINGS = "none"
PENDING = "pending"  # not found yet
UNAUDITED = "unaudited"  # too large, or not to be read
MAX_BYTES = 4 << 20  # of a skill's files; larger ones take too long
MAX_KEPT = 50_000  # folders; the longest unchanged go first
KEEP_EACH = 100  # entries that a server that is killed can lose
LOOK_AGAIN = 30.0  # seconds after which the files of a folder are looked at again
KIND = "levels"

Job = tuple[str, str]  # folder and name, as for `audit_folders`
Entry = list[str]  # stamp, digest and level of a folder


class Levels:
    """The levels of skills, for any thread: entries of folders, and one process until it is closed."""

    def __init__(self) -> None:
        self._known: dict[str, Entry] = {}  # by folder
        self._waiting: dict[str, str] = {}  # names by folder; the first is next
        self._looked_at: dict[str, float] = {}  # when, by folder
        self._is_read = False
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._lock = threading.Lock()
        self._companion = Companion(make_examiner)

    def find(self, skills: Iterable[Job], *, first: bool = True) -> list[str]:
        """Return what is known of skills, and look at them: before others that wait, or behind them."""
        self._read()
        jobs = [*skills]
        levels = [self._level(folder) for folder, _ in jobs]
        now = monotonic()
        with self._lock:
            new = {
                folder: name
                for (folder, name), level in zip(jobs, levels, strict=True)
                if level == PENDING or now - self._looked_at.get(folder, -LOOK_AGAIN) >= LOOK_AGAIN
            }
            self._looked_at |= dict.fromkeys(new, now)
            self._waiting = {**new, **self._waiting} if first else {**self._waiting, **new}
            if self._waiting and self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
        return levels

    def close(self) -> None:
        """End the process, and keep what it found."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            thread = self._thread
        self._companion.close()
        if thread is not None:
            thread.join()

    def _level(self, folder: str) -> str:
        stamp, _, level = self._known.get(folder, ("", "", PENDING))
        return level if level == PENDING or stamp == read_stamp(folder) else PENDING

    def _work(self) -> None:
        """Look at all folders that wait; the thread ends when none does."""
        changes = 0
        while not self._is_closed and (job := self._take()):
            folder, name = job
            before = self._known.get(folder)
            entry = self._companion.do([folder, str(name), before])  # an ID is more than text
            if self._is_closed:
                break
            if entry is None:  # the process ended: the folder may have ended it
                entry = [read_stamp(folder), "", UNAUDITED]
            if entry != before:
                self._known.pop(folder, None)
                self._known[folder] = entry
                changes += 1
            if changes >= KEEP_EACH:
                self._keep()
                changes = 0
        if changes:
            self._keep()

    def _take(self) -> Job | None:
        with self._lock:
            folder = next(iter(self._waiting), None)
            if folder is None:
                self._thread = None
                return None
            return folder, self._waiting.pop(folder)

    def _keep(self) -> None:
        levels = dict([*self._known.items()][-MAX_KEPT:])
        write_notes(KIND, home() or "", {"version": VERSION, "levels": levels})

    def _read(self) -> None:
        """Read what was kept, once; entries of other rules and damaged ones are no entries."""
        with self._lock:
            notes = {} if self._is_read else read_notes(KIND, home() or "")
            self._is_read = True
        levels = notes.get("levels") if notes.get("version") == VERSION else None
        for folder, entry in (levels if isinstance(levels, dict) else {}).items():
            if isinstance(entry, list) and len(entry) == 3 and all(isinstance(part, str) for part in entry):
                self._known.setdefault(folder, entry)


def read_stamp(folder: str) -> str:
    """Return what changes when SKILL.md does, or the names beside it; empty for no skill."""
    try:
        return repr((stamp_file(folder), stamp_file(os.path.join(folder, main_file(folder)))))
    except SkillcError:
        return ""


def make_examiner() -> Callable[[tuple[str, str, Entry | None]], Entry]:
    """Return what looks at a folder, in a process that leaves the processor to others."""
    if hasattr(os, "nice"):
        os.nice(5)
    return _examine


def _examine(job: tuple[str, str, Entry | None]) -> Entry:
    """Return the entry of a folder; the one from before where no file changed, and its level."""
    folder, name, before = job
    stamp, digest, level = read_stamp(folder), "", UNAUDITED
    try:
        files = list_files(folder)
        digest = sha256_hex(repr([(file.name, file.stamp) for file in files]).encode("utf-8", "replace"))
        if before and digest == before[1]:
            level = before[2]
        elif sum(file.size for file in files) <= MAX_BYTES:
            level = audit_folder(folder, name, notes=True).level or NO_FINDINGS
    except Exception:  # noqa: S110 -- whatever the folder holds, it has no level then
        pass
    return [stamp, digest, level]
