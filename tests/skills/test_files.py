"""The one list of a skill's files, its hash, and paths that must stay inside."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidSkill, PathEscapes
from skillc.skills import files, hash_source, list_files, resolve_inside
from skillc.text import utf8_text
from tests.support.cases import each
from tests.support.deadline import ends
from tests.support.examples import examples


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A skill's folder, with something beside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (tmp_path / "skill").mkdir()
    return tmp_path / "skill"


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"This is {name}")


def names(root: Path, *, hidden: bool = False) -> list[str]:
    return [file.name for file in list_files(str(root), hidden=hidden)]


# Which files


def test_dots(root: Path) -> None:
    """[D1] all regular files, except those with a dot at the start of their name or of a directory's.

    Where dot-files are asked for they are listed, but never what is not the skill's. The root may have a dot.
    """
    make(root, "SKILL.md", "a/b/c.md", "a.b/c", "x.", ".env", "a/.hidden/b.md", "a/.c", "..d")
    (root / "empty" / "directory").mkdir(parents=True)
    listed = ["SKILL.md", "a.b/c", "a/b/c.md", "x."]
    assert names(root) == listed
    make(root, ".git/config", "a/.svn/x", ".skillc/manifest.json", ".skillc-meta/x")
    assert names(root, hidden=True) == sorted([*listed, ".env", "a/.hidden/b.md", "a/.c", "..d"])
    below = root.rename(root.parent / ".skill")
    assert names(below) == listed


def test_files_that_vanish(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D1] what is removed while the list is made is not in it."""
    make(root, "a", "b", "d/x", "e/y")
    look, follow = files._entries, files._follow

    def look_and_remove(directory: str, required: bool) -> list[os.DirEntry[str]]:
        found = look(directory, required)
        (root / "a").unlink(missing_ok=True)
        shutil.rmtree(root / "d", ignore_errors=True)
        return found

    def follow_and_remove(entry: os.DirEntry[str], *details: Any) -> os.stat_result | None:
        found = follow(entry, *details)
        shutil.rmtree(root / "e", ignore_errors=True)
        return found

    monkeypatch.setattr(files, "_entries", look_and_remove)
    monkeypatch.setattr(files, "_follow", follow_and_remove)
    assert names(root) == ["b"]


