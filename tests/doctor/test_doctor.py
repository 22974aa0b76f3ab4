"""`skc doctor`: each kind of breakage is found, named with what mends it, and never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from skillc import atomic
from skillc.doctor.examination import CHECKS
from skillc.errors import install_command
from skillc.library.records import read_deployments, record_deployments
from skillc.workspace import Workspace
from tests.conftest import World, save
from tests.support.cases import each
from tests.support.git import Origin, Server

Finding = dict[str, Any]


def _doctor(world: World, *words: str, env: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """The JSON, with the status that its errors demand."""
    result = world.skc("doctor", *words, "--format", "json", env=env, **more)
    assert "Traceback" not in result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    errors = [check for check in value["checks"] if check["status"] == "error"]
    assert result.returncode == bool(errors), result.stderr
    assert ("error[E999]" in result.stderr) == bool(errors)
    for check in value["checks"]:
        assert check.keys() == {"name", "status", "message", "fix"}
        assert check["status"] in ("ok", "warning", "error")
        assert "can't be checked" not in check["message"], check
    return value


def _found(world: World, name: str, *words: str, **more: Any) -> list[Finding]:
    """What a check found that is not ok."""
    return [c for c in _doctor(world, *words, **more)["checks"] if c["name"] == name and c["status"] != "ok"]


def _run_fix(finding: Finding, world: World) -> None:
    """Run the command of a finding as a person would, in a shell."""
    script = world.root / "bin"
    script.mkdir(exist_ok=True)
    save(script / "skc", f'#!/bin/sh\nexec {sys.executable} -m skillc "$@"\n')
    (script / "skc").chmod(0o755)
    env = world.env | {"PATH": f"{script}:{world.env['PATH']}"}
    subprocess.run(["sh", "-ec", finding["fix"]], cwd=world.project, env=env, check=True, capture_output=True)


@pytest.mark.slow
def test_an_empty_home(world: World) -> None:
    """[SURFACES: Getting skills] every check says ok, but perhaps for the PATH, and nothing is written."""
    shutil.rmtree(world.project / ".skillc")
    value = _doctor(world)
    names = {check["name"] for check in value["checks"]}
    assert names <= {*CHECKS, "library"}
    assert {check["name"] for check in value["checks"] if check["status"] != "ok"} <= {"path", "sandbox"}
    assert os.listdir(world.home) == []
    text = world.skc("doctor").stdout
    assert "Python" in text
    assert text.rstrip().splitlines()[-1].startswith(("0 errors", "1 error"))


@each("env", [{"HOME": ""}, {"HOME": "{root}/no/home"}, {"SKILLC_HOME": "/dev/null"}])
def test_no_home(world: World, env: dict[str, str]) -> None:
    """[SURFACES: Getting skills] a home that is not there is an error with what to do, and no crash."""
    env = {name: value.format(root=world.root) for name, value in env.items()}
    findings = _found(world, "home", env=env)
    assert [f["status"] for f in findings] == ["error"]
    assert findings[0]["fix"]
    _doctor(world, "--fix", env=env)


@pytest.mark.slow
def test_the_path_of_agents(world: World) -> None:
    """[SURFACES: Getting skills] what counts is the PATH that a login shell gives to agents."""
    own = Path(sys.executable).parent
    script = own / "skc"
    if not script.exists():
        pytest.skip("skc is not installed beside this Python")
    bare = {"PATH": "/usr/bin:/bin"}
    (finding,) = _found(world, "path", env=bare)
    assert finding["status"] == "error"
    assert f"ln -sf {script}" in finding["fix"]
    bash = shutil.which("bash")
    if bash is None:
        return
    shell = {"SHELL": bash, "PATH": f"{own}:/usr/bin:/bin"}
    (finding,) = _found(world, "path", env=shell)
    assert finding["status"] == "warning"
    _run_fix(finding, world)
    (world.home / ".bash_profile").rename(world.home / ".profile")
    assert _found(world, "path", env=shell | bare) == []
    (world.home / ".local" / "bin" / "skc").unlink()
    save(world.home / ".local" / "bin" / "skc", "#!/bin/sh\n")
    (world.home / ".local" / "bin" / "skc").chmod(0o755)
    (finding,) = _found(world, "path", env=shell)
    assert "which is not this one" in finding["message"]


@pytest.mark.slow
def test_a_profile_that_hangs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] a login shell gets some seconds; then the PATH here is what is known."""
    monkeypatch.setattr("skillc.setup.program.SHELL_SECONDS", 0.5)
    bash = shutil.which("bash") or pytest.skip("no bash")
    save(world.home / ".profile", "sleep 100 &\nsleep 100\n")
    _doctor(world, env={"SHELL": bash})
    save(world.home / ".profile", "echo noise; exit 3\n")
    _doctor(world, env={"SHELL": bash})


