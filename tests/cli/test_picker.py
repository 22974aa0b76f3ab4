"""The picker: keys, filters, ways out, and what the terminal looks like, on real terminals."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.conftest import World
from tests.support.cases import each
from tests.support.skills import skill
from tests.support.terminal import Session, on_terminal

DOWN, UP, END = "\x1b[B", "\x1b[A", "\x1b[F"


@pytest.fixture
def shelf(world: World) -> str:
    """A folder with three skills; Claude Code and Cursor are here, and a folder that agents share."""
    for name in ("docx", "pdf", "xlsx"):
        skill(world.root / "shelf", name)
    for folder in (".claude", ".cursor", ".codex", ".agents/skills"):
        (world.home / folder).mkdir(parents=True)
    return str(world.root / "shelf")


def deployed(world: World) -> list[str]:
    folders = {path.relative_to(world.home).parent for path in world.home.glob(".*/skills/*")}
    return sorted(map(str, folders - {Path(".skillc/skills")}))


def test_agents(world: World, shelf: str) -> None:
    """[D70] The agents that are here are offered by the names people know; all are chosen at first."""
    with Session(world, "add", shelf, "--skill", "pdf", "--global") as session:
        picture = session.wait("4 of 4 chosen", "[x] cursor")
        assert "[x] shared (.agents/skills): codex" in picture
        assert not re.search("bub|universal|amp", picture)
        session.press(END, "> [x] cursor")
        session.press(" ", "> [ ] cursor", "3 of 4 chosen")
        session.press("\r")
        status, picture = session.finish()
    assert status == 0
    assert "Add for which agents? shared (.agents/skills): codex, claude, codex" in picture
    assert "[x]" not in picture  # the list went; the answer stays
    assert deployed(world) == [".agents/skills", ".claude/skills", ".codex/skills"]
    entry = json.loads((world.home / ".skillc/skills-lock.json").read_text())["skills"]["pdf"]["skillc"]
    assert entry["targets"] == ["claude", "codex", "universal"]


def test_skills(world: World, shelf: str) -> None:
    """[SURFACES: Getting skills] Skills of a source are picked; arrows go round, `a` takes all or none."""
    with Session(world, "add", shelf, "--global", "--target", "claude") as session:
        session.wait("> [ ] docx", "0 of 3 chosen")
        session.press("\r", "Nothing is chosen")
        session.press(UP, "> [ ] xlsx")
        session.press(DOWN, "> [ ] docx")
        session.press("a", "3 of 3 chosen")
        session.press("a", "0 of 3 chosen")
        session.press(f"{DOWN} ", "> [x] pdf", "1 of 3 chosen")
        session.press("\r", "Add it? (y/N)")
        session.press("y\r")
        assert session.finish()[0] == 0
    assert os.listdir(world.home / ".skillc/skills") == ["pdf"]


@each("keys", ["\x1b", "\x04"])
def test_leave(world: World, shelf: str, keys: str) -> None:
    """[D52] Esc leaves with nothing done and the terminal as it was."""
    with Session(world, "add", shelf, "--skill", "pdf", "--global") as session:
        session.wait("4 of 4 chosen")
        session.press(keys)
        status, picture = session.finish()
    assert status == 1
    assert "nothing added" in picture
    assert not (world.home / ".skillc/skills").exists()
    assert not deployed(world)


def test_interrupt(world: World, shelf: str) -> None:
    """[D52] So does Ctrl+C, and it says so; a command that is ended gives the terminal back."""
    with Session(world, "add", shelf, "--skill", "pdf", "--global") as session:
        session.wait("4 of 4 chosen")
        session.process.send_signal(signal.SIGINT)
        status, picture = session.finish()
    assert status == 130
    assert "note: stopped; nothing was done" in picture
    assert not deployed(world)
    with Session(world, "add", shelf, "--skill", "pdf", "--global") as session:
        session.wait("4 of 4 chosen")
        session.process.send_signal(signal.SIGTERM)
        status, picture = session.finish()
    assert status == -signal.SIGTERM
    assert "[x]" not in picture


def test_filter(world: World, tmp_path: Path) -> None:
    """[SURFACES: Getting skills] Of many, typing shows those that match, and what was chosen stays chosen."""
    for number in range(30):
        text = f"---\nname: skill-{number:02}\ndescription: After skill-{number + 1:02}\n---\n"
        skill(tmp_path / "many", f"skill-{number:02}", text)
    with Session(world, "add", str(tmp_path / "many"), "--global", "--target", "claude") as session:
        picture = session.wait("> [ ] skill-00", "0 of 30 chosen")
        assert re.search(r"1 to \d+ of 30", picture)
        assert "skill-29" not in picture
        session.press(END, "> [ ] skill-29")
        session.press("/", "/_")
        picture = session.press("-17", "/-17_", "> [ ] skill-17")
        assert "skill-15" not in picture
        assert "\n  [ ] skill-16  After skill-17\n" in f"{picture}\n"  # a name comes before a description
        session.press(" ", "1 of 30 chosen")
        session.press("a", "Nothing matches.")
        session.press("\x15", "> [ ] skill-00", "1 of 30 chosen")
        session.press("l-2", "/l-2_", "> [ ] skill-20")  # a letter begins a filter as well
        session.press("\x01", "12 of 30 chosen")  # Ctrl+A: all that match
        session.press("\x7f\x7f\x7f", "> [ ] skill-00")
        session.press("\x1b")
        assert session.finish()[0] == 1


@each(("columns", "rows"), [(80, 24), (40, 12), (24, 6), (12, 4)])
def test_sizes(world: World, shelf: str, columns: int, rows: int) -> None:
    """[SURFACES: Terminal] No line is wider than the terminal, and the list is no higher."""
    text = f"---\nname: wide\ndescription: {'日本語の説明' * 20}\n---\n"
    world.skill("wide", text, store=world.root / "shelf")
    with Session(world, "add", shelf, "--global", columns=columns, rows=rows) as session:
        session.wait("> [ ]")
        before = session.picture()
        session.press(f"{DOWN}{DOWN}{DOWN}", "> [ ]")
        session.press(f"{UP}{UP}{UP}{' ' * 2}", "> [ ]")
        drawn = session.raw.split("\x1b[J")[-1]
        lines = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", drawn).split("\n")
        assert len(lines) < rows
        assert all(len(line) < columns for line in lines)
        assert session.picture().count("\n") == before.count("\n")  # drawn in one place
        session.press("\x1b")
        assert session.finish()[0] == 1


def test_colour(world: World, shelf: str) -> None:
    """[SURFACES: Terminal] [D68] With NO_COLOR there is none; an Enter from before is no answer."""
    words = ("add", shelf, "--skill", "pdf", "--global")
    for variables, is_painted in ((dict[str, str](), True), ({"NO_COLOR": "1"}, False)):
        with Session(world, *words, env=variables) as session:
            session.wait("> [x]")
            assert ("\x1b[32m[x]" in session.raw) == is_painted
            assert bool(re.search(r"\x1b\[[\d;]*m", session.raw)) == is_painted
            session.press("\x1b")
            session.finish()
    with Session(world, "add", shelf, "--skill", "pdf", "--global") as session:
        session.press("\r", "4 of 4 chosen")
        session.press("\x1b")
        assert session.finish()[0] == 1
    assert not deployed(world)


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": ""}, {"TERM": "xterm", "CLAUDECODE": "1"}])
def test_plain(world: World, shelf: str, variables: dict[str, str]) -> None:
    """[SURFACES: Terminal] Where a cursor can't be moved, and for programs, the question is a plain one."""
    words = ("add", shelf, "--skill", "pdf", "--global")
    status, _, shown = on_terminal(world, "c\nclaude, universal\n", *words, env=variables)
    assert status == 0
    assert "(y)es, all, (c)hoose, (N)o" in shown
    assert "\x1b[?25l" not in shown
    assert deployed(world) == [".agents/skills", ".claude/skills"]
