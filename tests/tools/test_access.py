"""What a command may reach: as root and as an ordinary user, in each sandbox, whatever HOME says."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from skillc.tools import sandbox
from skillc.tools.environment import build_environment, list_programs
from skillc.tools.sandbox import Launch
from skillc.tools.sandbox.access import access_rules
from skillc.tools.sandbox.landlock import remove_tree
from tests.support.examples import sample
from tests.tools.conftest import Bench
from tests.tools.levels import works
from tests.tools.machine import ORDINARY, ROOT, USERS, Machine

pytestmark = pytest.mark.slow

SECRET = "planted-secret"
HOMES = ("set", "unset", "empty", "missing", "another", "link", "relative")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can enter, unlike those of pytest, with an empty home."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="skillc-test-")))
    folder.chmod(0o755)
    (folder / "home").mkdir()
    yield folder
    remove_tree(str(folder))  # a command may have left a folder that cannot be entered


LEVELS = (sandbox.BUBBLEWRAP, sandbox.LANDLOCK)


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    """Each sandbox that works here."""
    works(request.param)
    return str(request.param)


@pytest.fixture(params=USERS, ids=["root", "ordinary"])
def user(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def plant(path: Path, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    path.chmod(mode)
    return path


def launch(
    place: Path, level: str, *argv: str, cwd: Path, home: str | None, read_only: bool = False, path: str = ""
) -> Launch:
    """A command of the skill `place/skill`, as `skc run` would start it."""
    skill = place / "skill"
    skill.mkdir(exist_ok=True)
    parent = {"PATH": f"{path}:/usr/bin:/bin"} | ({} if home is None else {"HOME": home})
    env = build_environment("probe", str(skill), "Global", parent)
    return Launch(argv, str(cwd), env, str(skill), 60.0, False, read_only, level)


def home_variable(place: Path, kind: str) -> str | None:
    """HOME, right or wrong; the account's home directory is `place/home` in all cases."""
    (place / "link").symlink_to(place / "home")
    (place / "another").mkdir(mode=0o700)
    values = {"empty": "", "relative": "home", "set": str(place / "home")}
    return None if kind == "unset" else values.get(kind, str(place / kind))


def everywhere(kinds: Iterable[str]) -> pytest.MarkDecorator:
    """Try each kind; at the gate, in one or two of the four pairs of a sandbox and a user."""
    cases = tuple(sample(product(kinds, LEVELS, USERS), 3))
    return pytest.mark.parametrize(("kind", "level", "user"), cases, indirect=["level", "user"])


@everywhere(HOMES)
def test_home(place: Path, level: str, user: int, kind: str) -> None:
    """[D45] the account's home directory stays closed, also as the working directory and without HOME."""
    machine = Machine(user, place / "home")
    secrets = [plant(place / "home" / name) for name in (".ssh/id_ed25519", ".netrc", ".local/share/key")]
    plant(place / "home" / ".local" / "bin" / "tool")
    letter = place / "home" / "papers" / "letter.txt"
    plant(letter).write_text("letter\n")
    machine.own(place / "home")
    home = home_variable(place, kind)
    names = " ".join(str(path) for path in secrets)
    read = f"cat papers/letter.txt; cat {names} {place}/link/.netrc; ls -a . {place}/home"
    write = f"echo new > papers/new; echo x > {place}/home/.profile"
    write += f"; ln -s {place}/home/.ssh papers/x; cat papers/x/*"
    programs = f"{place}/home/.local/bin"
    options = {"cwd": place / "home", "home": home, "path": programs}
    commands = [launch(place, level, "/bin/sh", "-c", text, **options) for text in (read, write)]  # type: ignore[arg-type]
    elsewhere = launch(place, level, "/bin/sh", "-c", read, cwd=place / "skill", home=home, path=programs)
    outputs = [envelope["output"] for envelope in machine.run(*commands, elsewhere, home=home)]
    assert outputs[0].startswith("letter\n")
    assert (place / "home" / "papers" / "new").exists()
    assert not any(SECRET in output or "\n.netrc\n" in output for output in outputs)
    assert "letter" not in outputs[2].splitlines()
    assert not (place / "home" / ".profile").exists()


