"""One request walks each folder at most once: what it saw is a snapshot, passed on as a value."""

from __future__ import annotations

import builtins
from collections import Counter

import pytest

from skillc import (
    AgentBuildConfig,
    AgentFactory,
    DefaultSkillEngine,
    EngineOptions,
    FilesystemSkillSource,
    FilteredSkillSource,
    PrefixedSkillSource,
    RenamedSkillSource,
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillId,
    SkillNotFound,
    SkillsConfig,
    SkillToolset,
    model_input,
    prepare_turn,
    resolve_repositories,
)
from skillc.library import locate_skill
from skillc.library.sources import snapshot_of
from tests.conftest import World
from tests.support.git import Origin
from tests.support.skills import run, skill
from tests.support.tools import executable, tool

ALL = SkillFilter()


@pytest.fixture
def engine(world: World) -> DefaultSkillEngine:
    """An engine over the default chain, a project with five skills in two collections."""
    for name in ("plain", "extraction/email", "extraction/fiction", "formatting/markdown", "formatting/html"):
        skill(world.store, name)
    root = str(world.project)
    return DefaultSkillEngine(
        resolve_repositories(SkillsConfig.load(root), root), EngineOptions(inventory_threshold=3)
    )


def check(walks: Counter[str], world: World) -> None:
    """Check that each folder was walked once, and begin to count anew."""
    assert walks[str(world.store)] == 1
    assert set(walks.values()) == {1}, walks
    walks.clear()


def test_requests(world: World, engine: DefaultSkillEngine, walks: Counter[str]) -> None:
    """[D31] [LIB: browse_skills tool] [LIB: SkillEngine trait (revised)] a turn, also one that fails,
    browsing and loading each take one snapshot.
    """
    given = run(model_input(engine, "/plain go", ["extraction/email", "skillc"], ["formatting/html"]))
    assert '<skill id="formatting/html">' in given.turn.message
    assert given.turn.message.endswith("go")
    assert given.system.count("<skill id=") == 4
    check(walks, world)
    assert run(prepare_turn(engine, "/plane go", ["nowhere"])).notices
    check(walks, world)
    for path, query in (("", None), ("extraction", None), ("", "email")):
        assert run(engine.browse(path, query))["skills"]
        check(walks, world)
    for request in (engine.load("skillc"), engine.files("skillc"), engine.read_file("skillc", "SKILL.md")):
        assert run(request)
        check(walks, world)
    with pytest.raises(SkillNotFound) as caught:
        run(engine.load("extraction/emails"))
    assert caught.value.nearest == ("extraction/email",)
    check(walks, world)


@pytest.mark.parametrize("threshold", [3, 100])
def test_an_inventory_with_preloads(world: World, walks: Counter[str], threshold: int) -> None:
    """[D30] in either mode, for an agent and for its question whether the prompt is out of date."""
    for name in ("plain", "extraction/email", "extraction/fiction", "formatting/html"):
        skill(world.store, name)
    config = SkillsConfig(inventory_threshold=threshold)
    build = AgentBuildConfig("m").with_preloaded_skills(["plain", "extraction/email"])
    agent = run(AgentFactory(config=config).build_agent(build))
    check(walks, world)
    assert not run(agent.is_stale())
    check(walks, world)


def test_the_library_and_its_tools(world: World, engine: DefaultSkillEngine, walks: Counter[str]) -> None:
    """[D27] [TOOLS §7.1] [D47] states, folders and tools of all take one snapshot; a source that wins is
    enough.
    """
    run(engine.load("plain"))
    assert walks == {str(world.store): 1}
    walks.clear()
    source = resolve_repositories(SkillsConfig(), str(world.project))
    for request in (source.states(), source.diagnostics(), source.directories(), source.collections()):
        run(request)
        check(walks, world)
    assert run(source.directory(SkillId("plain"))) == str(world.store / "plain")
    assert walks == {str(world.store): 1}
    walks.clear()
    executable(world.store, "mine", tool("say", "printf %s hello"))
    executable(world.store, "yours", tool("tell", "printf %s hello"))
    for skills in (engine, DefaultSkillEngine(FilesystemSkillSource(world.store))):
        offer = run(SkillToolset().offer(skills))
        assert {"mine__say", "yours__tell"} <= {definition.name for definition in offer.definitions}
        check(walks, world)


