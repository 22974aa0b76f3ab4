"""The command line: help, parsing, endings, terminals, watching."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc import __version__
from skillc.cli import load, main
from skillc.cli.help import TOPICS
from skillc.cli.summaries import DAY, GROUPS, NAMES
from skillc.cli.syntax import COMMON, parse
from tests.cli.calls import call, fails, ok
from tests.conftest import SkcRun, World, save
from tests.support.cases import each
from tests.support.examples import examples
from tests.support.terminal import on_terminal

SKC = [sys.executable, "-m", "skillc"]
Step = Callable[[], object] | None  # what happens while a command waits

# companion.md's table: arguments, and options with their defaults (None: none; False: a switch).
COMMANDS: dict[str, tuple[list[str], dict[str, str | int | bool | None]]] = {
    "init": (["[name]"], {"--global": False}),
    "list": (
        [],
        {"--scope": "all", "--status": "all", "--limit": None, "--pattern": None, "--check-obsolete": False},
    ),
    "build": (["[skill]"], {"--global": False, "--target": None, "--copy": False, "--force": False}),
    "lint": (["[skill]..."], {"--force": False}),
    "outline": (["<skill>"], {"--level": None}),
    "show": (["<skill>"], {"--section": None, "--file": None, "--max-lines": None}),
    "open": (["<skill>", "<path>"], {"--max-lines": None}),
    "sources": (
        ["<skill>"],
        {"--depth": None, "--dir": None, "--limit": 100, "--pattern": None, "--format": "text"},
    ),
    "search": (["<skill>", "<query>"], {"--limit": 10, "--format": "text"}),
    "stats": (["[skill]"], {"--group-by": "summary", "--since": None, "--until": None, "--project": None}),
    "sync": (["[skill]"], {"--project": None, "--dry-run": False}),
    "mcp": ([], {}),
}


def invalid(world: World, *words: str) -> str:
    """The one line of a command that can't be parsed."""
    result = fails("E100", *words)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error[E100]: ")
    return line


def test_topics(world: World) -> None:
    """[RFC-0007] `skc help <topic>`; `skc help all` explains every command once."""
    for topic, (title, _) in TOPICS.items():
        lines = ok("help", topic).stdout.splitlines()
        assert lines[0] == title
        assert len(lines) > 4
        assert topic in ok("help").stdout
    lines = ok("help", "all").stdout.splitlines()
    for title, names in GROUPS.items():
        at = lines.index(f"{title}:")
        assert [line.split()[0] for line in lines[at + 1 : at + 1 + len(names)]] == list(names)
    assert sorted(NAMES) == sorted(set(NAMES))
    assert all(len(line) <= 100 for line in lines)


# Help


@each("words", [[], ["--help"], ["-h"], ["help"]])
def test_overview(world: World, words: list[str]) -> None:
    """[RFC-0007] help explains what a person uses every day, and names every other command once."""
    result = ok(*words)
    lines = result.stdout.splitlines()
    at, end = lines.index("Every day:") + 1, lines.index("Help:") - 1
    assert [line.split()[0] for line in lines[at : at + len(DAY)]] == list(DAY)
    assert len(DAY) == 12
    others = [name for line in lines[at + len(DAY) + 2 : end] for name in line.split("  ")[-1].split(", ")]
    assert [name.strip() for name in others] == [name for name in NAMES if name not in DAY]
    assert all(len(line) <= 100 for line in lines)
    assert len(lines) <= 40
    assert result.stderr == ""


