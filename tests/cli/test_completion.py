"""Completion: what the shells are told, and the scripts in the shells themselves."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillc import cli
from skillc.cli import load
from skillc.cli.summaries import NAMES
from skillc.compiler import read_agents
from tests.cli.calls import ok
from tests.conftest import World
from tests.support.cases import each

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")


def script_of(shell: str) -> str:
    return (Path(cli.__file__).parent / "shells" / f"skc.{shell}").read_text()


@pytest.fixture
def shelf(world: World) -> World:
    """A world with three skills; `skc` is on its PATH."""
    world.skill(
        "pdf", "---\nname: pdf\ndescription: d\n---\n# PDF\n\n## Filling forms\n\n## Merging\n\n## Mer*\n"
    )
    world.skill("pdf-tools")
    (world.skill("docx", store=world.global_store) / "notes.txt").write_text("x")
    programs = world.root / "bin"
    programs.mkdir()
    (programs / "skc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m skillc "$@"\n')
    (programs / "skc").chmod(0o755)
    world.env["PATH"] = f"{programs}{os.pathsep}{world.env['PATH']}"
    return world


def complete(*words: str) -> list[str]:
    result = ok("__complete", *words)
    assert result.stderr == ""
    return result.stdout.splitlines()


# Candidates


# What is typed before the last word, the start of that, and what it can become.
Offers = list[tuple[str, str, list[str]]]
SHELF: Offers = [
    *((command, "", ["docx", "pdf", "pdf-tools"]) for command in ("build", "outline", "show", "search")),
    *((command, "pdf-", ["pdf-tools"]) for command in ("build", "outline", "show", "search")),
    ("", "bui", ["build"]),
    ("", "--v", ["--version"]),
    ("", "nothing", []),
    ("build --force", "d", ["docx"]),
    ("outline --level 2", "d", ["docx"]),
    ("outline pdf", "", []),
    ("build pdf", "--wa", ["--watch"]),
    ("list --check-obsolete", "--ch", []),
    ("list --scope", "", ["project", "global", "all"]),
    ("list --format", "j", ["json"]),
    ("list --limit", "", []),
    ("completion", "", ["bash", "zsh", "fish"]),
    ("build pdf --target", "", [agent.name for agent in read_agents()]),
    ("build --target", "claude,curs", ["claude,cursor"]),
    ("build --target", "./x", []),
    ("show pdf --section", "", ["PDF", "Filling forms", "Merging", "Mer*"]),
    ("show pdf --section", "Fill", ["Filling forms"]),
    ("show nothing --section", "", []),
    ("show --section", "", []),
    ("help", "bui", ["build"]),
    ("help", "env", ["environment"]),
    ("open docx", "", ["SKILL.md", "notes.txt"]),
    ("open docx", "n", ["notes.txt"]),
    ("nothing", "", []),
    ("build --", "", []),
    ("repo sync", "", ["project", "project-rkat", "user", "user-rkat"]),
    ("repo remove", "", []),
]


@each("before, current, wanted", SHELF)
def test_candidates(shelf: World, before: str, current: str, wanted: list[str]) -> None:
    """[RFC-0007] [RFC-0002:C-SHOW] [D13] commands, skills, options, values, agents, headings, files."""
    assert complete(*before.split(), current) == wanted


def test_commands_and_options(shelf: World) -> None:
    """[RFC-0007] every command, and a command's options; one that is given is not offered again."""
    assert set(NAMES) <= set(complete(""))
    assert complete() == complete("")
    options = "--long --licenses --scope --status --limit --pattern --check-obsolete --format"
    assert complete("list", "--") == [*options.split(), "--verbose", "--color", "--no-pager", "--help"]
    for words in (("--help", ""), ("list", "-"), ("", "")):
        complete(*words)  # never complains


