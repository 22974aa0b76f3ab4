"""SQLite's C half, without the Python half, which takes a third of a reading command to load.

`sqlite3` imports datetime and more. `_sqlite3` still imports `functools`, and with it collections,
operator and others, only for the cache of statements of each connection. Where `functools` is not loaded
yet, `_sqlite3` gets a stand-in with just the C function behind `functools.lru_cache`. Modules that are
imported later get the real one.
"""

from __future__ import annotations

import os
import sys


def _import() -> None:
    if "functools" in sys.modules or "_sqlite3" in sys.modules:
        return
    try:
        from _functools import _lru_cache_wrapper  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return

    stand_in = type(sys)("functools")
    stand_in.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3  # noqa: F401 -- kept by sys.modules
    finally:
        del sys.modules["functools"]


_import()

from _sqlite3 import Error, OperationalError, connect  # noqa: E402 -- after the trick above

__all__ = ["BUSY_SECONDS", "Error", "OperationalError", "connect", "uri"]

BUSY_SECONDS = 20.0  # to wait for another process that writes


def uri(path: str, parameters: str) -> str:
    """Return the URI that opens a file with parameters such as `mode=ro`."""
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{path if os.sep == '/' else '/' + path.replace(os.sep, '/')}?{parameters}"
