"""Repositories with one commit, as git and dulwich read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given, strategies as st

from skillc.server.protocols.git import make_repository
from tests.support.git import GIT_ENV

names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8)


def git(folder: Path, *words: str, data: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=GIT_ENV, input=data, capture_output=True, check=True
    )
    return done.stdout


def test_git_takes_it(tmp_path: Path) -> None:
    """[SURFACES: Registry protocols] git finds no fault in a pack, and has its files again, modes and all."""
    files = {
        "a": (b"", False),
        "a.b": (b"1", False),
        "a-b/c": (b"2", True),
        "ä/ö ü.md": (b"3" * 5000, False),
        "deep/er/and/deeper": (b"1", False),
    }
    repository = make_repository(files, "message", 1_700_000_000)
    git(tmp_path, "init", "-q", ".")
    git(tmp_path, "index-pack", "--stdin", "--strict", "--fix-thin", data=repository.pack)
    git(tmp_path, "fsck", "--strict", repository.commit)
    git(tmp_path, "checkout", "-q", repository.commit)
    for path, (data, is_executable) in files.items():
        assert (tmp_path / path).read_bytes() == data
        assert bool((tmp_path / path).stat().st_mode & 0o100) is is_executable
    assert make_repository(dict(reversed(files.items())), "message", 1_700_000_000) == repository


@given(st.dictionaries(st.tuples(names, names), st.binary(max_size=40), max_size=5))
def test_same_files_same_repository(files: dict[tuple[str, str], bytes]) -> None:
    """[SURFACES: Registry protocols] the order in which files come does not matter; their bytes do."""
    contents = {"/".join(path): (data, False) for path, data in files.items()}
    repository = make_repository(contents, "m", 0)
    assert make_repository(dict(reversed(contents.items())), "m", 0) == repository
    for path, (data, _) in contents.items():
        changed = contents | {path: (data + b"x", False)}
        assert make_repository(changed, "m", 0).commit != repository.commit
