"""What is remembered between requests, and when it is dropped."""

from __future__ import annotations

from contextlib import suppress

import pytest

from skillc.errors import SignInRequired, SkillNotFound
from skillc.registry import SYSTEM, Registry, Role
from skillc.registry.blobs import open_blobs
from skillc.registry.cache import Cache
from skillc.registry.feed import Feed
from skillc.registry.model import Grant
from skillc.registry.store import open_store
from tests.registry.conftest import Clock, Team

SOON = 20.0


@pytest.fixture
def cache(registry: Team) -> Cache:
    """A cache that follows a feed which has looked at the log."""
    registry.follow()
    assert registry.feed.wait(0, SOON)
    return registry._cache


def count_reads(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    reads: list[None] = []
    store = registry._store
    read = store.read

    def counted() -> object:
        reads.append(None)
        return read()

    monkeypatch.setattr(store, "read", counted)
    return reads


def test_nothing_is_asked_twice(registry: Team, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] a skill, its files and a token are read from the store once."""
    registry.accounts.create_first_admin()
    secret = registry.accounts.create_token(SYSTEM, Role.READER, owner="admin").secret
    version = registry.release("1.0.0")
    registry.feed.close()
    monkeypatch.setattr("skillc.registry.feed.FRESH_SECONDS", 1e9)
    reads = count_reads(registry, monkeypatch)
    for _ in range(3):
        caller = registry.accounts.authenticate(secret)
        assert registry.skill(caller, "payments/refunds").latest == version
        assert [file.path for file in registry.files(caller, version)] == ["SKILL.md"]
    assert len(reads) == 3
    assert registry.accounts.recall(secret) == caller
    assert registry.recall("payments/refunds", "skill") == registry.skill(caller, "payments/refunds")


def test_without_a_feed(registry: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] nothing is remembered where nothing tells of changes, or not any more."""
    registry.release("1.0.0")
    reads = count_reads(registry, monkeypatch)
    for _ in range(2):
        registry.skill(SYSTEM, "payments/refunds")
    assert len(reads) == 2
    assert registry.recall("payments/refunds", "skill") is None
    registry.follow()
    assert registry.feed.wait(1, SOON)
    skill = registry.skill(SYSTEM, "payments/refunds")
    assert registry.recall("payments/refunds", "skill") == skill
    monkeypatch.setattr("skillc.registry.feed.FRESH_SECONDS", -1.0)
    assert registry.recall("payments/refunds", "skill") is None


def test_own_changes_are_seen_at_once(registry: Team, cache: Cache, clock: Clock) -> None:
    """[SURFACES: Registry model] a process that changes something reads the change."""
    for number in range(1, 30):
        registry.release(f"{number}.0.0")
        assert len(registry.skill(SYSTEM, "payments/refunds").versions) == number
    registry.yank(SYSTEM, "payments/refunds", "29.0.0", "bad")
    assert registry.skill(SYSTEM, "payments/refunds").resolve().version == "28.0.0"
    registry.delete(SYSTEM, "payments/refunds")
    with pytest.raises(SkillNotFound):
        registry.skill(SYSTEM, "payments/refunds")


def test_own_changes_to_accounts(registry: Team, cache: Cache, clock: Clock) -> None:
    """[SURFACES: Registry model] a token that was revoked, narrowed or is over is refused at once."""
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("ana", Role.PUBLISHER))
    made = registry.accounts.create_token(SYSTEM, Role.PUBLISHER, owner="ana")
    assert registry.accounts.authenticate(made.secret).allows(Role.PUBLISHER, "a")
    registry.accounts.grant(SYSTEM, Grant("ana", Role.READER))
    assert not registry.accounts.authenticate(made.secret).allows(Role.PUBLISHER, "a")
    registry.accounts.revoke_token(SYSTEM, made.token.id)
    with pytest.raises(SignInRequired):
        registry.accounts.authenticate(made.secret)
    until = clock.now.replace(hour=13)
    brief = registry.accounts.create_token(SYSTEM, Role.READER, owner="ana", expires_at=until)
    registry.accounts.authenticate(brief.secret)
    clock.move(hours=2)
    with pytest.raises(SignInRequired):
        registry.accounts.authenticate(brief.secret)
    with suppress(SignInRequired):
        assert registry.accounts.recall(brief.secret) is None


def test_changes_elsewhere_are_seen(registry: Team, cache: Cache, store_url: str, tmp_path: object) -> None:
    """[SURFACES: Registry model] what another process changed is dropped when the feed tells of it."""
    registry.release("1.0.0")
    registry.accounts.create_first_admin()
    secret = registry.accounts.create_token(SYSTEM, Role.READER, owner="admin").secret
    caller = registry.accounts.authenticate(secret)
    registry.skill(SYSTEM, "payments/refunds")
    with Team(open_store(store_url), open_blobs(f"{tmp_path}/blobs")) as other:
        other.release("2.0.0")
        other.accounts.revoke_token(SYSTEM, caller.token)
        assert registry.feed.wait(other.log.find_end().sequence, SOON)
    assert registry.skill(SYSTEM, "payments/refunds").resolve().version == "2.0.0"
    with pytest.raises(SignInRequired):
        registry.accounts.authenticate(secret)


class Fresh(Feed):
    """A feed that needs no store."""

    def __init__(self) -> None:
        self._listeners = []

    def is_fresh(self) -> bool:
        return True


def test_what_was_read_before_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] a value that was being read while its skill changed is not kept."""
    cache = Cache()
    cache.follow(Fresh())

    def read() -> str:
        cache.drop("a/b")
        return "old"

    assert cache.remember("a/b", "x", read) == "old"
    assert cache.recall("a/b", "x") is None
    assert cache.remember("a/b", "x", lambda: "new") == "new"
    assert cache.remember("a/b", "x", lambda: "newer") == "new"
    cache._hear(None)
    assert cache.recall("a/b", "x") is None
    cache.remember("a/b", "x", lambda: "new")
    monkeypatch.setattr("skillc.registry.cache.MAX_SECONDS", -1.0)
    assert cache.recall("a/b", "x") is None


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] the longest unused go first, by number and by bytes."""
    monkeypatch.setattr("skillc.registry.cache.MAX_OWNERS", 3)
    monkeypatch.setattr("skillc.registry.cache.MAX_BYTES", 100)
    cache = Cache()
    cache.follow(Fresh())

    def owners() -> list[str]:
        return [name for name in "abcdef" if cache.recall(name, 1)]

    for name in "abc":
        cache.remember(name, 1, lambda: "x", len)
    cache.recall("a", 1)
    cache.remember("d", 1, lambda: "x", len)
    assert owners() == ["a", "c", "d"]
    cache.remember("e", 1, lambda: "x" * 99, len)
    assert owners() == ["d", "e"]
    cache.remember("f", 1, lambda: "x" * 101, len)
    assert owners() == ["d", "e"]
    cache.drop("e")
    cache.drop("nothing")
    assert cache._size == 1
