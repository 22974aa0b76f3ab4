"""The document's table of failure semantics, row by row."""

from __future__ import annotations

import httpx2
import pytest

from skillc import (
    AgentBuildConfig,
    AgentFactory,
    FilesystemSkillSource,
    InvalidSkillId,
    SkillcError,
    SkillEvent,
    SkillNotFound,
    SkillResolutionFailed,
)
from tests.conftest import World
from tests.scenarios.conftest import Serve
from tests.support.skills import run, skill


@pytest.fixture
def observed(world: World) -> tuple[AgentFactory, list[SkillEvent]]:
    """A factory over a project with one skill, and what it observes."""
    skill(world.store, "extraction/email-extractor")
    seen: list[SkillEvent] = []
    return AgentFactory(observer=seen.append).skill_source(FilesystemSkillSource(world.store)), seen


Observed = tuple[AgentFactory, list[SkillEvent]]


@pytest.mark.slow
def test_preload(world: World, observed: Observed, serve: Serve) -> None:
    """[LIB: Failure semantics] Pre-load (`preload_skills`): the build fails, on every surface."""
    factory, _ = observed
    url = serve(world.project)
    errors: dict[str, type[SkillcError]] = {"foo/bar": SkillNotFound, "../bar": InvalidSkillId}
    for skill_id, error in errors.items():
        skills = ["extraction/email-extractor", skill_id]
        with pytest.raises(error, match=skill_id):
            run(factory.build_agent(AgentBuildConfig().with_preloaded_skills(skills)))
        world.fails(error.code, "turn", "go", "--preload", skill_id)
        asked = {"message": "go", "preload_skills": [skill_id]}
        answer = httpx2.post(f"{url}/turns", json=asked, trust_env=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, error.code)


@pytest.mark.slow
def test_per_turn(world: World, observed: Observed, serve: Serve) -> None:
    """[LIB: Failure semantics] Per-turn (`/skill-ref`): an event, a message to the user; it proceeds."""
    factory, seen = observed
    agent = run(factory.build_agent())
    url = serve(world.project)
    for message, references in (("/foo/bar go", None), ("go", ["foo/bar"])):
        seen.clear()
        turn = run(agent.prepare_turn(message, references))
        assert turn.message == message  # without injection
        assert turn.events == (SkillResolutionFailed("foo/bar", "skill 'foo/bar' not found"),) == tuple(seen)
        assert turn.notices == ("skill 'foo/bar' not found",)
        words = [message, *(["--ref", "foo/bar"] if references else [])]
        printed = world.json("turn", *words)
        asked = {"message": message, "skill_references": references}
        answer = httpx2.post(f"{url}/turns", json=asked, trust_env=False)
        assert answer.status_code == 200
        for shown in (printed, answer.json()):
            assert {key: shown[key] for key in ("message", "events", "notices")} == turn.as_json()
        assert "notice: skill 'foo/bar' not found" in world.ok("turn", *words).stderr
