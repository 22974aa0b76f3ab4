"""Which level is chosen on machines that lack something, what works in it, what is counted and removed."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from skillc.tools import sandbox
from skillc.tools.sandbox import bubblewrap, seccomp, supervisor
from skillc.tools.sandbox.access import access_rules, find_repository, working_paths
from skillc.tools.sandbox.landlock import remove_tree
from skillc.tools.sandbox.process import list_descendants
from tests.tools.conftest import Bench
from tests.tools.levels import works

REPORT = """
import json
from skillc.tools import sandbox
from skillc.tools.process import run
from skillc.tools.sandbox import Launch
level = sandbox.choose()
env = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}
found = run(Launch(("/bin/echo", "hi"), "/usr", env, "/usr", 30.0, False, True, level)).as_json()
print(json.dumps([level, sandbox.explain(), found]))
"""


def machine(*options: str, filter_: bytes = b"") -> tuple[str, list[str]]:
    """What is chosen and said on a machine that bubblewrap makes out of this one."""
    works(sandbox.BUBBLEWRAP)
    rules = os.memfd_create("rules")
    try:
        os.write(rules, filter_)
        os.lseek(rules, 0, os.SEEK_SET)
        more = ["--seccomp", str(rules)] if filter_ else []
        bwrap = [str(bubblewrap.find_bubblewrap()), "--dev-bind", "/", "/"]
        argv = [*bwrap, *more, *options, sys.executable, "-c", REPORT]
        found = subprocess.run(argv, pass_fds=[rules], capture_output=True, text=True, check=False)
    finally:
        os.close(rules)
    assert found.returncode == 0, found.stderr
    level, said, envelope = json.loads(found.stdout)
    assert (envelope["output"], envelope["sandbox"], envelope["success"]) == ("hi\n", level, True)
    return level, said


HIDDEN = ("--ro-bind", "/dev/null", str(bubblewrap.find_bubblewrap()))


def no_landlock() -> bytes:
    """A filter that makes the kernel look as old as before Landlock."""
    calls = (supervisor.CREATE_RULESET, supervisor.ADD_RULE, supervisor.RESTRICT_SELF)
    code = [(0x20, 0, 0, 0), *seccomp._each(calls, errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000)]
    return b"".join(struct.pack("=HBBI", *part) for part in code)


def test_the_best_first() -> None:
    """[D45] bubblewrap where it works, else Landlock, else none; what lacks is said."""
    lacking = {line.partition(":")[0] for line in sandbox.explain()}
    assert sandbox.choose() == next(level for level in sandbox.LEVELS if level not in lacking)
    assert "none" not in lacking


NO_NAMESPACES = ("--unshare-user", "--uid", "1234", "--gid", "1234", "--disable-userns")
PACKAGE = "bubblewrap: not installed; install the package 'bubblewrap' ('apt install bubblewrap'"
KERNEL = "landlock: the kernel does not offer it; Linux 6.2 or newer does"


@pytest.mark.parametrize(
    ("options", "has_landlock", "chosen", "obstacles"),
    [
        (HIDDEN, True, "landlock", [PACKAGE]),
        (NO_NAMESPACES, True, "landlock", ["bubblewrap: "]),
        ((), False, "bubblewrap", [KERNEL]),
        (HIDDEN, False, "none", [PACKAGE, KERNEL]),
    ],
    ids=["no bubblewrap", "no user namespaces", "no Landlock", "neither"],
)
def test_machines(options: tuple[str, ...], has_landlock: bool, chosen: str, obstacles: list[str]) -> None:
    """[D45] what lacks is replaced by the next level, and it is said how to get it."""
    if has_landlock:
        works(sandbox.LANDLOCK)
    level, reasons = machine(*options, filter_=b"" if has_landlock else no_landlock())
    assert level == chosen
    for reason, start in zip(reasons, obstacles, strict=True):
        assert reason.startswith(start)
    assert options != NO_NAMESPACES or "namespace" in reasons[0]


def test_permissions(bench: Bench) -> None:
    """[D45] whoever approves is told what may be written: the working directory unless read_only."""
    said = "\n".join(sandbox.permissions(bench.launch("true", network=True)))
    if bench.level == "none":
        assert "no sandbox" in said
    else:
        assert f"sandbox: {bench.level}" in said
        assert str(bench.project) in said
        assert "write: nothing" in said
        assert "network: yes" in said
        writing = "\n".join(sandbox.permissions(bench.launch("true", read_only=False)))
        assert f"write: the working directory {bench.project}" in writing
        assert "network: none" in writing
        at_home = "\n".join(sandbox.permissions(bench.launch("true", cwd=bench.home)))
        assert f"no leading dot) in {bench.home}" in at_home
        found = bench.sh("echo x > $TMPDIR/a && echo x > ~/a && mktemp && echo ok", read_only=True)
        assert found.output.endswith("ok\n")
        assert not (bench.home / "a").exists()
    made = bench.sh(
        "mkdir d && echo x > d/a && mv d e && rm -r e && echo x > b && chmod 600 b", read_only=False
    )
    assert (made.output, made.exit_code) == ("", 0)
    assert (bench.project / "b").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("hidden", [".pyenv/shims", ".nvm/versions/node/v20/bin", "miniconda3/bin"])
def test_programs_below_the_home_directory(bench: Bench, hidden: str) -> None:
    """[D45] an interpreter of a version manager works, with all of its own prefix."""
    directory = bench.home / hidden
    directory.mkdir(parents=True)
    (directory.parent / "lib").mkdir()
    (directory.parent / "lib" / "part.sh").write_text("echo from the prefix")
    (directory / "interp").write_text(f"#!/bin/sh\n. {directory.parent}/lib/part.sh\n")
    (directory / "interp").chmod(0o755)
    bench.parent["PATH"] = f"{directory}:{os.defpath}"
    assert bench.run("interp").output == "from the prefix\n"
    script = bench.script("#!/usr/bin/env interp\n")
    assert bench.run(script).output == "from the prefix\n"


def test_links_on_the_way_to_a_program(bench: Bench) -> None:
    """[D45] a program that is a link to a link, each elsewhere below the home directory, works."""
    real = bench.home / ".local" / "share" / "venvs" / "tool" / "bin" / "tool"
    real.parent.mkdir(parents=True)
    real.write_text("#!/bin/sh\necho tool\n")
    real.chmod(0o755)
    for link, target in ((".local/lib/x/tool", real), (".local/bin/tool", bench.home / ".local/lib/x/tool")):
        (bench.home / link).parent.mkdir(parents=True)
        (bench.home / link).symlink_to(target)
    bench.parent["PATH"] = f"{bench.home}/.local/bin:{os.defpath}"
    assert bench.run("tool").output == "tool\n"


def test_a_home_that_is_a_link(bench: Bench) -> None:
    """[D45] a home directory behind a link is hidden and has its private place all the same."""
    link = bench.outside / "home"
    link.symlink_to(bench.home)
    (bench.home / ".netrc").write_text("secret")
    bench.parent["HOME"] = str(link)
    found = bench.sh(f"cat {bench.home}/.netrc {link}/.netrc; echo x > ~/new && echo made")
    assert "made" in found.output
    assert ("secret" in found.output) is (bench.level == "none")


def test_git_works(bench: Bench) -> None:
    """[D45] the specification's own example, with settings in the home directory that are not there."""
    (bench.home / ".gitconfig").write_text("[user]\n\tname = n\n")
    subprocess.run(["git", "init", "-q", bench.project], check=True)
    (bench.project / "new").write_text("x")
    found = bench.run("git", "status", "--short", "--branch")
    assert found.success, found
    assert "?? new" in found.output