@each("name", NAMES)
def test_command_help(world: World, name: str) -> None:
    """[RFC-0007] a page for each command names all it takes; `help` gives the same; its examples are true.

    --verbose and --help are on all commands, --format json on every one that prints a result.
    """
    page = ok(name, "--help").stdout
    command, _ = load(name)
    assert page.startswith(f"Usage: skc {name}")
    for word in (*(a.label for a in command.arguments), *(o.name for o in command.options)):
        assert word in page
    assert command.summary.split()[0] in page
    assert all(len(line) <= 100 for line in page.splitlines())
    for words in (["help", name], [name, "-h"], [name, "some", "words", "--help"], ["--help", name]):
        assert ok(*words).stdout == page
    assert command.examples
    for example in command.examples:
        inner = re.sub(r'^eval "\$\((.*)\)"$', r"\1", example)
        words = shlex.split(inner.partition(" > ")[0])
        assert words[:2] == ["skc", name]
        parse(command, words[2:])
    assert command.options[-len(COMMON) :] == COMMON
    (option,) = [option for option in command.options if option.name == "--format"]
    assert {"text", "json"} <= set(option.choices)
    assert option.default == ("json" if name == "run" else "text")  # an envelope is JSON to begin with


@each("name", COMMANDS)
def test_parameters(name: str) -> None:
    """[RFC-0007] each command has the parameters of the table, with their defaults."""
    command, _ = load(name)
    arguments, options = COMMANDS[name]
    assert [argument.label for argument in command.arguments] == arguments
    known = {o.name: False if o.kind == "switch" else o.default for o in command.options}
    assert options.items() <= known.items()


@each("word", ["--help", "-h", "help", "--version", "-V", "version"])
def test_options_of_overviews(world: World, word: str) -> None:
    """[RFC-0007] help and version take the options of all commands, and no other."""
    for option in ("--format=json", "-f", "--nothing"):
        assert f"invalid option: '{option.partition('=')[0]}' for '" in fails("E100", word, option).stderr
    ok(word, "--color", "never", "--no-pager")
    if word.lower().strip("-")[:1] == "v":
        assert ok(word).stdout == ok(word, "--verbose").stdout == f"skc {__version__}\n"


# Parsing


# Command lines that can't be parsed, and what their error says.
ADVICE = [
    *((word, f"did you mean {name}?") for word, name in (("biuld", "build"), ("lst", "list"))),
    *((word, f"did you mean {name}?") for word, name in (("serach", "search"), ("out", "outline"))),
    ("--hlep", "did you mean --help?"),
    ("list --limt 5", "did you mean --limit?"),
    ("list --limt=5", "did you mean --limit?"),
    ("build x --traget claude", "did you mean --target?"),
    ("show x --max_lines 5", "did you mean --max-lines?"),
    ("list --Format json", "did you mean --format?"),
    ("search pdf --zebra", 'skc search pdf -- "--zebra"'),
    ("search pdf --limt", "did you mean --limit?"),
    ("search pdf '-5 degrees'", 'skc search pdf -- "-5 degrees"'),
    ("search pdf text '--dry run=x y'", 'skc search pdf -- "--dry run=x y"'),
    ("search '--what now'", 'skc search <skill> -- "--what now"'),
    ("search 'my skill' -x", 'skc search "my skill" -- "-x"'),
    ("find '--verbosely do it'", 'skc find -- "--verbosely do it"'),
    ("turn '- do it'", 'skc turn -- "- do it"'),
]


@each("words, advice", ADVICE)
def test_advice(world: World, words: str, advice: str) -> None:
    """[RFC-0005] [D61] an unknown command or option is E100: the nearest, or how to search for it."""
    assert advice in invalid(world, *shlex.split(words))


def test_a_query_that_starts_with_a_hyphen(world: World) -> None:
    """[D61] after `--` it is a query; where none fits, nothing is said about it."""
    for words in (["search", "pdf", "text", "--zebra"], ["outline", "--zebra"], ["list", "-x y"]):
        assert "after --" not in invalid(world, *words)
    world.skill("pdf", "---\nname: pdf\ndescription: d\n---\n# Usage\n\nGive --force.\n")
    world.ok("build", "pdf")
    found = json.loads(world.ok("search", "pdf", "--format", "json", "--", "--force").stdout)
    assert (found["query"], len(found["results"])) == ("--force", 1)
    assert world.ok("search", "--", "pdf", "--zebra").stdout == "No results.\n"
    assert world.ok("find", "--", "--zebra").returncode == 0