@pytest.mark.slow
def test_a_server_whose_program_is_gone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] an agent's configuration that starts nothing any more is an error."""
    monkeypatch.setattr("skillc.mcp.rehearsal.SESSIONS", {})  # each would take seconds; tests/mcp does that
    world.ok("mcp", "--install", "cursor")
    world.ok("mcp", "--install", "codex")
    world.ok("mcp", "--install", "claude", "--project")
    assert _found(world, "mcp") == []
    for path in (world.home / ".cursor" / "mcp.json", world.home / ".codex" / "config.toml"):
        save(path, path.read_text().replace(sys.executable, "/gone/bin/python"))
    findings = _found(world, "mcp")
    assert [finding["status"] for finding in findings] == ["error", "error"]
    for finding in findings:
        _run_fix(finding, world)
    assert _found(world, "mcp") == []
    save(world.home / ".gemini.json", "")
    (world.home / ".gemini").mkdir()
    save(world.home / ".gemini" / "settings.json", '{"mcpServers": {"skillc": 7}}')
    assert [finding["status"] for finding in _found(world, "mcp")] == ["warning"]
    save(world.home / ".gemini" / "settings.json", "{ broken")
    assert _found(world, "mcp") == []


@pytest.mark.slow
def test_links_that_lead_nowhere(world: World) -> None:
    """[SURFACES: Getting skills] ours are mended, others are only named."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", "--target", "claude")
    agent = world.home / ".claude" / "skills"
    (agent / "theirs").symlink_to(world.root / "nowhere")
    (agent / "old").symlink_to(world.home / ".skillc" / "runtime" / "old")
    shutil.rmtree(world.home / ".skillc" / "runtime" / "pdf")
    findings = _found(world, "links")
    assert len(findings) == 3
    assert all(finding["fix"] for finding in findings)
    value = _doctor(world, "--fix")
    assert len(value["fixed"]) == 2
    assert value["not_fixed"] == []
    assert (agent / "pdf" / "SKILL.md").is_file()
    assert not (agent / "old").is_symlink()
    assert (agent / "theirs").is_symlink()
    (finding,) = _found(world, "links")
    _run_fix(finding, world)
    assert _found(world, "links") == []


@pytest.mark.slow
def test_ghosts(world: World) -> None:
    """[D51] a deployment whose source is gone is named, and --fix removes what we wrote."""
    for name in ("link", "edited"):
        world.skill(name, store=world.global_store)
        world.ok("build", name, "--target", "claude", *(["--copy"] if name == "edited" else []))
    agent = world.home / ".claude" / "skills"
    save(agent / "edited" / "SKILL.md", "mine")
    shutil.rmtree(world.global_store)
    findings = _found(world, "ghosts")
    assert [finding["fix"] for finding in findings] == ["skc clean", "skc clean"]
    assert _found(world, "links") == []  # it is one finding
    fixed = _doctor(world, "--fix")["fixed"]
    assert any("trash" in text for text in fixed)
    assert os.listdir(agent) == []
    assert read_deployments() == []
    assert _found(world, "ghosts") == []
    world.ok("restore", "edited")
    assert (agent / "edited" / "SKILL.md").read_text() == "mine"


@pytest.mark.slow
def test_names(world: World) -> None:
    """[SURFACES: Getting skills] two skills of one name: in stores, in an agent's folder, in both."""
    world.skill("pdf")
    world.skill("PDF", "---\nname: pdf\ndescription: x\n---\n", store=world.global_store)
    (finding,) = _found(world, "names")
    assert str(world.store / "pdf") in finding["message"]
    shutil.rmtree(world.global_store)
    agent = world.home / ".claude" / "skills"
    for name in ("One", "two"):
        world.skill(name, "---\nname: same\ndescription: x\n---\n", store=agent)
    (finding,) = _found(world, "names")
    assert "'One', 'two'" in finding["message"]
    shutil.rmtree(agent / "two")
    world.skill("pdf", store=agent)
    (finding,) = _found(world, "names")
    assert finding["fix"].startswith("skc import ")


