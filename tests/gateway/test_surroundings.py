"""The reading commands where something is wrong or missing: words, a home, a place to write, an encoding."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.compiler.build import build_skill
from skillc.library import at_path, resolve
from tests.conftest import World
from tests.support.cases import each

TEXT = "---\nname: pdf\ndescription: d\n---\n# 名前 Größe\n\nNeedle — größer.\n"

# Each command, and a part of what it prints.
COMMANDS = {
    "outline": (["outline", "pdf"], "# 名前 Größe"),
    "show": (["show", "pdf", "--section", "名前 größe"], "Needle — größer."),
    "open": (["open", "pdf", "SKILL.md"], "Needle — größer."),
    "sources": (["sources", "pdf"], "├── é/"),
    "search": (["search", "pdf", "needle"], "[MATCH]Needle[/MATCH] — größer."),
}
NEED_AN_INDEX = ("search",)


W002 = "warning[W002]: logging disabled; run 'skc sync' after session to merge logs\n"


def fill(folder: Path) -> None:
    (folder / "SKILL.md").write_text(TEXT, encoding="utf-8")
    (folder / "é").mkdir()
    (folder / "é" / "x.txt").write_text("x")


@pytest.fixture
def pdf(world: World) -> World:
    fill(world.skill("pdf"))
    build_skill(resolve("pdf", str(world.project)))
    return world


def change_modes(root: Path, mode: int) -> None:
    """Give or take away the right to write below a directory."""
    for directory, _, _ in os.walk(root):
        os.chmod(directory, mode)


# What every reading command refuses


@each("command", COMMANDS)
def test_codes(world: World, command: str) -> None:
    """[RFC-0002:C-ERRORS] [RFC-0004:C-ERRORS] E001, E010, E100: status 1, a line on stderr, no output."""
    (world.store / "empty").mkdir(exist_ok=True)
    words = COMMANDS[command][0][2:]
    calls = [["E001", command, "nowhere", *words], ["E010", command, "empty", *words], ["E100", command]]
    for wrong in (["--nope"], ["--format", "xml"], ["--format"], ["more"]):
        calls.append(["E100", command, "nowhere", *words, *wrong])
    for call in calls:
        assert world.fails(*call).stdout == ""


@each(
    ("command", "option", "more"),
    [
        ("outline", "--level", ["7", "99999999999"]),
        ("show", "--max-lines", []),
        ("open", "--max-lines", ["1e3"]),
        ("sources", "--depth", []),
        ("sources", "--limit", []),
        ("search", "--limit", []),
    ],
)
def test_bad_numbers(world: World, command: str, option: str, more: list[str]) -> None:
    """[D21] positive integers, and levels up to 6; anything else is E100, before anything is read."""
    for bad in ("0", "-1", "x", "", "2.5", "٣", *more):
        world.fails("E100", command, "nowhere", *COMMANDS[command][0][2:], f"{option}={bad}")


# Where nothing can be written


@pytest.mark.slow
def test_read_only(pdf: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] [RFC-0002:C-ERRORS] reading needs nothing that can be written, but for the log."""
    fill(pdf.skill("at-home", store=pdf.global_store))
    pdf.ok("build", "at-home")
    roots = pdf.home, pdf.project
    try:
        for root in roots:
            change_modes(root, 0o555)
        for words, part in COMMANDS.values():
            for name in ("pdf", "at-home"):
                ran = pdf.skc(*[name if word == "pdf" else word for word in words], prefix=unprivileged)
                assert (ran.returncode, part in ran.stdout) == (0, True), ran.stderr
                assert ran.stderr in ("", W002), words
    finally:
        for root in roots:
            change_modes(root, 0o755)


@pytest.mark.slow
def test_read_only_log(pdf: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] a log that can't be written any more fails nothing."""
    pdf.ok("outline", "pdf")
    meta = pdf.runtime / "pdf" / ".skillc-meta"
    for path in meta.glob("logs.db*"):
        path.chmod(0o444)
    meta.chmod(0o555)
    try:
        for words, part in COMMANDS.values():
            ran = pdf.skc(*words, prefix=unprivileged)
            assert (ran.returncode, part in ran.stdout) == (0, True), ran.stderr
            assert ran.stderr in ("", W002)
    finally:
        meta.chmod(0o755)