def test_what_is_passed_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D1] [D2] pipes, sockets, also behind a link, and broken links, wherever they would lead."""
    make(root, "SKILL.md")
    os.mkfifo(root / "pipe")
    (root / "to-pipe").symlink_to("pipe")
    monkeypatch.chdir(root)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert names(root) == ["SKILL.md"]
    (root / ".link").symlink_to("../outside")  # with a dot it is none of the skill's files
    for number, target in enumerate(["nowhere", "../nowhere", "/nowhere", "SKILL.md/x", "link-4", "x" * 300]):
        (root / f"link-{number}").symlink_to(target)
    assert names(root) == ["SKILL.md"]


def test_order(root: Path) -> None:
    """[D3] bytewise by the whole path."""
    listed = ["Z", "a", "a-b", "a.d/x", "a.md", "b/c", "b0", "e\u0301", "z", "\u00e9", "\uff5e", "\U0001f680"]
    make(root, *listed)
    assert names(root) == sorted(listed, key=str.encode)
    make(root, "d.md", "d/b.md")
    assert [name for name in names(root) if name.startswith("d")] == ["d.md", "d/b.md"]


def test_what_a_file_tells(root: Path) -> None:
    """[D1] name, path, size and stamp of a file; any name is listed, and can be shown."""
    make(root, "a/b.md")
    [file] = list_files(str(root))
    assert (file.name, Path(file.path).read_text(), file.size) == ("a/b.md", "This is a/b.md", 14)
    [same] = list_files(str(root))
    make(root, "a/b.md")
    os.utime(root / "a" / "b.md", ns=(1, 1))
    [other] = list_files(str(root))
    assert same.stamp == file.stamp != other.stamp
    for raw in (b"\xff.md", b"\xfe", b"z", "é".encode()):
        (root / os.fsdecode(raw)).write_bytes(b"")
    found = names(root)[1:]
    assert [os.fsencode(name) for name in found] == [b"z", "é".encode(), b"\xfe", b"\xff.md"]
    assert [utf8_text(name) for name in found] == ["z", "é", "\\udcfe", "\\udcff.md"]


# Links


def test_links_inside(root: Path) -> None:
    """[D2] a link that stays inside counts as what it points to, under its own path."""
    make(root, "a/b.md", "a/c/d.md", ".hidden/e.md")
    (root / "file").symlink_to("a/b.md")
    (root / "twice").symlink_to("file")
    (root / "directory").symlink_to("a")
    (root / "absolute").symlink_to(root / "a" / "c")
    (root / "shown").symlink_to(".hidden")
    (root / "a" / "around").symlink_to("../../skill/a/c/../b.md")
    assert names(root) == [
        *("a/around", "a/b.md", "a/c/d.md", "absolute/d.md", "directory/around", "directory/b.md"),
        *("directory/c/d.md", "file", "shown/e.md", "twice"),
    ]
    assert {
        Path(file.path).read_text() for file in list_files(str(root)) if file.name in ("file", "twice")
    } == {"This is a/b.md"}


def test_links_that_leave(root: Path) -> None:
    """[D2] one that leaves is E012 by its path, also by way of another link, or to a neighbour."""
    make(root, "a/b.md")
    make(root.parent / "skill-2", "x")
    (root / ".hidden").symlink_to("../outside")
    outside = ("../../outside", "../../outside/secret", "/", "/dev/null", "../..", "../a/../../outside")
    for target in (*outside, "../.hidden", "../../skill-2"):
        (root / "a" / "link").symlink_to(target)
        with pytest.raises(PathEscapes) as caught:
            list_files(str(root), strict=True)
        assert caught.value.line() == "error[E012]: path escapes skill root: 'a/link'"
        assert names(root) == ["a/b.md"]
        (root / "a" / "link").unlink()


def test_loops_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D2] directory loops end, and do not multiply where there is not a single file to count."""
    make(root, "a/x", "b/y")
    (root / "self").symlink_to("self")
    (root / "root").symlink_to(".")
    (root / "a" / "up").symlink_to("..")
    (root / "a" / "here").symlink_to(".")
    (root / "a" / "b").symlink_to("../b")
    (root / "b" / "a").symlink_to("../a")
    with ends():
        assert names(root) == ["a/b/y", "a/x", "b/a/x", "b/y"]
    for path in (root / "a" / "x", root / "b" / "y"):
        path.unlink()
    for name in range(12):
        (root / f"{name}").mkdir()
        for other in range(12):
            (root / f"{name}" / f"to-{other}").symlink_to(f"../{other}")
    monkeypatch.setattr(files, "MAX_LINKS", 100)
    with ends(), pytest.raises(InvalidSkill, match="more than 100 directories by way of links"):
        list_files(str(root))


def test_too_many_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D2] links that multiply a folder beyond the limit make it no valid skill."""
    assert files.MAX_FILES == 100_000
    monkeypatch.setattr(files, "MAX_FILES", 400)
    make(root, *(f"d/{number}" for number in range(40)))
    for number in range(9):
        (root / f"link-{number}").symlink_to("d")
    assert len(list_files(str(root))) == 400
    make(root, "one-more")
    with pytest.raises(InvalidSkill, match="more than 400 files"):
        list_files(str(root))


# The hash

file_names = st.sampled_from(
    ["SKILL.md", "Z", "a", "a.md", "a-b/c", "b/c.md", "b/d/e", "b.md", "é", "漢/字.md", "0"]
)


def hash_of(root: Path) -> str:
    files = list_files(str(root))
    return hash_source(
        (file.name, hashlib.sha256(Path(file.path).read_bytes()).hexdigest()) for file in files
    )


@examples(60)
@given(st.dictionaries(file_names, st.binary(max_size=8)))
def test_hash(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    """[D3] SHA-256 over path and hex SHA-256 of each file, sorted bytewise, without separators."""
    root = tmp_path_factory.mktemp("skill")
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    whole = b""
    for path in sorted(name.encode() for name in files):
        whole += path + hashlib.sha256(files[path.decode()]).hexdigest().encode()
    assert hash_of(root) == hashlib.sha256(whole).hexdigest()


def test_hash_of_one(root: Path) -> None:
    """[D3] as `printf 'SKILL.md%s' "$(printf hello | sha256sum | cut -c-64)" | sha256sum` has it."""
    (root / "SKILL.md").write_bytes(b"hello")
    (root / ".ignored").write_bytes(b"x")
    assert hash_of(root) == "b7c756fabb34bb22b1ff67432c68df476e8dfc4cf3f79768cfe5de7064279abf"
    (root / "SKILL.md").unlink()
    (root / os.fsdecode(b"\xff")).write_bytes(b"")  # a path counts with the bytes it has
    empty = hashlib.sha256(b"").hexdigest().encode()
    assert hash_of(root) == hashlib.sha256(b"\xff" + empty).hexdigest()


# Paths from outside


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skill full of links, to be lost in."""
    top = tmp_path_factory.mktemp("maze")
    (top / "outside").mkdir()
    (top / "outside" / "secret").write_text("secret")
    make(top / "skill", "SKILL.md", "docs/a.md", ".env")
    links = {"in": "docs", "out": "../outside", "up": "..", "abs": "/", "loop": "loop"}
    links |= {"one": "two", "two": "one", "docs/out": "../../outside", "docs/home": ".."}
    links |= {".out": "../outside", "file": "../outside/secret"}
    for name, target in links.items():
        (top / "skill" / name).symlink_to(target)
    return top / "skill"