def test_git_works_in_a_linked_worktree(bench: Bench) -> None:
    """[D45] the repository that a worktree belongs to is readable, if it says that they belong together."""
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(bench.outside)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    bench.project.rmdir()
    subprocess.run([*git, "worktree", "add", "-q", bench.project], check=True)
    found = bench.run("git", "log", "--format=%s")
    assert found.output == "first\n"
    assert (
        str(bench.outside / ".git") in " ".join(sandbox.permissions(bench.launch("true")))
        or bench.level == "none"
    )


@pytest.mark.parametrize("back", ["", "/elsewhere/.git\n", "../project/.git\n"])
def test_a_worktree_that_nobody_knows(bare: Bench, back: str) -> None:
    """[D45] a .git file that points at something that does not point back opens nothing."""
    target = bare.outside / "worktrees" / "x"
    target.mkdir(parents=True)
    (bare.outside / "HEAD").write_text("ref: refs/heads/main\n")
    (bare.project / ".git").write_text(f"gitdir: {target}\n")
    if back:
        (target / "gitdir").write_text(back)
    assert find_repository(str(bare.project)) is None
    (target / "gitdir").write_text(f"{bare.project}/.git\n")
    assert find_repository(str(bare.project)) == str(bare.outside)
    (bare.outside / "HEAD").unlink()
    assert find_repository(str(bare.project)) is None


