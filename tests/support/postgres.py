"""A real PostgreSQL: Debian's package, a cluster in a temporary folder, one for each process of tests."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import psycopg

from skillc.registry.store import open_store

_NAMES = ("initdb", "pg_ctl", "psql", "pg_dump")
_numbers = count()


@cache
def programs() -> Path | None:
    """Where `initdb` is: Debian keeps it out of the path."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if all((folder / name).exists() for name in _NAMES)), None)


def why_not() -> str:
    """Why there is no PostgreSQL for tests; empty if there is."""
    if programs() is None:
        return "PostgreSQL is not installed; scripts/setup asks Debian for it"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses root, and there is no setpriv to become another user"
    return ""


class Cluster:
    """A server that listens on a socket in its folder alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._store = ""
        self._user = _other_user() if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self.run(
            "initdb",
            "--auth=trust",
            "--username=skillc",
            "--encoding=UTF8",
            "--no-sync",
            "-D",
            str(folder / "data"),
        )

    def run(self, program: str, *words: str, text: str | None = None) -> str:
        """Run a program of PostgreSQL as a user that is not root."""
        binaries = programs()
        assert binaries is not None
        prefix: list[str] = []
        if self._user is not None:
            prefix = [
                "setpriv",
                f"--reuid={self._user.pw_uid}",
                f"--regid={self._user.pw_gid}",
                "--clear-groups",
            ]
        log = self.folder / "log"
        result = subprocess.run(
            [*prefix, str(binaries / program), *words],
            input=text,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert result.returncode == 0, (result.stdout, log.exists() and log.read_text())
        return result.stdout

    def start(self) -> None:
        settings = (
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
            "fsync=off",
            "max_connections=50",
        )
        options = " ".join(f"-c {setting}" for setting in settings)
        # With a log file, the server keeps no pipe of ours open.
        self.run(
            "pg_ctl",
            "start",
            "-w",
            "-D",
            str(self.folder / "data"),
            "-l",
            str(self.folder / "log"),
            "-o",
            options,
        )

    def stop(self) -> None:
        """Stop it as a crash would."""
        self.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self.folder / "data"))

    def psql(self, database: str, text: str) -> str:
        words = ("-h", str(self.folder), "-U", "skillc", "-v", "ON_ERROR_STOP=1", "-q", "-At", "-d", database)
        return self.run("psql", *words, text=text)

    def dump(self, url: str) -> str:
        """The SQL that makes a database again; without commands that only newer versions of psql know."""
        lines = self.run("pg_dump", "--no-owner", "--inserts", url).splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(("\\restrict", "\\unrestrict")))

    def create_schema(self) -> str:
        """The address of an empty store: a schema of its own, which takes less time than a database."""
        name = f"registry{next(_numbers)}"
        self.psql("postgres", f"CREATE SCHEMA {name}")
        return f"postgresql://skillc@/postgres?host={self.folder}&options=-csearch_path%3D{name}"

    def empty_store(self) -> str:
        """The address of a store without rows: always the same, for making its tables takes long."""
        if not self._store:
            self._store = self.create_schema()
            open_store(self._store).close()
        with psycopg.connect(self._store, autocommit=True) as connection:
            connection.execute("SET lock_timeout = '20s'")
            query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            tables = [name for (name,) in connection.execute(query) if name != "migrations"]
            connection.execute("; ".join(f"DELETE FROM {name}" for name in tables).encode())
        return self._store

    def create_database(self, dump: str) -> str:
        """The address of a new database with what is in a dump."""
        name = f"registry{next(_numbers)}"
        self.psql("postgres", f"CREATE DATABASE {name}")
        self.psql(name, dump)
        return f"postgresql://skillc@/{name}?host={self.folder}"


def _other_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="skillc-pg-", dir="/tmp"))  # a socket's path is short
    try:
        cluster = Cluster(folder)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
