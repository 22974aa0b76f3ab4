"""Variables that a project's skills.toml uses: only those that the user allowed, for that host."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from skillc.errors import InvalidConfiguration
from skillc.library.repositories import SkillsConfig
from skillc.library.repositories.variables import (
    VariableUse,
    allow_variables,
    allowed_variables,
    check_variables,
    uses_of,
)
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Stub
from tests.support.terminal import on_terminal

SECRET = {"GITHUB_TOKEN": "ghp_0123456789"}


def configure(root: Path, url: str, token: str = "${GITHUB_TOKEN}", kind: str = "http") -> Path:
    file = root / ".skillc" / "skills.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'[[repositories]]\nname = "theirs"\ntype = "{kind}"\nurl = "{url}"\nauth_token = "{token}"\n'
        '[[repositories]]\nname = "own"\ntype = "filesystem"\npath = ".skillc/skills"\n'
    )
    return file


def tokens(stub: Stub) -> list[str | None]:
    return [request.headers.get("authorization") for request in stub.requests]


@pytest.fixture
def mine(world: World) -> None:
    world.skill("pdf")
    world.skill("pdf", store=world.global_store)


COMMANDS = (
    ("browse",),
    ("find", "a task for pdf"),
    ("load", "theirs/skill"),
    ("inventory",),
    ("doctor", "--library"),
    ("repo", "list"),
    ("repo", "sync"),
    ("show", "theirs/skill", "--section", "x"),
    ("turn", "/pdf go"),
)


@pytest.mark.slow
@each("kind", ["http", "git", "mcp"])
def test_clone_gets_no_variable(world: World, stub: Stub, mine: None, kind: str) -> None:
    """[D24] a project that was cloned reaches its server with no command and no variable."""
    configure(world.project, f"{stub.url}/x", kind=kind)
    for words in COMMANDS:
        run = world.skc(*words, env=SECRET)
        assert SECRET["GITHUB_TOKEN"] not in run.stdout + run.stderr
        assert "Traceback" not in run.stderr
    assert stub.requests == []


@pytest.mark.slow
def test_reason_says_what_to_run(world: World, stub: Stub, mine: None) -> None:
    """[D24] [D57] the repository is unavailable, the others work, and the reason holds the command."""
    configure(world.project, stub.url)
    run = world.ok("browse", env=SECRET)
    assert "pdf" in run.stdout
    assert f"may not send the variable GITHUB_TOKEN to {stub.url}; to allow it" in run.stderr
    command = shlex.split(run.stderr.rpartition("run there: skc ")[2])
    world.ok(*command)
    assert "W200" not in world.ok("browse", env=SECRET).stderr
    assert set(tokens(stub)) == {"Bearer ghp_0123456789"}
    listing = world.json("trust", "list")
    use = {"project": str(world.project), "host": stub.url, "variable": "GITHUB_TOKEN"}
    assert listing["variables"] == [use]
    assert stub.url in world.ok("trust", "list").stdout
    world.ok("trust", "prune", *command[2:])
    assert "W200" in world.ok("browse", env=SECRET).stderr


def test_required_fails(world: World, stub: Stub, mine: None) -> None:
    """[D24] [D57] a required one fails the command; `skc trust` allows only what the file asks for."""
    file = configure(world.project, stub.url)
    file.write_text(file.read_text().replace('name = "theirs"', 'name = "theirs"\nrequired = true'))
    assert "skc trust allow" in world.fails("E200", "browse", env=SECRET).stderr
    assert stub.requests == []
    configure(world.project, stub.url)
    run = world.fails("E100", "trust", "allow", "--variable", "OTHER", "--host", stub.url)
    assert f"it uses GITHUB_TOKEN for {stub.url}" in run.stderr
    world.fails("E100", "trust", "allow", "--variable", "GITHUB_TOKEN")
    world.fails("E100", "trust", "deny", "--variable", "GITHUB_TOKEN", "--host", stub.url)


@pytest.mark.slow
def test_changes_ask_again(world: World, stub: Stub, mine: None) -> None:
    """[D24] another host, another variable or another place of the project is not covered."""
    configure(world.project, stub.url)
    world.ok("trust", "allow", "--variable", "GITHUB_TOKEN", "--host", stub.url)
    configure(world.project, stub.url.replace("127.0.0.1", "localhost"))
    assert "W200" in world.ok("browse", env=SECRET).stderr
    configure(world.project, stub.url, "${AWS_SECRET}")
    assert "AWS_SECRET" in world.ok("browse", env={"AWS_SECRET": "x" * 20}).stderr
    configure(world.project, stub.url)
    moved = world.project.rename(world.root / "moved")
    assert "W200" in world.ok("browse", cwd=moved, env=SECRET).stderr
    assert stub.requests == []


@pytest.mark.slow
def test_what_needs_no_question(world: World, stub: Stub, mine: None) -> None:
    """[D24] the user's own skills.toml may use any variable; naming one in `repo add` allows it."""
    configure(world.home, stub.url)
    assert "W200" not in world.ok("browse", env=SECRET).stderr
    assert set(tokens(stub)) == {"Bearer ghp_0123456789"}
    (world.home / ".skillc" / "skills.toml").unlink()
    stub.requests.clear()
    world.ok("repo", "add", "team", stub.url, "--type", "http", "--auth-token-env", "GITHUB_TOKEN")
    assert "W200" not in world.ok("browse", env=SECRET).stderr
    assert set(tokens(stub)) == {"Bearer ghp_0123456789"}