@pytest.mark.slow
def test_stale_builds(world: World) -> None:
    """[SURFACES: Getting skills] --fix builds again and brings copies up to date, but not over edits."""
    world.ok("build", world.skill("pdf").name, "--target", "claude,codex", "--copy")
    world.ok("build", world.skill("edited").name, "--target", "claude", "--copy")
    agent = world.home / ".claude" / "skills"
    for name in ("pdf", "edited"):
        world.skill(name, f"---\nname: {name}\ndescription: NEW\n---\n# x\n")
    save(agent / "edited" / "SKILL.md", "mine")
    commands = [finding["fix"] for finding in _found(world, "builds")]
    assert [command.split()[:3] for command in commands] == [
        ["skc", "build", "edited"],
        ["skc", "build", "pdf"],
    ]
    assert commands[1].count("/skills") == 2  # where it is deployed, and nowhere else
    _doctor(world, "--fix")
    assert _found(world, "builds") == []
    assert "NEW" in (agent / "pdf" / "SKILL.md").read_text()
    assert "NEW" in (world.home / ".codex" / "skills" / "pdf" / "SKILL.md").read_text()
    assert (agent / "edited" / "SKILL.md").read_text() == "mine"
    (finding,) = _found(world, "deployments")
    assert "edited" in finding["message"]


@pytest.mark.slow
def test_deployments(world: World) -> None:
    """[SURFACES: Getting skills] what is gone, replaced, edited, or of an older build."""
    for name in ("gone", "other", "edited", "older"):
        world.ok("build", world.skill(name).name, "--target", "claude", "--copy")
    agent = world.home / ".claude" / "skills"
    assert _found(world, "deployments") == []
    shutil.rmtree(agent / "gone")
    shutil.rmtree(agent / "other")
    save(agent / "other", "a file")
    save(agent / "edited" / "notes.txt", "mine")
    save(world.store / "older" / "SKILL.md", "---\nname: older\ndescription: y\n---\n# y\n")
    world.ok("build", "older", "--target", "codex")
    findings = _found(world, "deployments")
    messages = " ".join(finding["message"] for finding in findings)
    for text in ("not there any more", "something else", "was edited", "older build"):
        assert text in messages
    assert len(_doctor(world, "--fix")["fixed"]) == 1
    assert "y" in (agent / "older" / "SKILL.md").read_text()
    for finding in _found(world, "deployments"):
        _run_fix(finding, world)
    assert _found(world, "deployments") == []
    assert not (agent / "edited").is_symlink()
    assert os.listdir(world.home / ".codex" / "skills") == ["older"]
    kept = world.json("trash", "list")["entries"]
    assert {Path(entry["from"]).name for entry in kept} == {"other", "edited"}


@pytest.mark.slow
def test_a_folder_in_a_project_that_git_tracks(world: World) -> None:
    """[SURFACES: Getting skills] it is mended as it was made: with links to assets, not with copies."""
    subprocess.run(["git", "init", "-q"], cwd=world.project, env=world.env, check=True)
    save(world.project / ".gitignore", ".skillc/runtime/\n")
    source = world.skill("pdf")
    (source / "scripts").mkdir()
    save(source / "scripts" / "a.py", "1")
    world.ok("build", "pdf", "--target", "claude", "--deploy", "project")
    deployed = world.project / ".claude" / "skills" / "pdf"
    assert (deployed / "scripts").is_symlink()
    world.skill("pdf", "---\nname: pdf\ndescription: NEW\n---\n# x\n")
    _doctor(world, "--fix")
    assert "NEW" in (deployed / "SKILL.md").read_text()
    assert (deployed / "scripts").is_symlink()
    assert _found(world, "deployments") == []


