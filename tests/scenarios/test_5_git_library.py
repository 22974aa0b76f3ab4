"""5. Git repo as skill library.

A team maintains skills in `github.com/company/extraction-skills`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from skillc import (
    AgentBuildConfig,
    AgentFactory,
    BuiltAgent,
    CompositeSkillSource,
    FilesystemSkillSource,
    GitRef,
    GitSkillConfig,
    GitSkillSource,
    HttpsToken,
    SkillScope,
    SkillSource,
)
from tests.conftest import World
from tests.scenarios.conftest import Origin, Server
from tests.support.git import GIT_ENV
from tests.support.skills import run, skill

TOKEN = "ghp_0123456789"


@pytest.fixture
def team(origin: Origin) -> Origin:
    """The document's repository, released as v1.2.0."""
    origin.git("rm", "-rq", ".")
    origin.write("extraction/COLLECTION.md", "Entity and relationship extraction\n")
    origin.skill("extraction/email-extractor", "Extract the following from email messages.")
    origin.write("extraction/email-extractor/scripts/parse_headers.py", "print('headers')\n")
    origin.skill("extraction/legal-extractor")
    origin.write("extraction/legal-extractor/references/clause-taxonomy.md", "# Clauses\n")
    origin.write("formatting/COLLECTION.md", "Output formatting and templates\n")
    origin.skill("formatting/markdown-output")
    origin.push(tag="v1.2.0")
    return origin


def agent_over(source: SkillSource) -> BuiltAgent:
    factory = AgentFactory("/tmp/store").skill_source(source)
    return run(
        factory.build_agent(AgentBuildConfig("m").with_preloaded_skills(["extraction/email-extractor"]))
    )


def check(source: SkillSource) -> None:
    """The library as the document draws it, whatever way it came."""
    agent = agent_over(source)
    assert agent.system_prompt.endswith("Extract the following from email messages.\n</skill>")
    root = json.loads(run(agent.call_tool("browse_skills")).text)
    assert root["subcollections"] == [
        {"path": "extraction", "description": "Entity and relationship extraction", "count": 2},
        {"path": "formatting", "description": "Output formatting and templates", "count": 1},
    ]


def check_files(source: SkillSource) -> None:
    agent = agent_over(source)
    listed = json.loads(run(agent.call_tool("list_skill_files", {"id": "extraction/email-extractor"})).text)
    assert listed["files"] == ["SKILL.md", "scripts/parse_headers.py"]
    clauses = {"id": "extraction/legal-extractor", "path": "references/clause-taxonomy.md"}
    assert run(agent.call_tool("read_skill_file", clauses)).text == "# Clauses\n"


def test_option_a(world: World, team: Origin, server: Server) -> None:
    """[LIB: 5. Git repo as skill library] Option A: GitSkillSource, pinned to a release, with a token."""
    server.token = TOKEN
    source = GitSkillSource(
        GitSkillConfig(
            repo_url=server.url,
            git_ref=GitRef.tag("v1.2.0"),  # pin to release
            auth=HttpsToken(TOKEN),
        )
    )
    check(source)
    check_files(source)
    asked = len(server.requests)
    team.push("extraction/later")
    assert not run(agent_over(source).is_stale())
    assert len(server.requests) == asked  # a release does not move


def test_option_b(world: World, team: Origin, server: Server, tmp_path: Path) -> None:
    """[LIB: 5. Git repo as skill library] Option B: cloned by hand, FilesystemSkillSource."""
    folder = tmp_path / "opt-skills"
    command = ["git", "clone", "-q", server.url, str(folder)]
    subprocess.run(command, env=GIT_ENV, check=True, capture_output=True)
    source = FilesystemSkillSource(folder, SkillScope.PROJECT)
    check(source)
    check_files(source)


def test_composition(world: World, team: Origin, server: Server) -> None:
    """[LIB: GitSkillSource (feature-gated)] local project skills override those of the repository."""
    skill(world.project, ".rkat/skills/extraction/email-extractor")
    composite = CompositeSkillSource(
        [
            FilesystemSkillSource(".rkat/skills", SkillScope.PROJECT),
            GitSkillSource(GitSkillConfig(repo_url=server.url)),
        ]
    )
    agent = run(AgentFactory("/tmp/store").skill_source(composite).build_agent())
    listing = json.loads(run(agent.call_tool("browse_skills", {"path": "extraction"})).text)
    assert [(s["name"], s["source_name"]) for s in listing["skills"]] == [
        ("email-extractor", "filesystem"),
        ("legal-extractor", "git"),
    ]
    assert "# email-extractor\n\nBody." in run(agent.prepare_turn("/extraction/email-extractor")).message
