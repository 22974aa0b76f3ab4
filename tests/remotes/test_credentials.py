"""Tokens for registries: where they are kept, and where they are sent."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidConfiguration, InvalidOption
from skillc.library.repositories import SkillsConfig, source_of
from skillc.remotes.http import (
    Credential,
    Session,
    check_token,
    choose_registry,
    find_token,
    forget_credential,
    parse_registry,
    read_credentials,
    store_credential,
)
from skillc.remotes.http.credentials import _is_below
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import LIST, Stub, page
from tests.support.skills import run

TEAM = "https://skills.example.com"


def file(world: World) -> Path:
    return world.home / ".skillc" / "credentials.json"


@each(
    ("address", "registry"),
    [
        ("https://skills.example.com/", TEAM),
        ("HTTPS://Skills.Example.COM:443//", TEAM),
        ("https://skills.example.com:8443/a/b/", "https://skills.example.com:8443/a/b"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]:80/x", "http://[::1]/x"),
    ],
)
def test_one_form_of_an_address(address: str, registry: str) -> None:
    """[SURFACES: Registry] an address is stored and compared in one form."""
    assert parse_registry(address) == registry == parse_registry(registry)


@each(
    "address",
    [
        *("", "skills.example.com", "ftp://skills.example.com", "https://", "https:///x", "file:///etc"),
        *("https://me@skills.example.com", "https://me:x@skills.example.com", f"{TEAM}?token=x", f"{TEAM}#x"),
        *("http://skills.example.com", "http://127.0.0.1.example.com", "http://localhost.example.com"),
        *(f"{TEAM}/a/../b", f"{TEAM}/./a", f"{TEAM}/a%2fb", f"{TEAM}/a b", f"{TEAM}\\x", f"{TEAM}/\n"),
        *("https://exämple.com", "https://a,b", "https://[::1", "https://x:99999", "https://-x"),
        "https://x_:y",
    ],
)
def test_no_address_of_a_registry(address: str) -> None:
    """[SURFACES: Registry] what is not https, or has more than a host, a port and a path, is refused."""
    with pytest.raises(InvalidOption) as caught:
        parse_registry(address)
    assert "me:x" not in caught.value.text()


def test_kept_for_the_owner_alone(world: World) -> None:
    """[SURFACES: Registry] the file is readable by its owner alone, also when it replaces another."""
    store_credential(Credential(TEAM, "one", "ada"))
    store_credential(Credential("http://localhost:1", "two"))
    store_credential(Credential(TEAM, "three", "eve"))
    assert stat.S_IMODE(file(world).stat().st_mode) == 0o600
    assert [(c.registry, c.token, c.subject) for c in read_credentials()] == [
        ("http://localhost:1", "two", ""),
        (TEAM, "three", "eve"),
    ]
    assert "three" not in repr(read_credentials())
    assert forget_credential(TEAM)
    assert not forget_credential(TEAM)
    assert [c.registry for c in read_credentials()] == ["http://localhost:1"]


def test_many_logins_at_once(world: World) -> None:
    """[SURFACES: Registry] logins at the same time lose none."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store_credential(Credential(f"https://r{n}.example", f"t{n}")), range(24)))
    assert {c.token for c in read_credentials()} == {f"t{n}" for n in range(24)}


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_can_read(world: World, mode: int) -> None:
    """[SURFACES: Registry] a file that others can read or write is not used."""
    store_credential(Credential(TEAM, "one"))
    file(world).chmod(mode)
    with pytest.raises(InvalidConfiguration, match="chmod 600"):
        find_token(TEAM)


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{", "{}", '{"version": 2, "tokens": []}', '{"version": 1}'),
        '{"version": 1, "tokens": {}}x',
        '{"version": 1, "tokens": [{"registry": "https://x"}]}',
        '{"version": 1, "tokens": [{"registry": "http://x.example", "token": "t"}]}',
        '{"version": 1, "tokens": [{"registry": "https://x", "token": "a b"}]}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file(world: World, content: str) -> None:
    """[SURFACES: Registry] a damaged file is E071 and is not replaced."""
    file(world).parent.mkdir(exist_ok=True)
    file(world).write_text(content)
    file(world).chmod(0o600)
    with pytest.raises(InvalidConfiguration, match="log in again"):
        store_credential(Credential(TEAM, "one"))
    assert file(world).read_text() == content


@each("token", ["", " \n", "a b", "a\nb", "ä", "x" * 5000, "a\0"])
def test_no_token(token: str) -> None:
    """[SURFACES: Registry] text that no header can carry is refused, and not repeated."""
    with pytest.raises(InvalidOption) as caught:
        check_token(token)
    assert not token.strip() or token not in caught.value.text()


@each(
    ("url", "token"),
    [
        (f"{TEAM}/skills", "team"),
        (f"{TEAM}:443/skills", "team"),
        (f"{TEAM}/private/skills/x", "private"),
        (f"{TEAM}/privately", "team"),
        ("https://skills.example.com:8443/skills", ""),
        ("http://skills.example.com/skills", ""),
        ("https://skills.example.com.evil.example/skills", ""),
        ("https://evil.example/https://skills.example.com", ""),
        ("https://skills.example.com@evil.example/", ""),
        (f"{TEAM}/private/../skills", ""),
        (f"{TEAM}/private/%2e%2e/skills", ""),
        (f"{TEAM}/private/..\\skills", ""),
        ("https://[::1", ""),
    ],
)
def test_sent_to_its_own_address(world: World, url: str, token: str) -> None:
    """[SURFACES: Registry] a token goes to the origin and below the path it was stored for, nowhere else."""
    store_credential(Credential(TEAM, "team"))
    store_credential(Credential(f"{TEAM}/private", "private"))
    assert find_token(url) == token


@given(st.text(max_size=40))
def test_any_address(url: str) -> None:
    """[SURFACES: Registry] no text that does not start with the origin gets its token."""
    assert not _is_below(url, TEAM) or url.lower().startswith(TEAM)


def test_which_registry(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] the option, variables, the setting, the only login; without a home there are no
    tokens.
    """
    monkeypatch.setenv("SKILLC_TOKEN", "ci")
    assert find_token(TEAM) == ""
    assert choose_registry(TEAM) == Credential(TEAM, "ci")
    assert choose_registry(None, TEAM) == Credential(TEAM)
    monkeypatch.setenv("SKILLC_REGISTRY", f"{TEAM}/")
    assert find_token(f"{TEAM}/skills") == "ci"
    assert find_token("https://other.example") == ""
    assert choose_registry(None) == Credential(TEAM, "ci")
    assert choose_registry("https://other.example") == Credential("https://other.example")
    store_credential(Credential(TEAM, "stored"))
    assert find_token(TEAM) == "ci"
    for name in ("SKILLC_TOKEN", "SKILLC_REGISTRY"):
        monkeypatch.delenv(name)
    forget_credential(TEAM)
    with pytest.raises(InvalidOption, match="skc login <url>"):
        choose_registry(None)
    store_credential(Credential(TEAM, "one"))
    assert choose_registry(None) == Credential(TEAM, "one")
    store_credential(Credential("https://other.example", "two"))
    with pytest.raises(InvalidOption, match=r"several registries: https://other\.example, https://skills\."):
        choose_registry(None)
    assert choose_registry(None, "https://other.example/") == Credential("https://other.example", "two")
    assert choose_registry(TEAM, "https://other.example") == Credential(TEAM, "one")
    monkeypatch.setenv("HOME", "")
    assert read_credentials() == []
    assert find_token(TEAM) == ""


def repository(world: World, url: str) -> SkillsConfig:
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "team"\ntype = "http"\nurl = "{url}"\n'
    )
    return SkillsConfig.load(str(world.project))


def test_repository_of_a_project(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] a repository sends the token of its registry; a file that others read is told."""
    store_credential(Credential(stub.url, "mine"))
    stub.gives(page(LIST))
    run(source_of(repository(world, stub.url).repositories[0]).list())
    assert stub.requests[0].headers["authorization"] == "Bearer mine"
    before = [*stub.requests]
    file(world).chmod(0o644)
    with pytest.raises(InvalidConfiguration, match="chmod 600"):
        Session(stub.url, logins=True).get(stub.url, 99)
    assert stub.requests == before


def test_not_after_a_redirect(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] after a redirect the token is not sent again, not even to the same origin."""
    store_credential(Credential(stub.url, "mine"))
    stub.answer = lambda request: [
        page(LIST) if request.path == "/other" else page(b"", 302, Location="/other")
    ]
    run(source_of(repository(world, stub.url).repositories[0]).list())
    assert [request.headers.get("authorization") for request in stub.requests] == ["Bearer mine", None]


def test_damaged_tokens_take_no_other_repository_down(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] [D57] a repository that needs the damaged file is unavailable; others are used."""
    file(world).parent.mkdir(exist_ok=True)
    file(world).write_text("{")
    repository(world, stub.url)
    states = world.json("repo", "list")["repositories"]
    assert [(each["name"], each["status"]) for each in states] == [
        ("team", "unavailable"),
        ("embedded", "ok"),
    ]
    assert "credentials.json" in states[0]["error"]