CONFIGURATION = """\
[[repositories]]
name = "team"
type = "http"
url = "http://127.0.0.1:{port}"
auth_token = "${{TEAM_TOKEN}}"
"""


@pytest.mark.slow
def test_variables_and_libraries(world: World) -> None:
    """[D57] [D66] an unset variable and a missing library are named with the command that mends them."""
    (world.home / ".skillc").mkdir()
    save(world.home / ".skillc" / "skills.toml", CONFIGURATION.format(port=9))
    (finding,) = _found(world, "variables")
    assert "TEAM_TOKEN" in finding["message"]
    assert finding["fix"] == "export TEAM_TOKEN=…"
    assert _found(world, "repositories") == []  # it is not asked while the variable is missing
    blocker = world.root / "blocker"
    blocker.mkdir()
    text = (
        "import importlib.metadata as m\nm.requires = lambda name: ['no.thing>=2', 'other; extra == \"x\"']\n"
    )
    save(blocker / "sitecustomize.py", text)
    (finding,) = _found(world, "libraries", env={"PYTHONPATH": str(blocker)}, prefix=("env",))
    assert (finding["message"], finding["fix"]) == ("no.thing is not installed", install_command())


@pytest.mark.slow
def test_single_findings(world: World) -> None:
    """[SURFACES: Getting skills] [D56] a variable, skills that are switched off, a broken skill, and a
    file for a folder.
    """
    save(world.project / ".skillc" / "skills.toml", CONFIGURATION.format(port=9))
    (finding,) = _found(world, "variables", env={"TEAM_TOKEN": "secret-value"})
    assert finding["fix"].startswith("skc trust allow --variable TEAM_TOKEN")
    save(world.project / ".skillc" / "skills.toml", "enabled = false\nunknown = 1\n")
    messages = [finding["message"] for finding in _found(world, "configuration")]
    assert any("enabled = false" in message for message in messages)
    assert any("unknown" in message for message in messages)
    (world.project / ".skillc" / "skills.toml").unlink()
    world.skill("broken", "no frontmatter")
    (finding,) = _found(world, "builds")
    assert (finding["status"], finding["fix"]) == ("error", "skc lint broken")
    (finding,) = _found(world, "library")
    assert finding["message"].startswith("1 skill with E011: ")
    assert finding["fix"] == "skc doctor --library --code E011"
    shutil.rmtree(world.home / ".skillc", ignore_errors=True)
    save(world.home / ".skillc", "x")
    (finding,) = _found(world, "home")
    _run_fix(finding, world)
    assert _found(world, "home") == []


@pytest.mark.slow
def test_repositories(world: World, origin: Origin, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] all are asked at once, for some seconds and once; secrets do not show."""
    monkeypatch.setattr("skillc.doctor.machine.PATIENCE", 2.0)
    origin.skill("pdf")
    origin.push("pdf")
    deaf = socket.socket()
    deaf.bind(("127.0.0.1", 0))
    deaf.listen()
    port = deaf.getsockname()[1]
    tables = [
        CONFIGURATION.format(port=port),
        CONFIGURATION.format(port=1).replace('"team"', '"refused"'),
        f'[[repositories]]\nname = "git"\ntype = "git"\nurl = "{server.url}"\n',
        f'[[repositories]]\nname = "gone"\ntype = "filesystem"\npath = "{world.root}/x"\nrequired = true\n',
        f'[[repositories]]\nname = "hangs"\ntype = "git"\nurl = "http://127.0.0.1:{port}/x.git"\n',
    ]
    (world.home / ".skillc").mkdir()
    save(world.home / ".skillc" / "skills.toml", "\n".join(tables))
    findings = _found(world, "repositories", env={"TEAM_TOKEN": "secret-value"})
    assert _accepted(deaf) == 2
    deaf.close()
    by_name = {f["fix"].removeprefix("skc repo sync "): f["status"] for f in findings}
    assert by_name == {"team": "warning", "refused": "warning", "hangs": "warning", "gone": "error"}
    assert "secret-value" not in json.dumps(findings)


def _accepted(listener: socket.socket) -> int:
    """Count the connections that wait to be answered."""
    listener.setblocking(False)
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


@pytest.mark.slow
@each(
    ("name", "content"),
    product(["config.toml", "skills.toml"], [b"a = ", b"\xff\xfe", b"a." * 10_000 + b"a = 1", None]),
)
def test_configuration(world: World, name: str, content: bytes | None) -> None:
    """[SURFACES: Getting skills] a file that can't be read is named; every other check goes on."""
    path = world.home / ".skillc" / name
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if content is None else save(path, content)
    findings = _found(world, "configuration")
    atomic.discard(str(path))
    assert name in findings[0]["message"]
    assert findings[0]["status"] == ("error" if name == "skills.toml" else "warning")


