"""[trust], the signer that a lock pins, and what add, update, install and verify do about signers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World
from tests.origins.authority import Company
from tests.origins.conftest import NEEDS_SSH, write_trust
from tests.support.git import Origin
from tests.support.keys import make_ssh_key
from tests.support.terminal import on_terminal

pytestmark = NEEDS_SSH
SKILL = "---\nname: pdf\ndescription: Fill in forms.\n---\n# PDF\n"


@pytest.fixture
def outside(world: World) -> Path:
    folder = world.root / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def key(world: World) -> Path:
    return make_ssh_key(world.root / "keys")


def trust(world: World, key: Path, more: str = "") -> None:
    write_trust(world, f'[trust]\nallowed_signers = ["{key.parent / "allowed"}"]\n{more}')


def verified(world: World, cwd: Path, *words: str) -> dict[str, Any]:
    """Return the signature of the only skill that verify names."""
    result = world.skc("verify", *words, "--format", "json", cwd=cwd)
    (skill,) = json.loads(result.stdout)["skills"]
    signature: dict[str, Any] = skill["signature"]
    return signature


def test_add_shows_and_pins(world: World, skill: Path, key: Path, outside: Path) -> None:
    """[SURFACES: Signatures] add shows the signer, the lock pins it, info and verify know it; a broken one
    is E085 and nothing is written."""
    world.ok("sign", str(skill), "--key", str(key))
    trust(world, key)
    preview = world.ok("add", str(skill), "--dry-run", cwd=outside).stdout
    assert "signer    signed by alice@example.com (SHA256:" in preview
    assert "not that it is safe" in preview
    added = world.json("add", str(skill), "--yes", cwd=outside)["added"][0]
    assert (added["signature"]["state"], added["signature"]["signer"]) == ("valid", "alice@example.com")
    lock = json.loads((world.home / ".skillc/skills-lock.json").read_text())["skills"]["pdf"]["skillc"]
    assert (lock["signer"]["kind"], lock["signer"]["signer"]) == ("ssh", "alice@example.com")
    assert world.json("info", "pdf", cwd=outside)["signed"].startswith("alice@example.com (SHA256:")
    assert verified(world, outside)["state"] == "valid"
    (world.global_store / "pdf/SKILL.md").write_text(SKILL + "Changed.\n")
    problems = world.skc("verify", cwd=outside)
    assert problems.returncode == 1
    assert "E085: the key SHA256:" in problems.stdout
    (skill / "SKILL.md").write_text(SKILL + "Changed.\n")
    world.ok("remove", "pdf", "--yes", cwd=outside)
    assert "did not sign" in world.fails("E085", "add", str(skill), "--yes", cwd=outside).stderr
    assert not (world.global_store / "pdf").exists()


def test_required(world: World, skill: Path, key: Path, outside: Path) -> None:
    """[SURFACES: Signatures] require and signers of [trust], for all sources or for one, by name or key."""
    source = str(skill.parent)
    trust(world, key, 'require = "signed"\n')
    assert "it is not signed" in world.fails("E086", "add", str(skill), "--yes", cwd=outside).stderr
    world.ok("sign", str(skill), "--key", str(key))
    world.ok("add", str(skill), "--yes", "--dry-run", cwd=outside)
    write_trust(world, '[trust]\nrequire = "signed"\n')
    assert "not known here" in world.fails("E086", "add", str(skill), "--yes", cwd=outside).stderr
    rule = f'[[trust.source]]\nname = "{source}"\nsigners = '
    trust(world, key, rule + '["bob@example.com"]\n')
    assert "bob@example.com" in world.fails("E086", "add", str(skill), "--yes", cwd=outside).stderr
    fingerprint = subprocess.run(["ssh-keygen", "-lf", key], capture_output=True, text=True, check=True)
    trust(world, key, rule + json.dumps([fingerprint.stdout.split()[1]]))
    world.ok("add", str(skill), "--yes", cwd=outside)


@pytest.mark.parametrize(
    "text",
    [
        "[trust]\nrequired = true\n",
        '[trust]\nrequire = "yes"\n',
        '[trust]\nroots = "root.pem"\n',
        "[[trust.source]]\nsigners = []\n",
        'trust = "all"\n',
        '[trust]\nroots = ["nowhere.pem"]\n',
        "[trust\n",
    ],
)
def test_a_faulty_table(world: World, skill: Path, company: Company, outside: Path, text: str) -> None:
    """[SURFACES: Signatures] A misspelled rule is not no rule: E071, and nothing is added."""
    world.ok("sign", str(skill), "--key", str(company.folder / "key.pem"))
    write_trust(world, text)
    world.fails("E071", "add", str(skill), "--yes", cwd=outside)


def test_a_project_has_no_say(world: World, skill: Path, outside: Path) -> None:
    """[D76] [trust] of a project's config.toml does not count, and says so."""
    path = world.project / ".skillc/config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('[trust]\nrequire = "signed"\n')
    result = world.ok("add", str(skill), "--yes")
    assert "counts in the home's config.toml alone" in result.stderr


@pytest.mark.slow
def test_another_signer(world: World, origin: Origin, key: Path) -> None:
    """[SURFACES: Signatures] Another signer than before is asked about; --yes does not answer it."""
    folder = origin.work / "pdf"
    world.ok("sign", str(folder), "--key", str(key))
    origin.push()
    trust(world, key)
    source = f"file://{origin.bare}"
    world.ok("add", source, "--skill", "pdf", "--yes")
    other = make_ssh_key(world.root / "other", "bob@example.com")
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "\nMore.\n")
    world.ok("sign", str(folder), "--key", str(other))
    origin.push()
    stderr = world.fails("E086", "update", "pdf", "--yes").stderr
    assert "it was signed by alice@example.com" in stderr
    assert "--accept-signer" in stderr
    assert "More." not in (world.store / "pdf/SKILL.md").read_text()
    status, _, said = on_terminal(world, "n\n", "update", "pdf")
    assert (status, "Take it all the same?" in said) == (1, True)
    world.ok("update", "pdf", "--accept-signer")
    assert "More." in (world.store / "pdf/SKILL.md").read_text()
    (folder / "skill.ssh.sig").unlink()
    origin.push()
    assert "is now unsigned" in world.fails("E086", "update", "pdf").stderr


@pytest.mark.slow
def test_install_checks_too(world: World, origin: Origin, key: Path) -> None:
    """[SURFACES: Signatures] A lock does not bring in what [trust] refuses, or a signature that is broken."""
    folder = origin.work / "pdf"
    world.ok("sign", str(folder), "--key", str(key))
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "\nMore.\n")
    origin.push()
    world.fails("E085", "add", f"file://{origin.bare}", "--skill", "pdf", "--yes")
    world.ok("sign", str(folder), "--key", str(key))
    origin.push()
    world.ok("add", f"file://{origin.bare}", "--skill", "pdf", "--yes")
    lock = (world.project / "skills-lock.json").read_text()
    world.ok("remove", "pdf", "--yes")
    (world.project / "skills-lock.json").write_text(lock)
    write_trust(world, '[trust]\nrequire = "signed"\n')
    world.fails("E086", "install")
    trust(world, key, 'require = "signed"\n')
    world.ok("install")
    assert (world.store / "pdf/SKILL.md").exists()
