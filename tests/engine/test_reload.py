"""Agents that live long: skills that are new, changed or gone, and prompts that are out of date."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skillc import (
    AgentBuildConfig,
    AgentFactory,
    BuiltAgent,
    FilesystemSkillSource,
    SkillNotFound,
)
from tests.conftest import World, save
from tests.support.skills import run, skill


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for name in ("kept", "edited", "removed"):
        skill(tmp_path, name)
    return tmp_path


def built(shelf: Path, *preload: str) -> BuiltAgent:
    factory = AgentFactory().skill_source(FilesystemSkillSource(shelf))
    return run(factory.build_agent(AgentBuildConfig("m").with_preloaded_skills(preload)))


def edit(shelf: Path, name: str, description: str, body: str = "New body.") -> None:
    save(
        shelf / name / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n\n{body}\n"
    )


def test_calls_see_the_files_of_now(shelf: Path) -> None:
    """[LIB: Existing (updated)] new, changed and removed skills, in tools and turns, without a restart."""
    agent = built(shelf)
    skill(shelf, "added")
    edit(shelf, "edited", "Other words")
    shutil.rmtree(shelf / "removed")
    listing = run(agent.call_tool("browse_skills")).text
    assert '"added"' in listing
    assert "Other words" in listing
    assert '"removed"' not in listing
    assert "New body." in run(agent.call_tool("load_skill", {"id": "edited"})).text
    assert "New body." in run(agent.prepare_turn("/edited go")).message
    assert run(agent.call_tool("load_skill", {"id": "removed"})).is_error
    assert run(agent.prepare_turn("/removed go")).notices == ("skill 'removed' not found",)


def test_a_prompt_out_of_date(shelf: Path) -> None:
    """[LIB: Existing (updated)] the prompt is a snapshot; it is known to be old, and a new one can be had."""
    agent = built(shelf)
    changes: list[Callable[[], object]] = [
        lambda: skill(shelf, "added"),
        lambda: edit(shelf, "edited", "Other words"),
        lambda: shutil.rmtree(shelf / "removed"),
    ]
    for change in changes:
        before = agent.system_prompt
        assert not run(agent.is_stale())
        assert run(agent.reload()) is agent
        change()
        fresh = run(agent.reload())
        assert (agent.system_prompt, run(agent.is_stale())) == (before, True)
        assert fresh.system_prompt != before
        assert (fresh.model, fresh.tools, fresh.engine) == (agent.model, agent.tools, agent.engine)
        agent = fresh


def test_a_change_that_the_prompt_does_not_show(shelf: Path) -> None:
    """[LIB: Renderer (spec-compliant XML)] [LIB: Build flow (factory.rs step 11, revised)] a new body is no
    change of a prompt, unless it is preloaded; one that is gone is raised.
    """
    agent = built(shelf)
    edit(shelf, "edited", "About edited")
    assert not run(agent.is_stale())
    agent = built(shelf, "edited")
    edit(shelf, "edited", "About edited")
    fresh = run(agent.reload())
    assert fresh.preload_skills == ("edited",)
    assert "New body." in fresh.system_prompt
    shutil.rmtree(shelf / "edited")
    assert run(fresh.is_stale())
    with pytest.raises(SkillNotFound):
        run(fresh.reload())


def test_allow_and_deny_hold_after_a_reload(shelf: Path) -> None:
    """[LIB: SkillEngine trait (revised)] what an agent may not use stays hidden, whenever it arrives."""
    factory = AgentFactory().skill_source(FilesystemSkillSource(shelf))
    agent = run(factory.build_agent(AgentBuildConfig(allow=("kept", "team"), deny=("team/secret",))))
    for path in ("team/open", "team/secret", "other"):
        skill(shelf, path)
    fresh = run(agent.reload())
    assert 'id="team/open"' in fresh.system_prompt
    assert "secret" not in fresh.system_prompt
    assert "other" not in fresh.system_prompt
    assert run(fresh.call_tool("load_skill", {"id": "team/secret"})).is_error


def test_the_project_around(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D23] [LIB: Resolution: config → SkillSource] that of the working directory, or the one given."""
    skill(world.store, "mine")
    assert 'id="mine"' in run(AgentFactory().build_agent()).system_prompt
    (world.project / ".skillc" / "skills.toml").write_text("inventory_threshold = 0\n")
    monkeypatch.chdir(world.root)
    assert "mine" not in run(AgentFactory().build_agent()).system_prompt
    assert 'mode="collections"' in run(AgentFactory(project_root=world.project).build_agent()).system_prompt
