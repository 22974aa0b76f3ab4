"""`skc repo add`, `remove` and `sync`, as a user calls them."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import as_json, call, fails, ok
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin, Server, origin, server, template
from tests.support.http import LIST, Stub, page
from tests.support.skills import skill

__all__ = ["origin", "server", "template"]


def configured(root: Path, directory: str = ".skillc") -> list[dict[str, Any]]:
    text = (root / directory / "skills.toml").read_text()
    return list(tomllib.loads(text)["repositories"])


def answer(*words: str) -> Any:
    return as_json("repo", *words)


# Adding and removing


@pytest.mark.slow
def test_add_and_remove(world: World) -> None:
    """[D23a] a folder, relative to the project's root wherever it was called, and gone again."""
    skill(world.project, "shared/skills/pdf")
    result = world.ok("repo", "add", "shared", "skills", cwd=world.project / "shared")
    assert "Added 'shared' (filesystem, guessed from the address" in result.stdout
    assert result.stderr == ""
    assert configured(world.project) == [{"name": "shared", "type": "filesystem", "path": "shared/skills"}]
    assert "pdf" in ok("browse").stdout
    removed = ok("repo", "remove", "shared")
    assert "Removed 'shared'" in removed.stdout
    assert "default folders are searched again" in removed.stderr
    assert (world.project / ".skillc" / "skills.toml").read_text() == ""


@pytest.mark.slow
def test_paths(world: World) -> None:
    """[D23a] outside the project: relative stays relative, absolute absolute; the home's, to the home."""
    (world.root / "elsewhere").mkdir()
    (world.home / "mine").mkdir()
    ok("repo", "add", "a", "../elsewhere")
    ok("repo", "add", "b", str(world.root / "elsewhere"))
    assert [table["path"] for table in configured(world.project)] == [
        "../elsewhere",
        str(world.root / "elsewhere"),
    ]
    ok("repo", "add", "c", str(world.home / "mine"), "--global")
    assert configured(world.home) == [{"name": "c", "type": "filesystem", "path": "mine"}]
    assert [s["name"] for s in answer("list")["repositories"]] == ["a", "b", "c", "embedded"]
    assert all(s["status"] == "ok" for s in answer("list")["repositories"])


def test_options_and_guesses(world: World) -> None:
    """[D23a] [D24] all options, tokens and addresses by variables; types are guessed; E022 with a hint."""
    assert "hint" not in fails("E022", "repo", "add", "x", "nothing").stderr
    assert "https://github.com/company/skills" in fails("E022", "repo", "add", "x", "company/skills").stderr
    words = "--type git --ref v1 --ref-type tag --skills-root s --auth-token-env T --strict --required"
    fields = answer("add", "x", "https://example.com/y", *words.split())
    assert fields["guessed"] is False
    wanted = {"name": "x", "type": "git", "url": "https://example.com/y", "git_ref": "v1", "ref_type": "tag"}
    wanted |= {"skills_root": "s", "auth_token": "${T}", "strict": True, "required": True}  # type: ignore[dict-item]
    assert configured(world.project)[0] == fields["repository"] == wanted
    url = "https://user:${TOKEN}@example.com/x.git"
    assert answer("add", "z", url)["repository"]["url"] == url
    assert answer("add", "p", "${PLACE}", "--type", "http")["repository"]["url"] == "${PLACE}"
    for number, (place, kind) in enumerate(GUESSES.items()):
        fields = answer("add", f"x{number}", place)
        assert fields["guessed"] is True
        wanted = {"name": f"x{number}", "type": kind, "url": place}
        assert fields["repository"] == wanted == configured(world.project)[-1]


GUESSES = {
    "https://github.com/company/skills": "git",
    "https://git.example.com/skills": "git",
    "https://example.com/skills.git/": "git",
    "git@example.com:company/skills": "git",
    "ssh://git@example.com/skills": "git",
    "file:///srv/skills": "git",
    "https://skills.example.com/api": "http",
    "http://127.0.0.1:8080": "http",
}


INVALID = """
add | add x | remove | remove x y | list x | sync x y | rename x | remove x --type git | sync --global
list --strict | add '' . | add embedded . | add x . --type ftp | add x . --ref main | add x http://h --strict
add x http://h --type http --skills-root s | add x http://h/x.git --ref-type tag | add x ftp --type http
add x http://[h
"""


@each(
    "words",
    [
        *map(shlex.split, INVALID.strip().replace("\n", " | ").split(" | ")),
        ["add", "a\nb", "."],
        ["add", "x", "http://h/\x01"],
    ],
)
def test_words_that_do_not_fit(world: World, words: list[str]) -> None:
    """[RFC-0005] E100, and no file is made."""
    fails("E100", "repo", *words)
    assert not (world.project / ".skillc" / "skills.toml").exists()


