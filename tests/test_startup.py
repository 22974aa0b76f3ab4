"""The start-up tricks: the same results as the ordinary modules."""

from __future__ import annotations

import hashlib
import io
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from skillc import startup
from skillc.startup import front_door, sqlite


@pytest.mark.parametrize("size", [0, 1, startup.MUCH - 1, startup.MUCH, 2 * startup.MUCH + 1])
def test_sha256(size: int) -> None:
    """Small or large, in one piece or from a file, the digest is the one of hashlib."""
    data = b"x" * size
    expected = hashlib.sha256(data).hexdigest()
    assert startup.sha256_hex(data) == expected
    assert startup.file_sha256_hex(io.BytesIO(data), size) == expected


@pytest.mark.parametrize("name", ["plain.db", "a?b.db", "50%.db", "a#b.db", "größe x.db"])
def test_sqlite_uri(tmp_path: Path, name: str) -> None:
    """A URI leads to the file of that name, whatever characters the name has."""
    path = tmp_path / name
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    reader = sqlite.connect(sqlite.uri(str(path), "mode=ro"), uri=True)
    assert reader.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    with pytest.raises(sqlite.OperationalError):
        reader.execute("CREATE TABLE u (a)")
    reader.close()


def test_sqlite_leaves_functools_alone() -> None:
    """Modules that are imported later get the real functools and sqlite3."""
    program = (
        "import sys; from skillc.startup import sqlite; import functools, sqlite3\n"
        "assert functools.partial and sqlite3.connect is not None\n"
        "assert sqlite.connect(':memory:').execute('SELECT 1').fetchone() == (1,)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_front_door() -> None:
    """A name is imported from its module on first use and kept; an unknown name is an AttributeError."""
    get = front_door("skillc.startup", {"sqlite": "uri"})
    assert get("uri") is sqlite.uri
    del sys.modules["skillc.startup"].uri
    with pytest.raises(AttributeError, match="no attribute 'connect'"):
        get("connect")


@pytest.mark.parametrize("closed", [False, True])
def test_leave(closed: bool) -> None:
    """What was printed arrives, and the status is kept, also when stderr is closed."""
    program = (
        "import sys; from skillc.startup import leave; print('x', end='')\n"
        f"if {closed}: sys.stderr.close()\n"
        "leave(3)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (process.returncode, process.stdout) == (3, b"x")
