"""Completion: what the shells are told, and the scripts in the shells themselves."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillc.cli.commands.completion import SCRIPTS
from skillc.cli.summaries import NAMES
from skillc.compiler import read_agents
from tests.conftest import World

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")


@pytest.fixture
def shelf(world: World) -> World:
    """A world with three skills; `skc` is on its PATH."""
    world.skill(
        "pdf", "---\nname: pdf\ndescription: d\n---\n# PDF\n\n## Filling forms\n\n## Merging\n\n## Mer*\n"
    )
    world.skill("pdf-tools")
    world.skill("docx", store=world.global_store)
    programs = world.root / "bin"
    programs.mkdir()
    (programs / "skc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m skillc "$@"\n')
    (programs / "skc").chmod(0o755)
    world.env["PATH"] = f"{programs}{os.pathsep}{world.env['PATH']}"
    return world


def complete(world: World, *words: str) -> list[str]:
    result = world.ok("__complete", *words)
    assert result.stderr == ""
    return [line for line in result.stdout.split("\n") if line]


# Candidates


@pytest.mark.slow
def test_commands(shelf: World) -> None:
    """[RFC-0007] every command, and those that begin as written."""
    assert set(NAMES) <= set(complete(shelf, ""))
    assert complete(shelf, "bui") == ["build"]
    assert complete(shelf, "--v") == ["--version"]
    assert complete(shelf) == complete(shelf, "")
    assert complete(shelf, "nothing") == []


@pytest.mark.slow
def test_skills(shelf: World) -> None:
    """[RFC-0007] skills of the project and the home, where a command takes one."""
    for command in ("build", "outline", "show", "search"):
        assert complete(shelf, command, "") == ["docx", "pdf", "pdf-tools"]
        assert complete(shelf, command, "pdf-") == ["pdf-tools"]
    assert complete(shelf, "build", "--force", "d") == ["docx"]
    assert complete(shelf, "outline", "--level", "2", "d") == ["docx"]
    assert complete(shelf, "outline", "pdf", "") == []


def test_options(shelf: World) -> None:
    """[RFC-0007] a command's options; one that is given is not offered again."""
    offered = complete(shelf, "list", "--")
    options = {
        "--scope",
        "--status",
        "--limit",
        "--pattern",
        "--check-obsolete",
        "--format",
        "--verbose",
        "--color",
        "--no-pager",
        "--help",
    }
    assert set(offered) == options
    assert complete(shelf, "build", "pdf", "--wa") == ["--watch"]
    assert complete(shelf, "list", "--check-obsolete", "--ch") == []


@pytest.mark.slow
def test_values(shelf: World) -> None:
    """[RFC-0007] choices after an option that has some; nothing, so files, after others."""
    assert complete(shelf, "list", "--scope", "") == ["project", "global", "all"]
    assert complete(shelf, "list", "--format", "j") == ["json"]
    assert complete(shelf, "list", "--limit", "") == []
    assert complete(shelf, "completion", "") == ["bash", "zsh", "fish"]


def test_agents(shelf: World) -> None:
    """[D13] agents for --target, also after a comma."""
    assert complete(shelf, "build", "pdf", "--target", "") == [agent.name for agent in read_agents()]
    assert complete(shelf, "build", "--target", "claude,curs") == ["claude,cursor"]
    assert complete(shelf, "build", "--target", "./x") == []


def test_sections(shelf: World) -> None:
    """[RFC-0002:C-SHOW] the headings of the skill that is named."""
    assert complete(shelf, "show", "pdf", "--section", "") == ["PDF", "Filling forms", "Merging", "Mer*"]
    assert complete(shelf, "show", "pdf", "--section", "Fill") == ["Filling forms"]
    assert complete(shelf, "show", "nothing", "--section", "") == []
    assert complete(shelf, "show", "--section", "") == []


@pytest.mark.parametrize(
    "words", [("nothing", ""), ("--help", ""), ("build", "--", ""), ("list", "-"), ("", ""), ("help", "")]
)
def test_no_words_fail(shelf: World, words: tuple[str, ...]) -> None:
    """[RFC-0005] completion never complains: status 0 and nothing on stderr."""
    complete(shelf, *words)


def test_help_offers_commands(shelf: World) -> None:
    """[RFC-0007] `skc help <TAB>` offers what `skc help` takes."""
    assert complete(shelf, "help", "bui") == ["build"]


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
    """[RFC-0007] each script is printed as it is, and says how to keep it."""
    script = shelf.ok("completion", shell).stdout
    assert script == SCRIPTS[shell]
    assert f"skc completion {shell} >" in script


