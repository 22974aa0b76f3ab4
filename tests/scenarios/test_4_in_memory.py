"""4. SDK — In-memory skills (testing / embedding)."""

from __future__ import annotations

from skillc import (
    AgentFactory,
    InMemorySkillSource,
    SkillDescriptor,
    SkillDocument,
    SkillId,
    SkillScope,
)
from tests.support.skills import run

SKILLS = [
    SkillDocument(
        descriptor=SkillDescriptor(
            id=SkillId("test/greeter"),
            name="greeter",
            description="Greets users by name",
            scope=SkillScope.BUILTIN,
        ),
        body="Always greet the user by their first name.",
        extensions={},
    ),
]


def test_skills_that_a_program_makes_up() -> None:
    """[LIB: 4. SDK — In-memory skills (testing / embedding)] the document's program, and what it gives."""
    source = InMemorySkillSource(SKILLS)
    factory = AgentFactory("/tmp/store").skill_source(source)
    agent = run(factory.build_agent())
    assert agent.system_prompt == (
        "<available_skills>\n"
        '  <skill id="test/greeter">\n'
        "    <description>Greets users by name</description>\n"
        "  </skill>\n"
        "</available_skills>"
    )
    turn = run(agent.prepare_turn("/test/greeter I am Ada Lovelace"))
    assert turn.message == (
        '<skill id="test/greeter">\nAlways greet the user by their first name.\n</skill>\n\nI am Ada Lovelace'
    )
