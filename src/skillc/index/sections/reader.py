"""Read the section index of a skill, and the manifest beside it.

An index is opened read-only and immutable: it is never changed in place, a new one takes its name. The
manifest says which source it was built from, and when [RFC-0001:C-MANIFEST].
"""

from __future__ import annotations

import os

from skillc import errors, paths
from skillc.startup import READ, Idle, json_quote, quick_hash, sha256_hex, sqlite, sqlite_uri
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Any, Protocol

    class Skill(Protocol):
        """A skill of the library, as far as its index is concerned."""

        name: str
        source: str

        @property
        def reference(self) -> str: ...

        def runtimes(self) -> list[str]: ...


SCHEMA_VERSION = 2
MANIFEST_VERSION = 1
REQUIRED_KEYS = ("skill_path", "source_hash", "schema_version", "tokenizer")
TABLES = (
    "index_meta headings files directories whole_outline sections sections_data sections_idx "
    "sections_content sections_docsize sections_config sqlite_stat1"
)
MAX_MANIFEST = 1 << 20  # bytes
MAX_SEALED = 256 << 10  # bytes; reading a larger index whole would take longer than using it
MAX_OPEN = 8  # indexes that stay open in a long-lived process
SEAL = b"skillc 2"  # changes with how the checksum is made: one that was made otherwise is not looked at
ATTEMPTS = 5  # readers that meet a build between its two renames try again

_HASH_KEY = b'"source_hash": "'

DatabaseError = sqlite.Error


class UnreadableIndex(Exception):
    """The index is missing or corrupt: any failure to read it [RFC-0004:C-INDEX]."""


class SectionIndex:
    """An open, usable index, for one thread in a `with`; there, a damaged one raises E002.

    Where `is_cjk` is true, its texts are as `segment` makes them.
    """

    __slots__ = ("connection", "is_cjk", "key", "meta", "other_headings", "path", "runtime", "skill", "state")

    def __init__(self, path: str, runtime: str, connection: Connection, meta: dict[str, str]) -> None:
        self.path = path
        self.runtime = runtime
        self.connection = connection
        self.meta = meta
        self.is_cjk = meta["tokenizer"] == "cjk"
        self.skill = ""  # what it was opened by
        self.key: object = None
        self.state: object = None
        self.other_headings: Any = None  # those that are not ASCII, once they were asked for

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> SectionIndex:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, DatabaseError):
            self.close()
            raise errors.IndexUnusable(self.skill) from None
        _idle.give_back(self.key, self)


_idle = Idle(MAX_OPEN)  # the indexes that were used last, by runtime directory, source and setting


def open_index(skill: Skill, setting: str) -> SectionIndex:
    """Open the index of a skill, with the checks that the RFC lists; raises E002 or E003.

    One that was used before serves again as long as the index and its manifest are the same files.
    """
    runtimes = skill.runtimes()
    for runtime in runtimes:
        key = (runtime, skill.source, setting)
        index: SectionIndex | None = _idle.take(key)
        if index is not None and index.state != _state(index.path, runtime):
            index.close()
            index = None
        if index is None:
            path = _find_index(runtime, skill.source)
            state = _state(path, runtime)
            index = _open(skill, setting, runtime, path) if state else None
            if index is None:
                continue
            index.key, index.state = key, state
        index.skill = skill.reference
        return index
    if not runtimes:
        paths.require_home()  # says what is missing
    if any(parse_manifest(read_manifest(runtime)).get("source") == skill.source for runtime in runtimes):
        raise errors.IndexUnusable(skill.reference)  # it was built, and the index is gone [D71]
    raise errors.NotBuilt(skill.reference)


def _find_index(runtime: str, source: str) -> str:
    """Return the path of a skill's index: the only index in the directory, if there is one.

    Its metadata say whose it is, and loading SHA-256 for the name takes longer than listing a directory.
    """
    directory = paths.meta_directory(runtime)
    try:
        names = [name for name in os.listdir(directory) if name[:7] == "search-" and name[-3:] == ".db"]
    except OSError:
        names = []
    return os.path.join(directory, names[0]) if len(names) == 1 else paths.index_file(runtime, source)


def _state(path: str, runtime: str) -> tuple[object, ...] | None:
    """Return a value that changes when another build replaces an index; None if there is no index."""
    identity = _identity(path)
    return identity and (identity, _identity(paths.manifest_file(runtime)))