def test_locating(world: World, walks: Counter[str]) -> None:
    """[LIB: remote skills as local folders] an embedded skill, a repository's, and one that is unknown."""
    skill(world.root / "team", "billing/refunds")
    skill(world.store, "plain")
    assert locate_skill("skillc", str(world.project)).repository == "embedded"
    check(walks, world)
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "team"\ntype = "filesystem"\npath = "{world.root / "team"}"\n'
    )
    walks.clear()
    assert locate_skill("billing/refunds", str(world.project)).repository == "team"
    assert walks == {str(world.root / "team"): 1}
    walks.clear()
    with pytest.raises(SkillNotFound):
        locate_skill("billing/refund", str(world.project))
    assert walks[str(world.root / "team")] == 1
    assert set(walks.values()) == {1}


def test_locating_in_git(world: World, walks: Counter[str]) -> None:
    """[LIB: remote skills as local folders] the checkout is walked once, too."""
    origin = Origin(world.root)
    origin.make()
    origin.write("billing/refunds/SKILL.md", "---\nname: refunds\ndescription: d\n---\n# Refunds\n")
    origin.push()
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "team"\ntype = "git"\nurl = "file://{origin.bare}"\n'
    )
    assert locate_skill("billing/refunds", str(world.project)).is_copy
    assert list(walks.values()) == [1]


def test_wrappers(world: World, walks: Counter[str]) -> None:
    """[LIB: Skill Sources (meerkat-skills)] a snapshot of a wrapper is one of the source within."""
    skill(world.store, "docs/old")
    inner = FilteredSkillSource(FilesystemSkillSource(world.store), lambda skill: True)
    source = PrefixedSkillSource(RenamedSkillSource(inner, {"docs/old": "docs/new"}), "vendor")
    engine = DefaultSkillEngine(source)
    assert run(engine.files("vendor/docs/new")) == ["SKILL.md"]
    assert walks == {str(world.store): 1}
    walks.clear()
    assert run(engine.browse("vendor"))["subcollections"][0]["path"] == "vendor/docs"
    assert walks == {str(world.store): 1}


class Foreign:
    """A source of another program: three methods, and a count of the questions."""

    def __init__(self) -> None:
        self.questions: Counter[str] = Counter()

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        self.questions["list"] += 1
        return [SkillDescriptor(SkillId("a/b"), description="x")]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        self.questions["load"] += 1
        if skill_id != "a/b":
            raise SkillNotFound(skill_id)
        return SkillDocument((await self.list())[0], "Body.")

    async def collections(self) -> builtins.list[SkillCollection]:
        self.questions["collections"] += 1
        return [SkillCollection("a", "Letters", 1)]


def test_sources_without_snapshots() -> None:
    """[D33] any source will do: each question is asked once, and nothing is kept for the next request."""
    source = Foreign()
    engine = DefaultSkillEngine(source, EngineOptions(inventory_threshold=0))
    for times in (1, 2):
        given = run(model_input(engine, "/a/b go", ["a/b"]))
        assert "Letters" in given.system
        assert source.questions == {"list": 2 * times, "load": times, "collections": times}
    assert run(snapshot_of(source).directory(SkillId("a/b"))) is None
    assert run(snapshot_of(source).diagnostics()) == []
    snapshot = snapshot_of(source)
    assert snapshot_of(snapshot) is snapshot
    run(snapshot.list()).clear()
    assert len(run(snapshot.list())) == 1
