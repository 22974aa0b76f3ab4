"""A workspace locates, indexes, runs, reports and logs, each once; and the surfaces walk each folder once."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

import skillc.compiler
import skillc.library
import skillc.workspace
from skillc.cli import main
from skillc.compiler import PublishOptions
from skillc.errors import ApprovalRequired, Question, SectionNotFound
from skillc.gateway import OpenFile
from skillc.lint import Choice
from skillc.paths import embedded_skills
from skillc.server import create_app
from skillc.tools import Answer, ApprovalRequest
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.skills import run, skill
from tests.support.tools import skill_md, tool

TEXT = skill_md("pdf", tool(command="echo hello")) + "## Forms\n\nFill them in.\n\n## Forms\n\nAgain.\n"
AMBIGUOUS = "warning[W001]: multiple matches for 'forms'; showing first"


@pytest.fixture
def lines() -> list[str]:
    """What the workspace reported."""
    return []


@pytest.fixture
def here(world: World, lines: list[str]) -> Workspace:
    """A workspace with one skill, which is built."""
    (world.skill("pdf", TEXT) / "notes.txt").write_text("one\ntwo\n")
    here = Workspace(str(world.project), lines.append)
    here.build(here.locate("pdf", index=False), PublishOptions(()))
    log(world).unlink()
    return here


@pytest.fixture
def locations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up in the stores."""
    names: list[str] = []
    resolve = skillc.library.resolve

    def count(name: str, cwd: str) -> Any:
        names.append(name)
        return resolve(name, cwd)

    monkeypatch.setattr(skillc.workspace, "resolve", count)
    return names


def log(world: World) -> Path:
    return world.runtime / "pdf" / ".skillc-meta" / "logs.db"


def rows(world: World) -> list[tuple[str, str, dict[str, Any], str | None]]:
    """The rows of the skill's access log: command, skill, arguments, error."""
    if not log(world).exists():
        return []
    with closing(sqlite3.connect(log(world))) as connection:
        query = "SELECT command, skill, args, error FROM access_log ORDER BY id"
        return [
            (command, name, json.loads(args), error)
            for command, name, args, error in connection.execute(query)
        ]


Operation = Callable[[Workspace], object]

# By command: the operation, what its row says of it, and what is reported.
OPERATIONS: dict[str, tuple[Operation, dict[str, Any], list[str]]] = {
    "outline": (lambda here: here.outline("pdf", 2), {"level": 2}, []),
    "show": (
        lambda here: here.show("pdf", "forms"),
        {"section": "Forms", "file": "SKILL.md"},
        [AMBIGUOUS],
    ),
    "search": (lambda here: here.search("pdf", "fill"), {"query": "fill", "result_count": 1}, []),
    "open": (lambda here: list(here.open("pdf", "notes.txt", 1).pieces()), {"path": "notes.txt"}, []),
    "sources": (
        lambda here: here.sources("pdf", depth=1, pattern="*.txt"),
        {"dir": None, "depth": 1, "pattern": "*.txt"},
        [],
    ),
    "build": (
        lambda here: here.build(here.locate("pdf", index=False), PublishOptions((), force=True)),
        {"global": False, "force": True},
        [],
    ),
    "lint": (
        lambda here: here.lint(here.locate("pdf", index=False), choice=Choice(strict=True)),
        {"force": False, "fix": False, "strict": True},
        [],
    ),
}


@pytest.mark.parametrize("command", OPERATIONS)
def test_operations(
    world: World, here: Workspace, lines: list[str], locations: list[str], command: str
) -> None:
    """[RFC-0007] [D18] each operation looks its skill up once, reports its remarks, and leaves one row."""
    operation, arguments, remarks = OPERATIONS[command]
    operation(here)
    assert locations == ["pdf"]
    assert lines == remarks
    assert rows(world) == [(command, "pdf", arguments, None)]


def test_running(world: World, here: Workspace, lines: list[str]) -> None:
    """[RFC-0003] [TOOLS §6.3] a run is logged with its success, a refusal with its error."""
    arguments = {"tool": "go", "mode": "Global", "dry_run": False}
    result = here.run("pdf", "go", {}, approve=lambda request: Answer.ONCE)
    assert result.envelope is not None
    assert result.envelope.output == "hello\n"
    with pytest.raises(ApprovalRequired) as caught:
        here.run("pdf", "go", {})
    assert rows(world) == [
        ("run", "pdf", arguments | {"success": True}, None),
        ("run", "pdf", arguments, caught.value.message),
    ]
    assert lines == []