def _identity(path: str) -> tuple[int, ...] | None:
    """Return what changes when another file takes a name, or the same one is written."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _open(skill: Skill, setting: str, runtime: str, path: str) -> SectionIndex | None:
    """Open an index; return None for the index of another folder under its own name."""
    for _ in range(ATTEMPTS):
        manifest_data = read_manifest(runtime)  # before the index: a build writes it after the index
        connection = None
        try:
            connection, meta = _connect_with_meta(path)
        except UnreadableIndex:
            meta = {}
        is_ours = meta.get("skill_path") == utf8_text(skill.source)
        is_usable = is_ours and has_current_format(meta, setting)
        if connection is not None:
            if is_usable and is_of_build(meta, manifest_data):
                return SectionIndex(path, runtime, connection, meta)
            connection.close()
        if not is_ours and path != paths.index_file(runtime, skill.source):
            return None
        if not is_ours and meta:
            raise errors.IndexCollision(paths.path_hash(skill.source))
        if not is_usable:
            break
    raise errors.IndexUnusable(skill.reference)


def open_stale_index(skill: Skill) -> tuple[Connection | None, dict[str, str]]:
    """Open an index of a skill, current or not, with its metadata: for callers that check each file."""
    for runtime in skill.runtimes():
        try:
            connection, meta = _connect_with_meta(_find_index(runtime, skill.source))
        except UnreadableIndex:
            continue
        if meta["skill_path"] == utf8_text(skill.source) and int(meta["schema_version"]) == SCHEMA_VERSION:
            return connection, meta
        connection.close()
    return None, {}


def read_index_meta(runtime: str, source: str) -> dict[str, str]:
    """Return the metadata of an index without further checks; raises UnreadableIndex."""
    connection, meta = _connect_with_meta(paths.index_file(runtime, source))
    connection.close()
    return meta


def segment(text: str) -> str:
    """Return text as it is in an index whose `is_cjk` is true."""
    from skillc.index import cjk  # most indexes don't need it

    return cjk.segment(text)


def unsegment(text: str) -> str:
    """Return the text of such an index as it was."""
    from skillc.index import cjk

    return cjk.unsegment(text)


def connect(path: str) -> Connection:
    """Open an index file read-only; raises UnreadableIndex."""
    if not os.path.isfile(path):  # a pipe would block
        raise UnreadableIndex(path)
    try:
        if not is_as_written(path):
            raise UnreadableIndex(f"{path} is damaged")
        return _open_file(path)
    except (DatabaseError, OSError) as error:
        raise UnreadableIndex(str(error)) from None


def seal(path: str) -> None:
    """Store a checksum in the header of an index file that is complete.

    It is the application ID. The user version says what it belongs to: the change counter, which SQLite
    counts up when it changes the file, and the hash function of this version of Python.
    """
    with open(path, "rb+") as file:
        data = file.read(MAX_SEALED + 1)
        if len(data) <= MAX_SEALED:
            file.seek(60)
            file.write(sealed(data)[60:72])


def sealed(data: bytes) -> bytes:
    """Return the bytes of a complete index with their checksum, unless they are too many."""
    if len(data) > MAX_SEALED:
        return data
    return data[:60] + _version(data) + data[64:68] + _checksum(data) + data[72:]


def is_as_written(path: str) -> bool:
    """Return whether a sealed index file is the same; True for any other."""
    file = os.open(path, READ)
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size) if size <= MAX_SEALED else b""
    finally:
        os.close(file)
    return data[60:64] != _version(data) or data[68:72] == _checksum(data)


def _version(data: bytes) -> bytes:
    """Return the user version of an index file that is sealed."""
    number = int.from_bytes(data[24:28], "big") ^ int.from_bytes(quick_hash(SEAL)[:4], "big")
    return number.to_bytes(4, "big")


def _checksum(data: bytes) -> bytes:
    header = quick_hash(data[:60] + data[64:68])
    return quick_hash(header + quick_hash(memoryview(data)[72:]))[:4]  # copying takes longer than hashing


def _open_file(path: str) -> Connection:
    is_own = paths.is_own_runtime(path)
    if not is_own:
        from skillc import databases  # only for an index that a clone may have brought

        databases.check_database(path)
    name = sqlite_uri(path, "mode=ro&immutable=1")
    connection = sqlite.connect(name, uri=True, isolation_level=None, check_same_thread=False)
    if not is_own:
        try:
            databases.check_schema(connection, TABLES)
        except BaseException:
            connection.close()
            raise
    return connection


def _connect_with_meta(path: str) -> tuple[Connection, dict[str, str]]:
    connection = connect(path)
    try:
        return connection, read_meta(connection)
    except UnreadableIndex:
        connection.close()
        raise


def read_meta(connection: Connection) -> dict[str, str]:
    """Return the metadata; raises UnreadableIndex where a required key is missing or can't be parsed."""
    try:
        meta = dict(connection.execute("SELECT key, value FROM index_meta"))
        int(meta["schema_version"])
    except (DatabaseError, ValueError, TypeError, KeyError) as error:
        raise UnreadableIndex(str(error)) from None
    if not all(isinstance(meta.get(key), str) for key in REQUIRED_KEYS):
        raise UnreadableIndex("a required key is missing")
    return meta


