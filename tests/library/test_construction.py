"""Arguments of public sources are checked when they are constructed, with a plain message."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc import (
    AgentFactory,
    BearerAuth,
    CompositeSkillSource,
    DefaultSkillEngine,
    EngineOptions,
    FilesystemSkillSource,
    FilteredSkillSource,
    GitRef,
    GitSkillConfig,
    HeaderAuth,
    HttpSkillSource,
    HttpsToken,
    InMemorySkillSource,
    InvalidConfiguration,
    McpSkillSource,
    NamedSource,
    PrefixedSkillSource,
    RenamedSkillSource,
    SkillcError,
    SkillDescriptor,
    SkillDocument,
    SkillId,
    SkillRepositoryConfig,
    SshKey,
)
from tests.support.cases import each

ANY: Any = None
ID = SkillId("a")
EMPTY = InMemorySkillSource([])
SECRET = "hunter2-hunter2"
WRONG: dict[str, Callable[[], object]] = {
    "a ref's name": lambda: GitRef("branch", ANY),
    "a ref's kind": lambda: GitRef("head"),
    "an address": lambda: GitSkillConfig(ANY),
    "a ref as text": lambda: GitSkillConfig("https://h/x", "main"),  # type: ignore[arg-type]
    "credentials": lambda: GitSkillConfig("https://h/x", auth=SECRET),  # type: ignore[arg-type]
    "an interval": lambda: GitSkillConfig("https://h/x", refresh_interval="5m"),  # type: ignore[arg-type]
    "a negative interval": lambda: GitSkillConfig("https://h/x", refresh_interval=timedelta(-1)),
    "no number": lambda: GitSkillConfig("https://h/x", refresh_interval=math.nan),
    "a depth": lambda: GitSkillConfig("https://h/x", depth=0),
    "a token": lambda: HttpsToken(ANY),
    "an empty token": lambda: HttpsToken(""),
    "a key": lambda: SshKey(ANY),
    "a passphrase": lambda: SshKey("key", SECRET),
    "a URL": lambda: HttpSkillSource(ANY),
    "an empty URL": lambda: HttpSkillSource(""),
    "no URL": lambda: HttpSkillSource("notaurl"),
    "no URL of an MCP server": lambda: McpSkillSource("x", url="notaurl"),
    "a token alone": lambda: HttpSkillSource("https://h", SECRET),  # type: ignore[arg-type]
    "a TTL": lambda: HttpSkillSource("https://h", cache_ttl=-1),
    "a bearer": lambda: BearerAuth(ANY),
    "a header": lambda: HeaderAuth("X", ANY),
    "a command": lambda: McpSkillSource("x", command="server --stdio"),
    "a label": lambda: McpSkillSource(ANY, url="https://h"),
    "an MCP TTL": lambda: McpSkillSource("x", url="https://h", cache_ttl=ANY),
    "a folder": lambda: FilesystemSkillSource(ANY),
    "a time-out": lambda: CompositeSkillSource([], time_out=-1),
    "no source": lambda: NamedSource("x", object()),  # type: ignore[arg-type]
    "a class": lambda: NamedSource("x", FilesystemSkillSource),  # type: ignore[arg-type]
    "no source to filter": lambda: FilteredSkillSource("skills", lambda skill: True),  # type: ignore[arg-type]
    "no condition": lambda: FilteredSkillSource(EMPTY, "pdf"),  # type: ignore[arg-type]
    "no source to prefix": lambda: PrefixedSkillSource(ANY, "vendor"),
    "no prefix": lambda: PrefixedSkillSource(EMPTY, ANY),
    "an empty prefix": lambda: PrefixedSkillSource(EMPTY, ""),
    "a prefix that is no ID": lambda: PrefixedSkillSource(EMPTY, "Vendor/"),
    "no source to rename": lambda: RenamedSkillSource(ANY, {}),
    "no names": lambda: RenamedSkillSource(EMPTY, [("a", "b")]),  # type: ignore[arg-type]
    "a new name that is no ID": lambda: RenamedSkillSource(EMPTY, {"a": "B b"}),
    "an old name that is no ID": lambda: RenamedSkillSource(EMPTY, {ANY: "b"}),
    "no documents": lambda: InMemorySkillSource(ANY),
    "no document": lambda: InMemorySkillSource(["# Body"]),  # type: ignore[list-item]
    "a document without a body": lambda: InMemorySkillSource([SkillDocument(SkillDescriptor(ID), ANY)]),
    "no source for agents": lambda: AgentFactory().skill_source("x"),  # type: ignore[arg-type]
    "a name": lambda: NamedSource(ANY, FilesystemSkillSource(".")),
    "one text to deny": lambda: EngineOptions(deny="pdf"),  # type: ignore[arg-type]
    "one text to allow": lambda: EngineOptions(allow="pdf"),  # type: ignore[arg-type]
    "one capability as text": lambda: EngineOptions(capabilities="shell"),  # type: ignore[arg-type]
    "a threshold as text": lambda: EngineOptions(inventory_threshold="12"),  # type: ignore[arg-type]
    "a negative budget": lambda: EngineOptions(inventory_budget=-1),
    "a repository's type": lambda: SkillRepositoryConfig("x", "svn"),
    "a repository's name": lambda: SkillRepositoryConfig("", "http", {"url": "https://h"}),
    "a missing setting": lambda: SkillRepositoryConfig("x", "git"),
    "a setting's type": lambda: SkillRepositoryConfig("x", "git", {"url": ANY}),
    "an unknown setting": lambda: SkillRepositoryConfig("x", "http", {"url": "https://h", "depth": 1}),
    "a repository's time-out": lambda: SkillRepositoryConfig("x", "http", {"url": "u"}, time_out=0),
}


@each("what", WRONG)
def test_wrong_arguments(what: str) -> None:
    """[D33] a wrong type or value fails at construction, in plain words and without secrets."""
    with pytest.raises((SkillcError, TypeError, ValueError)) as caught:
        WRONG[what]()
    assert str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_source_without_collections() -> None:
    """[LIB: SkillSource trait (revised)] [D29] collections of its skills' IDs, alone and among others; no
    passphrase for a key.
    """

    class Plain:
        def __init__(self, inner: InMemorySkillSource) -> None:
            self.list, self.load = inner.list, inner.load

    inner = InMemorySkillSource([SkillDocument(SkillDescriptor(SkillId("acme/pdf")), "Body")])
    plain: Any = Plain(inner)
    for source in (plain, CompositeSkillSource([NamedSource("x", plain)]), PrefixedSkillSource(plain, "v")):
        *_, last = asyncio.run(DefaultSkillEngine(source).collections())
        assert (last.path.removeprefix("v/"), last.count) == ("acme", 1)
    assert "acme" in AgentFactory().skill_source(plain).build_agent_sync().system_prompt
    with pytest.raises(InvalidConfiguration, match="add the key to ssh-agent"):
        SshKey("~/.ssh/id", SECRET)
    assert SshKey("~/.ssh/id").passphrase is None


def test_defaults_and_intervals(tmp_path: Path) -> None:
    """[LIB: GitSkillSource (feature-gated)] [D33] a ref is `main` by default; a timedelta is an interval."""
    assert GitRef() == GitRef.branch("main") == GitSkillConfig("https://h/x").git_ref
    config = GitSkillConfig("https://h/x", refresh_interval=timedelta(minutes=2), cache_dir=tmp_path)
    assert config.refresh_interval == 120.0
    assert HttpSkillSource("https://h", cache_ttl=timedelta(seconds=5)).cache_ttl == 5.0
    assert McpSkillSource("x", url="https://h", cache_ttl=timedelta(1)).cache_ttl == 86400.0
