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
@pytest.mark.parametrize(("skill_id", "error"), [("foo/bar", SkillNotFound), ("../bar", InvalidSkillId)])
def test_preload(
    world: World, observed: Observed, serve: Serve, skill_id: str, error: type[SkillcError]
) -> None:
    """[LIB: Failure semantics] Pre-load (`preload_skills`): the build fails, on every surface."""
    factory, _ = observed
    with pytest.raises(error, match=skill_id):
        run(
            factory.build_agent(
                AgentBuildConfig().with_preloaded_skills(["extraction/email-extractor", skill_id])
            )
        )
    world.fails(error.code, "turn", "go", "--preload", skill_id)
    asked = {"message": "go", "preload_skills": [skill_id]}
    answer = httpx2.post(f"{serve(world.project)}/turns", json=asked, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, error.code)


@pytest.mark.slow
@pytest.mark.parametrize("beside", [False, True])
def test_per_turn(world: World, observed: Observed, serve: Serve, beside: bool) -> None:
    """[LIB: Failure semantics] Per-turn (`/skill-ref`): an event, a message to the user; it proceeds."""
    factory, seen = observed
    agent = run(factory.build_agent())
    message, references = ("go", ["foo/bar"]) if beside else ("/foo/bar go", None)
    turn = run(agent.prepare_turn(message, references))
    assert turn.message == message  # without injection
    assert turn.events == (SkillResolutionFailed("foo/bar", "skill 'foo/bar' not found"),) == tuple(seen)
    assert turn.notices == ("skill 'foo/bar' not found",)
    words = [message, *(["--ref", "foo/bar"] if beside else [])]
    printed = world.json("turn", *words)
    asked = {"message": message, "skill_references": references}
    answer = httpx2.post(f"{serve(world.project)}/turns", json=asked, trust_env=False)
    assert answer.status_code == 200
    for shown in (printed, answer.json()):
        assert {key: shown[key] for key in ("message", "events", "notices")} == turn.as_json()
    assert "notice: skill 'foo/bar' not found" in world.ok("turn", *words).stderr
