"""1. Elephant — SDK with remote skill source.

Elephant stores extraction skills in its own database, serves them via HTTP.
"""

from __future__ import annotations

import pytest

from skillc import (
    AgentBuildConfig,
    AgentFactory,
    BearerAuth,
    HttpSkillSource,
    SkillsConfig,
)
from tests.conftest import World
from tests.scenarios.conftest import Elephant
from tests.support.skills import run
from tests.support.variables import allow_all

BLOCK = (
    '<skill id="extraction/email-extractor">\n# Email Entity Extractor\n\nExtract the following...\n</skill>'
)


def test_a_skill_for_each_extraction(elephant: Elephant) -> None:
    """[LIB: 1. Elephant — SDK with remote skill source] the document's program, in Python."""

    async def startup() -> None:
        # Elephant startup: the skill source points at Elephant's own API
        skill_source = HttpSkillSource(
            f"{elephant.url}/api",  # base_url
            BearerAuth("my-token"),
            60.0,  # cache TTL, in seconds
        )
        factory = AgentFactory("/tmp/meerkat-store").skill_source(skill_source).builtins(True)

        # Per extraction: preload the right skill by canonical ID
        config = AgentBuildConfig("claude-sonnet-4-5").with_preloaded_skills(["extraction/email-extractor"])
        agent = await factory.build_agent(config, SkillsConfig())
        turn = await agent.prepare_turn("Extract entities from this email: ...")

        assert agent.model == "claude-sonnet-4-5"
        assert '<skill id="extraction/email-extractor" active="true">' in agent.system_prompt
        assert '<skill id="extraction/fiction-extractor">' in agent.system_prompt
        assert agent.system_prompt.endswith(f"</available_skills>\n\n{BLOCK}")
        assert [tool.name for tool in agent.tools][:2] == ["browse_skills", "load_skill"]
        assert turn.message == "Extract entities from this email: ..."

    run(startup())
    assert sorted(elephant.paths()) == ["/api/skills", "/api/skills/extraction%2Femail-extractor"]


@pytest.mark.slow
def test_in_skills_toml(world: World, elephant: Elephant) -> None:
    """[LIB: 1. Elephant — SDK with remote skill source] from configuration, as the command has it."""
    elephant.token = "from-the-environment"
    (world.project / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname = "elephant"\ntype = "http"\n'
        f'url = "{elephant.url}/api"\nauth_token = "${{ELEPHANT_API_KEY}}"\nrefresh_seconds = 60\n'
    )
    allow_all(world.home, world.project)
    key = {"ELEPHANT_API_KEY": "from-the-environment"}
    assert world.ok("load", "extraction/email-extractor", env=key).stdout == f"{BLOCK}\n"
    assert '"source_name": "elephant"' in world.ok("browse", "extraction", "--format", "json", env=key).stdout