@everywhere(["relative", "dots", "dots behind a link", "a link"])
def test_home_by_any_name(place: Path, level: str, user: int, kind: str) -> None:
    """[D45] the home that skc takes HOME for stays closed, however HOME is written."""
    machine = Machine(user, place / "account")
    (place / "account").mkdir()
    (place / "deep" / "inner").mkdir(parents=True)
    (place / "link").symlink_to(place / "home")
    (place / "inner").symlink_to(place / "deep" / "inner")
    plant(place / "home" / ".ssh" / "id_ed25519")
    plant(place / "home" / "papers" / "letter.txt").write_text("letter\n")
    machine.own(place / "home")
    home = {
        "relative": str(place / "home").lstrip("/"),  # the caller is in /
        "dots": f"{place}/deep/../home",
        "dots behind a link": f"{place}/inner/../home",
        "a link": str(place / "link"),
    }[kind]
    text = "cat papers/letter.txt .ssh/id_ed25519; ls -a"
    command = launch(place, level, "/bin/sh", "-c", text, cwd=place / "home", home=home)
    (envelope,) = machine.run(command, home=home)
    assert envelope["output"].startswith("letter\n")
    assert SECRET not in envelope["output"]


def test_home_of_its_own(place: Path, level: str, user: int) -> None:
    """[D45] whatever HOME says, the command has a home directory and a place for temporary files."""
    machine = Machine(user, place / "home")
    (place / "project").mkdir()
    machine.own(place / "home", place / "project")
    for kind in ("set", "missing", "link"):
        shutil.rmtree(place / "another", ignore_errors=True)
        (place / "link").unlink(missing_ok=True)
        home = home_variable(place, kind)
        text = "echo x > ~/new && cat ~/new && echo y > $TMPDIR/new && echo z > here"
        command = launch(place, level, "/bin/sh", "-c", text, cwd=place / "project", home=home)
        (envelope,) = machine.run(command, home=home)
        assert (envelope["output"], envelope["success"]) == ("x\n", True)
        assert not (place / "home" / "new").exists()
        assert not (place / "missing").exists()


STORES = {  # the working directory, SKILLC_HOME and `.skillc`, each below the place
    "below it": ("work", "work/sub", "work/sub/.skillc"),
    "in it": ("work", "work", "work/.skillc"),
    "not yet there": ("work", "work", ""),
    "the working directory itself": ("home/.skillc", "", "home/.skillc"),
    "above it": ("home/.skillc/skills/probe", "", "home/.skillc"),
    "a link": ("work", "", "work/skillc"),
}
ATTACK = """
for folder in {store} .skillc sub/.skillc; do
  mkdir -p $folder; echo evil > $folder/trust.json; echo evil > $folder/new; rm -f $folder/trust.json
  mv $folder moved; mv $(dirname $folder) moved-above; mkdir -p $folder; echo evil > $folder/trust.json
  ln -s $folder alias; echo evil > alias/trust.json
done
true
"""


@everywhere(STORES)
def test_decisions(place: Path, level: str, user: int, kind: str) -> None:
    """[D45] [D46] nothing in the user's `.skillc` can be written, wherever the working directory is."""
    machine = Machine(user, place / "home")
    cwd, root, store = STORES[kind]
    (place / cwd).mkdir(parents=True, exist_ok=True)
    folder = place / (store or "work/.skillc")
    if store:
        plant(folder / "trust.json", 0o600)
    if kind == "a link":
        (place / "home" / ".skillc").symlink_to(folder)
    machine.own(*(place / name for name in ("home", "work") if (place / name).exists()))
    home = str(place / "home")
    text = ATTACK.format(store=folder)
    command = launch(place, level, "/bin/sh", "-c", text, cwd=place / cwd, home=home)
    variables = {"SKILLC_HOME": str(place / root)} if root else {}
    (envelope,) = machine.run(command, home=home, **variables)
    assert "error" not in envelope, envelope
    entries = {"trust.json"} if store else set()
    assert {*os.listdir(folder)} - {"skills"} == entries
    if store:
        assert (folder / "trust.json").read_text() == SECRET


def test_work_beside_decisions(place: Path, level: str) -> None:
    """[D45] where the working directory holds the user's `.skillc`, the rest of it can be used."""
    plant(place / "work" / ".skillc" / "trust.json")
    (place / "work" / "docs").mkdir()
    skill = plant(place / "work" / ".skillc" / "skills" / "probe" / "SKILL.md").parent
    text = f"echo x > docs/new && cat docs/new && cat {skill}/SKILL.md"
    command = launch(place, level, "/bin/sh", "-c", text, cwd=place / "work", home=str(place / "home"))
    command = replace(command, skill_dir=str(skill))
    machine = Machine(os.geteuid(), place / "home")
    (envelope,) = machine.run(command, home=str(place / "home"), SKILLC_HOME=str(place / "work"))
    assert envelope["output"] == f"x\n{SECRET}"


