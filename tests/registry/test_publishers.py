"""Trusted publishers, the same on both stores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from skillc.errors import EntryNotFound, InvalidParameter, InvalidSkillId, RegistryRefused, SignInRequired
from skillc.registry import SYSTEM, Role
from skillc.registry.model import Caller, Grant, Job, Permission, TrustedPublisher
from skillc.registry.publishers import Publication
from tests.registry.conftest import Clock, Team, package

GITHUB = "https://token.actions.githubusercontent.com"
WORKFLOW: dict[str, Any] = {"issuer": GITHUB, "repository": "acme/skills", "workflow": "release.yml"}
COUNT = iter(range(10_000))


def trust(registry: Team, prefix: str = "payments", **changes: str) -> TrustedPublisher:
    return registry.publishers.trust(SYSTEM, **WORKFLOW | {"prefix": prefix} | changes)


def job(clock: Clock, **changes: Any) -> Job:
    """A job that fits, with an ID token of its own."""
    end = clock.now + timedelta(minutes=5)
    made = Job(GITHUB, f"{next(COUNT)}", "acme/skills", "release.yml", "refs/heads/main", "", "74", end)
    return replace(made, **changes)


def admit(registry: Team, clock: Clock, **changes: Any) -> Publication:
    return registry.publishers.admit(job(clock, **changes))


def test_a_job_publishes(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a job that fits publishes below the prefix, and nowhere else, for 15 minutes."""
    trust(registry)
    made = admit(registry, clock).token
    caller = registry.accounts.authenticate(made.secret)
    assert caller.permissions == (Permission(Role.PUBLISHER, "payments"),)
    version = registry.publish(caller, package("payments/refunds"))
    assert version.published_by == "ci:github.com/acme/skills"
    for skill_id in ("other/skill", "payments-old/skill"):
        with pytest.raises(RegistryRefused):
            registry.publish(caller, package(skill_id))
    with pytest.raises(RegistryRefused):
        registry.yank(caller, "payments/refunds", "0.1.0", "bad")
    child = registry.accounts.create_token(caller, Role.PUBLISHER, "payments")  # which may do nothing
    assert child.token.expires_at == caller.expires_at
    assert registry.accounts.authenticate(child.secret).permissions == ()
    clock.move(minutes=15)
    with pytest.raises(SignInRequired):
        registry.accounts.authenticate(made.secret)


def test_jobs_that_do_not_fit(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] issuer, repository and workflow fit exactly; nothing is told of what is trusted."""
    trust(registry)
    repositories = ("acme/skills-evil", "evil/skills", "acme/skill", "x/acme/skills")
    kelvin = "acme/s\u212aills"  # KELVIN SIGN, whose lower case is k
    for changes in (
        {"issuer": "https://gitlab.com"},
        *({"repository": name} for name in (*repositories, kelvin)),
        *({"workflow": name} for name in ("test.yml", "release.yaml", "Release.yml", "")),
    ):
        with pytest.raises(RegistryRefused, match="no trusted publisher fits") as caught:
            admit(registry, clock, **changes)
        assert "payments" not in str(caught.value)
    assert admit(registry, clock, repository="Acme/Skills").publisher.prefix == "payments"


def test_ref_and_environment(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a ref and an environment fit; of several prefixes the job names one."""
    trust(registry, ref="refs/tags/v*", environment="release")
    for changes in (
        {},
        {"ref": "refs/tags/v1"},
        {"environment": "release"},
        {"ref": "refs/heads/refs/tags/v1", "environment": "release"},
        {"ref": "refs/tags/v1", "environment": "release2"},
    ):
        with pytest.raises(RegistryRefused, match="no trusted publisher fits"):
            admit(registry, clock, **changes)
    admit(registry, clock, ref="refs/tags/v1.0.0", environment="Release")
    trust(registry)
    trust(registry, "billing")
    trust(registry, "billing", ref="refs/heads/main")
    with pytest.raises(RegistryRefused, match="name one of the prefixes billing, payments"):
        admit(registry, clock)
    assert registry.publishers.admit(job(clock), "billing").publisher.prefix == "billing"
    with pytest.raises(RegistryRefused, match="no trusted publisher for 'other' fits"):
        registry.publishers.admit(job(clock), "other")