BROKEN: dict[str, bytes] = {
    "trust.json": b"{}",
    "variables.json": b"[" * 100_000,
    "deployments.json": b'{"deployments": 7}',
    "deployments.json ": b"[" * 100_000,
    "imports/0.json": b"\xff",
}


@pytest.mark.slow
@each("name", sorted(BROKEN))
def test_damaged_records(world: World, name: str) -> None:
    """[SURFACES: Getting skills] each damaged file is named; doctor and --fix leave it as it is."""
    atomic.discard(str(world.home / ".skillc"))
    path = world.home / ".skillc" / name.strip()
    path.parent.mkdir(parents=True)
    save(path, BROKEN[name])
    path.chmod(0o600)
    (finding,) = _found(world, "records")
    assert finding["fix"]
    _doctor(world, "--fix")
    assert path.read_bytes() == BROKEN[name]
    if path.parent.name == ".skillc":
        _run_fix(finding, world)
        assert _found(world, "records") == []


@pytest.mark.slow
def test_records_that_are_no_files(world: World) -> None:
    """[SURFACES: Getting skills] directories and pipes in place of files block nothing."""
    own = world.home / ".skillc"
    own.mkdir()
    (own / "variables.json").mkdir()
    for name in ("trust.json", "deployments.json", "disabled.json"):
        os.mkfifo(own / name)
    findings = _found(world, "records")
    assert [finding["status"] for finding in findings] == ["error"] * 4
    for finding in findings:
        _run_fix(finding, world)
    assert _found(world, "records") == []


@pytest.mark.slow
def test_permissions(world: World) -> None:
    """[SURFACES: Getting skills] what others can write is an error; --fix mends what is the user's own."""
    world.skill("pdf", store=world.global_store)
    own = world.home / ".skillc"
    save(own / "variables.json", '{"version": 1, "variables": []}')
    (own / "variables.json").chmod(0o644)
    for path in (own, own / "skills"):
        path.chmod(0o777)
    statuses = [finding["status"] for finding in _found(world, "home")]
    assert statuses == ["error", "error", "warning"]
    assert len(_doctor(world, "--fix")["fixed"]) == 3
    assert own.stat().st_mode & 0o777 == 0o755
    assert (own / "variables.json").stat().st_mode & 0o777 == 0o600
    assert _found(world, "home") == []
    save(own / "trust.json", "{}")
    (own / "trust.json").chmod(0o666)
    _doctor(world, "--fix")
    assert (own / "trust.json").stat().st_mode & 0o777 == 0o666  # a person has to look at it first