def test_an_unreadable_source(pdf: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0005] a source without permission: one coded line that names it; search answers from the index."""
    main = pdf.store / "pdf" / "SKILL.md"
    main.chmod(0)
    for words in (
        ["outline", "pdf"],
        ["show", "pdf", "--section", "名前 größe"],
        ["open", "pdf", "SKILL.md"],
    ):
        assert "SKILL.md': Permission denied" in pdf.fails("E999", *words, prefix=unprivileged).stderr
    ran = pdf.skc("search", "pdf", "needle", prefix=unprivileged)
    assert (ran.returncode, "Needle" in ran.stdout) == (0, True)
    assert "warning[W004]" in ran.stderr
    main.chmod(0o644)
    (pdf.store / "pdf" / "é").chmod(0)
    try:
        assert "Permission denied" in pdf.fails("E999", "sources", "pdf", prefix=unprivileged).stderr
    finally:
        (pdf.store / "pdf" / "é").chmod(0o755)


# Without a home, or anything else


@pytest.mark.slow
@pytest.mark.parametrize("env", [{"HOME": ""}, {"HOME": "/nowhere/at/all"}, {"HOME": "relative"}], ids=str)
def test_no_home(pdf: World, env: dict[str, str]) -> None:
    """[RFC-0007] a project's skill needs no home, and a folder from elsewhere none but for its index."""
    folder = pdf.root / "folder"
    folder.mkdir()
    fill(folder)
    for name, (words, part) in COMMANDS.items():
        ran = pdf.ok(*words, env=env)
        assert (part in ran.stdout, ran.stderr) == (True, "")
        given = [str(folder) if word == "pdf" else word for word in words]
        if name not in NEED_AN_INDEX:
            ran = pdf.ok(*given, env=env)
            assert (part in ran.stdout, ran.stderr) == (True, "")
        elif not env["HOME"]:
            assert "HOME" in pdf.fails("E999", *given, env=env).stderr