@pytest.fixture
def library(shelf: World) -> World:
    """A world with repositories of two kinds, a lock, trash, a login and a skill with tools."""
    refunds = "---\nname: refunds\ndescription: d\nmetadata:\n  tags: [money, back]\n---\n# Refunds\n"
    for path, text in (("payments/refunds", refunds), ("payments/eu/vat", None)):
        folder = shelf.skill(path, text, store=shelf.root / "shared")
        (folder / "references").mkdir()
        (folder / "references" / "rules.md").write_text("# Rules\n")
    (folder / "references" / "form.pdf").write_text("x")
    tool = "---\nname: go\ndescription: d\nversion: 1.0.0\n---\n# go\n\n### log\n\n#### Command\n\n```sh\n"
    tool += "echo {{count}}\n```\n\n#### Parameters\n\n| Name | Type | Required | Description |\n"
    shelf.skill("go", tool + "| --- | --- | --- | --- |\n| count | number | no | How many |\n")
    (shelf.project / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname = "shared"\ntype = "filesystem"\npath = "../shared"\n'
        '[[repositories]]\nname = "far"\ntype = "http"\nurl = "http://127.0.0.1:9"\nauth_token = "${FAR}"\n'
    )
    shelf.ok("add", str(shelf.skill("locked", store=shelf.root / "others")), "--yes")
    shelf.skill("gone")
    shelf.ok("remove", "gone", "--yes")
    login = {"registry": "https://skills.example.com", "token": "skc_t", "subject": "ada"}
    credentials = {"version": 1, "tokens": [login]}
    (shelf.home / ".skillc" / "credentials.json").write_text(json.dumps(credentials))
    (shelf.home / ".skillc" / "credentials.json").chmod(0o600)
    return shelf


VALUES: Offers = [
    ("show", "pay", ["payments/eu/vat", "payments/refunds"]),
    ("load", "", ["payments/eu/vat", "payments/refunds"]),
    ("turn hello --ref", "payments/r", ["payments/refunds"]),
    ("mcp --preload", "payments/r", ["payments/refunds"]),
    ("browse", "", ["payments", "payments/eu"]),
    ("find task --collection", "payments/", ["payments/eu"]),
    ("find task --repository", "", ["shared", "far"]),
    ("repo sync", "sh", ["shared"]),
    ("repo remove", "f", ["far"]),
    ("repo add", "", []),
    ("repo", "", ["list", "add", "remove", "sync"]),
    ("repo sync", "", ["shared", "far"]),
    ("doctor --code", "W02", ["W020", "W021", "W022", "W023"]),
    ("doctor --code", "E00", ["E001", "E002", "E003", "E004"]),
    ("lint pdf --select", "SKL301,no-o", ["SKL301,no-orphans"]),
    ("lint --explain", "SKL30", ["SKL301", "SKL302", "SKL303"]),
    ("pin", "", ["locked"]),
    ("update", "l", ["locked"]),
    ("remove", "p", ["pdf", "pdf-tools"]),
    ("restore", "", ["gone"]),
    ("trash list", "g", []),
    ("run go", "", ["log"]),
    ("run go log --param", "", ["count="]),
    ("show pdf --file", "", ["SKILL.md"]),
    ("mcp --tools", "gateway,l", ["gateway,library"]),
    ("mcp --install", "curs", ["cursor"]),
    ("logout", "", ["https://skills.example.com"]),
    ("publish pdf --to", "https://s", ["https://skills.example.com"]),
    ("grant add ada", "p", ["publisher"]),
    ("token create --role", "m", ["maintainer"]),
    ("trust allow --variable", "", ["FAR"]),
    ("trust allow --host", "", ["http://127.0.0.1:9"]),
    ("login https://x --token-env", "HOM", ["HOME"]),
    ("stats --group-by", "se", ["sections", "search"]),
    ("list --format=", "j", []),
    ("list", "--format=j", ["--format=json"]),
    ("list -f", "j", ["json"]),
    ("-C .. --color never list --scope", "g", ["global"]),
    ("--color", "n", ["never"]),
    ("search pdf --", "-", []),
]


@each("before, current, wanted", VALUES)
def test_every_value(library: World, before: str, current: str, wanted: list[str]) -> None:
    """[SURFACES: JSON] values of every kind, from what is on this machine; a server is not asked."""
    assert complete(*before.split(), current) == wanted