@each("words", [("--ref", "-x"), ("--ref", "a b"), ("--skills-root", "../x")])
def test_git_settings_are_checked(world: World, words: tuple[str, ...]) -> None:
    """[D29] what would be refused later is refused now, also where the address is a variable."""
    for place in ("https://example.com/x.git", "${PLACE}"):
        fails("E071", "repo", "add", "x", place, "--type", "git", *words)
    fails("E071", "repo", "add", "x", "git@example.com:x", "--auth-token-env", "TOKEN")
    assert not (world.project / ".skillc" / "skills.toml").exists()


# The words that add a server, its type, and words that do not fit one.
SERVERS = [
    ("https://h --type well-known", "well-known", ["https://i --strict", "./folder"]),
    ("https://h --type clawhub", "clawhub", ["https://i --strict", "./folder", "https://i --ref main"]),
    ("https://h/.well-known/clawhub.json", "clawhub", ["https://i --strict"]),
    ("https://h/mcp --type mcp", "mcp", ["npx"]),
]


@each(("words", "kind", "wrong"), SERVERS)
def test_servers(world: World, words: str, kind: str, wrong: list[str]) -> None:
    """[SURFACES: Well-known discovery] [SURFACES: Library] [SURFACES: Serving] sites, ClawHub, MCP servers.

    By their addresses, with the settings of a server. A ClawHub registry is also one by the address of its
    discovery; a command that an MCP server starts with is for the home's file alone.
    """
    (world.project / ".skillc" / "skills.toml").unlink(missing_ok=True)
    ok("repo", "add", "x", *words.split(), "--auth-token-env", "TOKEN")
    text = (world.project / ".skillc" / "skills.toml").read_text()
    assert f'type = "{kind}"\nurl = "{words.split()[0]}"\nauth_token = "${{TOKEN}}"\n' in text
    for other in wrong:
        error = fails("E100", "repo", "add", "y", *other.split(), "--type", kind).stderr
        assert kind != "mcp" or "command = " in error


SECRET = "ghp_0123456789abcdef"


@each(
    "words",
    [
        (f"https://{SECRET}@github.com/company/skills",),
        (f"https://user:{SECRET}@github.com/company/skills",),
        (f"https://skills.example.com?token={SECRET}",),
        (f"https://skills.example.com#{SECRET}",),
        (f"ssh://git:{SECRET}@example.com/x",),
        ("https://github.com/company/skills", "--auth-token-env", SECRET),
    ],
)
def test_secrets_are_refused(world: World, words: tuple[str, ...]) -> None:
    """[D24] nothing on disk, nothing on the screen, and what to do instead."""
    result = fails("E100", "repo", "add", "x", *words)
    assert SECRET not in result.stdout + result.stderr
    assert "variable" in result.stderr
    assert not (world.project / ".skillc" / "skills.toml").exists()


@pytest.mark.slow
def test_names(world: World) -> None:
    """[D23a] a name that is taken; one that is not there, or in the other file."""
    ok("repo", "add", "x", "http://h")
    assert "take another name, or remove" in fails("E100", "repo", "add", "x", "http://i").stderr
    ok("repo", "add", "x", "http://j", "--global")  # the project's counts there
    ok("repo", "add", "y", "http://j", "--global")
    assert "; there is x\n" in fails("E100", "repo", "remove", "z").stderr
    assert "skc repo remove y --global" in fails("E100", "repo", "remove", "y").stderr
    assert answer("remove", "y", "--global")["left"] == ["x"]


def test_no_project(world: World) -> None:
    """[D23] no project: it makes nothing, --global works; the file of .rkat, or of above."""
    (world.root / "nowhere").mkdir()
    for words in (("add", "x", "http://h"), ("remove", "x")):
        result = world.fails("E100", "repo", *words, cwd=world.root / "nowhere")
        assert "skc init" in result.stderr
        assert "--global" in result.stderr
    assert list((world.root / "nowhere").iterdir()) == []
    world.ok("repo", "add", "x", "http://h", "--global", cwd=world.root / "nowhere")
    (world.project / ".rkat").mkdir()
    (world.project / ".rkat" / "skills.toml").write_text("# ours\n")
    (world.project / "inner" / ".skillc" / "skills").mkdir(parents=True)
    world.ok("repo", "add", "x", "http://h", cwd=world.project / "inner")
    assert [table["name"] for table in configured(world.project, ".rkat")] == ["x"]
    assert not (world.project / "inner" / ".skillc" / "skills.toml").exists()
    assert not (world.project / ".skillc" / "skills.toml").exists()


def test_invalid_file(world: World) -> None:
    """[D23a] [D23] E071 with the position, untouched; E100 that lists the names."""
    path = world.project / ".skillc" / "skills.toml"
    path.write_text("# hm\nx = = 1\n")
    for words in (("add", "x", "http://h"), ("remove", "x"), ("sync",)):
        assert "(at line 2, column 5)" in fails("E071", "repo", *words).stderr
    assert path.read_text() == "# hm\nx = = 1\n"
    path.unlink()
    assert "there are project, project-rkat, user, user-rkat" in fails("E100", "repo", "sync", "x").stderr
    found = answer("sync")["repositories"]
    assert [(one["name"], one["status"]) for one in found][1] == ("project-rkat", "unused")


