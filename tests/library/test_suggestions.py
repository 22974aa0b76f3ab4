"""Names like one that is not there: told by every surface, never of what may not be used."""

from __future__ import annotations

import builtins

import pytest
from hypothesis import given, strategies as st

from skillc import AgentBuildConfig, AgentFactory, InMemorySkillSource, SkillDescriptor, SkillFilter
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.errors import SkillNotFound
from skillc.library import locate_skill
from skillc.library.sources.source import ALL
from skillc.spelling import MAX_SUGGESTIONS, suggest
from tests.conftest import World
from tests.support.cases import each
from tests.support.skills import document, run

NAMES = ("billing/refunds", "billing/invoices", "pdf", "pdf-forms", "docx", "git")


@each(
    ("name", "expected"),
    [
        ("refunds", ("billing/refunds",)),
        ("shop/refunds", ("billing/refunds",)),
        ("billing/refund", ("billing/refunds",)),
        ("PDF_Forms", ("pdf-forms",)),
        ("gti", ("git",)),
        ("forms", ("pdf-forms",)),
        ("docxs", ("docx",)),
        ("x" * 5000, ()),
        ("weather", ()),
        ("", ()),
        ("/", ()),
    ],
)
def test_nearest(name: str, expected: tuple[str, ...]) -> None:
    """[RFC-0005] other spelling, another collection, a letter wrong, a part of it; else none."""
    assert suggest(name, NAMES) == expected


def test_many_names() -> None:
    """[RFC-0005] of tens of thousands, still the right one, and no more than a few."""
    many = [f"c{n % 97}/skill-{n:05}" for n in range(60_000)]
    assert suggest("skill-00042", many) == ("c42/skill-00042",)
    assert len(suggest("skill-0004", many)) == MAX_SUGGESTIONS


@pytest.mark.slow
@given(st.text(), st.lists(st.text(max_size=12), max_size=5))
def test_any_names(name: str, names: list[str]) -> None:
    """[RFC-0005] any text gives some of the names, or none; never the one that was not found."""
    assert set(suggest(name, names)) <= set(names) - {name}


@pytest.mark.slow
def test_commands(world: World) -> None:
    """[RFC-0005] the coded line stays as it is prescribed; what to do is the line below it."""
    world.skill("pdf-forms")
    world.skill("pdf\nforms")
    result = world.fails("E001", "outline", "pdf-form")
    assert result.stderr.splitlines() == [
        "error[E001]: skill 'pdf-form' not found",
        r"hint: did you mean 'pdf-forms' or 'pdf\nforms'?",
    ]
    (world.store / "pdf\nforms" / "SKILL.md").unlink()
    for words in (["build"], ["lint"], ["stats"], ["tools"], ["load"]):
        assert "hint: did you mean 'pdf-forms'" in world.fails("E001", *words, "pdf-form").stderr
    hint = world.fails("E001", "show", "weather", "--section", "x").stderr.splitlines()[1]
    assert "skc list" in hint
    assert "skc find" in hint
    with pytest.raises(SkillNotFound) as error:
        locate_skill("Pdf_Forms", str(world.project))
    assert error.value.nearest == ("pdf-forms",)


def test_repositories_that_could_not_be_asked(world: World) -> None:
    """[D27] [RFC-0005] whoever is missing may have had it: that is said, and is not waited for twice."""
    (world.project / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname = "here"\ntype = "filesystem"\npath = ".skillc/skills"\n'
        '[[repositories]]\nname = "gone"\ntype = "filesystem"\npath = "nowhere"\n'
    )
    world.skill("pdf-forms")
    for command in ("outline", "load"):
        lines = world.fails("E001", command, "pdf-form").stderr.splitlines()
        assert lines[0].startswith("warning[W200]: repository 'gone' is left out")
        assert lines[1:] == ["error[E001]: skill 'pdf-form' not found", "hint: did you mean 'pdf-forms'?"]


def test_sources_that_fail_or_should_not_be_asked(world: World) -> None:
    """[LIB: SkillEngine trait (revised)] not there is not there, whatever listing all says or costs."""

    class Unlisted(InMemorySkillSource):
        asked = 0

        async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
            self.asked += 1
            raise ValueError("no list today")

    source = Unlisted([document("mail/read")])
    for options, times in ((EngineOptions(), 1), (EngineOptions(suggest=False), 1)):
        with pytest.raises(SkillNotFound, match="skill 'mail/reed' not found"):
            run(DefaultSkillEngine(source, options).load("mail/reed"))
        assert source.asked == times


def test_agents(world: World) -> None:
    """[LIB: Failure semantics] the model is told what it can do, and of nothing that it may not use."""
    source = InMemorySkillSource([document("mail/read"), document("vault/read")])
    agent = AgentFactory().skill_source(source).build_agent_sync(AgentBuildConfig(deny=("vault",)))
    result = run(agent.call_tool("load_skill", {"id": "post/read"}))
    assert (result.is_error, result.text) == (True, "skill 'post/read' not found; did you mean mail/read?")
    denied = run(agent.call_tool("list_skill_files", {"id": "vault/read"}))
    assert denied.text == "skill 'vault/read' not found; did you mean mail/read?"