def has_current_format(meta: dict[str, str], setting: str) -> bool:
    """Return whether schema and tokenizer are those that a build would use now."""
    tokenizer = meta["tokenizer"]
    return int(meta["schema_version"]) >= SCHEMA_VERSION and tokenizer == choose_tokenizer(setting, tokenizer)


def is_of_build(meta: dict[str, str], manifest_data: bytes) -> bool:
    """Return whether an index and a manifest are of one build.

    A build that is killed between renaming its index and its manifest, or that a reader meets there,
    leaves the old manifest beside the new index. The index says which manifest it replaces, and counts.
    """
    return find_source_hash(manifest_data) == meta["source_hash"] or is_replaced(meta, manifest_data)


def is_replaced(meta: dict[str, str], manifest_data: bytes) -> bool:
    """Return whether a manifest is the one that the build of an index replaces."""
    predecessor = meta.get("replaces")
    return predecessor is not None and predecessor == sha256_hex(manifest_data)


_PORTER: list[bool] = []  # a cache: the answer of `has_porter`, for as long as the process lives


def choose_tokenizer(setting: str, last: str = "") -> str:
    """Return the tokenizer that a build would use: `porter`, else `unicode61`; `cjk` where configured.

    An index whose `last` build used `porter` shows that SQLite has it, without a trial.
    """
    if setting == "cjk":
        return "cjk"
    return "porter" if last == "porter" or has_porter() else "unicode61"


def has_porter() -> bool:
    """Return whether this SQLite has the stemming tokenizer."""
    if not _PORTER:
        connection = sqlite.connect(":memory:")
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(x, tokenize='porter unicode61')")
            _PORTER.append(True)
        except DatabaseError:
            _PORTER.append(False)
        finally:
            connection.close()
    return _PORTER[0]


def render_manifest(skill: str, source: str, source_hash: str, built_at: str) -> bytes:
    from skillc import __version__

    fields = {
        "skill": json_quote(skill),
        "version": str(MANIFEST_VERSION),
        "built_at": json_quote(built_at),
        "source_hash": json_quote(source_hash),
        "source": json_quote(utf8_text(source)),
        "builder": json_quote(f"skillc {__version__}"),
    }
    lines = ",\n".join(f'  "{key}": {value}' for key, value in fields.items())
    return f"{{\n{lines}\n}}\n".encode()


def read_manifest(runtime: str) -> bytes:
    """Return the bytes of a runtime directory's manifest, empty where there is none."""
    try:
        return paths.read_regular(paths.manifest_file(runtime), MAX_MANIFEST)
    except OSError:
        return b""


def find_source_hash(manifest: bytes) -> str | None:
    """Return the source hash in a manifest, None where it is not valid.

    Look for the line that `render_manifest` writes before a JSON parser is loaded, which costs as much
    as everything else a reading command does.
    """
    start = manifest.find(_HASH_KEY) + len(_HASH_KEY)
    digest = manifest[start : start + 64]
    is_digest = len(digest) == 64 and not digest.strip(b"0123456789abcdef")
    if is_digest and manifest.startswith(b'{\n  "skill": ') and manifest.endswith(b"}\n"):
        return digest.decode()
    value = parse_manifest(manifest).get("source_hash")
    return value if isinstance(value, str) and value else None


def parse_manifest(manifest: bytes) -> dict[str, Any]:
    """Return the fields of a manifest, none where it is no JSON object."""
    import json

    try:
        fields = json.loads(manifest)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
