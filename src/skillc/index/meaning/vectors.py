"""A cache of the vectors of descriptions, because encoding one takes longer than a whole search.

It is a file beside the skill index, and as safe to remove: a damaged file is replaced. Where no file can
be used, the cache is in memory.
"""

from __future__ import annotations

import os
from threading import RLock

from skillc import paths
from skillc.startup import new_sha256, sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

IN_MEMORY = ":memory:"
MAX_VECTORS = 100_000  # 85 MB; when there are more, the older half is deleted
LOCK_TIMEOUT = 0.2  # seconds to wait for another process that writes

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, text BLOB UNIQUE, vector BLOB)"


def vectors_file() -> str:
    """Return the path of the cache; in memory where there is no home."""
    home = paths.home()
    return paths.vectors_file(home) if home else IN_MEMORY


class Vectors:
    """Vectors by model and text. Safe to use from any thread."""

    def __init__(self, path: str, model: str, size: int) -> None:
        self._path = path
        self._model = model
        self._size = size  # in bytes; a value of another length is no vector
        self._connection: Any | None = None
        self._lock = RLock()

    def get(self, texts: Sequence[str], encode: Callable[[str], bytes]) -> list[bytes]:
        """Return the vector of each text; encode those that are not in the cache."""
        keys = [self._key(text) for text in texts]
        rows = self._try(lambda execute: _select(execute, keys)) or {}
        vectors = {key: v for key, v in rows.items() if isinstance(v, bytes) and len(v) == self._size}
        new = {key: encode(text) for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if new:
            self._try(lambda execute: _insert(execute, new))
        vectors |= new
        return [vectors[key] for key in keys]

    def _key(self, text: str) -> bytes:
        digest = new_sha256()
        digest.update(f"{self._model}\n{text}".encode("utf-8", "surrogatepass"))
        return digest.digest()[:16]

    def _try(self, query: Callable[[Any], Any]) -> Any:
        """Return the result of a query; None where the file can't be used for it."""
        with self._lock:
            try:
                return query(self._open())
            except sqlite.OperationalError:  # another process writes, or the disk is full or read-only
                return None
            except sqlite.Error:
                self._replace_file()
                return None

    def _open(self) -> Any:
        if self._connection is None:
            self._connection = _connect(self._path)
        return self._connection.execute

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _replace_file(self) -> None:
        self.close()
        try:
            os.unlink(self._path)
        except OSError:
            self._path = IN_MEMORY


def _connect(path: str) -> Any:
    connection = None
    try:
        if path != IN_MEMORY:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        connection = sqlite.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous=OFF")  # a power cut may damage a cache
        connection.execute(_TABLE)
    except (OSError, sqlite.Error) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite.Error) and not isinstance(error, sqlite.OperationalError):
            raise  # the file is damaged
        connection = sqlite.connect(IN_MEMORY, isolation_level=None, check_same_thread=False)
        connection.execute(_TABLE)
    return connection


def _select(execute: Any, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    marks = ", ".join("?" * len(keys))
    return dict(execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", tuple(keys)))  # noqa: S608


def _insert(execute: Any, vectors: dict[bytes, bytes]) -> None:
    rows = [value for pair in vectors.items() for value in pair]
    marks = ", ".join(["(?, ?)"] * len(vectors))
    execute(f"INSERT OR REPLACE INTO vectors (text, vector) VALUES {marks}", rows)  # noqa: S608
    first, last = execute("SELECT min(number), max(number) FROM vectors").fetchone()
    if last - first >= MAX_VECTORS:
        execute("DELETE FROM vectors WHERE number < ?", (last - MAX_VECTORS // 2,))
