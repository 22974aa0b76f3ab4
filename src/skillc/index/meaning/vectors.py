"""The vectors of descriptions, kept between commands: making one takes longer than a whole search.

A file beside the library's index, as safe to remove. Whatever is wrong with it, the vectors are made anew;
they live in memory where no file can be had.
"""

from __future__ import annotations

import os
from _thread import RLock

from skillc import paths
from skillc.startup import new_sha256
from skillc.startup.sqlite import Error, OperationalError, connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

IN_MEMORY = ":memory:"
MOST = 100_000  # vectors that are kept, 85 MB; the older half goes when there are more
PATIENCE = 0.2  # seconds to wait for another process that writes

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, text BLOB UNIQUE, vector BLOB)"


def vectors_file() -> str:
    """Where they are kept; in memory where there is no home."""
    home = paths.home()
    return paths.vectors_file(home) if home else IN_MEMORY


class Vectors:
    """Vectors by what they were made of. Safe to use from any thread."""

    def __init__(self, path: str, model: str, size: int) -> None:
        self._path = path
        self._model = model
        self._size = size  # in bytes: what is not as long is no vector
        self._connection: Any | None = None
        self._turn = RLock()

    def of(self, texts: Sequence[str], make: Callable[[str], bytes]) -> list[bytes]:
        """The vector of each text, made where it is not known."""
        keys = [self._key(text) for text in texts]
        kept = self._tried(lambda execute: _known(execute, keys)) or {}
        known = {key: v for key, v in kept.items() if isinstance(v, bytes) and len(v) == self._size}
        made = {key: make(text) for key, text in zip(keys, texts, strict=True) if key not in known}
        if made:
            self._tried(lambda execute: _keep(execute, made))
        known |= made
        return [known[key] for key in keys]

    def _key(self, text: str) -> bytes:
        made = new_sha256()
        made.update(f"{self._model}\n{text}".encode("utf-8", "surrogatepass"))
        return made.digest()[:16]

    def _tried(self, work: Callable[[Any], Any]) -> Any:
        """What a piece of work gives; None where the file can't be used for it."""
        with self._turn:
            try:
                return work(self._open())
            except OperationalError:  # another process writes, or the disk is full or read-only
                return None
            except Error:
                self._start_anew()
                return None

    def _open(self) -> Any:
        if self._connection is None:
            self._connection = _connected(self._path)
        return self._connection.execute

    def _start_anew(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            os.unlink(self._path)
        except OSError:
            self._path = IN_MEMORY


def _connected(path: str) -> Any:
    try:
        if path != IN_MEMORY:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        opened = connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        opened.execute("PRAGMA synchronous=OFF")  # a cache: what a power cut damages is made anew
        opened.execute(_TABLE)
    except (OSError, OperationalError):
        opened = connect(IN_MEMORY, isolation_level=None, check_same_thread=False)
        opened.execute(_TABLE)
    return opened


def _known(execute: Any, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    marks = ", ".join("?" * len(keys))
    return dict(execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", tuple(keys)))  # noqa: S608


def _keep(execute: Any, made: dict[bytes, bytes]) -> None:
    rows = [value for pair in made.items() for value in pair]
    marks = ", ".join(["(?, ?)"] * len(made))
    execute(f"INSERT OR REPLACE INTO vectors (text, vector) VALUES {marks}", rows)  # noqa: S608
    first, last = execute("SELECT min(number), max(number) FROM vectors").fetchone()
    if last - first >= MOST:
        execute("DELETE FROM vectors WHERE number < ?", (last - MOST // 2,))
