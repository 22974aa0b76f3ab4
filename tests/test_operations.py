"""Operations from Python: methods of a workspace do what commands do, and a person answers questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillc.cli import approval
from skillc.cli.approval import Terminal
from skillc.contract import encode
from skillc.errors import InvalidOption, SkillcError
from skillc.surface import SILENT, UNATTENDED, Person, Progress
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.cases import each
from tests.support.skills import skill


class Answers:
    """A person with answers that were written down."""

    can_answer = True

    def __init__(self, *answers: object) -> None:
        self._answers = list(answers)
        self.texts: list[str] = []

    def _next(self, text: str) -> object:
        self.texts.append(text)
        return self._answers.pop(0)

    def show(self, text: str) -> None:
        self.texts.append(text)

    def ask(self, question: str) -> str:
        return str(self._next(question))

    def confirm(self, text: str, question: str) -> bool:
        return bool(self._next(f"{text}\n{question}"))

    def confirm_some(self, text: str, question: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        answer = str(self._next(f"{text}\n{question}"))
        return [name for name, _ in choices if name in answer]

    def choose(self, title: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        return str(self._next(title)).split()


@pytest.fixture
def shelf(world: World) -> Path:
    """A folder with three skills, and two agents in the home."""
    folder = world.root / "shelf"
    for name in ("docx", "pdf", "xlsx"):
        skill(folder, name)
    for agent in (".claude", ".cursor"):
        (world.home / agent).mkdir()
    return folder


@pytest.fixture
def here(world: World) -> Workspace:
    return Workspace(str(world.home))


def test_the_protocols() -> None:
    """[SURFACES: Python] without a person nothing is answered, and without progress nothing is shown."""
    person: Person = UNATTENDED
    progress: Progress = SILENT
    person.show("a text")
    answers = (
        person.confirm("", "?"),
        person.confirm_some("", "?", [("a", "a")]),
        person.choose("", [("a", "")]),
    )
    assert not any((person.can_answer, person.ask("?"), *answers))
    with progress.activity("waiting"), progress.steps(2, "steps") as steps:
        steps.step("one")
        steps.step_of("two", 3)
        steps.reach(2, "two")
        steps.say("a line")
        steps.clear()


def test_add_and_remove(world: World, shelf: Path, here: Workspace) -> None:
    """[SURFACES: Python] a program adds, lists and removes as the command line does, with the same values."""
    preview = here.add(str(shelf), skills=["pdf"], dry_run=True)
    assert not preview.added[0].path
    result = here.add(str(shelf), skills=["pdf"])
    assert result.is_success
    (entry,) = encode(result)["added"]
    assert entry["path"] == str(world.global_store / "pdf")
    assert encode(preview)["added"] == [{key: entry[key] for key in entry if key != "path"}]
    assert encode(here.add(str(shelf), skills=["pdf"])) == {"added": [], "unchanged": ["pdf"]}
    assert encode(here.pin("pdf")) == {"skills": [{"id": "pdf", "pinned": True}]}
    assert [(each.id, each.pinned) for each in here.locked().skills] == [("pdf", True)]
    assert here.verify().problems == ()
    assert here.install().unchanged == ["pdf"]
    assert encode(here.outdated("pdf"))["skills"][0]["changed"] is False
    assert here.disable("pdf").deployments == tuple(here.enable("pdf").deployments)
    (removal,) = here.remove("pdf").removed
    assert here.trash().entries[0].id == removal.item
    assert here.restore(removal.item).restored.origin == str(world.global_store / "pdf")


def test_without_a_person(world: World, shelf: Path, here: Workspace) -> None:
    """[SURFACES: Python] what has no default is refused with the error that the command line gives."""
    with pytest.raises(InvalidOption, match=r"has 3 skills; --skill <name> adds one.*docx, pdf, xlsx"):
        here.add(str(shelf))
    with pytest.raises(InvalidOption, match="--all and --skill exclude each other"):
        here.add(str(shelf), skills=["pdf"], everything=True)
    here.add(str(shelf), everything=True)
    assert here.install().unchanged == ["docx", "pdf", "xlsx"]
    here.remove("pdf")
    with pytest.raises(InvalidOption, match="nothing deleted; 'skc trash empty --yes'"):
        here.empty_trash()
    assert len(here.empty_trash(yes=True).deleted) == 1
    assert here.clean(dry_run=True).entries
    with pytest.raises(InvalidOption, match="nothing removed; 'skc clean --yes'"):
        here.clean()
    cleaning = here.clean(yes=True)
    assert cleaning.entries
    assert all(each.result for each in cleaning.entries)


def test_answers(world: World, shelf: Path, here: Workspace) -> None:
    """[SURFACES: Python] a person chooses skills and agents, and can say no."""
    here.person = person = Answers("pdf docx", "cursor")
    result = here.add(str(shelf))
    assert [each.id for each in result.added] == ["pdf", "docx"]
    publications = [each.publication for each in result.added]
    assert {place.target for each in publications if each for place in each.deployments} == {"cursor"}
    assert "Add for which agents?" in person.texts[-1]
    skill(world.home / ".claude/skills", "mine")
    before = sorted(world.home.rglob("*"))
    for refuse, error in (
        (lambda: here.add(str(shelf), skills=["xlsx"]), "nothing added; --yes adds without asking"),
        (lambda: here.add(str(shelf), skills=["xlsx"], targets="claude"), "nothing added; --yes"),
        (lambda: here.add(str(shelf)), "nothing added"),
        (lambda: here.remove("pdf"), "nothing removed; 'skc remove --yes'"),
        (lambda: here.import_skills(agents="claude"), "nothing imported; --yes moves"),
    ):
        here.person = Answers("")
        with pytest.raises(InvalidOption, match=error):
            refuse()
    assert [each for each in sorted(world.home.rglob("*")) if "cache" not in each.parts] == [
        each for each in before if "cache" not in each.parts
    ]
    here.person = Answers(True)
    assert [step.name for step in here.import_skills(agents="claude").imported] == ["mine"]


def test_trust(world: World, shelf: Path, here: Workspace) -> None:
    """[D46] [SURFACES: Python] a skill is allowed by a person, or by the digest of what was looked at."""
    pdf = str(shelf / "pdf")
    for decide in (here.allow, here.adopt):
        with pytest.raises(SkillcError, match="pdf") as refusal:
            decide(pdf)
        assert refusal.value.code == "E063"
    assert here.decisions().entries == ()
    here.person = Answers(False, True)
    with pytest.raises(SkillcError, match="pdf"):
        here.allow(pdf)
    assert here.allow(pdf).verdict == "allow"
    assert [(entry.path, entry.current) for entry in here.decisions().entries] == [(pdf, True)]
    assert here.deny(pdf).verdict == here.trust(pdf).verdict == "deny"
    here.person = UNATTENDED
    assert here.allow(pdf, here.trust(pdf).files.digest).verdict == "allow"
    assert [subject.path for subject in here.prune_decisions(pdf).pruned] == [pdf]
    assert here.decisions().entries == ()


def test_an_agents_configuration(world: World, here: Workspace) -> None:
    """[SURFACES: Python] an agent gets the MCP server, or loses it; what a person changed needs force."""
    file = world.home / ".cursor" / "mcp.json"
    preview = here.change_client("cursor", dry_run=True)
    assert (preview.changed, preview.written, preview.path) == (True, False, str(file))
    assert not file.exists()
    assert here.change_client("cursor").written
    again = here.change_client("cursor")
    assert (again.changed, again.written) == (False, False)
    text = file.read_text()
    file.write_text(text.replace('"mcp"', '"mcp", "--tools", "all"'))
    assert file.read_text() != text
    kept = here.change_client("cursor", remove=True)
    assert "--force" in kept.obstacle
    assert not kept.written
    assert here.change_client("cursor", remove=True, force=True).written
    with pytest.raises(InvalidOption, match="no-agent"):
        here.change_client("no-agent")


def test_audit_and_doctor(world: World, shelf: Path, here: Workspace) -> None:
    """[SURFACES: Python] an audit of folders and a look at the installation are values, too."""
    audits = here.audit(str(shelf), new_baseline="findings.json")
    assert [audit.name for audit in audits.audits] == ["docx", "pdf", "xlsx"]
    assert audits.written == len(json.loads((world.home / "findings.json").read_text())["findings"])
    assert audits.is_success
    with pytest.raises(SkillcError):
        here.audit("no-such-skill")
    examination = here.doctor(fix=True)
    assert examination.fixed == ()
    assert {"checks", "fixed", "not_fixed"} == encode(examination).keys()


@each(
    ("answers", "choice"),
    [
        (["2"], ["pdf"]),
        (["pdf, 1"], ["pdf", "docx"]),
        (["2-3"], ["pdf", "xlsx"]),
        (["all"], ["docx", "pdf", "xlsx"]),
        (["tables", "1"], ["xlsx"]),
        (["nothing like it", "3-9", "0", "1234567", "pdf"], ["pdf"]),
        ([""], []),
    ],
)
def test_choosing_from_a_list(monkeypatch: pytest.MonkeyPatch, answers: list[str], choice: list[str]) -> None:
    """[SURFACES: Terminal] numbers, ranges, names and all choose; other words narrow the list."""
    left = list(answers)
    monkeypatch.setattr(approval, "ask", lambda question: left.pop(0))
    choices = [("docx", "Letters"), ("pdf", "Forms"), ("xlsx", "Tables")]
    assert list(Terminal().choose("Three skills:", choices)) == choice
    assert left == []
