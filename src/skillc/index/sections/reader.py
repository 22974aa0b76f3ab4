"""The index of a compiled skill, for reading: schema, which file it is, whether it can be used.

Writing it is `indexing`'s job. An index is opened read-only and immutable: it is never changed
in place, a new one takes its name.
"""

from __future__ import annotations

import os

from skillc import errors, paths
from skillc.index import manifest
from skillc.startup import sqlite
from skillc.startup.digest import sha256_hex
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from skillc.library import Skill

SCHEMA_VERSION = 2
REQUIRED = ("skill_path", "source_hash", "schema_version", "tokenizer")
KEPT_OPEN = 8  # indexes that stay open in a long-lived process
ATTEMPTS = 5  # readers that meet a build between its two renames look again

Error = sqlite.Error


class Unreadable(Exception):
    """The index is missing or corrupt: any failure to read it [RFC-0004:C-INDEX]."""


class Index:
    """An open, usable index."""

    __slots__ = ("connection", "meta", "path", "runtime", "segmented")

    def __init__(self, path: str, runtime: str, connection: Connection, meta: dict[str, str]) -> None:
        self.path = path
        self.runtime = runtime
        self.connection = connection
        self.meta = meta
        self.segmented = meta["tokenizer"] == "cjk"  # its texts are as `segment` makes them


def open_for(skill: Skill, setting: str) -> Index:
    """The index of a skill, checked step by step as the RFC lists them; raises E002 or E003.

    An index stays open and is given again as long as it and its manifest are the same files.
    """
    for runtime, path, built in skill.artifacts():
        identity = _identity(path)
        if identity is None:
            continue
        stamp = (identity, _identity(built), skill.source, setting)
        kept = _opened.get(path)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        opened = _open_checked(skill, setting, runtime, path)
        for oldest in list(_opened)[: 1 - KEPT_OPEN]:
            _opened.pop(oldest, None)  # unless another thread did
        _opened[path] = (stamp, opened)
        return opened
    if not skill.artifacts():
        paths.require_home()  # says what is missing
    raise errors.IndexUnusable(skill.name)


_opened: dict[str, tuple[object, Index]] = {}  # a cache of the indexes last used, by path


def _identity(path: str) -> tuple[int, ...] | None:
    """What changes when another file takes a name, or the same one is written."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _open_checked(skill: Skill, setting: str, runtime: str, path: str) -> Index:
    for _ in range(ATTEMPTS):
        built = manifest.read(runtime)  # before the index: what is written later is read first
        try:
            connection = connect(path)
            meta = read_meta(connection)
        except Unreadable:
            raise errors.IndexUnusable(skill.name) from None
        if meta["skill_path"] != utf8_text(skill.source):
            raise errors.IndexCollision(paths.path_hash(skill.source))
        if not current_metadata(meta, setting):
            raise errors.IndexUnusable(skill.name)
        if belongs_to(meta, built):
            return Index(path, runtime, connection, meta)
        connection.close()
    raise errors.IndexUnusable(skill.name)


def open_any(skill: Skill) -> Connection | None:
    """An index of a skill that can be read, current or not: for who checks each file by its stamp."""
    for runtime in skill.runtimes():
        try:
            connection = connect(paths.index_file(runtime, skill.source))
            meta = read_meta(connection)
        except Unreadable:
            continue
        if meta["skill_path"] == utf8_text(skill.source) and int(meta["schema_version"]) == SCHEMA_VERSION:
            return connection
        connection.close()
    return None


def peek(runtime: str, source: str) -> dict[str, str]:
    """The metadata of an index, whatever it says; raises Unreadable."""
    connection = connect(paths.index_file(runtime, source))
    try:
        return read_meta(connection)
    finally:
        connection.close()


def segment(text: str) -> str:
    """Text as it is in an index that is `segmented`."""
    from skillc.index import cjk  # a module that most indexes don't need

    return cjk.segment(text)


def unsegment(text: str) -> str:
    """Text of such an index as it was."""
    from skillc.index import cjk

    return cjk.unsegment(text)


def connect(path: str) -> Connection:
    """A read-only connection; raises Unreadable."""
    if not os.path.exists(path):
        raise Unreadable(path)
    try:
        name = sqlite.uri(path, "mode=ro&immutable=1")
        return sqlite.connect(name, uri=True, isolation_level=None, check_same_thread=False)
    except Error as error:
        raise Unreadable(str(error)) from None


def read_meta(connection: Connection) -> dict[str, str]:
    """The metadata; raises Unreadable where a required key is missing or can't be parsed."""
    try:
        meta = dict(connection.execute("SELECT key, value FROM index_meta"))
        int(meta["schema_version"])
    except (Error, ValueError, TypeError, KeyError) as error:
        raise Unreadable(str(error)) from None
    if not all(isinstance(meta.get(key), str) for key in REQUIRED):
        raise Unreadable("a required key is missing")
    return meta


def current_metadata(meta: dict[str, str], setting: str) -> bool:
    """Whether schema and tokenizer are those that a build would use now."""
    return int(meta["schema_version"]) >= SCHEMA_VERSION and meta["tokenizer"] == preference(
        setting, meta["tokenizer"]
    )


def belongs_to(meta: dict[str, str], built: bytes) -> bool:
    """Whether an index and a manifest are of one build.

    A build that is killed, or met, between renaming its index and its manifest leaves the
    manifest that the index was to replace: the index says which that is, and counts.
    """
    if manifest.source_hash(built) == meta["source_hash"]:
        return True
    replaced = meta.get("replaces")
    return replaced is not None and replaced == sha256_hex(built)


def preference(setting: str, recorded: str = "") -> str:
    """The tokenizer that a build would use: `porter`, else `unicode61`; `cjk` where it is configured.

    An index that was `recorded` with `porter` shows that there is one.
    """
    if setting == "cjk":
        return "cjk"
    return "porter" if recorded == "porter" or has_porter() else "unicode61"


def has_porter() -> bool:
    """Whether this SQLite has the stemming tokenizer."""
    connection = sqlite.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(x, tokenize='porter unicode61')")
    except Error:
        return False
    finally:
        connection.close()
    return True