@pytest.mark.slow
def test_an_ordinary_user(world: World, unprivileged: tuple[str, ...]) -> None:
    """[SURFACES: Getting skills] folders that can't be read or written are named, and ours mended."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", "--target", "claude")
    own, agent = world.home / ".skillc", world.home / ".claude" / "skills"
    (own / "runtime").chmod(0o000)
    agent.chmod(0o500)
    try:
        value = _doctor(world, prefix=unprivileged)
        broken = {c["name"] for c in value["checks"] if c["status"] != "ok"}
        assert {"home", "agents"} <= broken
        own.chmod(0o000)
        assert _found(world, "home", prefix=unprivileged)
        _doctor(world, "--fix", prefix=unprivileged)
        assert own.stat().st_mode & 0o700 == 0o700
        _doctor(world, "--fix", prefix=unprivileged)
        assert (own / "runtime").stat().st_mode & 0o700 == 0o700
    finally:
        for path in (own, own / "runtime", agent):
            path.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_others(world: World) -> None:
    """[SURFACES: Getting skills] what a command under sudo left behind, and another user's project."""
    world.skill("pdf", store=world.global_store)
    os.chown(world.global_store / "pdf", 12345, 12345)
    (finding,) = _found(world, "home")
    assert "chown" in finding["fix"]
    os.chown(world.project / ".skillc", 12345, 12345)
    (finding,) = _found(world, "owners")
    assert finding["fix"] == f"export SKILLC_SAFE_DIRECTORIES={world.project}"


@pytest.mark.slow
def test_leftovers(world: World) -> None:
    """[SURFACES: Getting skills] --fix removes what killed processes left; orphans are for clean."""
    path = world.home / ".skillc" / ".x.1-00000000.tmp"
    path.parent.mkdir()
    save(path, "x")
    os.utime(path, (1, 1))
    source = world.skill("pdf")
    world.ok("build", "pdf")
    shutil.rmtree(source)
    assert [finding["fix"] for finding in _found(world, "leftovers")] == ["skc clean", "skc clean"]
    _doctor(world, "--fix")
    assert not path.exists()
    assert len(_found(world, "leftovers")) == 1
    world.ok("clean", "--yes")
    assert _found(world, "leftovers") == []


def test_space_and_trash(world: World) -> None:
    """[SURFACES: Getting skills] [D52] what it takes is told; a note of which a byte changed is named."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf")
    checks = {check["name"]: check["message"] for check in _doctor(world)["checks"]}
    assert "skills " in checks["space"]
    assert "runtime " in checks["space"]
    assert checks["trash"].startswith("0 items")
    world.ok("remove", "pdf", "--yes", cwd=world.home)
    (note,) = (world.home / ".skillc/trash").glob("*/note.json")
    note.write_text(note.read_text().replace("skills/pdf", "skills/pdg"))
    (finding,) = _found(world, "records")
    assert note.parent.name in finding["message"]
    assert finding["fix"] == "skc trash list"


def _no_shell(_: World) -> None:
    pass


def _break_everything(world: World) -> None:
    own = world.home / ".skillc"
    for name in ("skills", "runtime", "cache", "imports", "trash", "logs"):
        save(own / name, "a file")
    for name in ("trust.json", "variables.json", "deployments.json", "skills.toml", "config.toml"):
        (own / name).mkdir()


def _loop(world: World) -> None:
    own = world.home / ".skillc"
    (own / "skills").symlink_to(own / "skills")
    (own / "runtime").symlink_to("runtime")
    (world.home / ".claude").mkdir()
    (world.home / ".claude" / "skills").symlink_to("skills")


def _odd_names(world: World) -> None:
    agent = world.home / ".claude" / "skills"
    agent.mkdir(parents=True)
    for name in (b"\xff\xfe", b"\x1b[31mred", b"new\nline", "ü".encode() * 100):
        os.symlink(b"/nowhere/" + name, os.path.join(os.fsencode(agent), name))
        os.makedirs(os.path.join(os.fsencode(world.home / ".skillc" / "runtime"), name, b".skillc"))


def _odd_records(world: World) -> None:
    entry = dict.fromkeys(("skill", "source", "runtime", "target", "path", "method", "digest"), "\x00")
    other = dict.fromkeys(entry, "") | {"path": "/", "method": "copy", "source": "relative"}
    text = json.dumps({"version": 1, "deployments": [entry, other]})
    save(world.home / ".skillc" / "deployments.json", text)


@pytest.mark.slow
@each("damage", [_no_shell, _break_everything, _loop, _odd_names, _odd_records])
def test_whatever_is_broken(world: World, damage: Callable[[World], None]) -> None:
    """[SURFACES: Getting skills] every check ends with a finding, for people and programs alike."""
    for name in (".skillc", ".claude"):
        atomic.discard(str(world.home / name))
    (world.home / ".skillc").mkdir()
    damage(world)
    for words in (("--format", "json"), ("--format", "text"), ("--fix", "--format", "json"), ("--fix",)):
        result = world.skc("doctor", *words)
        assert "Traceback" not in result.stderr
        assert result.returncode in (0, 1), result.stderr
        assert "versions" in result.stdout
        assert "\x1b" not in result.stdout
    clean = world.skc("clean", "--yes", "--format", "json")
    assert "Traceback" not in clean.stderr
    assert json.loads(clean.stdout)["entries"] is not None


@pytest.mark.slow
def test_lock_and_stores(world: World) -> None:
    """[SURFACES: Lock file] what is missing or edited is named with the command that shows or mends it."""
    save(world.project / "skills-lock.json", '{"version": 1, "skills": {"pdf": {"source": "x/y"}}}\n')
    findings = _found(world, "lock")
    assert {finding["status"] for finding in findings} == {"warning"}
    assert {finding["fix"] for finding in findings} == {"skc install"}
    for text in ("{", "[]", '{"version": 9, "skills": {}}', "<<<<<<< HEAD\n"):
        save(world.project / "skills-lock.json", text)
        (finding,) = _found(world, "lock")
        assert finding["status"] == "error"
        assert "skills-lock.json" in finding["message"]
    save(world.project / "skills-lock.json", '{"version": 1, "skills": {}}\n')
    assert _found(world, "lock") == []


@pytest.mark.slow
def test_disabled_skills(world: World) -> None:
    """[SURFACES: Getting skills] they are named; one that an agent has all the same is a warning."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", "--target", "claude")
    link = world.home / ".claude" / "skills" / "pdf"
    target, record = link.readlink(), read_deployments()
    world.ok("disable", "pdf")
    checks = {check["name"]: check for check in _doctor(world)["checks"]}
    assert checks["disabled"]["message"].startswith("pdf (disabled")
    link.symlink_to(target)
    record_deployments(record)
    (finding,) = _found(world, "disabled")
    _run_fix(finding, world)
    assert not link.is_symlink()
    assert _found(world, "disabled") == []
    save(world.home / ".skillc" / "disabled.json", "{")
    (finding,) = _found(world, "records")
    _run_fix(finding, world)
    assert _found(world, "records") == []