@pytest.mark.slow
def test_asked_on_a_terminal(world: World, stub: Stub, mine: None) -> None:
    """[D24] the question names project, variable and host; only a yes counts, and it lasts."""
    configure(world.project, stub.url)
    _, _, shown = on_terminal(world, "\n", "browse", env=SECRET)
    assert f"'{world.project}'" in re.sub(r"\n +", "", shown)  # the question is folded
    assert f"Let it send GITHUB_TOKEN to {stub.url}? (y/N): " in shown
    assert "W200" in shown
    assert stub.requests == []
    _, _, shown = on_terminal(world, "y\n", "browse", env=SECRET)
    assert "W200" not in shown
    assert set(tokens(stub)) == {"Bearer ghp_0123456789"}
    _, _, shown = on_terminal(world, "", "browse", env=SECRET)
    assert "(y/N)" not in shown


def load(file: Path) -> SkillsConfig:
    return SkillsConfig.load_from_paths(None, file)


@each(
    ("kind", "url", "host"),
    [
        ("http", "https://h/api", "https://h"),
        ("http", "https://me:${P}@h:8443/${P}", "https://h:8443"),
        ("http", "${P}", "${P}"),
        ("http", "https://${P}.example.com/", "https://${P}.example.com/"),
        ("mcp", "http://H/mcp", "http://h"),
        ("git", "https://${P}@github.com/a/b", "https://github.com"),
        ("git", "git@github.com:a/${P}", "ssh://github.com"),
        ("git", "ssh://git@h:22/${P}", "ssh://h:22"),
        ("git", "/net/h/${P}", "/net/h/${P}"),
    ],
)
def test_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, url: str, host: str) -> None:
    """[D24] a host is named with its scheme and port; one that depends on a variable as it is written."""
    monkeypatch.setenv("P", "secret")
    (repository, _) = load(configure(tmp_path, url, kind=kind)).repositories
    assert {use.host for use in uses_of(repository)} == {host}
    assert "secret" not in repr(uses_of(repository))


@each("kind", ["http", "git", "mcp"])
def test_value_moves_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """[D24] an address whose host changes with a value is refused, whatever it looks like."""
    monkeypatch.setenv("PWD", "/home/you")
    file = configure(tmp_path, "https://evil.example${PWD}@github.com/x", kind=kind)
    with pytest.raises(InvalidConfiguration, match="may change the host"):
        check_variables(load(file).repositories[0])


def test_file_that_can_not_be_trusted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D24] what others can write, or what is damaged, allows nothing."""
    monkeypatch.setenv("HOME", str(world.home))
    repository = load(configure(world.project, "https://h")).repositories[0]
    allow_variables([VariableUse(str(world.project), "https://h", "GITHUB_TOKEN")])
    check_variables(repository)
    file = world.home / ".skillc" / "variables.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o622)
    with pytest.raises(InvalidConfiguration, match="others can write it"):
        check_variables(repository)
    file.chmod(0o600)
    good = json.loads(file.read_text())
    bad = (b"", b"[]", b"{", b"[" * 100_000, json.dumps(good | {"version": 3}).encode())
    for data in (*bad, json.dumps(good | {"variables": [{"project": 1, "host": 2, "variable": 3}]}).encode()):
        file.write_bytes(data)
        with pytest.raises(InvalidConfiguration, match="damaged"):
            allowed_variables()