LINES = (  # what a script's first line may say
    *("#!/usr/bin/env {place}/private/tool", "#!/usr/bin/env -S {place}/private/tool"),
    *("#!/usr/bin/env ../private/tool", "#!/usr/bin/env {place}/private/../private/tool"),
    *("#!{place}/private/tool", "#!{skill}/link", "#!{skill}/folder/tool"),
)


def test_first_line(place: Path, level: str, user: int) -> None:
    """[D41] [D45] a script of the skill opens no folder, whatever program its first line names."""
    machine = Machine(user, place / "home")
    plant(place / "private" / "key")
    tool = plant(place / "private" / "tool", 0o755)
    tool.write_text(f"#!/bin/sh\ncat {place}/private/key\n")
    tool.chmod(0o755)
    skill, project = place / "skill", place / "project"
    for folder in (skill, project):
        folder.mkdir()
        (folder / "link").symlink_to(tool)
        (folder / "folder").symlink_to(tool.parent)
    commands = []
    for number, line in enumerate(LINES):
        for folder, path in ((skill, ""), (project, str(project)), (project, f"{project}/folder")):
            script = plant(folder / f"script{number}", 0o755)
            script.write_text(line.format(place=place, skill=folder) + "\n")
            home = str(place / "home")
            commands.append(launch(place, level, str(script), cwd=project, home=home, path=path))
    machine.own(place / "home", skill, project)
    assert not any(SECRET in envelope["output"] for envelope in machine.run(*commands, home=home))


def test_programs_of_a_script(tmp_path: Path) -> None:
    """[D41] [D45] a plain name is looked up; a path counts only in a script that is trusted."""
    tool = plant(tmp_path / "bin" / "tool", 0o755)
    script = tmp_path / "script"
    for line, programs in (
        ("#!/usr/bin/env tool", [str(tool)]),
        ("#!/usr/bin/env -S tool -x", [str(tool)]),
        (f"#!/usr/bin/env {tool}", []),
        (f"#!{tool}", []),
        ("#!bin/tool", []),
        ("#!/usr/bin/env", []),
    ):
        script.write_text(f"{line}\n")
        path = str(tmp_path / "bin")
        assert list_programs(str(script), path, lambda path: path != str(script)) == [str(script), *programs]
    script.write_text(f"#!/usr/bin/env {tool}\n")
    assert list_programs(str(script), "", lambda path: True) == [str(script), str(tool)]


def test_virtual_environment(bench: Bench) -> None:
    """[D45] a program of a virtual environment in the project works: it links to one that is elsewhere."""
    real = bench.home / ".pythons" / "3.99" / "bin" / "python"
    plant(real, 0o755).write_text("#!/bin/sh\n. ${0%/*}/../lib/part\n")
    real.chmod(0o755)
    plant(real.parent.parent / "lib" / "part").write_text("echo from the prefix\n")
    plant(real.parent.parent / "credentials")
    folder = bench.project / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(real)
    (folder / "tool").write_text(f"#!{folder}/python\n")
    (folder / "tool").chmod(0o755)
    (folder.parent / "lib").symlink_to(real.parent.parent / "lib")
    bench.parent["PATH"] = f"{folder}:/usr/bin:/bin"
    assert bench.run("tool").output == "from the prefix\n"
    if bench.level != "none":
        assert SECRET not in bench.run("cat", str(real.parent.parent / "credentials")).output


def test_files_of_root(place: Path, level: str) -> None:
    """[D45] what only root can read is closed to a command of root, wherever the system has it."""
    if os.geteuid() != ROOT:
        pytest.skip("only root can read such files")
    etc, opt, local = place / "etc", place / "opt", place / "local"
    shutil.copytree("/etc", etc, symlinks=True)
    secrets = [
        plant(etc / "backup.key", 0o600),
        plant(etc / "service" / "conf.d" / "password", 0o640),
        plant(etc / "closed" / "password"),
        plant(opt / "app" / ".env", 0o600),
        plant(opt / "app" / "data" / "deep" / "token", 0o400),
        plant(local / "etc" / "token", 0o600),
        plant(opt / "large" / "data" / "token", 0o600),
    ]
    (etc / "closed").chmod(0o700)
    for number in range(2500):
        (opt / "large" / str(number)).touch()
    names = (etc / "plain.conf", opt / "app/share/text", opt / "large/lib/a", local / "etc/plain.conf")
    plain = [plant(name) for name in names]
    folders = (("/etc", etc), ("/opt", opt), ("/usr/local", local))
    machine = Machine(ROOT, place / "home")
    for name, folder in folders:
        machine.options += ("--ro-bind", str(folder), name)
    accounts = place / "passwd"
    machine.options += ("--ro-bind", str(accounts), "/etc/passwd")

    def there(path: Path) -> str:
        return next(
            f"{name}/{path.relative_to(folder)}" for name, folder in folders if path.is_relative_to(folder)
        )

    home = str(place / "home")
    commands = [
        launch(place, level, "/bin/cat", there(path), cwd=place / "skill", home=home)
        for path in (*secrets, *plain)
    ]
    outputs = [envelope["output"] for envelope in machine.run(*commands, home=home)]
    assert [SECRET in output for output in outputs] == [False] * len(secrets) + [True] * len(plain)