@pytest.mark.slow
def test_the_default_folders(world: World) -> None:
    """[D23a] the first repository ends the default chain: a note says so, with the command to go on."""
    world.skill("own")
    world.skill("mine", store=world.global_store)
    noted = ok("repo", "add", "x", "http://127.0.0.1:9").stderr
    assert noted.startswith("note: configured repositories replace the default folders")
    assert f"skc repo add project {world.store}" in noted
    assert f"skc repo add user {world.global_store}" in noted
    assert noted.count("\n") == 1
    assert ok("repo", "add", "project", str(world.store)).stderr == ""
    assert "own" in ok("browse").stdout
    ok("repo", "remove", "x")
    ok("repo", "remove", "project")
    assert "project " not in ok("repo", "add", "project", ".skillc/skills").stderr


@pytest.mark.slow
def test_keep_defaults(world: World) -> None:
    """[D23a] --keep-defaults writes them down, before the new one; the home's file can't for projects."""
    world.skill("own")
    world.skill("mine", store=world.global_store)
    result = ok("repo", "add", "x", "http://127.0.0.1:9", "--keep-defaults")
    assert result.stderr == ""
    assert [(table["name"], table.get("path")) for table in configured(world.project)] == [
        ("project", ".skillc/skills"),
        ("user", "~/.skillc/skills"),
        ("x", None),
    ]
    assert {"own", "mine"} <= {s["id"] for s in as_json("browse")["skills"]}
    fields = answer("add", "y", "http://127.0.0.1:9", "--keep-defaults", "--global")
    assert (fields["kept"], fields["left"]) == ([str(world.global_store)], [str(world.store)])
    assert [table["name"] for table in configured(world.home)] == ["user", "y"]


# Refreshing


@pytest.mark.slow
def test_sync(world: World, origin: Origin, server: Server, stub: Stub) -> None:
    """[D28] [D29] folders, git and HTTP: what there was, what there is, and of which commit."""
    stub.gives(page(LIST))
    skill(world.project, "shared/one")
    ok("repo", "add", "shared", "shared")
    ok("repo", "add", "company", server.url)
    ok("repo", "add", "team", stub.url)
    first = origin.git("rev-parse", "HEAD")
    fine = {"status": "ok", "error": None}
    company = {"name": "company", "type": "git", "before": None, "skills": 2, "commit": first} | fine
    assert answer("sync")["repositories"] == [
        {"name": "shared", "type": "filesystem", "before": None, "skills": 1, "commit": None} | fine,
        company,
        {"name": "team", "type": "http", "before": None, "skills": 3, "commit": None} | fine,
    ]
    second = origin.push("new")
    fetches = server.fetches
    assert answer("sync", "company")["repositories"] == [
        company | {"before": 2, "skills": 3, "commit": second}
    ]
    assert server.fetches == fetches + 1
    assert (
        f"company     git   ok      3       3       {second[:12]}\n" in ok("repo", "sync", "company").stdout
    )


@pytest.mark.slow
def test_sync_that_fails(world: World, origin: Origin, server: Server, stub: Stub) -> None:
    """[D27] [D28] [D29] the others are done; each that fails is a coded line; status 1."""
    skill(world.project, "shared/one")
    ok("repo", "add", "team", stub.url)
    ok("repo", "add", "company", server.url)
    ok("repo", "add", "shared", "shared")
    ok("repo", "add", "secret", "http://h", "--auth-token-env", "NOT_SET_HERE")
    call("repo", "sync", "company")
    origin.push("new")
    server.fault = "500"
    stub.gives(page({}, 500))
    result = call("repo", "sync", "--format", "json")
    assert result.returncode == 1
    found = {one["name"]: one for one in json.loads(result.stdout)["repositories"]}
    assert {name: (one["status"], one["skills"]) for name, one in found.items()} == {
        "team": ("unavailable", 0),
        "company": ("stale", 2),
        "shared": ("ok", 1),
        "secret": ("unavailable", 0),
    }
    assert "NOT_SET_HERE" in found["secret"]["error"]
    errors = [line for line in result.stderr.splitlines() if line.startswith("error[")]
    assert errors[0] == "error[E200]: repository 'team' unavailable: status 500"
    assert errors[1].startswith("error[E200]: repository 'company' unavailable: git fetch failed: ")
    assert len(errors) == 3
    server.fault = ""
    assert answer("sync", "company")["repositories"][0]["skills"] == 3


def test_sync_of_another_branch(world: World, origin: Origin) -> None:
    """[SURFACES: Near misses] a branch or tag that is near the one that is not there."""
    ok("repo", "add", "company", str(origin.bare), "--type", "git", "--ref", "mian")
    shown = fails("E200", "repo", "sync").stderr
    assert (
        "ref 'mian' not found in repo\nhint: did you mean 'main'? --ref of 'skc repo add' names one" in shown
    )
    assert "did you mean 'main'?" in fails("E080", "add", f"{origin.bare}@mian").stderr
