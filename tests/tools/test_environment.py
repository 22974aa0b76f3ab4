"""Where a command runs and what it is told."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from skillc.errors import CannotRun
from skillc.tools.environment import PATH, build_environment, find_program, find_working_directory
from tests.support.cases import each
from tests.tools.secrets import SECRET, SECRETS


def test_only_what_is_allowed() -> None:
    """[D42] [D64] [TOOLS §5.2] the allowed variables are inherited, nothing else, and seven are added."""
    allowed = {"PATH": "/bin", "HOME": "/h", "USER": "u", "LANG": "C", "LC_ALL": "C", "TERM": "dumb"}
    found = build_environment("pdf", "/s/pdf", "Dev", allowed | dict.fromkeys(SECRETS, SECRET))
    mine = {"SKILL_NAME": "pdf", "SKILL_DIR": "/s/pdf", "MODE": "Dev"}
    injected = {f"{who}_{name}": value for who in ("SKILLC", "GIBBERISH") for name, value in mine.items()}
    assert found == allowed | injected | {"PYTHONPYCACHEPREFIX": "/dev/null/pycache"}


@each(
    ("path", "kept"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (":/bin", "/bin"),
        ("/bin:", "/bin"),
        (".:/bin:bin:../x:~/bin", "/bin"),
        ("", PATH),
        (".", PATH),
    ],
)
def test_path(path: str, kept: str) -> None:
    """[D41] no entry of PATH means another program in every directory."""
    assert build_environment("pdf", "/s", "Global", {"PATH": path})["PATH"] == kept


def test_git_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D42] [TOOLS §5.1] the root of the repository, from anywhere in it, also in a linked worktree."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "init", "-q", repository], check=True)
    subprocess.run(["git", "-C", repository, *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", repository, "worktree", "add", "-q", tmp_path / "linked"], check=True)
    assert find_working_directory(str(deep), "echo") == str(repository)
    assert find_working_directory(str(tmp_path / "linked"), "echo") == str(tmp_path / "linked")
    (tmp_path / "link").symlink_to(deep)
    assert find_working_directory(str(tmp_path / "link"), "echo") == str(repository)


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D42] [TOOLS §5.1] elsewhere it is the home directory; a .git that is none does not count."""
    home = tmp_path / "home"
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(CannotRun, match="no home directory"):
        find_working_directory(str(elsewhere), "echo")
    home.mkdir()
    assert find_working_directory(str(elsewhere), "echo") == str(home)
    (elsewhere / ".git").rmdir()
    (elsewhere / ".git").write_text("not a pointer")
    assert find_working_directory(str(elsewhere), "echo") == str(home)


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_program_of_the_skill(tmp_path: Path) -> None:
    """[D41] with a slash it is a file of the skill, links resolved; what leads out is refused."""
    skill = tmp_path / "skill"
    run = executable(skill / "scripts" / "run.sh")
    (skill / "scripts" / "link.sh").symlink_to("run.sh")
    for name in ("./scripts/run.sh", "scripts/run.sh", "scripts/../scripts/run.sh", "scripts/link.sh"):
        assert find_program(name, str(skill), "/bin") == str(run)
    executable(tmp_path / "outside.sh")
    (skill / "scripts" / "out.sh").symlink_to("../../outside.sh")
    (skill / "dir").symlink_to("/bin")
    outside = ["../outside.sh", "scripts/../../outside.sh", "/bin/sh", "scripts/out.sh", "dir/sh", "./"]
    for program in (*outside, "./."):
        with pytest.raises(CannotRun, match="outside of the skill"):
            find_program(program, str(skill), "/bin")


def test_programs_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D41] without a slash it comes from absolute entries of PATH, never from where we are."""
    monkeypatch.chdir(tmp_path)
    executable(tmp_path / "probe-here")
    executable(tmp_path / "bin" / "probe")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "probe").write_text("not executable")
    (tmp_path / "second" / "probe").mkdir(parents=True)
    path = f":.:bin:{tmp_path}/first:{tmp_path}/second:{tmp_path}/bin"
    assert find_program("probe", str(tmp_path), path) == f"{tmp_path}/bin/probe"
    for name in ("probe-here", "", ".", "..", "a\0b", "probe probe"):
        with pytest.raises(CannotRun):
            find_program(name, str(tmp_path), path)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (None, 0, "no such file"),
        ("#!/bin/sh\n", 0o644, "chmod +x"),
        ("#!/no/such/interpreter -x\n", 0o755, "'/no/such/interpreter' does not exist"),
        ("#! /no/such\n", 0o755, "'/no/such' does not exist"),
    ],
)
def test_what_can_not_be_run(tmp_path: Path, text: str | None, mode: int, said: str) -> None:
    """[D41] [TOOLS §9.3] what can't be started says why before anything is asked or started."""
    if text is not None:
        executable(tmp_path / "x.sh", text).chmod(mode)
    with pytest.raises(CannotRun, match=re.escape(said)) as caught:
        find_program("./x.sh", str(tmp_path), os.defpath)
    assert caught.value.code == "E064"
