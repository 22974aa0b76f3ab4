"""Sources together: precedence, failures, and wrappers around them."""

from __future__ import annotations

import builtins
import logging

import pytest

from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.library.sources.composite import CompositeSkillSource, NamedSource
from skillc.library.sources.source import (
    InMemorySkillSource,
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillSource,
)
from skillc.library.sources.wrappers import FilteredSkillSource, PrefixedSkillSource, RenamedSkillSource
from skillc.skills import SkillId
from tests.support.skills import run
from tests.support.sources import Broken, memory


def test_first_source_wins(caplog: pytest.LogCaptureFixture) -> None:
    """[D27] [LIB: Source Precedence & Shadowing] the winner carries its repository, the loser is logged."""
    both = CompositeSkillSource(
        [
            NamedSource("project", memory(a="first", b="only")),
            NamedSource("company", memory(a="second", c="third")),
        ]
    )
    with caplog.at_level(logging.INFO, "skillc.library"):
        found = run(both.list())
    assert [(str(s.id), s.description, s.source_name) for s in found] == [
        ("a", "first", "project"),
        ("b", "only", "project"),
        ("c", "third", "company"),
    ]
    assert caplog.messages == ["skill 'a' of 'company' is shadowed by 'project'"]
    assert run(both.load(SkillId("a"))).body == "Body: first"
    assert run(both.load(SkillId("c"))).descriptor.source_name == "company"
    told = run(both.diagnostics())
    assert [(d.code, d.source_name, d.path) for d in told] == [("W022", "company", "a")]


def test_a_filter_never_shows_the_loser() -> None:
    """[D27] [D26] a shadowed skill does not come back; collections count over all sources."""
    both = CompositeSkillSource([NamedSource("x", memory(a="plain")), NamedSource("y", memory(a="special"))])
    assert run(both.list(SkillFilter(query="special"))) == []

    class Described(InMemorySkillSource):
        async def collections(self) -> builtins.list[SkillCollection]:
            return [SkillCollection("docs", "Documents", 1)]

    described = Described([SkillDocument(SkillDescriptor(SkillId("docs/a")), "")])
    merged = CompositeSkillSource([NamedSource("x", memory(docs__b="b")), NamedSource("y", described)])
    assert run(merged.collections()) == [SkillCollection("docs", "Documents", 2)]


def test_one_that_fails_takes_no_other_down() -> None:
    """[D27] the others are served; the failure is told."""
    three = CompositeSkillSource(
        [NamedSource("bad", Broken()), NamedSource("good", memory(a="x")), NamedSource("more", memory(b="y"))]
    )
    assert [str(s.id) for s in run(three.list())] == ["a", "b"]
    assert list(three.failures) == ["bad"]
    assert run(three.load(SkillId("b"))).body == "Body: y"
    assert [(d.code, d.source_name) for d in run(three.diagnostics())] == [("E200", "bad")]


def test_all_fail() -> None:
    """[D27] [D33] an error only if all repositories fail, but for the last resort; a source is a protocol."""
    source = CompositeSkillSource(
        [NamedSource("bad", Broken()), NamedSource("embedded", memory(e="x"), fallback=True)]
    )
    with pytest.raises(
        RepositoryUnavailable, match="repository 'bad' unavailable: ConnectionError: the cable is out"
    ):
        run(source.list())
    assert isinstance(memory(), SkillSource)
    assert not isinstance(object(), SkillSource)


def test_wrappers_compose() -> None:
    """[LIB: Skill Sources (meerkat-skills)] filtered, renamed and prefixed, one around the other."""
    source = memory(keep__me="x", drop__me="y", old="z")
    kept = FilteredSkillSource(source, lambda s: not s.id.startswith("drop/"))
    wrapped = PrefixedSkillSource(RenamedSkillSource(kept, {"old": "new"}), "vendor")
    assert [str(s.id) for s in run(wrapped.list())] == ["vendor/keep/me", "vendor/new"]
    assert run(wrapped.load(SkillId("vendor/new"))).body == "Body: z"
    assert run(wrapped.load(SkillId("vendor/new"))).descriptor.name == "new"
    for gone in ("vendor/old", "vendor/drop/me", "keep/me", "new"):
        with pytest.raises(SkillNotFound):
            run(wrapped.load(SkillId(gone)))
    assert [c.path for c in run(wrapped.collections())] == ["vendor", "vendor/keep"]
    assert [str(s.id) for s in run(wrapped.list(SkillFilter(collection="vendor/keep")))] == ["vendor/keep/me"]
