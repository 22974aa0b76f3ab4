"""Open a registry by the addresses of its store and its blobs, or try them before.

Where they are tried, nothing is created that stays, and no table is changed; what does not work raises
RegistryUnavailable with the reason.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillc import atomic
from skillc.errors import RegistryUnavailable
from skillc.paths import registry_directory, require_home
from skillc.registry.blobs import open_blobs
from skillc.registry.mirror import Audit, Folders, open_temporary
from skillc.registry.registry import Registry, RegistryConfig
from skillc.registry.store import Connection, Store, open_store
from skillc.registry.store.migrations import MIGRATIONS, read_number

_MAY_CREATE = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)"
# It writes no row, and the database checks the rights that writing one takes.
_MAY_WRITE = "INSERT INTO claims (publication, digest, claimed_at) SELECT '', '', 0 WHERE 1 = 0"


def open_registry(
    store: str = "",
    blobs: str = "",
    config: RegistryConfig | None = None,
    audit: Audit | None = None,
    folders: Folders = open_temporary,
) -> Registry:
    """Open a registry by the addresses of its store and its blobs.

    By default the store is a SQLite file in the home, and the blobs are a folder beside a SQLite file.
    """
    store = default_store(store)
    blob_store = open_blobs(default_blobs(store, blobs))
    return Registry(open_store(store), blob_store, config=config, audit=audit, folders=folders)


def default_store(store: str) -> str:
    """Return the address of a store, by default that of a SQLite file in the home."""
    return store or os.path.join(registry_directory(require_home()), "registry.db")


def default_blobs(store: str, blobs: str) -> str:
    """Return the address of blobs, by default that of a folder beside a SQLite file."""
    if blobs:
        return blobs
    if "://" in store and not store.startswith("sqlite:"):
        raise RegistryUnavailable(store.partition(":")[0], "it needs the address of its blobs, too")
    return os.path.join(os.path.dirname(os.path.abspath(store.removeprefix("sqlite://"))), "blobs")


# Trials


@dataclass(frozen=True, slots=True)
class StoreTrial:
    """A store as it was found: how many of the known migrations it has, and whether it has an admin."""

    name: str  # its address, without a password
    migrations: int
    known: int
    has_admin: bool


def try_store(url: str) -> StoreTrial:
    """Read a store and open a transaction that could write; a SQLite file that is missing stays so."""
    url = default_store(url)
    path = os.path.abspath(url.removeprefix("sqlite://")) if _is_sqlite(url) else ""
    if path and not os.path.lexists(path):
        try_folder(os.path.dirname(path))
        return StoreTrial(path, 0, len(MIGRATIONS), False)
    store = open_store(url, prepare=False)
    try:
        store.watch().close()  # a connection of its own, whose error says more than that of a pool
        with store.write() as connection:
            number, has_admin = _read(store, connection, is_sqlite=bool(path))
    finally:
        store.close()
    return StoreTrial(path or _hide(url), number, len(MIGRATIONS), has_admin)


def _read(store: Store, connection: Connection, is_sqlite: bool) -> tuple[int, bool]:
    """Return the last migration, and whether there is an admin."""
    has_tables = ("migrations",) in connection.execute(store.catalog)
    number = read_number(connection, len(MIGRATIONS)) if has_tables else 0
    if number < len(MIGRATIONS) and not is_sqlite:
        ((may_create,),) = connection.execute(_MAY_CREATE)
        if not may_create:
            raise RegistryUnavailable("store", "its user may not create tables in its schema")
    if not number:
        return 0, False
    connection.execute(_MAY_WRITE)
    return number, bool(connection.execute("SELECT 1 FROM grants LIMIT 1"))


def _is_sqlite(url: str) -> bool:
    return "://" not in url or url.startswith("sqlite://")


def _hide(url: str) -> str:
    """Return the address of a database without user, password and parameters."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def try_blobs(store: str, blobs: str) -> str:
    """Write and read where blobs are; return what was done, with the address."""
    url = default_blobs(default_store(store), blobs)
    scheme, path = url.split("://", 1) if "://" in url else ("file", os.path.abspath(url))
    if scheme == "file":
        return try_folder(os.path.join(path, "sha256"))
    open_blobs(url).try_out()
    return f"{url}: a blob was written and read"


def try_folder(path: str) -> str:
    """Write a file into a folder and remove it, or into the one in which it would be made."""
    folder = path
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    try:
        probe = atomic.temporary_path(os.path.join(folder, "check"))
        atomic.write(probe, b"", private=True)
        atomic.discard(probe)
    except OSError as error:
        raise RegistryUnavailable(folder, error.strerror or str(error)) from None
    place = "there" if folder == path else f"to {folder}, in which a start makes it,"
    return f"{path}: a file was written {place} and removed"