@pytest.mark.slow
def test_no_program_of_a_project_is_started(world: World) -> None:
    """[SURFACES: Getting skills] a clone's configuration of agents, shells and tools is read, never run."""
    mark = world.root / "started"
    program = world.project / "skc"
    save(program, f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name, key in ((".mcp.json", "mcpServers"), ("opencode.json", "mcp")):
        entry = {key: {"skillc": {"command": str(program), "args": ["mcp"]}}}
        save(world.project / name, json.dumps(entry))
    for name in (".profile", ".bash_profile", ".zprofile"):
        save(world.project / name, f"touch {mark}\n")
    save(
        world.project / ".skillc" / "skills.toml",
        f'[[repositories]]\nname = "m"\ntype = "mcp"\ncommand = ["{program}"]\n',
    )
    env = {"SHELL": shutil.which("bash") or "/bin/sh", "PATH": f"{world.env['PATH']}"}
    _doctor(world, env=env)
    _doctor(world, "--fix", env=env)
    assert not mark.exists()


def test_many_skills(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] the record of deployments is read as often for ten skills as for two."""
    from skillc.library.records import deployments

    for variable, text in world.env.items():
        monkeypatch.setenv(variable, text)
    reads: list[int] = []
    read = deployments._read
    monkeypatch.setattr(deployments, "_read", lambda: reads.append(1) or read())  # type: ignore[func-returns-value]
    counts = []
    for names in (("a", "b"), tuple("cdefghij")):
        for name in names:
            world.skill(name, store=world.global_store)
        world.ok("build", "--all", cwd=world.home)
        reads.clear()
        here = Workspace(str(world.home))
        here.doctor()
        here.verify(is_global=True)
        counts.append(len(reads))
    assert counts[0] == counts[1]