INVALID = """
list -x | list --zzzzzz | list --=x | list ---limit 5 | list extra | list '' | list - | list --limit
list --limit= | list --pattern | list --scope everything | list --scope= | list --status Normal
list --format yaml | list --check-obsolete=yes | list --verbose=1 | list --help=1 | list -- --limit
init a b | init --scope all | build | build a b | build a --all | build --force | build a --deploy nowhere
build a --target | outline | outline --level 1 | outline a b | show | show a | show a --section
search | search a | search a two words | completion | completion a b
"""


@each("words", INVALID.strip().replace("\n", " | ").split(" | "))
def test_what_can_not_be_parsed(world: World, words: str) -> None:
    """[RFC-0005] E100, status 1, exactly one line, nothing on stdout."""
    invalid(world, *shlex.split(words))


def test_where_options_stand(world: World) -> None:
    """[RFC-0007] `--limit=5` is `--limit 5`; options stand anywhere; after `--` every word is an argument."""
    world.skill("a=b")
    world.skill("c")
    expected = world.ok("list", "--limit", "1").stdout
    assert "a=b" in expected
    for words in (["--limit=1"], ["--pattern=a=b"], ["--limit", "5", "--limit", "1"]):
        assert world.ok("list", *words).stdout == expected
    world.ok("build", "c")
    found = world.ok("search", "c", "text", "--limit", "1").stdout
    assert world.ok("search", "--limit", "1", "c", "text").stdout == found
    assert world.ok("search", "c", "--limit", "1", "text").stdout == found
    world.skill("--help", "---\nname: x\ndescription: d\n---\n# Odd\n")
    assert world.ok("outline", "--", "--help").stdout == "SKILL.md\n  # Odd\n"
    assert world.ok("outline", "--format", "text", "--", "--help").stdout == "SKILL.md\n  # Odd\n"
    world.fails("E001", "outline", "--", "--level")


SAFE = st.text(st.characters(), max_size=6).filter(
    lambda word: not word.startswith(("/", "~")) and ".." not in word and word not in ("mcp", "serve", "ui")
)
KNOWN = [*sorted(COMMANDS.keys() - {"mcp"}), "--limit", "--format", "--scope", "--force", "--copy"]
KNOWN += ["--target", "--all", "--help", "-h", "--", "json", "all", "pdf", "1"]


