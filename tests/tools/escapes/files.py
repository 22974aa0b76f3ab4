"""Attempts on files: reading secrets, writing elsewhere."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from skillc.errors import CannotRun
from tests.tools.conftest import Bench
from tests.tools.escapes import attempt

SECRET = "planted-secret"


def plant(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    return path


PLACES = [
    *(".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".git-credentials"),
    *(".local/share/keyrings/login.keyring", ".cargo/credentials.toml", ".skillc/config.toml"),
    *("notes.txt", ".fly/config.yml", ".docker/config.json", "src/private.py"),
]


@attempt("reading a secret in the home directory")
def home(bench: Bench) -> bool:
    for name in (".local/bin", ".cargo/bin", ".fly/bin", ".docker/bin", "bin"):
        (bench.home / name).mkdir(parents=True)
        bench.parent["PATH"] += f":{bench.home}/{name}:{bench.home}/{name}/../bin"
    paths = [plant(bench.home / name) for name in PLACES]
    return SECRET in bench.run("cat", *map(str, paths), network=True).output


@attempt("the same, by an interpreter that the skill names")
def interpreter(bench: Bench) -> bool:
    secret = plant(bench.home / ".ssh" / "id_ed25519")
    program = plant(bench.home / ".ssh" / "bin" / "tool")
    program.write_text(f"#!/bin/sh\ncat {secret}\n")
    program.chmod(0o755)
    (bench.skill / "link").symlink_to(program)
    names = (str(program), f"{bench.home}/.ssh/../.ssh/bin/tool", f"{bench.skill}/link", str(secret))
    lines = [*names, *(f"/usr/bin/env {name}" for name in names), f"/usr/bin/env -S {program}"]
    return any(SECRET in tried(bench, bench.script(f"#!{line}\n")) for line in lines)


def tried(bench: Bench, script: str) -> str:
    try:
        return bench.run(script, network=True).output
    except CannotRun:
        return ""


@attempt("the same, with the home directory as working directory")
def home_at_work(bench: Bench) -> bool:
    paths = [plant(bench.home / name) for name in (".ssh/id_ed25519", ".netrc")]
    (bench.home / "Documents").mkdir()
    plant(bench.home / "Documents" / "letter.txt")
    if bench.level != "none":  # what is meant to be read there can be
        assert bench.run("cat", "Documents/letter.txt", cwd=bench.home).output == SECRET
    found = [bench.run("cat", str(path), cwd=bench.home, read_only=False).output for path in paths]
    made = "touch .profile-new; ln -s .ssh Documents/x; cat Documents/x/id_ed25519 Documents/../.netrc"
    found.append(bench.sh(made, cwd=bench.home, read_only=False).output)
    return any(SECRET in output for output in found) or (bench.home / ".profile-new").exists()


@attempt("names of hidden files in the home directory")
def hidden_names(bench: Bench) -> bool:
    (bench.home / ".wallet").mkdir()
    return ".wallet" in bench.run("ls", "-a", str(bench.home), cwd=bench.home).output


@attempt("reading a secret of the system that root can read")
def system_secret(bench: Bench) -> bool:
    if not os.access("/etc/shadow", os.R_OK):
        pytest.skip("this user can't read /etc/shadow anyway")
    return "root:" in bench.run("cat", "/etc/shadow").output


@attempt("reading any other file")
def reading_elsewhere(bench: Bench) -> bool:
    plant(bench.outside / "file")
    (bench.project / "link").symlink_to(bench.outside)
    up = os.path.relpath(bench.outside, bench.project)
    commands = [
        f"cat {bench.outside}/file",
        f"cat {up}/file",
        "cat link/file",
        f"cat /proc/self/root{bench.outside}/file",
    ]
    return any(SECRET in bench.sh(command, read_only=False).output for command in commands)


@attempt("learning that a file elsewhere exists")
def existence(bench: Bench) -> bool:
    plant(bench.outside / "file")
    return bench.run("test", "-e", str(bench.outside / "file")).success


@attempt("writing, deleting or truncating elsewhere")
def writing_elsewhere(bench: Bench) -> bool:
    return any(
        changed(bench, command)
        for command in (
            *("echo x > {outside}/new", "echo x >> {outside}/file", "rm -f {outside}/file"),
            *("truncate -s 0 {outside}/file", "mv {outside}/file {outside}/moved"),
            *("ln {outside}/file stolen; echo x >> stolen", "mv {outside}/file here"),
            *("mkdir {outside}/directory", "ln -s x {outside}/link", "mkfifo {outside}/pipe"),
        )
    )


def changed(bench: Bench, command: str, *, read_only: bool = False) -> bool:
    """Whether anything is different in `outside` after a command."""
    if not (bench.outside / "file").exists():
        plant(bench.outside / "file")
    before = state(bench.outside)
    bench.sh(command.format(outside=bench.outside), read_only=read_only)
    return state(bench.outside) != before


def state(folder: Path) -> list[tuple[str, int, int, bytes]]:
    return [
        (
            path.name,
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.iterdir())
    ]


@attempt("the same, through a link in the working directory")
def through_a_link(bench: Bench) -> bool:
    (bench.project / "link").symlink_to(bench.outside)
    plant(bench.outside / "file")
    (bench.project / "file").symlink_to(bench.outside / "file")
    commands = ("echo x > link/new", "echo x > file", "rm link/file", "truncate -s 0 file")
    made = "ln -s {outside} made; echo x > made/new2"
    return any(changed(bench, command) for command in (*commands, made))


@attempt("writing in the working directory with `read_only`")
def working_directory(bench: Bench) -> bool:
    plant(bench.project / "file")
    before = state(bench.project)
    for command in (
        "echo x > new",
        "echo x > file",
        "rm file",
        "mkdir d",
        "truncate -s 0 file",
        "touch file",
    ):
        bench.sh(command)
    return state(bench.project) != before


@attempt("changing the mode of a file elsewhere with `read_only`")
def mode(bench: Bench) -> bool:
    return any(changed(bench, command, read_only=True) for command in MODES)


MODES = (
    "chmod 777 {outside}/file",
    "touch -d 2001-01-01 {outside}/file",
    "chmod 700 {outside}; chmod 755 {outside}/file",
)


@attempt("the same, without `read_only`")
def mode_when_writing(bench: Bench) -> bool:
    return any(changed(bench, command) for command in MODES)


@attempt("changing the skill's own folder")
def own_folder(bench: Bench) -> bool:
    script = bench.script(
        "echo changed >> $0; echo x > $SKILLC_SKILL_DIR/new; rm -f $SKILLC_SKILL_DIR/SKILL.md"
    )
    plant(bench.skill / "SKILL.md")
    before = state(bench.skill), state(bench.skill / "scripts")
    bench.run(script, read_only=False)
    return (state(bench.skill), state(bench.skill / "scripts")) != before


@attempt("the same, where it is in a working directory that can be written")
def own_folder_at_work(bench: Bench) -> bool:
    bench.skill = bench.project / ".skillc" / "skills" / "probe"
    bench.skill.mkdir(parents=True)
    return own_folder(bench)


@attempt("putting another folder in the place of the skill's there")
def another_folder(bench: Bench) -> bool:
    bench.skill = bench.project / "tools" / "skills" / "probe"
    plant(bench.skill / "SKILL.md")
    moves = "mv tools/skills/probe x; mv tools/skills y; mv tools z"
    bench.sh(
        f"{moves}; mkdir -p tools/skills/probe; echo evil > tools/skills/probe/SKILL.md", read_only=False
    )
    return (bench.skill / "SKILL.md").read_text() != SECRET


@attempt("writing in the `.skillc` of a project")
def project_store(bench: Bench) -> bool:
    before = state(plant(bench.project / ".skillc" / "skills.toml").parent)
    bench.sh("echo evil > .skillc/skills.toml; mv .skillc x; mkdir -p .skillc/skills/evil", read_only=False)
    return state(bench.project / ".skillc") != before


@attempt("writing in the user's own `.skillc`, where that is the working directory")
def own_store(bench: Bench) -> bool:
    trust = plant(bench.home / ".skillc" / "trust.json")
    before = state(trust.parent)
    bench.sh("echo evil > trust.json; echo evil > new; mv trust.json old", cwd=trust.parent, read_only=False)
    return state(trust.parent) != before


@attempt("leaving a file in /tmp")
def temporary(bench: Bench) -> bool:
    name = f"skillc-test-{secrets.token_hex(8)}"
    bench.sh(f"echo x > /tmp/{name}; echo x > /var/tmp/{name}; echo x > /dev/shm/{name}")
    left = [
        path for path in (Path("/tmp", name), Path("/var/tmp", name), Path("/dev/shm", name)) if path.exists()
    ]
    for path in left:
        path.unlink()
    return bool(left)


@attempt("planting a git hook in a working directory that can be written")
def hook(bench: Bench) -> bool:
    (bench.project / ".git" / "hooks").mkdir(parents=True)
    bench.sh("echo evil > .git/hooks/pre-commit", read_only=False)
    return (bench.project / ".git" / "hooks" / "pre-commit").exists()


DEVICES = """
import os
try:
    open("/dev/skillc-test", "w").close()
    print("got through")
    os.unlink("/dev/skillc-test")
except OSError:
    pass
try:
    open("/dev/shm/skillc-test", "w").close()
    os.unlink("/dev/shm/skillc-test")
    disk = os.statvfs("/dev/shm")
    print("got through" if disk.f_blocks * disk.f_frsize > 1 << 30 or not disk.f_blocks else "bounded")
except OSError:
    pass
"""


@attempt("a file in /dev, or more than 1 GiB in /dev/shm")
def devices(bench: Bench) -> bool:
    return "got through" in bench.python(DEVICES, read_only=False).output


@attempt("a file of more than 4 GiB")
def large_file(bench: Bench) -> bool:
    return bench.run("truncate", "-s", "5G", "large", read_only=False).success


@attempt("more than that in several files")
def large_files(bench: Bench) -> bool:
    return bench.run("truncate", "-s", "3G", "one", "two", read_only=False).success