def really(path: str) -> str:
    """Where the system itself gets to on that path."""
    opened = os.open(path, os.O_PATH)
    try:
        return os.readlink(f"/proc/self/fd/{opened}")
    finally:
        os.close(opened)


def check_inside(root: Path, relative: str) -> str | None:
    """What resolve_inside says, after making sure that nothing on the way to it is outside."""
    try:
        resolved = resolve_inside(str(root), relative)
    except PathEscapes:
        return None
    assert Path(resolved).is_relative_to(root)
    for path in [Path(resolved), *Path(resolved).parents]:
        # As text: is_relative_to takes minutes for thousands of names on Python 3.13.
        if f"{path}/".startswith(f"{root}/") and os.path.lexists(path):
            try:
                assert Path(really(str(path))).is_relative_to(root), relative
            except OSError:
                pass  # can't be opened at all
    return resolved


OUTSIDE = [
    *("..", "../outside", "docs/../../outside", "/etc/passwd", "/", "//etc", "out", "out/secret"),
    *("docs/out/secret", "up/outside", "abs/etc/passwd", ".out/secret", "file", "in/../..", "a\0b", "\0"),
    *("../skill-2", "nothing/../../x", "loop/../out/secret", "loop/../.out/secret", "\ud800"),
    *("one/x/../../.out/secret", "docs/home/.out/secret"),
]


def test_outside(maze: Path) -> None:
    """[D20] a path that leaves the root is E012; the root may be a link, and a path of any length."""
    for relative in (*OUTSIDE, str(maze / "SKILL.md")):
        with pytest.raises(PathEscapes):
            resolve_inside(str(maze), relative)
    link = maze.parent / "link"
    link.symlink_to(maze)
    assert resolve_inside(str(link), "docs/a.md") == str(maze / "docs" / "a.md")
    check_inside(maze, "x" * 5000)
    check_inside(maze, "docs/../" * 2000 + "SKILL.md")
    check_inside(maze, "/".join(["x"] * 3000))


@each(
    ("relative", "resolved"),
    [
        ("SKILL.md", "SKILL.md"),
        ("docs/a.md", "docs/a.md"),
        ("in/a.md", "docs/a.md"),
        ("./docs//a.md", "docs/a.md"),
        ("docs/../SKILL.md", "SKILL.md"),
        ("docs/home/docs/home/SKILL.md", "SKILL.md"),
        (".env", ".env"),
        ("nothing/here", "nothing/here"),
        ("..skill", "..skill"),
        ("", ""),
        (".", ""),
    ],
)
def test_inside(maze: Path, relative: str, resolved: str) -> None:
    """[D20] a path inside is the canonical one; dot-files are reached, and it need not exist."""
    assert check_inside(maze, relative) == str(maze / resolved)


def test_directories_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D1] a tree of many directories ends with E010, even if it has no file."""
    monkeypatch.setattr("skillc.skills.files.MAX_DIRECTORIES", 20)
    for number in range(30):
        (tmp_path / f"d{number}").mkdir()
    with pytest.raises(InvalidSkill, match="more than 20 directories"):
        list_files(str(tmp_path))
