"""Find skills of a registry: in an index on this machine's disk that follows the log.

    finder = Finder(registry, "/var/cache/skillc/index")
    finder.start()
    finder.find(caller, "pay money back")

The index has the latest version of each skill. Any number of processes share a folder: one of them writes at
a time, and all search. With the index it is noted how far in the log it is, so that a new process goes on
from there. In another log (a store that was restored, or another one) all skills are compared, and those that
differ are read. Versions that a policy hides for a while are looked at again when that time is over.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass

from skillc.errors import RegistryUnavailable, SkillcError
from skillc.index.skills import EVERYTHING, FoundSkills, Scope, Searchable, SkillIndex
from skillc.paths import keep_private, make_private
from skillc.registry.documents import DocumentFolder
from skillc.registry.feed import Mark
from skillc.registry.model.access import Caller
from skillc.registry.model.model import Change, Role, parse_prefix
from skillc.registry.reader import Reader

FILE = "skills.db"
PAGE = 500  # changes that are looked at together
BULK = 2000  # skills that are compared together
MAX_PREFIXES = 100  # that a search looks up; with more, results are checked one by one
POLL_SECONDS = 1.0  # between two looks, at most
RETRY_SECONDS = 1.0  # after an outage


@dataclass(frozen=True, slots=True)
class Position:
    """How far an index is: in which log, up to which change, and for which choice of versions.

    `echo` is the change up to which the delay of policies is over.
    """

    sequence: int
    checksum: str
    echo: int
    choice: str

    @classmethod
    def parse(cls, text: str) -> Position | None:
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):  # of another program
            return None

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    @property
    def mark(self) -> Mark:
        return Mark(self.sequence, self.checksum)


class Finder:
    """The index of a registry's skills, and a thread that keeps it current. An outage delays it, no more."""

    def __init__(self, registry: Reader, folder: str) -> None:
        self._registry = registry
        self._log = registry.log
        self._choice = registry.policies  # of the versions that can be found
        _make_private(folder)
        # Not mapped: each of many processes would count all of a shared file as its own memory.
        self._index = SkillIndex(os.path.join(folder, FILE), mapped=False)
        self._folder = DocumentFolder(self._index)
        self._parts = [Searchable("registry", self._folder)]
        self._lock = threading.Lock()
        self._condition = threading.Condition()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skillc-finder", daemon=True)
        self.sequence = -1  # the number of the last change that a search sees; -1 before the first look
        self.error = ""  # why the index can't be brought up to date at the moment

    def find(self, caller: Caller, task: str, limit: int = 10, scope: Scope = EVERYTHING) -> FoundSkills:
        """Return the skills that a caller may read and that fit a task, best first; raises EmptyQuery."""

        def may_read(skill_id: str, needs: tuple[str, ...]) -> bool:
            return caller.allows(Role.READER, skill_id)

        prefixes = caller.narrow_prefix(Role.READER, parse_prefix(scope.collection))
        if "" in prefixes or len(prefixes) > MAX_PREFIXES:
            return self._index.find(self._parts, task, limit, may_read, scope)
        narrow = Scope(scope.repository, scope.collection, scope.capability, scope.tag, scope.every, prefixes)
        return self._index.find(self._parts, task, limit, may_read, narrow)

    @property
    def is_ready(self) -> bool:
        """Whether the index was complete once, since this process started."""
        return self.sequence >= 0

    def start(self) -> None:
        self._registry.follow().subscribe(self._hear)
        self._thread.start()

    def refresh(self) -> None:
        """Bring the index up to date now; raises RegistryUnavailable."""
        with self._lock:
            position = self._position()
            step = self._plan(position)
            if position is None or step is None or step[1] != position:
                with self._folder.lock() or nullcontext():
                    position = self._catch_up()
        with self._condition:
            self.sequence, self.error = position.sequence, ""
            self._condition.notify_all()

    def wait(self, sequence: int, seconds: float) -> bool:
        """Wait until searches see a change; return whether they do."""
        with self._condition:
            return self._condition.wait_for(lambda: self.sequence >= sequence, seconds)

    def close(self) -> None:
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(2 * RETRY_SECONDS)
        self._folder.close()

    def _hear(self, changes: Sequence[Change] | None) -> None:
        self._wake.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self.refresh()
                self._wake.wait(POLL_SECONDS)
            except Exception as error:
                self.error = error.line() if isinstance(error, SkillcError) else repr(error)
                self._closed.wait(RETRY_SECONDS)
            self._wake.clear()

    def _position(self) -> Position | None:
        """Return how far the index is; None where it is not one of this choice of versions."""
        position = Position.parse(self._folder.mark())
        return position if position and position.choice == self._choice.fingerprint else None

    def _plan(self, position: Position | None) -> tuple[set[str], Position] | None:
        """Return the skills to look at and the position after that; None where all are to be compared."""
        changes = self._log.read_behind(position.mark, PAGE) if position else None
        if position is None or changes is None:
            return None
        mark = Mark.behind(changes[-1]) if changes else position.mark
        echoes = self._read_echoes(position.echo)
        ids = {change.skill for change in (*changes, *echoes) if change.skill}
        echo = echoes[-1].sequence if echoes else position.echo
        return ids, Position(mark.sequence, mark.checksum, echo, self._choice.fingerprint)

    def _read_echoes(self, since: int) -> list[Change]:
        """Return the changes behind a number whose delay is over."""
        if not self._choice.minimum_age:
            return []
        time = self._registry.now() - self._choice.minimum_age
        first = self._log.read(since, 1)
        if not first or first[0].time > time:  # as it is almost always
            return []
        return [change for change in self._log.read(since, PAGE) if change.time <= time]

    def _catch_up(self) -> Position:
        while not self._closed.is_set():
            position = self._position()
            step = self._plan(position)
            if step is None:
                self._compare_all()
            elif step[1] == position:
                return step[1]
            else:
                ids, position = step
                self._update(sorted(ids), self._folder.find_labels(ids), position)
        raise RegistryUnavailable("index", "it is closed")

    def _compare_all(self) -> None:
        """Compare all skills with the index, and then note the end of the log as it was before."""
        end, echo, after = self._log.find_end(), 0, ""
        if self._choice.minimum_age:
            echo = self._log.find_time(self._registry.now() - self._choice.minimum_age)
        while not self._closed.is_set():
            ids = self._registry.list_ids(after, BULK)
            last = ids[-1] if len(ids) == BULK else None
            labels = self._folder.list_labels(after, last)
            self._update(sorted({*ids, *labels}), labels, None)
            if last is None:
                self._write([], [], Position(end.sequence, end.checksum, echo, self._choice.fingerprint))
                return
            after = last

    def _update(self, ids: Sequence[str], labels: Mapping[str, str], position: Position | None) -> None:
        """Index the skills whose text is another one than the label in the index says, remove those gone."""
        digests = self._registry.read_latest(ids, self._choice.allows)
        changed = {i: digest for i, digest in digests.items() if labels.get(i) != digest}
        blobs = self._registry.read_blobs({*changed.values()})
        documents = [
            (i, digest, blobs[digest]) if digest in blobs else (i, f"lost {digest}", b"")
            for i, digest in changed.items()
        ]
        self._write(documents, [i for i in labels if i not in digests], position)

    def _write(
        self, documents: list[tuple[str, str, bytes]], removals: list[str], position: Position | None
    ) -> None:
        mark = None if position is None else str(position)
        if (documents or removals or mark) and not self._folder.change(documents, removals, mark):
            raise RegistryUnavailable("index", "it can't be written")


def _make_private(folder: str) -> None:
    """Let others see nothing of the index, which has the text of private skills."""
    with suppress(OSError):  # one that can't be written is in memory
        make_private(folder)
        for name in os.listdir(folder):
            keep_private(os.path.join(folder, name))
