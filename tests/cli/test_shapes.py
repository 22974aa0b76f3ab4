"""One vocabulary: what every command prints as JSON, run on real input and compared with the table."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillc.cli.summaries import NAMES
from skillc.results import ERROR, LISTS, OLD_KEYS, RESULTS, describe, members_of
from tests.conftest import World
from tests.support.forks import start_skc
from tests.support.keys import make_ssh_key
from tests.support.shapes import find_faults, names_in
from tests.support.team import Team

SERVERS = {"serve", "ui", "mcp --http"}
FORMS = """\
---
name: pdf
description: Fill forms. Use when there is a form.
---
# pdf

## Forms

Fields. See [the API](gone.md).
"""
GO = """\
---
name: go
description: Goes. Use when going.
version: 1.0.0
---
# go

## Tools

### go

Say it.

#### Command

```sh
echo {{word}}
```

#### Parameters

| Name | Type | Required | Description |
| --- | --- | --- | --- |
| word | string | yes | What to say |
"""


def test_vocabulary() -> None:
    """[SURFACES: JSON] every key of every shape is explained once; tops are objects but for two lists."""
    keys = {key for shape in (*RESULTS.values(), ERROR) for key in names_in(shape)}
    assert keys == set(tomllib.loads(Path("scripts/json_keys.toml").read_text()))
    assert {words for words, shape in RESULTS.items() if members_of(shape) is None} == set(LISTS)
    for name in LISTS:
        assert f"{name} --format object" in RESULTS
    for words, old in OLD_KEYS.items():
        present = set(names_in(RESULTS[words]))
        assert {*old, *old.values()} <= present, words
    assert {words.split()[0] for words in RESULTS} == set(NAMES)


Check = Callable[..., Any]


@pytest.fixture
def check(world: World) -> Check:
    """Run a command with `--format json` and compare what it prints with the shape of this name."""

    def run(name: str, *words: str, status: int = 0, env: dict[str, str] | None = None) -> Any:
        given = words or tuple(name.split())
        result = world.skc(*given, *(() if "--format" in given else ("--format", "json")), env=env)
        assert result.returncode == status, (given, result.stderr)
        value = json.loads(result.stdout)
        assert find_faults(value, RESULTS[name]) == [], given
        seen.add(name)
        return value

    seen: set[str] = set()
    run.seen = seen  # type: ignore[attr-defined]
    return run


@pytest.mark.slow
def test_all_commands(world: World, team: Team, check: Any) -> None:
    """[SURFACES: JSON] each command's JSON has the keys of the table, no more and no less."""
    _write(world, check)
    _read(check)
    _run(check)
    _bring_in(world, check)
    _take_out(check)
    _share(world, team, check)
    assert check.seen == set(RESULTS) - SERVERS


def _write(world: World, check: Check) -> None:
    check("init", "init", "pdf")
    assert check("init")["name"] is None
    folder = world.skill("pdf", FORMS)
    (folder / "references").mkdir()
    (folder / "references" / "api.md").write_text("# API\n\ntext\n")
    world.skill("go", GO, store=world.global_store)
    world.skill("bad", "# no frontmatter\n", store=world.global_store)
    assert check("build", "build", "pdf")["deployments"]
    assert check("build --all", status=1)["failed"]
    shutil.rmtree(world.global_store / "bad")
    (report,) = check("lint", "lint", "pdf", status=1)["skills"]
    assert report["findings"]
    assert report["tokens"]["files"]
    check("lint --statistics", "lint", "pdf", "--statistics", status=1)
    check("lint --explain", "lint", "--explain", "SKL301")
    assert check("list")["total"] == 2
    assert check("info", "info", "pdf")["tokens"]["files"]
    check("completion", "completion", "zsh")
    _sign(world, check)
    _evaluate(check)


def _sign(world: World, check: Check) -> None:
    key = make_ssh_key(world.root / "keys")
    assert check("sign", "sign", "pdf", "--key", str(key))["kind"] == "ssh"
    assert check("digest", "digest", "pdf")["digest"].startswith("sha256:")
    assert check("why", "why", "pdf")["requiredBy"] == []
    (world.store / "pdf/skill.ssh.sig").unlink()


