"""Finding through the engine: who may use what, and sources that are no folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillc import AgentBuildConfig, AgentFactory
from skillc.engine import DefaultSkillEngine, EngineOptions, SyncSkillEngine
from skillc.errors import EmptyQuery, RepositoryUnavailable
from skillc.library.sources.composite import CompositeSkillSource, NamedSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import InMemorySkillSource
from skillc.library.sources.wrappers import FilteredSkillSource, PrefixedSkillSource, RenamedSkillSource
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.skills import document, run, skill


def test_only_what_the_agent_may_use(world: World) -> None:
    """[D32] [LIB: SkillEngine trait (revised)] allow, deny and capabilities hold for finding, however many
    are hidden.
    """
    source = InMemorySkillSource(
        [
            document("mail/read", "Read letters.", "Letters"),
            document("mail/send", "Send letters.", "Letters"),
            document("vault", "Letters.", "Letters", "secrets"),
        ]
    )

    def found(options: EngineOptions) -> list[str]:
        return [skill.id for skill in SyncSkillEngine(source, options).find("letters")]

    assert found(EngineOptions()) == ["mail/read", "mail/send"]
    assert found(EngineOptions(deny=("mail/send",))) == ["mail/read"]
    assert found(EngineOptions(allow=("vault",), capabilities=frozenset({"secrets"}))) == ["vault"]
    best = [document(f"no/s{n}", "rain rain", "Rain and rain") for n in range(120)]
    many = InMemorySkillSource([*best, document("yes/it", "Sun, wind and rain.", "Weather")])
    engine = DefaultSkillEngine(many, EngineOptions(allow=("yes",)))
    assert [skill.id for skill in run(engine.find("rain", 3))] == ["yes/it"]


def test_documents_follow_their_source(world: World) -> None:
    """[LIB: SkillSource trait (revised)] bodies at hand are searched, and what changes is noticed."""
    documents = {SkillId("a/one"): document("a/one", "# T\n\n## Herbs\n\nBasil\n")}
    source = InMemorySkillSource(documents.values())
    engine = SyncSkillEngine(source)
    (found,) = engine.find("basil")
    assert (found.id, found.section, found.read) == ("a/one", "Herbs", "skc load a/one")
    source._documents = {SkillId("a/two"): document("a/two", "Basil and thyme")}
    assert [skill.id for skill in engine.find("basil")] == ["a/two"]
    kept = FilteredSkillSource(source, lambda skill: skill.name == "two")
    assert [skill.id for skill in SyncSkillEngine(kept).find("two")] == ["a/two"]


def test_several_kinds_of_sources(world: World, tmp_path: Path) -> None:
    """[D27] folders and others in one order; a source that fails takes no other down unless it must."""
    skill(tmp_path, "shelf/cooking/soup", "---\ndescription: Cook soup\n---\n# Soup\n\n## Broth\n\nBones.\n")
    memory = InMemorySkillSource([document("cooking/soup", "Soup."), document("stew", "Soup with bones.")])
    missing = FilesystemSkillSource(tmp_path / "missing", required=True)
    folder = FilesystemSkillSource(tmp_path / "shelf")
    named = [NamedSource("gone", missing), NamedSource("shelf", folder), NamedSource("made-up", memory)]
    engine = SyncSkillEngine(CompositeSkillSource(named))
    found = engine.find("soup bones")
    assert {(f.id, f.source_name, f.also) for f in found} == {
        ("cooking/soup", "shelf", (("made-up", "cooking/soup"),)),
        ("stew", "made-up", ()),
    }
    assert engine.find("soup", 1)[0].as_json()["source_name"] in ("shelf", "made-up")
    must = CompositeSkillSource([NamedSource("gone", missing, required=True), *named[1:]])
    with pytest.raises(RepositoryUnavailable):
        SyncSkillEngine(must).find("soup")
    with pytest.raises(EmptyQuery):
        engine.find(" ")


def test_what_wrappers_show(world: World, tmp_path: Path) -> None:
    """[LIB: SkillSource trait (revised)] wrapped skills are found by their bodies, under their new names."""
    body = "---\ndescription: Cook {}\n---\n# Food\n\n## Broth\n\nMarrow.\n"
    for name in ("soup", "stew", "secret"):
        skill(tmp_path, f"shelf/{name}", body.format(name))
    folder = FilesystemSkillSource(tmp_path / "shelf")
    kept = FilteredSkillSource(folder, lambda skill: skill.name != "secret")
    around = PrefixedSkillSource(RenamedSkillSource(kept, {"stew": "ragout"}), "kitchen")
    found = SyncSkillEngine(around).find("marrow")
    assert [(f.id, f.section) for f in found] == [("kitchen/ragout", "Broth"), ("kitchen/soup", "Broth")]
    assert found[0].read == f"skc show {tmp_path}/shelf/stew --section Broth"
    both = CompositeSkillSource([NamedSource("ours", around), NamedSource("theirs", folder)])
    assert {(f.id, f.source_name) for f in SyncSkillEngine(both).find("marrow")} >= {
        ("kitchen/soup", "ours"),
        ("secret", "theirs"),
    }
    hidden = InMemorySkillSource([document("kitchen/secret", "Marrow")])
    over = CompositeSkillSource([NamedSource("ours", around), NamedSource("memory", hidden)])
    assert "kitchen/secret" in {f.id for f in SyncSkillEngine(over).find("marrow")}


PDF = "---\ndescription: Read and fill in forms\n---\n# PDF\n\nForms.\n\n## Tables\n\nExtract tables.\n"


def test_the_tool(world: World, tmp_path: Path) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] [D47] what fits, why, and what to read; best first, no command."""
    skill(tmp_path, "documents/pdf", PDF)
    skill(tmp_path, "documents/letters", "---\ndescription: Write letters\n---\nExtract nothing.\n")
    skill(tmp_path, "other", "---\ndescription: Anything else\n---\n")
    factory = AgentFactory().skill_source(FilesystemSkillSource(tmp_path))
    agent = factory.build_agent_sync(AgentBuildConfig())
    text = run(agent.call_tool("find_skills", {"task": "extract the tables from this report"})).text
    assert text == (
        '{"skills":[{"id":"documents/pdf","description":"Read and fill in forms",'
        '"matched":["tables","extract"],"section":"Tables"},'
        '{"id":"documents/letters","description":"Write letters","matched":["extract"]}]}'
    )
    one = run(agent.call_tool("find_skills", {"task": "extract tables", "limit": 1}))
    assert [found["id"] for found in json.loads(one.text)["skills"]] == ["documents/pdf"]
    denied = factory.build_agent_sync(AgentBuildConfig(deny=("documents/pdf",)))
    left = run(denied.call_tool("find_skills", {"task": "extract tables"}))
    assert [found["id"] for found in json.loads(left.text)["skills"]] == ["documents/letters"]


