"""Where a registry keeps what it knows: SQLite or PostgreSQL, and the same SQL for both."""

from __future__ import annotations

from skillc.errors import InvalidOption
from skillc.registry.store.database import (
    Connection,
    Row,
    Store,
    Table,
    Watch,
    marks,
    select_in,
    to_number,
    to_time,
)
from skillc.registry.store.migrations import complete
from skillc.registry.store.names import to_name
from skillc.registry.store.sqlite import SqliteStore


def open_store(url: str, *, prepare: bool = True) -> Store:
    """Open `postgresql://…`, `sqlite:///path`, or the SQLite file at a path; create what is missing.

    One that is not to be prepared is left as it is: nothing is created and no table is changed.
    """
    scheme, path = url.split("://", 1) if "://" in url else ("", url)
    if scheme in ("postgresql", "postgres"):
        from skillc.registry.store.postgres import PostgresStore  # here, because it needs the extra

        return PostgresStore(url, prepare=prepare)
    if scheme not in ("", "sqlite"):
        raise InvalidOption(f"--store {scheme}://…: it is sqlite:///path or postgresql://…")
    if not path:
        raise InvalidOption("--store: the path is missing")
    return SqliteStore(path, prepare=prepare)