def _evaluate(check: Check) -> None:
    check("eval init", "eval", "init", "pdf")
    assert check("eval --free", "eval", "--free", "pdf")["skills"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as workspace:
        words = ("eval", "pdf", "--agent-command", "echo {prompt}", "--fired", ".", "--workspace", workspace)
        skills = check("eval", *words, "--runs", "1")
        assert skills[0]["agents"][0]["triggers"]
        whole = check("eval --format object", *words, "--runs", "1", "--format", "object")["skills"]
        assert whole[0]["agents"] == skills[0]["agents"]


def _read(check: Check) -> None:
    headings = check("outline", "outline", "pdf")
    assert headings[0]["heading"] == "pdf"
    assert check("outline --format object", "outline", "pdf", "--format", "object") == {"headings": headings}
    check("show", "show", "pdf", "--section", "Forms")
    check("open", "open", "pdf", "SKILL.md")
    assert check("sources", "sources", "pdf", "--depth", "1")["entries"]
    assert check("search", "search", "pdf", "fields")["results"]
    assert check("find", "find", "fill forms")["results"]
    check("find", "find", "fileds", "--all")
    assert check("browse")["type"] == "listing"
    assert check("browse", "browse", "--query", "forms")["skills"]
    check("load", "load", "pdf")
    check("inventory")
    assert check("turn", "turn", "/pdf do it")["events"][0]["type"] == "SkillsResolved"
    assert check("turn", "turn", "/none do it")["events"][0]["type"] == "SkillResolutionFailed"
    check("doctor --library")
    assert check("audit", "audit", "pdf")["skills"]
    for group in ("summary", "sections", "files", "commands", "projects", "errors", "search"):
        check("stats", "stats", "pdf", "--group-by", group, "--all")
    check("stats", "stats", "--group-by", "sections", "--all")
    check("stats --html", "stats", "--html", "usage.html")
    check("stats --prune", "stats", "--prune", "1d")
    check("sync")


def _run(check: Check) -> None:
    tools = check("tools", "tools", "go")
    assert tools[0]["name"] == "go.go"
    assert check("tools --format object", "tools", "go", "--format", "object") == {"tools": tools}
    check("run --dry-run", "run", "go", "go", "--param", "word=x", "--dry-run")
    assert check("run", "run", "go", "go", "--param", "word=x", "--yes")["output"] == "x\n"
    assert check("run", "run", "go", "go", status=1)["code"] == "E062"
    digest = check("trust show", "trust", "show", "go")["digest"]
    check("trust allow", "trust", "allow", "go", "--digest", digest)
    check("trust deny", "trust", "deny", "go")
    assert check("trust list")["entries"]
    check("trust list", "trust")
    assert check("trust prune", "trust", "prune", "go")["pruned"]
    check("mcp --install", "mcp", "--install", "claude", "--print")
    check("mcp --uninstall", "mcp", "--uninstall", "claude", "--print")


def _bring_in(world: World, check: Check) -> None:
    others = world.root / "others"
    for name in ("docx", "xlsx"):
        world.skill(name, store=others)
    assert check("import", "import", str(others / "docx"))["imported"]
    assert check("add", "add", str(others / "xlsx"), "--dry-run")["added"]
    assert check("add", "add", str(others / "xlsx"), "--yes")["added"][0]["path"]
    assert check("lock")["skills"]
    check("verify")
    (world.store / "xlsx" / "new.md").write_text("# new\n")
    assert check("verify", status=1)["problems"]
    (world.store / "xlsx" / "new.md").unlink()
    check("pin", "pin", "xlsx")
    check("unpin", "unpin", "xlsx")
    assert check("install")["unchanged"] == ["xlsx"]
    check("outdated")
    check("doctor", status=1)  # agents do not find skc here
    check("listing")
    (world.home / ".claude").mkdir(exist_ok=True)
    assert check("hook", "hook", "update")["updated"]
    assert check("setup", "setup", "claude", "--yes")["agents"][0]["changes"]
    check("listing fit", "listing", "fit", "--yes")
    check("listing set", "listing", "set", "xlsx", "demand")
    assert check("listing reset", "listing", "reset", "--project")["changed"]
    check("doctor", "doctor", "--fix", status=1)
    assert check("clean", "clean", "--dry-run")["entries"]
    assert check("clean", "clean", "--yes")["entries"]
    skills_toml = world.project / ".skillc" / "skills.toml"
    imported = world.root / "elsewhere" / "mine"
    shutil.copytree(others / "docx", imported)
    check("import", "import", str(imported), "--global")
    status = check("trust show", "trust", "show", "mine")
    check("trust adopt", "trust", "adopt", "mine", "--digest", status["digest"])
    check("repo add", "repo", "add", "others", str(others))
    assert check("repo list")["repositories"]
    assert check("repo sync")["repositories"]
    check("repo remove", "repo", "remove", "others")
    skills_toml.write_text(
        '[[repositories]]\nname = "far"\ntype = "http"\nurl = "http://127.0.0.1:9"\nauth_token = "${FAR}"\n'
    )
    check("trust allow --variable", "trust", "allow", "--variable", "FAR", "--host", "http://127.0.0.1:9")
    assert check("trust list")["variables"]
    skills_toml.unlink()


def _take_out(check: Check) -> None:
    check("disable", "disable", "pdf")
    assert check("list")["skills"]
    check("enable", "enable", "pdf")
    assert check("remove", "remove", "docx", "--yes")["removed"]
    assert check("trash list")["entries"]
    check("restore", "restore", "docx")
    check("remove", "remove", "docx", "--yes")
    assert check("trash empty", "trash", "empty", "--yes")["deleted"]


def _share(world: World, team: Team, check: Check) -> None:
    check("login")
    check("login <url>", "login", team.url, "--token-env", "TEAM", env={"TEAM": team.secret})
    assert check("login")["registries"]
    check("publish --dry-run", "publish", "go", "--dry-run")
    check("publish", "publish", "go")
    token = check("token create", "token", "create", "--role", "reader", "--expires", "1d")
    assert check("token list")["tokens"]
    check("token revoke", "token", "revoke", token["id"])
    check("grant add", "grant", "add", "bob", "reader")
    assert check("grant list")["grants"]
    check("grant remove", "grant", "remove", "bob")
    publisher = check("publisher add", "publisher", "add", "acme/skills", "release.yml", "--prefix", "tea")
    assert check("publisher list")["publishers"]
    check("publisher remove", "publisher", "remove", publisher["id"])
    team.publish("tea", version="1.0.0")
    check("add", "add", f"{team.url}/tea", "--yes")
    team.publish("tea", {"new.md": "# new\n\nhttps://new.example\n"}, version="1.1.0")
    assert any(each["changed"] for each in check("outdated")["skills"])
    updates = [each for each in check("update", "update", "--diff")["skills"] if "files" in each]
    assert "+# new" in updates[0]["diff"]
    check("yank", "yank", "tea@1.0.0", "--reason", "old")
    check("sync --to", "sync", "--to", team.url, "--dry-run")
    check("logout", "logout", team.url)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("serve", ("serve", "--port", "0")),
        ("serve", ("serve", "--read-only", "--port", "0")),
        ("ui", ("ui", "--no-open")),
        ("mcp --http", ("mcp", "--http", "127.0.0.1:0")),
    ],
)
def test_servers(world: World, name: str, words: tuple[str, ...]) -> None:
    """[SURFACES: JSON] a server says where it is in a line of JSON, after one with the admin's token."""
    with start_skc(
        (*words, "--format", "json"),
        cwd=world.project,
        env=world.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            values = [json.loads(process.stdout.readline())]
            if "token" in values[0]:
                values.append(json.loads(process.stdout.readline()))
        finally:
            process.kill()
    assert [fault for value in values for fault in find_faults(value, RESULTS[name])] == []
    assert values[-1]["url"].startswith("http://127.0.0.1:")
    assert len(values) == (2 if words == ("serve", "--port", "0") else 1)


def test_comparison() -> None:
    """[SURFACES: JSON] the comparison itself finds what is missing, new and of another type."""
    shape = {"a": str | None, "b?": int, "c": [{"d": bool}], "e": dict[str, int] | None}
    assert describe(shape) == '{"a","b"?:N,"c":[{"d":bool}],"e":{name:N}|null}'
    good = {"a": None, "c": [{"d": True}], "e": {"x": 1}}
    assert find_faults(good, shape) == []
    assert find_faults({**good, "e": None}, shape) == []
    assert len(find_faults({"b": "1", "c": [{"d": 1, "x": 2}], "e": []}, shape)) == 5
