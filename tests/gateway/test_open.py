"""`skc open`: a file as it is, and never one outside."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from skillc.engine import DefaultSkillEngine
from skillc.errors import FileNotFound, PathEscapes, SkillcError
from skillc.gateway import open as open_module, open_file
from skillc.library import Skill, at_path
from skillc.library.sources import FilesystemSkillSource
from skillc.skills import files
from tests.conftest import World
from tests.gateway.conftest import Run, code, made
from tests.support.deadline import ends
from tests.support.examples import examples

ANYTHING = bytes(range(256)) * 3 + b"\r\n\r\r\n\n\0"


def content(skill: Skill, path: str, max_lines: int | None = None) -> bytes:
    return open_file(skill, path, max_lines).content()


# What it returns


def test_as_it_is(world: World, run: Run) -> None:
    """[RFC-0002:C-OPEN] [D20] [D1] [D2] any file and byte, hidden ones and links inside too; a missing one
    is E021.
    """
    names = ["a.md", "a.txt", "a.py", "a.bin", "deep/er/a", "no-ending", "sp ace/é 漢.md"]
    texts = [b"", b"text", b"text\n", b"a\r\nb\rc\n", ANYTHING, b"\xef\xbb\xbf# BOM\n"]
    for data in texts:
        made(world, "pdf", dict.fromkeys(names, data), built=False)
        assert {run("open", "pdf", name).raw for name in names} == {data}
    skill = made(world, "pdf", {".env": b"x", ".dir/a": b"y", "a/.b": b"z"})
    assert [content(skill, name) for name in (".env", ".dir/a", "a/.b")] == [b"x", b"y", b"z"]
    skill = made(world, "pdf", {"a/b.md": b"text"})
    Path(skill.source, "file").symlink_to("a/b.md")
    Path(skill.source, "directory").symlink_to("a")
    Path(skill.source, "absolute").symlink_to(Path(skill.source, "a", "b.md"))
    for path in ("file", "directory/b.md", "absolute", "directory/../a/b.md"):
        assert content(skill, path) == b"text"
    made(world, "pdf", {"a/b": b""}, built=False)
    near = {"SKILL.md.", "skill.MD"}
    for path in ("nowhere", "a/nowhere", "a", "a/", ".", "", "./", "SKILL.md/x", *near):
        ran = run("open", "pdf", path)
        assert code(ran) == "E021"
        hint = "hint: did you mean 'SKILL.md'?\n" if path in near else ""
        assert ran.err == f"error[E021]: file not found: '{path}'\n{hint}"


def test_json(world: World, run: Run) -> None:
    """[D14] [RFC-0002:C-OPEN] the JSON form: text where it is text, else base64; --max-lines cuts it."""
    made(world, "pdf", {"text": "é\r\n", "binary": ANYTHING}, built=False)
    assert json.loads(run("open", "pdf", "text", "--format", "json").out) == {
        "path": "text",
        "size": 4,
        "encoding": "utf-8",
        "content": "é\r\n",
        "more_lines": 0,
    }
    binary = json.loads(run("open", "pdf", "binary", "--format", "json").out)
    assert base64.b64decode(binary.pop("content")) == ANYTHING
    assert binary == {"path": "binary", "size": len(ANYTHING), "encoding": "base64", "more_lines": 0}
    made(world, "pdf", {"a": "1\n2\n3\n"}, built=False)
    two = ("open", "pdf", "a", "--max-lines", "2")
    assert run(*two).out == "1\n2\n... (1 more lines)\n"
    cut = json.loads(run(*two, "--format", "json").out)
    assert (cut["content"], cut["more_lines"], cut["size"]) == ("1\n2\n... (1 more lines)\n", 1, 6)


def test_names_that_are_not_utf8(world: World, run: Run) -> None:
    """[RFC-0002:C-OPEN] every path that the other commands show can be opened."""
    skill = made(world, "pdf", {os.fsdecode(b"a/\xff.md"): "# Odd\n", "back\\slash": "x"})
    [entry] = [
        e["path"]
        for e in json.loads(run("sources", "pdf", "--format=json").out)["entries"]
        if "\\u" in e["path"]
    ]
    assert entry == "a/\\udcff.md"
    assert content(skill, entry) == content(skill, os.fsdecode(b"a/\xff.md")) == b"# Odd\n"
    assert content(skill, "back\\slash") == b"x"
    for missing in ("\\udcff", "\\udcff.md", "a/\\udcfe.md"):
        with pytest.raises(FileNotFound):
            open_file(skill, missing)


# --max-lines


@pytest.mark.slow
@examples(300)
@given(
    st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"bcd", b"\xff\0"]), max_size=12).map(b"".join),
    st.integers(1, 8),
    st.integers(1, 5),
)
@example(b"1\r\n2\r\n3\r\n4", 2, 2)
@example(b"1\r\r\n2\n3", 2, 5)
@example(b"1\n2\n3", 2, 5)
@example(b"1\n2\n", 2, 5)
def test_any_lines_in_any_pieces(
    world: World, monkeypatch: pytest.MonkeyPatch, data: bytes, wanted: int, piece: int
) -> None:
    """[RFC-0002:C-OPEN] the first n lines, with LF, CRLF or CR, however the file is cut into pieces."""
    skill = made(world, "pdf", {"a": data}, built=False)
    monkeypatch.setattr(open_module, "PIECE", piece)
    lines = data.splitlines(keepends=True)
    opened = open_file(skill, "a", wanted)
    assert b"".join(opened.pieces()) == b"".join(lines[:wanted])
    assert opened.more_lines == max(0, len(lines) - wanted)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--max-lines", "3")])
@pytest.mark.parametrize("lines", [0, 1 << 22])
def test_memory_is_bounded(world: World, words: tuple[str, ...], lines: int) -> None:
    """[D20] a file of any size passes through a little memory, also one that is all one line."""
    skill = made(world, "pdf", {}, built=False)
    size = 256 << 20
    with open(Path(skill.source, "huge"), "wb") as file:
        for _ in range(0, lines, 1 << 16):
            file.write((b"x" * 63 + b"\n") * (1 << 16))
        file.truncate(size)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))

    with subprocess.Popen(
        [sys.executable, "-m", "skillc", "open", "pdf", "huge", *words],
        cwd=world.project,
        env=world.env,
        stdout=subprocess.PIPE,
        preexec_fn=limited,
    ) as process:
        assert process.stdout is not None
        count, tail = 0, b""
        while piece := process.stdout.read(1 << 20):
            count += len(piece)
            tail = (tail + piece)[-40:]
    assert process.returncode == 0
    marker = f"... ({lines - 3} more lines)\n".encode()
    if words and lines:
        assert (count, tail[-len(marker) :]) == (3 * 64 + len(marker), marker)
    else:
        assert count == size


# What it refuses


def test_outside(world: World, run: Run) -> None:
    """[RFC-0002:C-OPEN] [RFC-0002:C-ERRORS] [D20] an absolute path, or one that leaves the root: E012."""
    skill = made(world, "pdf", {"a/b": b"text", "..c": b"c"}, built=False)
    Path(skill.source, "link").symlink_to("/etc")
    paths = ["/etc/passwd", "//etc/passwd", "../other", "a/../../x", "..", "a\0b", "link/passwd", "/"]
    for path in (*paths, str(Path(skill.source, "SKILL.md"))):
        assert code(run("open", "pdf", path)) == "E012"
    assert content(skill, "a/../a/./b") == b"text"  # only `..` that escape are refused
    assert content(skill, "..c") == b"c"


def test_what_is_no_file(world: World, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D20] a pipe does not make it wait; it, a socket and a loop of links are no files: E021."""
    skill = made(world, "pdf", {}, built=False)
    os.mkfifo(Path(skill.source, "pipe"))
    Path(skill.source, "to-pipe").symlink_to("pipe")
    monkeypatch.chdir(skill.source)
    with ends(), socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("pipe", "to-pipe", "socket"):
            assert code(run("open", ".", path)) == "E021"
    Path(skill.source, "loop").symlink_to("loop")
    assert code(run("open", ".", "loop")) in ("E012", "E021")