@pytest.mark.slow
@examples(150)
@given(st.lists(st.one_of(SAFE, st.sampled_from(KNOWN)), max_size=6))
def test_any_words(world: World, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """[RFC-0005] whatever is typed: status 0, or 1 with a coded line; never a traceback."""
    status = main(words)
    err = capsys.readouterr().err
    assert status in (0, 1)
    assert "Traceback" not in err
    assert (status == 1) == any(line.startswith("error[E") for line in err.splitlines())


# Endings


def run_script(
    world: World, script: str, cwd: Path | None = None, **streams: Any
) -> subprocess.CompletedProcess[str]:
    """Run a script of the shell; what it prints is captured, but for `streams`."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=cwd or world.project, env=world.env, text=True, check=False, **pipes
    )


def test_unexpected_error_is_one_line(world: World) -> None:
    """[RFC-0005] E999 is one line, the traceback comes with --verbose alone; a code needs none."""
    (world.root / "here").mkdir()
    (world.root / "here" / ".skillc").write_text("in the way")
    result = world.fails("E999", "init", cwd=world.root / "here")
    assert len(result.stderr.splitlines()) == 1
    verbose = world.skc("init", "--verbose", cwd=world.root / "here")
    assert verbose.returncode == 1
    assert "Traceback" in verbose.stderr
    assert verbose.stderr.splitlines()[-1] == result.stderr.strip()
    world.skill("pdf")
    *steps, error = world.fails("E012", "open", "pdf", "/etc/hostname", "--verbose").stderr.splitlines()
    assert error.startswith("error[E012]: ")
    assert all(step.startswith("verbose: ") for step in steps)


def big(world: World) -> list[str]:
    """A command that prints a megabyte."""
    world.skill("big", "---\nname: big\ndescription: d\n---\n# Big\n\n" + "line of text\n" * 80_000)
    world.ok("build", "big")
    return ["show", "big", "--section", "Big"]


def test_reader_has_enough(world: World) -> None:
    """[RFC-0005] `skc … | head -1`, and a pipe that nobody reads, end in silence with status 0."""
    show = big(world)
    for words, first in (
        (show, "# Big\n"),
        ([*show, "--format", "json"], "{\n"),
        (["open", "big", "SKILL.md"], "---\n"),
    ):
        script = f"{{ {shlex.join([*SKC, *words])}; echo $? >status; }} 2>err | head -1"
        assert run_script(world, script).stdout == first
        assert (world.project / "status").read_text() == "0\n"
        assert (world.project / "err").read_text() == ""
    for words in (big(world), ["list"], ["--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        result = run_script(world, shlex.join([*SKC, *words]), stdout=writer)
        os.close(writer)
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
@each("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_from_the_start(world: World, closed: str) -> None:
    """[RFC-0005] [D11] closed streams change nothing but what is seen; no file is written into by mistake."""
    world.skill("pdf")

    def status(*words: str) -> int:
        return run_script(world, f"{shlex.join([*SKC, *words])} {closed}").returncode

    for line in ("build pdf", "list", "show pdf --section Usage", "open pdf SKILL.md"):
        assert status(*line.split()) == 0
    for line in ("nothing", "outline nothing"):
        assert status(*line.split()) == 1
    assert "SKILL.md#Usage" in world.ok("search", "pdf", "text").stdout
    assert [path for path in world.root.rglob("*") if path.is_file() and b"error[" in path.read_bytes()] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@each("words", [["list"], ["--help"], ["list", "--format", "json"], ["__complete", ""], ["sources", "pdf"]])
def test_full_disk(world: World, words: list[str]) -> None:
    """[RFC-0005] an output that can't be written is one coded line and status 1."""
    world.skill("pdf")
    with open("/dev/full", "w") as full:
        result = run_script(world, shlex.join([*SKC, *words]), stdout=full)
    assert (result.returncode, result.stderr) == (1, "error[E999]: No space left on device\n")


def test_deleted_directory(world: World) -> None:
    """[RFC-0005] in a directory that is gone, help still helps and the rest says so."""

    def run(words: str) -> SkcRun:
        script = f"mkdir gone && cd gone && rmdir ../gone && exec {shlex.join(SKC)} {words}"
        return run_script(world, script, world.root)

    for words in ("list", "build x", "init", "outline x", "show x --section y", "search x y"):
        result = run(words)
        assert result.returncode == 1
        assert result.stderr == "error[E999]: the current directory no longer exists; change to another one\n"
    assert run("--help").returncode == 0
    assert run("init x --global").returncode == 0


# Encodings

ODD = "---\nname: é\ndescription: d\n---\n# 名前 😀\n\nText.\n"


@pytest.mark.slow
@each(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"LANG": "C"},
        {"LC_ALL": "POSIX"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_terminals_that_are_not_utf8(world: World, env: dict[str, str]) -> None:
    """[RFC-0005] what a terminal can't show is written out; nothing fails, JSON stays JSON."""
    world.skill("é", ODD)
    world.skill("pdf", ODD)
    world.ok("build", "--all")
    for words in (["list"], ["outline", "pdf"], ["outline", "é"], ["search", "pdf", "text"]):
        assert world.ok(*words, env=env).stdout
    world.fails("E020", "show", "pdf", "--section", "ü", env=env)
    assert len(world.json("list", env=env)["skills"]) == 2


@pytest.mark.slow
def test_arguments_that_are_not_utf8(world: World) -> None:
    """[RFC-0005] [D22] a word of any bytes is a word like others: not found, not an accident."""
    odd = os.fsdecode(b"\xff\xc3")
    world.skill("pdf")
    world.ok("build", "pdf")
    world.fails("E001", "outline", odd)
    world.fails("E020", "show", "pdf", "--section", odd)
    world.fails("E021", "show", "pdf", "--section", "Usage", "--file", odd)
    world.fails("E070", "init", odd)
    invalid(world, odd)
    invalid(world, "list", "--limit", odd)
    world.fails("E100", "build", "pdf", "--target", odd)
    assert world.ok("search", "pdf", odd).stdout == "No results.\n"
    assert world.json("search", "pdf", odd)["results"] == []
    assert world.json("list", "--pattern", odd)["skills"] == []


# Terminals


@pytest.mark.slow
def test_progress_at_a_terminal(world: World) -> None:
    """[RFC-0007] `build --all` shows a bar on a terminal's stderr, and takes it away again."""
    for number in range(4):
        world.skill(f"s{number}")
    status, out, seen = on_terminal(world, "", "build", "--all")
    assert status == 0
    assert out == "4 of 4 skills built (0 unchanged), 0 failed\n"
    for number in range(4):
        assert f"] {number}/4 skills  s{number}" in seen
    assert re.search(r"\[#+-+\]", seen)
    assert seen.endswith("\r\x1b[K")
    assert "\n" not in seen
    assert world.ok("build", "--all").stderr == ""  # nothing where no person looks


@each("columns", [0, 1, 2, 20])
def test_narrow_terminals(world: World, columns: int) -> None:
    """[RFC-0007] the bar stays on its line, and a terminal without a size does no harm."""
    for name in ("a" * 60, "b"):
        world.skill(name)
    status, _, seen = on_terminal(world, "", "build", "--all", "--force", columns=columns)
    assert status == 0
    if columns:
        assert all(len(part) < columns for part in re.split(r"\r\x1b\[K", seen))


def test_names_do_not_reach_the_terminal_raw(world: World) -> None:
    """[RFC-0005] a folder's name can't send the terminal commands, in the bar or in an error."""
    world.skill("a\x1b[31mred\nnext", "broken")
    world.skill("b\x1b]0;title\x07", "---\nname: x\ndescription: d\n---\n")
    status, _, seen = on_terminal(world, "", "build", "--all")
    assert status == 1
    for own in ("\r\x1b[K", "\n", "\x1b[1;31m", "\x1b[0m"):
        seen = seen.replace(own, "")
    assert seen.isprintable()


def test_one_broken_skill(world: World) -> None:
    """[RFC-0001:C-ERRORS] [RFC-0007] --all: one that fails is reported by its code, the others are built."""
    assert world.ok("build", "--all").stdout == "No skills yet. 'skc init <name>' makes one.\n"
    world.skill("a")
    bad = world.skill("bad", "---\nname: bad\n---\n")
    leaves = world.skill("leaves")
    (leaves / "out").symlink_to(world.root)
    world.skill("z")
    result = world.skc("build", "--all")
    assert result.returncode == 1
    assert [line[:12] for line in result.stderr.splitlines()] == ["error[E011]:", "error[E012]:"]
    assert str(bad) in result.stderr
    assert result.stdout == "2 of 4 skills built (0 unchanged), 2 failed\n"
    for name in ("a", "z"):
        assert (world.home / ".claude" / "skills" / name / "SKILL.md").exists()
    status, _, seen = on_terminal(world, "", "build", "--all")
    assert status == 1
    assert "\r\x1b[K\x1b[1;31merror[E011]:\x1b[0m " in seen
    result = world.skc("build", "--all", "--format", "json")
    value = json.loads(result.stdout)
    assert [built["skill"] for built in value["built"]] == ["a", "z"]
    failures = [(failed["skill"], failed["code"]) for failed in value["failed"]]
    assert (failures, result.returncode) == ([("bad", "E011"), ("leaves", "E012")], 1)


def test_old_names(world: World) -> None:
    """[RFC-0007] old names of commands work, and say so."""
    for old, new in (("diagnose", "doctor --library"), ("lock --check", "verify")):
        result = ok(*old.split())
        assert result.stderr == f"note: 'skc {old}' is 'skc {new}' now\n"
        assert result.stdout == ok(*new.split()).stdout
    world.skill("pdf")
    ok("remove", "pdf", "--yes")
    assert ok("trash", "restore", "pdf").stderr == "note: 'skc trash restore' is 'skc restore' now\n"


# Watching


def watch(world: World, monkeypatch: pytest.MonkeyPatch, *words: str, steps: list[Step]) -> SkcRun:
    """Run `build --watch`; each step is taken while it waits, and then come two more looks and Ctrl+C."""
    pauses = iter([pause for step in (*steps, None) for pause in (step, None, None)])

    def sleep(seconds: float) -> None:
        try:
            step = next(pauses)
        except StopIteration:
            raise KeyboardInterrupt from None
        if step is not None:
            step()

    monkeypatch.setattr("skillc.cli.watch.time.sleep", sleep)
    return world.ok("build", *words, "--watch")


@each("command, says", [("build pdf", True), ("remove pdf", True), ("sources pdf", False)])
def test_interrupt(world: World, monkeypatch: pytest.MonkeyPatch, command: str, says: bool) -> None:
    """[SURFACES: Terminal] Ctrl+C has status 130; what changes something says what stays."""

    def interrupt(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"skillc.workspace.Workspace.{command.split()[0]}", interrupt, raising=False)
    world.skill("pdf")
    result = call(*command.split())
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr.startswith("note: stopped; what was done stays, ") is says
    assert len(result.stderr.splitlines()) == says


def test_watch(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] --watch builds, builds again after a change, outlives an error, ends on Ctrl-C with 0."""
    folder = world.skill("pdf")
    good = (folder / "SKILL.md").read_text()
    stubs = []

    def change(name: str, text: str | None) -> Step:
        def step() -> None:
            stubs.append((world.runtime / "pdf" / "SKILL.md").read_text())
            (folder / name).write_text(text) if text else (folder / name).unlink()

        return step

    steps = [
        change("SKILL.md", good + "\n# First change\n"),
        change("SKILL.md", "broken"),
        change("SKILL.md", good + "\n# Second change\n"),
        change("more.md", "# A new file\n"),
        change("more.md", None),
    ]
    result = watch(world, monkeypatch, "pdf", steps=steps)
    stubs.append((world.home / ".claude" / "skills" / "pdf" / "SKILL.md").read_text())
    assert [("First" in each, "Second" in each, "new file" in each) for each in stubs] == [
        (False, False, False),
        (True, False, False),
        (True, False, False),
        (False, True, False),
        (False, True, True),
        (False, True, False),
    ]
    assert result.stderr.count("error[") == result.stderr.count("error[E011]") == 1
    assert "Watching 1 skill; Ctrl-C ends" in result.stderr


def test_watch_a_folder(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D10] [RFC-0005] watching a folder follows the folder, not its copy; a taken name is E050; nothing
    E001.
    """
    folder = world.skill("pdf", store=world.root / "lib")
    watch(world, monkeypatch, str(folder), steps=[lambda: save(folder / "more.md", "# A new file\n")])
    assert (world.store / "pdf" / "more.md").exists()
    assert "A new file" in (world.runtime / "pdf" / "SKILL.md").read_text()
    mine, folder = world.skill("own"), world.skill("own", store=world.root / "lib")
    before = (mine / "SKILL.md").read_text()
    result = watch(world, monkeypatch, str(folder), steps=[lambda: save(folder / "more.md", "# New\n")])
    assert (result.stderr.count("error[E050]"), result.stdout) == (2, "")
    assert os.listdir(mine) == ["SKILL.md"]
    assert (mine / "SKILL.md").read_text() == before
    world.fails("E001", "build", "nothing", "--watch")


def test_watch_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] [D12] --all --watch takes up a skill that comes later, and one that goes does no harm.

    What does not change is built once.
    """
    old = world.skill("old")
    steps: list[Step] = [lambda: world.skill("new"), lambda: shutil.rmtree(old), lambda: world.skill("third")]
    result = watch(world, monkeypatch, "--all", steps=steps)
    assert [result.stdout.count(f"'{name}'") for name in ("old", "new", "third")] == [1, 1, 1]
    assert "error[" not in result.stderr