def test_tags_and_capabilities(library: World) -> None:
    """[SURFACES: JSON] what the index has of skills, once `find` has read them."""
    library.ok("repo", "remove", "far")
    assert complete("find", "x", "--tag", "") == []
    library.ok("find", "refunds")
    assert complete("find", "x", "--tag", "") == ["back", "money"]
    assert complete("load", "payments/r") == ["payments/refunds"]
    assert complete("sources", "payments/refunds", "--dir", "") == []  # in no store: not located here


def test_registry(library: World) -> None:
    """[SURFACES: JSON] registries with a login, and versions of a registry in the lock file."""
    registry = "https://skills.example.com"
    lock = {
        "version": 1,
        "skills": {
            "far": {"source": f"skillc:{registry}/far", "skillc": {"v": 1, "version": "3.0.0"}},
            "other": {"source": "clawhub:other", "skillc": {"v": 1, "version": "4.0.0"}},
        },
    }
    (library.project / "skills-lock.json").write_text(json.dumps(lock))

    def offers(line: str) -> list[str]:
        return complete(*line.split(" "))

    assert offers("yank ") == ["far@3.0.0"]
    assert offers("yank --undo ") == []
    assert offers("yank --to https://elsewhere.example.com f") == []
    assert offers("publish pdf --tag ") == ["latest"]
    assert offers("publish pdf --id payments/r") == ["payments/refunds"]
    assert offers("add https://sk") == [registry]
    assert offers("add ") == []  # the shell offers folders
    assert offers("yank far --to") == ["--to"]


FREE = {
    "audit": "--policy --baseline --write-baseline --judge",
    "browse": "--query --cursor",
    "build": "--target",
    "eval": "--agent-command --fired --old --max-cost --case --model --judge-command --credentials"
    " --workspace --threshold",
    "find": "task",
    "import": "folder",
    "init": "name --description",
    "search": "query",
    "stats": "--since --until --project --html --prune",
    "sync": "--project",
    "update": "--min-age",
    "outdated": "--min-age",
    "repo": "place --ref --skills-root",
    "run": "--json",
    "serve": "--store --blobs --host --port --allow-host --url --config --admin-token-file --trusted-proxy",
    "mcp": "--http --allow-host",
    "ui": "--port",
    "grant": "subject",
    "token": "id --expires --label --owner",
    "publisher": "repository workflow --issuer --ref --environment",
    "add": "--skill",
    "publish": "--version --note",
    "turn": "message",
    "trust": "--digest",
    "yank": "--reason",
    "sources": "--pattern",
}


def test_nothing_is_forgotten() -> None:
    """[SURFACES: JSON] every value is offered, but for free text, numbers and files."""
    lacks = []
    for name in NAMES:
        command, _ = load(name)
        lacks += [f"{name}.{one.name}" for one in command.arguments if not one.completes]
        takers = [one for one in command.options if one.value and one.kind != "count"]
        lacks += [f"{name}.{one.name}" for one in takers if not one.choices and not one.completes]
    free = [f"{name}.{value}" for name, values in FREE.items() for value in values.split()]
    assert [value for value in lacks if value not in free and not value.endswith(".--allow-host")] == []


@pytest.mark.parametrize("damage", ["skills.toml", "index", "home"])
def test_silent(library: World, damage: str) -> None:
    """[SURFACES: JSON] whatever is broken, completion says nothing and offers what is left."""
    if damage == "skills.toml":
        (library.project / ".skillc" / "skills.toml").write_text("nonsense =")
    elif damage == "index":
        library.ok("repo", "remove", "far")
        library.ok("find", "refunds")
        (library.home / ".skillc" / "cache" / "library.db").write_bytes(b"x" * 10_000)
    else:
        shutil.rmtree(library.home)
    for words in ("find x --tag", "repo sync", "restore", "pin"):
        complete(*words.split(), "")
    assert "pdf" in complete("show", "")


def test_nowhere(shelf: World) -> None:
    """[RFC-0005] a deleted working directory offers nothing, in silence."""
    gone = shelf.root / "gone"
    gone.mkdir()
    script = f"cd gone && rmdir ../gone && exec {shlex.quote(sys.executable)} -m skillc __complete build ''"
    result = subprocess.run(
        ["/bin/sh", "-c", script], cwd=shelf.root, env=shelf.env, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "", "")


