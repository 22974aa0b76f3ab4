"""Control characters in addresses: refused in every part, also where they are quoted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillc.errors import InvalidConfiguration, InvalidOption, OriginNotFound
from skillc.install.address import parse_origin, recall_origin
from skillc.library.sources import ClawHubSkillSource, HttpSkillSource, McpSkillSource, WellKnownSkillSource
from skillc.remotes.git import GitRemote, GitSkillConfig
from skillc.remotes.http import is_plain, parse_registry
from skillc.remotes.http.addresses import resolve_url
from skillc.remotes.site import read_index
from tests.conftest import World
from tests.support.cases import each

ATTACK = "https://x%0Aurl=https%3A%2F%2Fgithub.com@evil.host/a.git"  # asks git's helper for another login
PARTS = (
    ATTACK,
    *("https://user:pass%0d@host/a.git", "https://ho%0Ast/a.git", "https://host/a%00b.git"),
    *("https://host/a%0Ab.git", "https://host/a%250Ab.git", "https://host/a.git?q=%0A"),
    *("https://host/a.git#v1%0A", "https://host/a%C2%85b.git", "https://host/a%E2%80%A8b.git"),
    "https://host/a\tb.git",
)


@each("address", PARTS)
def test_in_any_part(address: str) -> None:
    """[D24] [SURFACES: Getting skills] whoever reads a part of an address finds no second line in it."""
    assert not is_plain(address)
    assert is_plain("https://me:p%C3%A4ss@host/a%20b.git?x=%26#v%2F1")


def test_quoted_without_end_and_in_an_index() -> None:
    """[SURFACES: Getting skills] no address takes long, and an entry of an index with two lines is none."""
    assert not is_plain("https://host/%" + "25" * 500_000 + "0A")
    entry = {"name": "pdf", "type": "archive", "url": "a%0Ab.zip", "digest": "sha256:" + "0" * 64}
    schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    index = read_index({"$schema": schema, "skills": [entry]}, "https://host/index.json")
    assert index is not None
    assert (index.skills, index.omissions) == ((), 1)


@each(
    ("read", "error"),
    [
        (GitRemote.parse, InvalidConfiguration),
        (GitSkillConfig, InvalidConfiguration),
        (parse_registry, InvalidOption),
        (lambda text: resolve_url(text, "http", "/"), InvalidOption),
        (lambda text: HttpSkillSource(text), InvalidConfiguration),
        (lambda text: WellKnownSkillSource(text), InvalidConfiguration),
        (lambda text: ClawHubSkillSource(text), InvalidConfiguration),
        (lambda text: McpSkillSource("m", url=text), InvalidConfiguration),
        (lambda text: parse_origin(text, "/"), OriginNotFound),
        (lambda text: parse_origin(f"git+{text}", "/"), OriginNotFound),
        (lambda text: parse_origin(f"{text}.zip", "/"), OriginNotFound),
        (lambda text: parse_origin(f"clawhub:{text}", "/"), OriginNotFound),
        (lambda text: parse_origin(f"skillc:{text}", "/"), OriginNotFound),
        (lambda text: recall_origin({"sourceType": "git", "sourceUrl": text}, "/"), OriginNotFound),
        (lambda text: recall_origin({"sourceType": "well-known", "sourceUrl": text}, "/"), OriginNotFound),
        (lambda text: recall_origin({"sourceType": "download", "source": text}, "/"), OriginNotFound),
    ],
)
def test_wherever_an_address_is_read(read: Callable[[str], object], error: type[Exception]) -> None:
    """[D24] [SURFACES: Getting skills] each kind of address is refused with its own error."""
    for address in PARTS:
        with pytest.raises(error):
            read(address)


@each("text", ["owner/repo/a%0Ab", "git@host:a%0Ab", "owner/repo#v1%0A"])
def test_short_forms(text: str) -> None:
    """[SURFACES: Getting skills] so are names and ssh addresses."""
    with pytest.raises(OriginNotFound):
        parse_origin(text, "/")


def test_in_skills_toml(world: World) -> None:
    """[D57] a repository with such an address is unavailable, and says why."""
    file = world.project / ".skillc" / "skills.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'[[repositories]]\nname = "evil"\ntype = "git"\nurl = "{ATTACK}"\n')
    assert "control characters" in world.skc("doctor", "--library").stdout
    world.fails("E100", "repo", "add", "other", ATTACK)