def test_empty_environment(pdf: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] [RFC-0004:C-INDEX] no PATH, LANG or HOME; an index without permission is like none."""
    for words, part in COMMANDS.values():
        ran = pdf.ok(*words, without=("PATH", "LANG", "HOME"))
        assert (part in ran.stdout, ran.stderr) == (True, "")
    [index] = (pdf.runtime / "pdf" / ".skillc-meta").glob("search-*.db")
    index.chmod(0)
    pdf.fails("E002", "show", "pdf", "--section", "名前 größe", prefix=unprivileged)
    pdf.fails("E002", "search", "pdf", "needle", prefix=unprivileged)
    assert "名前" in pdf.skc("outline", "pdf", prefix=unprivileged).stdout


@pytest.mark.slow
def test_a_user_without_a_home(pdf: World) -> None:
    """[RFC-0007] someone the system does not know."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("needs root and setpriv")
    reading = "+dac_read_search,+dac_override"
    stranger = (
        setpriv,
        "--reuid=54321",
        "--clear-groups",
        f"--inh-caps={reading}",
        f"--ambient-caps={reading}",
    )
    if subprocess.run([*stranger, sys.executable, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("can't become another user here")
    for words, part in COMMANDS.values():
        safe = {"SKILLC_SAFE_DIRECTORIES": "*"}  # the project is root's
        ran = pdf.skc(*words, prefix=stranger, without=("HOME",), env=safe)
        assert (ran.returncode, part in ran.stdout, ran.stderr) == (0, True, "")


# By path


@pytest.mark.slow
@each("path", ["./.skillc/skills/pdf", ".skillc/skills/pdf/", "{store}/pdf", "skills/pdf"])
def test_by_path(pdf: World, path: str) -> None:
    """[RFC-0007] relative and absolute, through links too: the same skill with the same index."""
    if not (pdf.project / "skills").exists():
        (pdf.project / "skills").symlink_to(".skillc/skills")
    name = path.format(store=pdf.store)
    for words, part in COMMANDS.values():
        assert part in pdf.ok(*[name if word == "pdf" else word for word in words]).stdout


@pytest.mark.slow
def test_a_folder_from_elsewhere(pdf: World) -> None:
    """[RFC-0007] [RFC-0002:C-OUTLINE] [RFC-0002:C-SHOW] [RFC-0002:C-OPEN] a folder in no store: search alone
    needs a build, and E002 names the folder.
    """
    folder = pdf.root / "elsewhere" / "folder"
    folder.mkdir(parents=True)
    fill(folder)
    for built in (False, True):
        if built:
            build_skill(at_path(str(folder)))
        for name, (words, part) in COMMANDS.items():
            given = [str(folder) if word == "pdf" else word for word in words]
            if built or name not in NEED_AN_INDEX:
                assert part in pdf.ok(*given).stdout
                assert part in pdf.ok(*["." if word == "pdf" else word for word in words], cwd=folder).stdout
            else:
                assert f"'skc build {folder}'" in pdf.fails("E002", *given).stderr


# Encodings


@pytest.mark.slow
@each("encoding", ["ascii", "latin-1", "cp437"])
def test_terminals_that_are_not_utf8(pdf: World, encoding: str) -> None:
    """[RFC-0005] [RFC-0002:C-OPEN] [D14] what they can't show is written out; a skill's own text is as it is;
    JSON stays JSON.
    """
    env = {"PYTHONIOENCODING": f"{encoding}:strict"}
    for name, (words, part) in COMMANDS.items():
        ran = pdf.skc(*words, env=env)
        assert (ran.returncode, ran.stderr) == (0, ""), name
        raw = ran.stdout.encode("utf-8", "surrogateescape")
        if name in ("show", "open"):
            assert part in ran.stdout
        elif name == "sources" and encoding in ("ascii", "latin-1"):
            assert raw.startswith("pdf/\n|-- é/\n".encode(encoding, "backslashreplace"))
            assert raw.endswith(b"\n`-- SKILL.md\n")
        else:
            assert part.encode(encoding, "backslashreplace") in raw
    odd = os.fsdecode(b"\xff")
    (pdf.store / "pdf" / odd).write_text("x")
    found = {name: pdf.json(*words, env=env) for name, (words, _) in COMMANDS.items()}
    (pdf.store / "pdf" / odd).unlink()
    assert found["outline"][0]["heading"] == found["show"]["heading"] == "名前 Größe"
    assert found["open"]["content"] == TEXT
    assert [entry["path"] for entry in found["sources"]["entries"]] == ["é", "é/x.txt", "SKILL.md", "\\udcff"]
    assert found["search"]["results"][0]["section"] == "名前 Größe"
    assert pdf.json("search", "pdf", odd, env=env)["query"] == odd


# The modules that cost more than the command itself

SLOW = ("typing", "re", "json", "pathlib", "dataclasses", "hashlib", "logging", "yaml", "sqlite3", "pyromark")
UNUSED = (
    *("pyromark._pyromark", "skillc.errors.tree", "skillc.settings", "skillc.index.cjk"),
    "skillc.library.locate",
)


@each(("words", "part"), COMMANDS.values())
def test_nothing_slow(pdf: World, words: list[str], part: str) -> None:
    """[RFC-0002:C-SHOW] [RFC-0004:C-SEARCH] [D66] it loads no library and nothing slow."""
    program = (
        "import sys; from skillc.cli import main; status = main(sys.argv[1:]);"
        f"print([name for name in {SLOW + UNUSED!r} if name in sys.modules], file=sys.stderr);"
        "files = [getattr(module, '__file__', None) or '' for module in [*sys.modules.values()]];"
        "print([file for file in files if 'site-packages' in file], file=sys.stderr); sys.exit(status)"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program, *words],
        env=pdf.env | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=pdf.project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert part in ran.stdout
    assert ran.stderr == "[]\n[]\n"