def test_the_tool_in_a_part(world: World, tmp_path: Path) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] limits, copies and typos: five skills are five different ones."""
    for name in ("pdf", "copies/pdf", "other/report"):
        skill(tmp_path, name, PDF.replace("forms", "charts") if name == "other/report" else PDF)
    agent = AgentFactory().skill_source(FilesystemSkillSource(tmp_path)).build_agent_sync(AgentBuildConfig())

    def call(**arguments: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(run(agent.call_tool("find_skills", arguments)).text)
        return value

    found = call(task="extract tables")["skills"]
    assert [skill["id"] for skill in found] == ["copies/pdf", "other/report"]
    assert found[0]["copies"] == [{"id": "pdf", "source_name": ""}]
    assert [skill["id"] for skill in call(task="tables", collection="other")["skills"]] == ["other/report"]
    nothing = call(task="tables", collection="other", tag="new")
    assert nothing["skills"] == []
    assert nothing["note"].startswith("no skill of collection 'other' and tag 'new' has any of these words;")
    assert call(task="extarct")["corrections"] == {"extarct": "extract"}
    assert "corrections" not in call(task="extract")
    refusal = run(agent.call_tool("find_skills", {"task": "tables", "repository": "none"}))
    assert refusal.is_error
    assert "there is no repository" in refusal.text


def test_the_tool_finds_nothing_or_much(world: World) -> None:
    """[LIB: Failure semantics] [LIB: Builtin Tools (meerkat-tools)] an empty list says what to do instead;
    five results, descriptions and reasons bounded.
    """
    source = InMemorySkillSource([document("a", "Soup")])
    agent = AgentFactory().skill_source(source).build_agent_sync()
    result = run(agent.call_tool("find_skills", {"task": "quantum chromodynamics"}))
    assert not result.is_error
    assert json.loads(result.text)["skills"] == []
    assert "browse_skills" in json.loads(result.text)["note"]
    words = [f"w{n}x" for n in range(30)]
    skills = [document(f"s{n}", " ".join(words), f"{'long words ' * 400}{n}") for n in range(9)]
    source = InMemorySkillSource(skills)
    agent = AgentFactory().skill_source(source).build_agent_sync()
    found = json.loads(run(agent.call_tool("find_skills", {"task": " ".join(words)})).text)["skills"]
    assert len(found) == 5
    assert all(len(skill["description"]) <= 1024 and len(skill["matched"]) == 8 for skill in found)
