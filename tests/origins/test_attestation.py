"""Attested publications: from a registry's key to the disk of a person who installed them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from skillc.origins import Attester, BrokenSignature, Trust, check_attestation, parse_trust
from skillc.registry import SYSTEM, Registry, make_package, open_registry
from skillc.registry.model.access import Job
from skillc.server import ServerSettings
from skillc.server.uploads import make_statement, open_attester
from skillc.skills import digest_skill
from skillc.toml import Table
from tests.conftest import World
from tests.origins.authority import Company
from tests.origins.conftest import NEEDS_SSH, write_trust
from tests.support.keys import make_ssh_key
from tests.support.team import Team, serve_registry

MAIN = b"---\nname: refunds\ndescription: Pay money back\n---\n# Refunds\n"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """A registry whose key is made beside its store, as `skc serve` does it."""
    with open_registry(str(tmp_path / "registry.db")) as registry:
        attester = open_attester(str(tmp_path / "registry.db"), ())
        assert attester is not None
        registry.attest = partial(make_statement, attester, "https://skills.example.com")
        registry.keys = attester.public_keys()
        assert (tmp_path / "attestation.pem").stat().st_mode & 0o777 == 0o600
        yield registry


@pytest.fixture
def team(registry: Registry) -> Iterator[Team]:
    admin = registry.accounts.create_first_admin()
    assert admin is not None
    with serve_registry(registry) as (url, requests):
        yield Team(url, registry, admin.secret, requests)


def test_statement(registry: Registry, tmp_path: Path) -> None:
    """[SURFACES: Attestations] Which files, by whom, when; other files, names, versions and keys are
    not what was attested. Several keys are valid."""
    package = make_package("payments/refunds", {"SKILL.md": MAIN, "a.sh": b"#!/bin/sh\n"}, {"a.sh"})
    version = registry.publish(SYSTEM, package, audit={"findings": [{"level": "note"}]})
    data = registry.attestation(SYSTEM, version).encode()
    statement = json.loads(base64.b64decode(json.loads(data)["payload"]))
    folder = tmp_path / "refunds"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(MAIN)
    (folder / "a.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "a.sh").chmod(0o755)
    digest = digest_skill(str(folder)).digest
    assert statement["subject"] == [{"name": "payments/refunds@0.1.0", "digest": {"sha256": digest}}]
    predicate = statement["predicate"]
    assert (predicate["registry"], predicate["publisher"]) == ("https://skills.example.com", "system")
    assert predicate["audit"] == "note"
    name, keys = "payments/refunds@0.1.0", [key["pem"] for key in registry.keys]
    assert check_attestation(data, name, digest, keys, ()).state == "unknown-signer"
    (tmp_path / "registry.pem").write_text(keys[0])
    other = Attester.open((), str(tmp_path / "other.pem"))
    roots = (str(tmp_path / "registry.pem"),)
    more = [each["pem"] for each in other.public_keys()] + keys
    signature = check_attestation(data, name, digest, more, roots)
    assert (signature.state, signature.kind, signature.signer) == (
        "valid",
        "registry",
        "https://skills.example.com",
    )
    for arguments in (
        (data, name, "0" * 64, keys),
        (data, "payments/refunds@0.2.0", digest, keys),
        (data, "evil/refunds@0.1.0", digest, keys),
        (data, name, digest, more[:1]),
        (data[:-9], name, digest, keys),
        (b"[]", name, digest, keys),
        (data, name, digest, ["-----BEGIN PUBLIC KEY-----\nMAUwAwYBAQ==\n-----END PUBLIC KEY-----\n"]),
    ):
        with pytest.raises(BrokenSignature):
            check_attestation(*arguments, roots)


def test_ci(registry: Registry) -> None:
    """[SURFACES: Attestations] A version that CI published says which repository, workflow and commit."""
    registry.publishers.trust(SYSTEM, "https://ci.example.com", "acme/skills", "release.yml", "payments")
    end = registry.now().replace(year=registry.now().year + 1)
    names = ("acme/skills", "release.yml", "refs/tags/v1", "", "1")
    job = Job("https://ci.example.com", "job-1", *names, expires_at=end, commit="c0ffee")
    token = registry.publishers.admit(job).token
    caller = registry.accounts.authenticate(token.secret)
    version = registry.publish(caller, make_package("payments/refunds", {"SKILL.md": MAIN}))
    payload = json.loads(registry.attestation(SYSTEM, version))["payload"]
    build = json.loads(base64.b64decode(payload))["predicate"]["build"]
    assert build == {
        "issuer": "https://ci.example.com",
        "repository": "acme/skills",
        "workflow": "release.yml",
        "ref": "refs/tags/v1",
        "commit": "c0ffee",
    }


@pytest.mark.slow
def test_from_registry_to_disk(world: World, team: Team) -> None:
    """[SURFACES: Attestations] add keeps what the registry attests, verify checks it without the network;
    a version from before has none, and `require` says so."""
    attest, team.registry.attest = team.registry.attest, None
    team.publish("payments/old")
    team.registry.attest = attest
    team.publish("payments/refunds", {"scripts/run.sh": "#!/bin/sh\n"})
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.secret})
    source = f"{team.url}/payments/refunds"
    added = world.json("add", source, "--yes")["added"][0]
    assert (added["signature"]["state"], added["signature"]["kind"]) == ("unknown-signer", "registry")
    with urlopen(f"{team.url}/.well-known/skillc-keys.json") as response:
        (key,) = json.load(response)["keys"]
    (world.home / "registry.pem").write_text(key["pem"])
    write_trust(world, f'[trust]\nroots = ["{world.home / "registry.pem"}"]\nrequire = "signed"\n')
    team.requests.clear()
    (skill,) = world.json("verify")["skills"]
    assert (skill["signature"]["state"], skill["signature"]["signer"]) == (
        "valid",
        "https://skills.example.com",
    )
    assert team.requests == []
    stderr = world.fails("E086", "add", f"{team.url}/payments/old", "--yes").stderr
    assert "it is not signed" in stderr
    (evidence,) = (world.home / ".skillc/evidence").iterdir()
    world.ok("remove", "refunds", "--yes")
    assert not evidence.exists()
    assert world.fails("E086", "add", f"{team.url}/payments/old", "--yes")


@NEEDS_SSH
@pytest.mark.slow
def test_trust_of_a_registry(world: World, registry: Registry, company: Company, tmp_path: Path) -> None:
    """[SURFACES: Attestations] [SURFACES: Signatures] A registry refuses broken signatures and, below a
    prefix, those of others; publish --sign signs on the way, and pages name the signer."""
    key = make_ssh_key(world.root / "keys")
    table = {
        "roots": [str(company.folder / "root.pem")],
        "allowed_signers": [str(key.parent / "allowed")],
        "prefix": [{"name": "payments", "require": "signed"}],
    }
    trust: Trust = parse_trust(Table(table), str(tmp_path), "prefix")
    admin = registry.accounts.create_first_admin()
    assert admin is not None
    with serve_registry(registry, settings=ServerSettings(trust=trust, public_read=True)) as (url, _):
        world.ok("login", url, "--token-env", "TEAM", env={"TEAM": admin.secret})
        world.skill("refunds", MAIN)
        world.ok("publish", "refunds", "--id", "free/refunds", "--yes")
        words = ("publish", "refunds", "--id", "payments/refunds", "--yes")
        assert "it is not signed" in world.skc(*words).stderr
        (world.store / "refunds/skill.ssh.sig").write_text("nonsense")
        assert "it is no SSH signature" in world.skc(*words).stderr
        world.ok(*words, "--sign", str(key))
        (version,) = registry.skill(SYSTEM, "payments/refunds").versions
        assert (version.signature["state"], version.signature["signer"]) == ("valid", "alice@example.com")
        world.ok("add", f"{url}/payments/refunds", "--yes", "--global", cwd=world.root)
        (world.store / "refunds/skill.ssh.sig").unlink()
        chain = company.chain(days=(-30, -1))
        secret = str(company.folder / "key.pem")
        world.ok("sign", "refunds", "--key", secret, "--certificate", chain)
        assert "expired" in world.skc(*words, "--version", "9.0.0").stderr
        world.ok("publish", "refunds", "--id", "free/refunds", "--yes", "--version", "9.0.0")
        for name, who in (("payments", "alice@example.com"), ("free", f"{company.name}</strong>")):
            with urlopen(f"{url}/s/{name}/refunds") as response:
                page = response.read().decode()
            assert who in page
            assert "not that it is safe" in page
        assert "with a certificate that has expired" in page