def test_a_question_is_no_access(world: World, here: Workspace) -> None:
    """[TOOLS §6.3] [RFC-0003] [RFC-0002:C-OPEN] what waits for an answer is no access; a file that a
    surface refuses is no success.
    """

    def ask(request: ApprovalRequest) -> Answer:
        raise Question(request.subject)

    with pytest.raises(Question):
        here.run("pdf", "go", {}, approve=ask)
    assert rows(world) == []

    def refuse(file: OpenFile) -> None:
        list(file.pieces())
        raise ApprovalRequired("pdf", "")

    with pytest.raises(ApprovalRequired):
        here.open("pdf", "notes.txt", check=refuse)
    ((command, _, arguments, error),) = rows(world)
    assert (command, arguments) == ("open", {"path": "notes.txt"})
    assert error


def test_failures_and_remarks(world: World, here: Workspace, lines: list[str]) -> None:
    """[RFC-0003] [D33] [RFC-0004:C-SEARCH] a failure leaves one row, `find` none; remarks tell of changed
    sources and odd words.
    """
    with pytest.raises(SectionNotFound) as caught:
        here.show("pdf", "Nowhere")
    assert rows(world) == [("show", "pdf", {"section": "Nowhere", "file": None}, caught.value.message)]
    assert lines == []
    assert [result.id for result in here.find("made for a test")][:1] == ["pdf"]
    assert len(rows(world)) == 1
    assert lines == []
    (world.store / "pdf" / "SKILL.md").write_text(TEXT + "\nMore.\n")
    assert here.search("pdf", "fill zebra", any_option="--any").results == []
    warning, note = lines
    assert warning.startswith("warning[W004]: the sources of 'pdf' changed")
    assert "--any" in note or "zebra" in note
    assert rows(world)[1:] == [("search", "pdf", {"query": "fill zebra", "result_count": 0}, None)]


def test_the_index_of_a_repository(world: World, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: remote skills as local folders] the index of a repository's skill is updated, once a request."""
    skill(world.root / "team", "billing/refunds")
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "team"\ntype = "filesystem"\npath = "{world.root / "team"}"\n'
    )
    updates: list[str] = []
    update = skillc.compiler.keep_index_current

    def count(target: Any, cwd: str) -> Any:
        updates.append(target.name)
        return update(target, cwd)

    monkeypatch.setattr(skillc.compiler, "keep_index_current", count)
    here = Workspace(str(world.project), lines.append)
    assert here.search("billing/refunds", "body").results
    assert updates == ["billing/refunds"]
    here.locate("billing/refunds", index=False)
    assert updates == ["billing/refunds"]
    assert lines == []


def test_reporters(here: Workspace, lines: list[str]) -> None:
    """[SURFACES: Serving] each call has its own reporter; the library is shared by all of them."""
    own: list[str] = []
    other = here.with_reporter(own.append)
    other.show("pdf", "forms")
    assert (lines, own) == ([], [AMBIGUOUS])
    assert other.library() is here.library()


# The surfaces


def test_a_run_walks_once(
    world: World,
    walks: Counter[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """[D31] [TOOLS §6.2] `skc run` of an embedded tool: each folder of the library at most once."""
    (world.home / "notes.md").write_text("# Notes\n")
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)  # those of the tests stay
    assert main(["run", "files", "find", "--param", "name=*.md"]) == 0, capsys.readouterr().err
    envelope = json.loads(capsys.readouterr().out)
    assert "notes.md" in envelope["output"], envelope
    assert walks[embedded_skills()] == 1
    assert set(walks.values()) == {1}, walks


def test_a_turn_over_http_walks_once(world: World, walks: Counter[str]) -> None:
    """[D31] `POST /turns` with two preloads and a reference: each folder at most once."""
    for name in ("plain", "extraction/email", "formatting/html"):
        skill(world.store, name)
    app = create_app(Workspace(str(world.project)).engine())
    fields = {
        "message": "/plain go",
        "preload_skills": ["extraction/email", "skillc"],
        "skill_references": ["formatting/html"],
    }

    async def post() -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post("/turns", json=fields)

    response = run(post())
    assert response.status_code == 200
    assert response.json()["system"].count("<skill id=") == 6 + 2
    assert response.json()["message"].count("<skill id=") == 2
    assert walks[str(world.store)] == 1
    assert set(walks.values()) == {1}, walks
