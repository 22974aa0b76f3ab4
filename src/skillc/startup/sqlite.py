"""SQLite's C half, without the Python around it that costs agents a third of a command to load.

`sqlite3` itself imports datetime and more. `_sqlite3` still wants `functools`, and with it
collections, operator and others, only for the cache of statements that each connection has. Where
nobody has loaded `functools` yet, it is lent one that has just that: the C function behind
`functools.lru_cache`. What is imported later gets the real one.
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

    lent = type(sys)("functools")
    lent.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = lent
    try:
        import _sqlite3  # noqa: F401 -- kept by sys.modules
    finally:
        del sys.modules["functools"]


_import()

from _sqlite3 import Error, OperationalError, connect  # noqa: E402 -- with or without the loan

__all__ = ["BUSY_SECONDS", "Error", "OperationalError", "connect", "uri"]

BUSY_SECONDS = 20.0  # to wait for another process that writes


def uri(path: str, parameters: str) -> str:
    """The URI that opens a file with parameters such as `mode=ro`."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{quoted if os.sep == '/' else '/' + quoted.replace(os.sep, '/')}?{parameters}"