def test_repository_that_was_made_anew(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a repository of the same name and another ID is refused."""
    trust(registry)
    admit(registry, clock)
    with pytest.raises(RegistryRefused, match="is another repository"):
        admit(registry, clock, pin="75")
    admit(registry, clock)


def test_once(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] an ID token is good for one token; another issuer's with its ID is another."""
    first = job(clock, id="one")
    with pytest.raises(RegistryRefused, match="no trusted publisher fits"):  # which uses nothing up
        registry.publishers.admit(first)
    trust(registry)
    trust(registry, issuer="https://gitlab.com")
    assert registry.publishers.admit(first).publisher.pin == "74"
    for _ in range(2):
        with pytest.raises(RegistryRefused, match="was used before"):
            registry.publishers.admit(first)
    clock.move(minutes=5)  # its end; clocks may differ
    with pytest.raises(RegistryRefused, match="was used before"):
        registry.publishers.admit(first)
    registry.publishers.admit(job(clock, id="one", issuer="https://gitlab.com"))


def test_once_at_once(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] an ID token that is sent several times at once gives one token."""
    trust(registry)
    one = job(clock)
    barrier = Barrier(8)

    def send(_: int) -> bool:
        barrier.wait(30)
        try:
            return bool(registry.publishers.admit(one).token.secret)
        except RegistryRefused:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(8))) == 1


def test_a_path_below_a_prefix(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a job that names a path gets a token for it, by the nearest publisher."""
    trust(registry)
    trust(registry, "payments/eu", ref="refs/heads/main")
    made = registry.publishers.admit(job(clock), "payments/eu/refunds")
    assert (made.publisher.prefix, made.token.token.prefix) == ("payments/eu", "payments/eu/refunds")
    caller = registry.accounts.authenticate(made.token.secret)
    assert caller.allows(Role.PUBLISHER, "payments/eu/refunds")
    assert not caller.allows(Role.READER, "payments/eu")
    assert registry.publishers.admit(job(clock), "payments/us").publisher.prefix == "payments"
    for path in ("payments-old", "pay", ""):
        with pytest.raises(RegistryRefused, match="no trusted publisher"):
            registry.publishers.admit(job(clock), path)
    with pytest.raises(InvalidSkillId):
        registry.publishers.admit(job(clock), "../payments")


def test_distrust(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] the tokens of a trusted publisher that is removed end at once."""
    publisher = trust(registry)
    trust(registry, "billing")
    made = registry.publishers.admit(job(clock), "payments").token
    other = registry.publishers.admit(job(clock), "billing").token
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant(publisher.subject, Role.ADMIN))
    registry.publishers.distrust(SYSTEM, publisher.id)
    with pytest.raises(SignInRequired):
        registry.accounts.authenticate(made.secret)
    assert registry.accounts.authenticate(other.secret).allows(Role.PUBLISHER, "billing")
    with pytest.raises(EntryNotFound, match="there is no trusted publisher"):
        registry.publishers.distrust(SYSTEM, publisher.id)
    actions = [change.action for change in registry.changes(SYSTEM)]
    assert (actions.count("trust"), actions.count("distrust")) == (2, 1)


def test_admins_of_the_prefix(registry: Team) -> None:
    """[SURFACES: Sign-in] trusting is for admins of the prefix, and so is seeing what is trusted."""
    publisher = trust(registry)
    admin = Caller("ana", (Permission(Role.ADMIN, "billing"),))
    assert registry.publishers.publishers(admin) == []
    with pytest.raises(EntryNotFound, match="there is no trusted publisher"):
        registry.publishers.distrust(admin, publisher.id)
    for prefix in ("payments", ""):
        with pytest.raises(RegistryRefused):
            registry.publishers.trust(admin, **WORKFLOW, prefix=prefix)
    own = registry.publishers.trust(admin, **WORKFLOW, prefix="billing/eu")
    assert registry.publishers.publishers(admin) == [own]
    assert len(registry.publishers.publishers(SYSTEM)) == 2
    with pytest.raises(InvalidParameter, match="already"):
        registry.publishers.trust(admin, **WORKFLOW, prefix="billing/eu")


REFUSED = {
    "repository": ["skills", "acme/", "acme/../skills", "acme/skills@v1", "acme/*", "a/" + "b" * 200],
    "workflow": ["release", "../release.yml", "*.yml", ""],
    "ref": ["main", "*", "refs/*/main"],
    "environment": ["a\nb"],
}


def test_what_can_not_be_trusted(registry: Team) -> None:
    """[SURFACES: Sign-in] what no job could have, or too many, is refused."""
    for field, values in REFUSED.items():
        for value in values:
            with pytest.raises(InvalidParameter):
                trust(registry, **{field: value})
    with pytest.raises(InvalidSkillId):
        trust(registry, "Not a prefix")