# No path whatever

SECRET = b"the secret that no skill holds"


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    """A skill full of links, with a secret everywhere around it."""
    top = tmp_path_factory.mktemp("maze")
    root = top / "skills" / "pdf"
    for path in (
        *("secret", "skills/secret", "skills/SKILL.md", "skills/docs/secret", "skills/pdf-2/secret"),
        *("skills/pdf2", "outside/secret", "outside/docs/a.md"),
    ):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(SECRET)
    for path in ("SKILL.md", "docs/a.md", "docs/deep/b.md", ".env", "secret", "e\u0301", "a.", "..x", "..."):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(f"this is {path}".encode())
    links = {
        "file": "../../outside/secret",
        "out": "../../outside",
        "up": "..",
        "upup": "../..",
        "top": "/",
        "here": ".",
        "in": "docs",
        "loop": "loop",
        "one": "two",
        "two": "one",
        "absolute": str(top / "outside"),
        "docs/out": "../../../outside",
        "docs/home": "..",
        "docs/.out": "out",
        "chain": "in/home/out",
        "cwd": "/proc/self/cwd",
        "fd": "/proc/self/fd",
        "root": "/proc/self/root",
        "sneaky": "docs/../../secret",
        "self": "../pdf",
        "\u00e9": "../../outside",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return at_path(str(root))


SEGMENTS = [
    *("..", "..", "..", ".", "...", "....", "..x", "..\\", "..;", "%2e%2e", "..%2f", "．．", "․․", "docs"),
    *("deep", "a.md", "b.md", "SKILL.md", "secret", ".env", "pdf", "pdf-2", "pdf2", "skills", "outside"),
    *("file", "out", "up", "upup", "top", "here", "in", "loop", "one", "two", "absolute", "home", ".out"),
    *("chain", "cwd", "fd", "root", "sneaky", "self", "é", "e\u0301", "a.", "a", "SKILL.md.", "DOCS", "etc"),
    *("passwd", "proc", "~", "~root", "$HOME", "C:", "C:\\", "\\", "\\\\host", "", ".. ", " ..", "\0"),
    *("a\0", "\n", "\ud800", "\udcff", "x" * 300, "﹒﹒", "∕"),
]
paths = st.builds(
    lambda start, parts, separator, end: start + separator.join(parts) + end,
    st.sampled_from(["", "", "", "/", "//", "///", "./", "../", "\\", "\0", " ", "file:", "file:///"]),
    st.lists(st.sampled_from(SEGMENTS), max_size=8),
    st.sampled_from(["/", "/", "/", "//", "/./", "\\", "∕", "／"]),
    st.sampled_from(["", "", "", "/", "/.", ".", " ", "\0", "/secret", "::$DATA"]),
)


@pytest.mark.slow
@examples(1500)
@given(paths | st.text(max_size=20))
@example("loop/../file")
@example("loop/../out/secret")
@example("loop/\ud800")
@example("one/x/../../out/secret")
@example("../" * 5000 + "etc/passwd")
@example("docs/../" * 5000 + "SKILL.md")
@example("a/" * 500_000)
@example("x" * 1_000_000)
@example("../" * 300_000 + "secret")
def test_no_path_leads_outside(maze: Skill, path: str) -> None:
    """[RFC-0002:C-OPEN] [D20] no path whatever reads outside: a file of the skill, E012 or E021."""
    with ends():
        try:
            data = content(maze, path)
        except (PathEscapes, FileNotFound):
            return
    assert data.startswith(b"this is ")


def fail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first try to open a path fail, as it does if there is a link on the way."""
    failures = [OSError("a link is on the way")]

    def open_names(root: str, path: str) -> int:
        if failures:
            raise failures.pop()
        return open_path(root, path)

    open_path = files._open_names
    monkeypatch.setattr(files, "_open_names", open_names)


@pytest.mark.parametrize("swapped", ["a", "a/b", "a/b/c.md", ""])
def test_a_link_that_takes_the_place_of_a_directory(
    world: World, swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[RFC-0002:C-OPEN] nor does a link that appears between looking and opening, on the way to the file, in
    its place, or in that of the whole skill.
    """
    skill = made(world, "pdf", {"a/b/c.md": b"mine"}, built=False)
    outside = world.root / "outside"
    shutil.copytree(skill.source, outside)
    (outside / "a/b/c.md").write_bytes(SECRET)

    def look_and_swap(root: str, path: str) -> tuple[str, str]:
        found = resolve(root, path)
        place = Path(found[0], swapped)
        place.rename(world.root / "aside")
        place.symlink_to(outside / swapped)
        return found

    resolve = files._resolve
    monkeypatch.setattr(files, "_resolve", look_and_swap)
    fail_once(monkeypatch)
    with pytest.raises((FileNotFound, PathEscapes)):
        content(skill, "a/b/c.md")


SWAP = """
import os, sys
inside, aside, outside = sys.argv[1:]
print("ready", flush=True)
while True:
    os.rename(inside, aside)
    os.symlink(outside, inside)
    os.unlink(inside)
    os.rename(aside, inside)
"""


@pytest.mark.slow
def test_races(world: World) -> None:
    """[RFC-0002:C-OPEN] while another process swaps a directory for a link, nothing from outside is read."""
    skill = made(world, "pdf", {"a/b/c.md": b"mine", "SKILL.md": b"---\ndescription: x\n---\n"}, built=False)
    outside = world.root / "outside"
    outside.mkdir()
    (outside / "c.md").write_bytes(SECRET)
    engine = DefaultSkillEngine(FilesystemSkillSource(world.store))
    directories = [str(Path(skill.source, "a/b")), str(Path(skill.source, "a/aside")), str(outside)]
    command = [sys.executable, "-c", SWAP, *directories]
    results = Counter[bytes]()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        try:
            assert swapper.stdout is not None
            swapper.stdout.readline()
            for number in range(6_000):
                try:
                    if number % 20:
                        results[content(skill, "a/b/c.md")] += 1
                    else:
                        results[asyncio.run(engine.read_file("pdf", "a/b/c.md")).encode()] += 1
                except SkillcError as error:
                    results[error.code.encode()] += 1
        finally:
            swapper.kill()
    assert set(results) <= {b"mine", b"E012", b"E021"}
    assert len(results) > 1  # the swaps were met
