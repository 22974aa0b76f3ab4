"""What a prompt hook may offer, decided in advance: in `~/.skillc/cache/offers.db` (see `offer_update`).

A hook has a few milliseconds and adds to every prompt. So what takes time is done before, in the background,
and kept here: `places` has, for each directory and agent, the folders whose skills may be offered; `verdicts`
what the audit says of each skill, with a mark of its files. Each counts as long as nothing that it was made
of has changed. It is a cache: what it lacks is not offered, and is looked at in the background.
"""

from __future__ import annotations

import os

from skillc import paths
from skillc.startup import json_quote, parse_json, sha256_hex, sqlite, sqlite_uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection
    from typing import Any

VERSION = 1  # of the tables
OK, HIDDEN, BLOCKED = "ok", "hidden", "blocked"  # hidden: its author wants no model to call it
MAX_ENTRIES = 4000  # files of a skill; one with more has no mark, and is not offered
MAX_PLACES = 200  # at the limit all are dropped
BUSY_SECONDS = 0.05  # to wait for a process that writes
WRITE_SECONDS = 10.0

_TABLES = """
CREATE TABLE IF NOT EXISTS places (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (path TEXT PRIMARY KEY, mark TEXT NOT NULL, verdict TEXT NOT NULL);
"""


class Place:
    """What may be offered in a directory to an agent.

    `folders` are names, roots and whether they are strict, in order of precedence. Of a project's folders,
    which are in `projects`, only skills in `trusted` may be: by path, with the marks of their files. What is
    in `disabled` may not. `log_missed` is whether prompts that nothing fits are kept.
    """

    __slots__ = ("capabilities", "checked", "disabled", "folders", "log_missed", "projects", "trusted")

    def __init__(
        self,
        folders: list[tuple[str, str, bool]],
        projects: list[str],
        trusted: dict[str, str],
        disabled: list[str],
        capabilities: list[str],
        log_missed: bool,
        checked: float,
    ) -> None:
        self.folders = folders
        self.projects = projects
        self.trusted = trusted
        self.disabled = disabled
        self.capabilities = capabilities
        self.log_missed = log_missed
        self.checked = checked

    def may_use(self, skill_id: str, needs: tuple[str, ...]) -> bool:
        """Return whether all that a skill needs is there."""
        return all(need in self.capabilities for need in needs)


class OfferRecord:
    """The record, opened for reading or for writing; raises errors of SQLite."""

    def __init__(self, connection: Connection) -> None:
        self._execute = connection.execute
        self.close = connection.close

    @classmethod
    def open(cls) -> OfferRecord:
        """Return the record as it is; raises an error where there is none, or another version's."""
        uri = sqlite_uri(_file(), "mode=ro")
        connection = sqlite.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            connection.close()
            raise sqlite.DatabaseError("the record of offers is another version's")
        return cls(connection)

    @classmethod
    def create(cls) -> OfferRecord:
        """Return the record for writing; a damaged one, or another version's, is made anew."""
        from skillc import atomic  # only in the background

        path = _file()
        for attempt in range(2):
            try:
                return cls(_create(path))
            except sqlite.Error:
                if attempt:
                    raise
                for ending in ("", "-wal", "-shm"):
                    atomic.discard(path + ending)
        raise AssertionError

    def find_place(self, key: str) -> Place | None:
        row = self._execute("SELECT value FROM places WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value = parse_json(row[0])
        value["folders"] = [(name, root, strict) for name, root, strict in value["folders"]]
        return Place(**value)

    def write_place(self, key: str, place: Place) -> None:
        if self._execute("SELECT count(*) FROM places").fetchone()[0] >= MAX_PLACES:
            self._execute("DELETE FROM places")
        value = to_json({name: getattr(place, name) for name in Place.__slots__})
        self._execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (key, value))

    def find_verdict(self, path: str) -> tuple[str, str] | None:
        """Return the mark of a skill's files when it was looked at, and the verdict."""
        row = self._execute("SELECT mark, verdict FROM verdicts WHERE path = ?", (encode(path),)).fetchone()
        return (str(row[0]), str(row[1])) if row else None

    def write_verdicts(self, verdicts: Iterable[tuple[str, str, str]]) -> None:
        """Store verdicts, each with the path of a skill and the mark of its files."""
        self._execute("BEGIN IMMEDIATE")
        for path, mark, verdict in verdicts:
            self._execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", (encode(path), mark, verdict))
        self._execute("COMMIT")

    def read_marks(self) -> dict[str, str]:
        return dict(self._execute("SELECT path, mark FROM verdicts").fetchall())


def _file() -> str:
    return os.path.join(paths.cache_directory(), "offers.db")


def _create(path: str) -> Connection:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        paths.keep_private_database(path)
    connection = sqlite.connect(path, timeout=WRITE_SECONDS, isolation_level=None)
    try:
        execute = connection.execute
        if execute("PRAGMA user_version").fetchone()[0] not in (0, VERSION):
            raise sqlite.DatabaseError("another version's")
        execute("PRAGMA journal_mode=WAL").fetchall()
        execute("PRAGMA synchronous=NORMAL")
        for statement in filter(str.strip, _TABLES.split(";")):
            execute(statement)
        execute(f"PRAGMA user_version={VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def place_key(cwd: str, agent: str) -> str:
    """Return everything that a place depends on, but for the folders themselves."""
    stamps = [_stamp(_own(name)) for name in ("config.toml", "trust.json", "disabled.json")]
    roots = list(paths.library_roots(cwd))
    value = (agent, paths.user_home(), roots, paths.config_stamps(cwd), stamps, basis())
    return sha256_hex(repr(value).encode("utf-8", "surrogateescape"))


def basis() -> object:
    """Return what all verdicts depend on: the program, and what the user allows in audits."""
    return VERSION, _stamp(__file__), _stamp(_own("audit.toml"))


def mark_files(directory: str, basis: object) -> tuple[str, int]:
    """Return a mark that changes with the files of a skill, and when they changed last, in nanoseconds.

    It is made of their names, sizes and times, and of where links lead. It is empty where there are too many,
    or where they can't be read.
    """
    parts: list[object] = [basis]
    newest = count = 0
    folders = [directory]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return "", 0
        count += len(found)
        if count > MAX_ENTRIES:
            return "", 0
        for entry in found:
            is_link = entry.is_symlink()
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            try:
                status = os.stat(entry.path) if is_link else entry.stat()
            except OSError:
                continue  # a link to nothing
            where = os.readlink(entry.path) if is_link else ""
            name = f"{entry.path[len(directory) :]}\0{where}"
            parts.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
            newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
    return sha256_hex(repr(parts).encode("utf-8", "surrogateescape")), newest


def _own(name: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, name)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def encode(path: str) -> str:
    """Return a path as SQLite takes it: one that is not UTF-8 with escapes."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


def to_json(value: Any) -> str:
    """Return a value of lists, objects, texts, numbers and booleans as JSON."""
    if isinstance(value, str):
        return json_quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json_quote(key)}: {to_json(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(to_json, value)) + "]"
    return repr(value)