def test_unknown_shell(shelf: World) -> None:
    """[RFC-0005] another shell is E100 and names those there are."""
    assert "bash, zsh or fish" in shelf.fails("E100", "completion", "tcsh").stderr
    shelf.fails("E100", "completion")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_syntax(tmp_path: Path, shell: str) -> None:
    """[RFC-0007] the shell itself finds no fault in its script."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell])
    result = subprocess.run([program, "-n", str(script)], capture_output=True, text=True, check=False)
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
    """[RFC-0007] commands, skills, options and values reach bash."""
    assert in_bash(shelf, "bui") == ["build"]
    assert in_bash(shelf, "build", "pdf") == ["pdf", "pdf-tools"]
    assert in_bash(shelf, "list", "--scope", "pro") == ["project"]
    assert in_bash(shelf, "build", "pdf", "--target", "claude,curs") == ["claude,cursor"]
    assert in_bash(shelf, "list", "--nothing") == []


@needs_bash
def test_bash_words_with_spaces(shelf: World) -> None:
    """[RFC-0007] a heading of several words is one candidate, quoted for the shell."""
    assert in_bash(shelf, "show", "pdf", "--section", "Fil") == [r"Filling\ forms"]
    assert in_bash(shelf, "show", "pdf", "--section", r"Filling\ fo") == [r"Filling\ forms"]


@pytest.mark.slow
@needs_bash
@pytest.mark.parametrize("setup", ["", "shopt -s nullglob", "shopt -s failglob", "set -f"])
def test_bash_does_not_expand_candidates(shelf: World, setup: str) -> None:
    """[RFC-0007] a heading with a star stays itself, whatever files there are and options are set."""
    (shelf.project / "Mercury").touch()
    assert in_bash(shelf, "show", "pdf", "--section", "Mer", setup=setup) == ["Merging", r"Mer\*"]


@pytest.mark.slow
@needs_bash
def test_bash_offers_files(shelf: World) -> None:
    """[RFC-0007] where skc has nothing to offer, bash offers files."""
    (shelf.project / "my notes.md").touch()
    assert in_bash(shelf, "build", "my") == ["my notes.md"]  # readline quotes these itself
    assert in_bash(shelf, "show", "pdf", "--file", "my") == ["my notes.md"]


class Terminal:
    """An interactive bash on a real terminal."""

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


@pytest.fixture
def terminal(shelf: World) -> Iterator[Terminal]:
    """Bash at a terminal, in the project, with the completion loaded."""
    (shelf.root / "script").write_text(SCRIPTS["bash"])
    shelf.ok("build", "pdf")
    descriptor, other_end = pty.openpty()
    with subprocess.Popen(
        [BASH or "bash", "--norc", "--noprofile", "-i"],
        cwd=shelf.project,
        env=shelf.env | {"TERM": "dumb", "PS1": "$ ", "INPUTRC": os.devnull, "HISTFILE": ""},
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
    ) as bash:
        os.close(other_end)
        made = Terminal(descriptor)
        try:
            made.type(". ../script; echo rea''dy\n", "ready")
            yield made
        finally:
            bash.kill()
            os.close(descriptor)


@needs_bash
def test_bash_at_a_terminal(shelf: World, terminal: Terminal) -> None:
    """[RFC-0007] typed in a terminal: Tab completes the command, the skill, and a heading's words."""
    terminal.type("skc sho\t", "skc show ")
    terminal.type("docx\x7f\x7f\x7f\x7fpdf --sec\t", "--section ")
    terminal.type("Fill\t", "forms")
    terminal.type(f" > {shelf.root / 'out'}; echo do''ne\n", "done")
    assert (shelf.root / "out").read_text() == "## Filling forms\n\n"


@needs_bash
def test_bash_in_quotes(terminal: Terminal) -> None:
    """[RFC-0007] Tab also works inside the quotes that the help's examples have."""
    terminal.type('skc show pdf --section "Fill\t', 'Filling forms"')


@needs_bash
def test_bash_lists_of_agents(terminal: Terminal) -> None:
    """[D13] one agent after the other, as one would write them."""
    terminal.type("skc build pdf --target claude,curs\t", "claude,cursor")
    terminal.type("\x7f,wind\t", "surf")
    terminal.type(";:; \x01echo \n", "build pdf --target claude,cursor,windsurf ")


def test_files_of_a_skill(world: World) -> None:
    """[RFC-0007] `open` offers the files of the skill that was named."""
    (world.skill("pdf") / "notes.txt").write_text("x")
    assert world.ok("__complete", "open", "pdf", "n").stdout == "notes.txt\n"
    assert world.ok("__complete", "open", "pdf", "").stdout == "SKILL.md\nnotes.txt\n"