def test_work_in_the_system(place: Path, level: str) -> None:
    """[D45] root works in /opt as anywhere: the rules for the system leave the working directory alone."""
    app = place / "opt" / "app"
    plant(app / ".env", 0o600)
    (app / "src").mkdir()
    for number in range(300):
        (app / str(number)).touch()
    machine = Machine(ROOT, place / "home", "--bind", str(place / "opt"), "/opt")
    text = "cat .env && echo new > src/new && echo new > new"
    home = str(place / "home")
    command = launch(place, level, "/bin/sh", "-c", text, cwd=Path("/opt/app"), home=home)
    (envelope,) = machine.run(command, home=home)
    assert (envelope["output"], envelope["success"]) == (SECRET, True)


@pytest.mark.parametrize("kind", ["set", "unset"])
def test_home_in_the_system(place: Path, level: str, kind: str) -> None:
    """[D45] the home directory of a service is closed, also if that is in /opt."""
    service = place / "opt" / "service"
    plant(service / ".ssh" / "key", 0o600)
    machine = Machine(ORDINARY, Path("/opt/service"), "--bind", str(place / "opt"), "/opt")
    machine.accounts = place / "passwd"
    machine.own(service)
    home = "/opt/service" if kind == "set" else None
    folders = (place / "skill", Path("/opt/service"))
    read = ("/bin/cat", "/opt/service/.ssh/key")
    commands = [launch(place, level, *read, cwd=folder, home=home) for folder in folders]
    assert not any(SECRET in envelope["output"] for envelope in machine.run(*commands, home=home))


def test_files_of_a_group(place: Path, level: str) -> None:
    """[D45] the system's secrets are closed to a user that is in the group of one."""
    if os.geteuid() != ROOT:
        pytest.skip("only root can give a file to a group")
    etc = place / "etc"
    shutil.copytree("/etc", etc, symlinks=True)
    machine = Machine(ORDINARY, place / "home", "--ro-bind", str(etc), "/etc")
    machine.options += ("--ro-bind", str(place / "passwd"), "/etc/passwd")
    plant(etc / "shadow", 0o640)
    os.chown(etc / "shadow", 0, ORDINARY)
    home = str(place / "home")
    (envelope,) = machine.run(
        launch(place, level, "/bin/cat", "/etc/shadow", cwd=place / "skill", home=home), home=home
    )
    assert SECRET not in envelope["output"]


def test_the_users_own_store_is_not_opened(bare: Bench) -> None:
    """[D45] what is protected where the working directory holds it is not opened elsewhere."""
    rules = access_rules(bare.launch("true", read_only=False))
    assert str(bare.home / ".skillc") not in rules
    assert rules[str(bare.home)] == "hide"


SHARED_MEMORY = """
import mmap, time
keep = mmap.mmap(-1, 9 << 30, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x4000)
time.sleep(3)
print("kept")
"""
HIDDEN_MEMORY = """
import ctypes
ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: others can't read what it has mapped
"""


def test_shared_memory(place: Path, level: str, user: int) -> None:
    """[D45] shared memory is counted, also where the process hides what it has mapped."""
    machine = Machine(user, place / "home")
    home = str(place / "home")
    codes = (SHARED_MEMORY, HIDDEN_MEMORY + SHARED_MEMORY)
    python = (sys.executable, "-I", "-S", "-c")
    commands = [launch(place, level, *python, code, cwd=place / "skill", home=home) for code in codes]
    for envelope in machine.run(*commands, home=home):
        assert envelope["error"] == "ended: it had more than 8 GiB of shared memory"