def test_home_without_grants(tmp_path: Path) -> None:
    """[D45] no working directory opens the home directory, or what it is in."""
    home = tmp_path / "a" / "home"
    for path in (home / ".ssh", home / "papers", tmp_path / "a" / "other", tmp_path / "b"):
        path.mkdir(parents=True)
    (home / "link").symlink_to(home / ".ssh")
    assert working_paths(str(home), str(home)) == [str(home / "papers")]
    assert working_paths(str(tmp_path / "a"), str(home)) == [str(tmp_path / "a" / "other")]
    assert working_paths("/", str(home)) == []
    assert working_paths(str(tmp_path / "b"), str(home)) == [str(tmp_path / "b")]
    assert working_paths(str(home / "papers"), str(home)) == [str(home / "papers")]


def test_a_skill_in_the_home_directory_itself(bare: Bench) -> None:
    """[D45] a skill whose folder is the home directory does not open that."""
    launch = replace(bare.launch("true"), skill_dir=str(bare.home))
    assert access_rules(launch)[str(bare.home)] == "hide"


def test_session_and_descriptors(bench: Bench) -> None:
    """[D45] the command leads a session of its own, also of a caller with 1,100 open files."""
    session = bench.sh("cut -d' ' -f6 /proc/$$/stat").output.strip()
    assert session.isdigit()
    assert session not in ("0", str(os.getsid(0)))  # 0 is one that its namespace does not know
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip(f"this user may have only {hard} files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        assert bench.run("echo", "hi").output == "hi\n"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)


@pytest.mark.slow
def test_leftovers_are_removed(tmp_path: Path) -> None:
    """[D45] however deep or odd what a command left in its private directory is."""
    root = tmp_path / "private"
    root.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("x")
    (root / "link").symlink_to(tmp_path)
    (root / "closed").mkdir()
    (root / "closed" / "file").write_text("x")
    (root / "closed").chmod(0)
    here = os.open(root, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove_tree(str(root))
    assert not root.exists()
    assert outside.exists()
    remove_tree(str(root))  # nothing to do


# Each process has one child, five in all.
CHAIN = """
import os, time
for _ in range(5):
    if os.fork():
        break
time.sleep(60)
"""


def test_more_than_the_limit_is_told_whatever_the_tree() -> None:
    """[D45] a limit that is passed by one is passed: the count must not stop at the limit itself."""
    with subprocess.Popen([sys.executable, "-c", CHAIN], start_new_session=True) as process:
        try:
            while len(list_descendants(process.pid)) < 5:
                time.sleep(0.01)
            for most in range(8):
                assert (len(list_descendants(process.pid, most)) > most) is (most < 5)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


# 700 processes whose parents have ended, each holding the descriptor of its output.
ORPHANS = """
import os, time
if os.fork():
    time.sleep(100)
for _ in range(700):
    if not os.fork():
        time.sleep(100)
os.write(1, b"ready")
"""
THREADS = """
import threading, time
for _ in range(600):
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
print("ready", flush=True)
time.sleep(100)
"""


@pytest.mark.slow
def test_orphans_are_counted_when_others_end(bare: Bench) -> None:
    """[D45] a fork bomb is noticed though the machine has no more tasks than when it began."""
    with subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE) as others:
        assert others.stdout is not None
        assert others.stdout.readline() == b"ready\n"
        launch = replace(bare.launch("true"), argv=(sys.executable, "-I", "-S", "-c", ORPHANS))
        process = sandbox.start(launch)
        try:
            assert process.streams[0].read(5) == b"ready"
            others.kill()
            others.wait()
            end = time.monotonic() + 60
            while len(process.list_processes(512)) <= 512:
                assert time.monotonic() < end
                time.sleep(0.05)
        finally:
            process.close()
            others.kill()
