"""Say what to install when an import fails because an extra is missing.

with require_extra("registry"):
    import obstore
"""

from __future__ import annotations

import sys

from skillc.errors import MissingExtra

# By extra of pyproject.toml, but for those of agent frameworks.
_NEEDS = {
    "postgres": "a registry on PostgreSQL needs psycopg and its pool",
    "registry": "the files of a registry need obstore",
    "sso": "sign-in by OpenID Connect and publishing from CI need joserfc",
}


class require_extra:  # noqa: N801 -- a class, because contextlib takes long to load
    """Raise MissingExtra where an import in the block fails because `extra` is not installed."""

    def __init__(self, extra: str) -> None:
        self._extra = extra

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ImportError) or not is_foreign(error):
            return
        why = "" if isinstance(error, ModuleNotFoundError) else f", which can't be used ({error})"
        raise MissingExtra(f"{_NEEDS[self._extra]}{why}", self._extra) from None


def is_foreign(error: ImportError) -> bool:
    """Return whether a library can't be imported; for a module of Python's or of ours, it is a bug."""
    package = (error.name or "").partition(".")[0]
    return package != "skillc" and package not in sys.stdlib_module_names


def import_error(error: ImportError, framework: str, extra: str) -> MissingExtra:
    """Return the error for a framework that is not installed, too old, or hidden by a module of its name."""
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra(f"{framework} is not installed", extra)
    return MissingExtra(f"{framework} can't be used ({error})", extra)