# Scripts


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(shelf: World, shell: str) -> None:
    """[RFC-0007] each script is printed as it is, says how to keep it, and its shell finds no fault in it."""
    script = ok("completion", shell).stdout
    assert script == script_of(shell)
    assert f"skc completion {shell} >" in script
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (shelf.root / "script").write_text(script)
    result = subprocess.run(
        [program, "-n", str(shelf.root / "script")], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def in_bash(world: World, *words: str, setup: str = "") -> list[str]:
    """What bash offers for the last word, as its completion would call the script."""
    script = f"""
        eval "$(skc completion bash)"
        {setup}
        COMP_WORDS=({" ".join(map(shlex.quote, ("skc", *words)))})
        COMP_CWORD={len(words)}
        _skc
        printf '%s\\0' "${{COMPREPLY[@]}}"
    """
    result = subprocess.run(
        [BASH or "bash", "--norc", "-c", script],
        cwd=world.project,
        env=world.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return [word for word in result.stdout.split("\0") if word]


@pytest.mark.slow
@needs_bash
def test_bash_function(shelf: World) -> None:
    """[RFC-0007] commands, skills, options and values reach bash.

    A heading with a star stays itself, whatever files there are and options are set. Where skc has nothing to
    offer, bash offers files.
    """
    assert in_bash(shelf, "bui") == ["build"]
    assert in_bash(shelf, "build", "pdf") == ["pdf", "pdf-tools"]
    assert in_bash(shelf, "list", "--scope", "pro") == ["project"]
    assert in_bash(shelf, "build", "pdf", "--target", "claude,curs") == ["claude,cursor"]
    assert in_bash(shelf, "list", "--nothing") == []
    (shelf.project / "Mercury").touch()
    for setup in ("", "shopt -s nullglob", "shopt -s failglob", "set -f"):
        assert in_bash(shelf, "show", "pdf", "--section", "Mer", setup=setup) == ["Merging", r"Mer\*"]
    (shelf.project / "my notes.md").touch()
    assert in_bash(shelf, "build", "my") == ["my notes.md"]  # readline quotes these itself
    assert in_bash(shelf, "show", "pdf", "--file", "my") == ["my notes.md"]


@needs_bash
def test_bash_runs_no_heading(shelf: World) -> None:
    """[SURFACES: JSON] a heading that would be a command is text, also within quotes."""
    heading = r"""Evil $(touch pwned) `touch pwned` "x" 'y' \\ z"""
    shelf.skill("evil", f"---\nname: evil\ndescription: d\n---\n# {heading}\n")
    title = shelf.json("outline", "evil")[0]["heading"]
    for start, end in (("Ev", ""), ('"Ev', '"')):
        (offer,) = in_bash(shelf, "show", "evil", "--section", start)
        script = f"printf %s {start[:-2]}{offer}{end}"
        run = subprocess.run(
            [BASH or "bash", "-c", script], cwd=shelf.project, capture_output=True, text=True
        )
        assert (run.stdout, run.stderr) == (title, "")
    assert in_bash(shelf, "show", "evil", "--section", "'Ev") == []
    assert not (shelf.project / "pwned").exists()


class Terminal:
    """An interactive shell on a real terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def type(self, keys: str, until: str) -> None:
        """Type, and wait for an answer; what was on the screen before does not count."""
        seen = ""
        os.write(self._descriptor, keys.encode())
        deadline = time.monotonic() + 10
        while until not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([self._descriptor], [], [], 1)[0]:
                seen += os.read(self._descriptor, 4096).decode(errors="replace")


@contextmanager
def open_terminal(world: World, shell: str, *words: str, **env: str) -> Iterator[Terminal]:
    """A shell at a terminal, in the project, with the completion loaded."""
    (world.root / "script").write_text(script_of(shell))
    world.ok("build", "pdf")
    descriptor, other_end = pty.openpty()
    with subprocess.Popen(
        [shutil.which(shell) or shell, *words, "-i"],
        cwd=world.project,
        env=world.env | {"TERM": "dumb", "PS1": "$ ", "HISTFILE": ""} | env,
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
    ) as process:
        os.close(other_end)
        terminal = Terminal(descriptor)
        try:
            yield terminal
        finally:
            process.kill()
            os.close(descriptor)


@needs_bash
def test_bash_at_a_terminal(library: World) -> None:
    """[RFC-0007] [D13] [SURFACES: JSON] typed in a terminal: Tab completes the command, the skill, a heading.

    It works inside the quotes that the help's examples have, for one agent after the other, and for
    addresses, versions and --format=json, though bash splits words at : = @.
    """
    entry = {
        "source": "skillc:https://skills.example.com/payments/vat",
        "skillc": {"v": 1, "version": "1.2.0"},
    }
    lock = {"version": 1, "skills": {"vat": entry}}
    (library.project / "skills-lock.json").write_text(json.dumps(lock))
    with open_terminal(library, "bash", "--norc", "--noprofile", INPUTRC=os.devnull) as terminal:
        terminal.type(". ../script; echo rea''dy\n", "ready")
        terminal.type("skc sho\t", "skc show ")
        terminal.type("docx\x7f\x7f\x7f\x7fpdf --sec\t", "--section ")
        terminal.type("Fill\t", "forms")
        terminal.type(f" > {library.root / 'out'}; echo do''ne\n", "done")
        assert (library.root / "out").read_text() == "## Filling forms\n\n"
        terminal.type('skc show pdf --section "Fill\t', 'Filling forms"')
        terminal.type("\x15skc build pdf --target claude,curs\t", "claude,cursor")
        terminal.type("\x7f,wind\t", "surf")
        terminal.type(";:; \x01echo \n", "build pdf --target claude,cursor,windsurf ")
        terminal.type("skc logout https://sk\t", "ills.example.com ")
        terminal.type("--format=j\t", "son ")
        terminal.type("\x01echo \n", "skc logout https://skills.example.com --format=json")
        terminal.type("skc yank payments/vat@1\t", ".2.0 ")
        terminal.type("\x01echo \n", "skc yank payments/vat@1.2.0")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_at_a_terminal(library: World) -> None:
    """[SURFACES: JSON] typed in zsh: commands, IDs, headings of several words, values, addresses."""
    with open_terminal(library, "zsh", "-f") as terminal:
        setup = "autoload -U compinit && compinit -u -D; . ../script; PS1='$ '; echo rea''dy"
        terminal.type(f"{setup}\n", "ready")
        terminal.type("skc sho\t", "show ")
        terminal.type("pdf --section Fill\t", "forms")
        terminal.type("\x15skc load payments/r\t", "efunds")
        terminal.type("\x15skc logout https\t", "skills.example.com")
        terminal.type("\x15skc list --format=j\t", "son")
        terminal.type(f"\x15skc show pdf --section 'Fil\t > {library.root / 'out'}; echo do''ne\n", "done")
    assert (library.root / "out").read_text() == "## Filling forms\n\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(library: World) -> None:
    """[SURFACES: JSON] fish offers commands, IDs, headings, values and, where skc has nothing, files."""
    (library.project / "my notes.md").touch()

    def offers(line: str) -> list[str]:
        script = f"source {library.root / 'script'}; complete -C {shlex.quote(line)}"
        env = library.env | {"XDG_CONFIG_HOME": str(library.home), "XDG_DATA_HOME": str(library.home)}
        run = subprocess.run(
            ["fish", "--no-config", "-c", script],
            cwd=library.project,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.stderr == ""
        return [line.partition("\t")[0] for line in run.stdout.splitlines()]

    (library.root / "script").write_text(script_of("fish"))
    assert offers("skc bui") == ["build"]
    assert offers("skc load payments/r") == ["payments/refunds"]
    assert offers("skc show pdf --section Fill") == ["Filling forms"]
    assert offers("skc show pdf --section 'Filling fo") == ["Filling forms"]
    assert offers("skc logout https") == ["https://skills.example.com"]
    assert offers("skc list --format=j") == ["--format=json"]
    assert offers("skc build my") == ["my notes.md"]
