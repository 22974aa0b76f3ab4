"""Many skills at once: the same findings as one by one, on all cores."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.errors import SkillcError
from skillc.index import workers
from skillc.library import Skill
from skillc.lint import Report, find_skills_below, fix_skill, lint as batch, lint_skill, lint_skills
from tests.conftest import World
from tests.lint.skills import front
from tests.support.terminal import show_on_terminal

COUNT = batch.MIN_JOBS + 5


@pytest.fixture
def many(world: World, monkeypatch: pytest.MonkeyPatch) -> list[Skill]:
    """Skills with findings of their own, one of them without a description."""
    monkeypatch.setattr(workers, "count_cores", lambda: 3)
    for number in range(COUNT):
        name = f"s{number:02}"
        lines = [f"name: {name}", f"description: Use when {number} x", "allowed-tools: A, B"]
        folder = world.project / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            front(*lines[: 1 + number % 3]) + f"\n[x]({number}.md)\n" * (number % 2)
        )
    return list(find_skills_below(str(world.project / "skills")))


@pytest.mark.slow
def test_same_as_one_by_one(many: list[Skill]) -> None:
    """[RFC-0008] workers find what one process finds, in the same order; they write fixes, and say which."""
    assert list(lint_skills(many)) == [lint_skill(skill) for skill in many]
    results = [result for result in lint_skills(many, fix=True) if isinstance(result, Report)]
    assert [str(repair.rule) for repair in results[2].fixed] == ["SKL114 allowed-tools-format"]
    assert "allowed-tools: A B" in Path(many[2].source, "SKILL.md").read_text()
    assert [result.findings for result in results] == [fix_skill(skill).findings for skill in many]


def test_few_skills_start_no_process(many: list[Skill], monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0008] [RFC-0005] few skills are linted in this process, and all where no other can be started."""
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was started"))
    few = many[: batch.MIN_JOBS - 1]
    assert list(lint_skills(few)) == [lint_skill(skill) for skill in few]

    def fork() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    assert list(lint_skills(many)) == [lint_skill(skill) for skill in many]


# From Python 3.12 on, a fork beside threads that other tests left running is a warning, and here an error.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_worker_that_dies(many: list[Skill], monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0005] a skill that ends the process that lints it is an error; all others are linted."""
    parent = os.getpid()

    def lint(skill: Skill, **options: bool) -> Report:
        if skill.name == "s04":
            assert os.getpid() != parent
            os.kill(os.getpid(), signal.SIGKILL)
        if skill.name == "s05":
            raise OSError("odd")
        return lint_skill(skill)

    monkeypatch.setattr(batch, "lint_skill", lint)
    results = list(lint_skills(many))
    failures = [result for result in results if isinstance(result, SkillcError)]
    assert [failure.line() for failure in failures] == [
        "error[E999]: linting it ended its process; please report the skill",
        "error[E999]: OSError: odd",
    ]
    assert [results.index(failure) for failure in failures] == [4, 5]


@pytest.mark.slow
def test_a_folder_with_skills(world: World, many: list[Skill]) -> None:
    """[RFC-0008] a folder that is no skill itself means all skills below it, as with --all."""
    run, everything = world.skc("lint", "skills"), world.skc("lint", "--all", "skills")
    assert (run.returncode, run.stdout, run.stderr) == (everything.returncode, everything.stdout, "")
    assert run.stdout.splitlines()[-1].startswith(f"{COUNT} skills: ")
    found = json.loads(world.skc("lint", "skills", "--format", "json").stdout)
    assert [skill["skill"] for skill in found["skills"]] == [skill.name for skill in many]


@pytest.mark.slow
def test_folders_that_cannot_be_read(world: World, many: list[Skill], unprivileged: tuple[str, ...]) -> None:
    """[RFC-0005] a folder that can't be read is left out and named; the one that was asked for is E999."""
    inner, others = world.project / "skills" / "s03", len(many) - 1
    inner.chmod(0)
    try:
        run = world.skc("lint", "skills", "--statistics", "--format", "json", prefix=unprivileged)
        assert run.stderr == f"info: skipping a folder: '{inner}': Permission denied\n"
        assert json.loads(run.stdout)["skills"] == others
        refused = world.fails("E999", "lint", "skills/s03", prefix=unprivileged)
        assert f"'{inner}': Permission denied" in refused.stderr
    finally:
        inner.chmod(0o755)


@pytest.mark.slow
def test_a_bar_on_a_terminal(world: World, many: list[Skill]) -> None:
    """[RFC-0005] a terminal shows how many skills are done; nothing of it stays."""
    words = ("lint", "--all", "skills", "--statistics")
    shown = show_on_terminal(world, *words, env={"TERM": "xterm"}, with_progress=True)
    assert f"] {COUNT - 1}/{COUNT} skills  s{COUNT - 1}" in shown
    assert shown.rpartition("\x1b[K")[2].lstrip().startswith("\x1b[1mCOUNT")
    assert "skills  s" not in world.skc("lint", "--all", "skills").stderr


@pytest.mark.slow
def test_interrupt(world: World, many: list[Skill]) -> None:
    """[RFC-0005] Ctrl-C reaches all processes of a terminal and ends them at once, without a traceback."""
    for number in range(40):  # more than a pipe holds
        (world.project / "skills" / f"wide{number}").mkdir()
        text = front(f"name: wide{number}", "description: Use when x") + "[x](gone.md)\n" * 100
        (world.project / "skills" / f"wide{number}" / "SKILL.md").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "skillc", "lint", "skills"],
        cwd=world.project,
        env=world.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, b"")
    with pytest.raises(ProcessLookupError):  # no worker is left
        os.killpg(process.pid, 0)
