"""[trust], the signer that a lock pins, and what add, update, install and verify do about signers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import SignerRefused
from skillc.install.lock import change_lock, read_lock
from skillc.origins import Signature, Trust, combine, describe_change, read_pin, require_signer
from skillc.origins.policy import Rule
from skillc.origins.signature import BROKEN, UNKNOWN, VALID
from tests.conftest import World
from tests.origins.authority import Company
from tests.origins.conftest import NEEDS_SSH, write_trust
from tests.support.git import Origin, Server, serving
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
    stderr = world.fails("E086", "add", str(skill), "--yes", cwd=outside).stderr
    assert "it is not signed" in stderr
    assert "hint: if you trust the signer" in stderr
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


@pytest.mark.parametrize(
    "source",
    [
        "acme/Skills",
        "https://github.com/ACME/skills.git",
        "git@github.com:acme/skills.git",
        "ssh://git@github.com:22/acme/skills",
        "https://github.com/acme/skills/archive/main.tar.gz",
    ],
)
def test_ways_to_write_a_source(source: str) -> None:
    """[SURFACES: Signatures] A rule covers its source however that is written, and no other."""
    assert Rule("acme/skills").covers(source)
    assert Rule("https://github.com/acme").covers("https://github.com/ACME/skills.git")
    for other in (
        "acme/skills-evil",
        "evil/acme/skills",
        "https://evil.com/acme/skills",
        "git@evil.com:acme/skills",
    ):
        assert not Rule("acme/skills").covers(other)


def test_the_same_signer() -> None:
    """[SURFACES: Signatures] To learn the name of a key is no change of signer; another key is, and for a
    certificate another name."""
    pin = read_pin({"kind": "ssh", "signer": "", "key": "SHA256:a"})
    assert describe_change(pin, Signature(VALID, "alice", "ssh", "SHA256:a")) == ""
    assert describe_change(pin, Signature(VALID, "alice", "ssh", "SHA256:b"))
    assert describe_change(pin, Signature(VALID, "alice", "git", "SHA256:a"))
    root = Signature(VALID, "ACME 1", "oms", "SHA256:root")
    assert read_pin(root.pin()) == Signature(UNKNOWN, "ACME 1", "oms", "SHA256:root")
    assert describe_change(root, Signature(VALID, "ACME 2", "oms", "SHA256:root"))
    faulty: list[object] = [None, [], {}, {"kind": 1, "signer": "a", "key": "b"}]
    assert not any(map(read_pin, faulty))
    assert Signature(UNKNOWN, "", "git", "").pin() == {}


def test_several_signatures() -> None:
    """[SURFACES: Signatures] Of several, the best known counts; with a lock's signer, that of its kind: to
    name a registry's key in [trust] is no change of a skill's author."""
    author = Signature(UNKNOWN, "", "ssh", "SHA256:a")
    registry = Signature(VALID, "https://skills.example.com", "registry", "SHA256:r")
    assert combine([author, registry]) == registry
    assert combine([author, registry], read_pin(author.pin())) == author
    assert combine([registry], author) == registry  # the author's is gone
    broken = Signature(BROKEN, kind="ssh")
    assert combine([author, registry, broken], registry) == broken


def test_an_expired_certificate_is_a_change() -> None:
    """[SURFACES: Signatures] The same signer with a certificate that expired since is asked about once; files
    that are locked were signed in time."""
    fields = (UNKNOWN, "ACME 1", "oms", "SHA256:root", "its certificate was valid until 2026-01-01")
    expired, good = Signature(*fields, is_expired=True), Signature(*fields)
    assert "and is now signed by ACME 1 (SHA256:root), not known here: its certificate was valid until" in (
        describe_change(good, expired)
    )
    assert describe_change(read_pin(expired.pin()), expired) == ""
    assert describe_change(expired, good) == describe_change(good, expired, is_locked=True) == ""


def test_a_registry_does_not_name_itself() -> None:
    """[SURFACES: Attestations] What a registry calls itself is no name that a rule accepts; its key is."""
    signature = Signature(VALID, "alice@example.com", "registry", "SHA256:a")
    with pytest.raises(SignerRefused):
        require_signer("pdf", ["acme"], signature, Trust(rules=(Rule("acme", ("alice@example.com",)),)))
    require_signer("pdf", ["acme"], signature, Trust(rules=(Rule("acme", ("SHA256:a",)),)))


def test_paths_have_no_lock(world: World, skill: Path, key: Path, outside: Path) -> None:
    """[SURFACES: Signatures] verify of a path says whether it is signed, and nothing of a lock."""
    assert world.ok("verify", str(skill), cwd=outside).stdout == "pdf: unsigned\n"
    world.ok("sign", str(skill), "--key", str(key))
    trust(world, key)
    lines = world.ok("verify", str(skill), cwd=outside).stdout.splitlines()
    assert lines[0].startswith("pdf: signed by alice@example.com (SHA256:")
    assert lines[1:] == ["Signed says who made it, not that it is safe."]


def test_a_link_that_leads_out(world: World, skill: Path, key: Path, outside: Path) -> None:
    """[SURFACES: Signatures] A signed skill with a link that leads out is a problem of its own: the others
    are verified."""
    trust(world, key)
    world.ok("sign", str(skill), "--key", str(key))
    other = skill.parent / "xlsx"
    other.mkdir()
    (other / "SKILL.md").write_text(SKILL.replace("pdf", "xlsx"))
    world.ok("sign", str(other), "--key", str(key))
    world.ok("add", str(skill.parent), "--all", "--yes", cwd=outside)
    (world.global_store / "pdf/out").symlink_to("/etc/passwd")
    result = world.skc("verify", cwd=outside)
    assert (result.returncode, result.stderr) == (1, "")
    assert "pdf: path escapes skill root: 'out'" in result.stdout
    assert "xlsx: signed by alice@example.com" in result.stdout


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


@pytest.mark.slow
def test_the_same_files_unsigned(
    world: World, origin: Origin, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[SURFACES: Signatures] The same files from an unsigned commit leave the signer of the lock alone."""
    monkeypatch.setenv("HOME", str(world.home))
    origin.push("pdf")
    for name, text in (("gpg.format", "ssh"), ("user.signingkey", str(key))):
        origin.git("config", name, text)
    origin.git("commit", "-q", "--amend", "--allow-empty", "-S", "--no-edit")
    origin.git("push", "-q", "-f", "origin", "main")
    (world.home / ".gitconfig").write_text(f"[gpg.ssh]\nallowedSignersFile = {key.parent / 'allowed'}\n")
    source = f"file://{origin.bare}"
    world.ok("add", source, "--skill", "pdf", "--yes")

    def pin() -> str:
        lock = json.loads((world.project / "skills-lock.json").read_text())
        return str(lock["skills"]["pdf"]["skillc"].get("signer", {}).get("signer"))

    assert pin() == "alice@example.com"
    origin.git("checkout", "-q", "-b", "other")
    origin.git("commit", "-q", "--amend", "--allow-empty", "--no-gpg-sign", "-m", "unsigned")
    origin.git("push", "-q", "-f", "origin", "other")
    world.ok("add", f"{source}@other", "--skill", "pdf", "--yes")
    assert pin() == "alice@example.com"


@pytest.mark.slow
def test_install_holds_the_pin(world: World, origin: Origin, key: Path) -> None:
    """[SURFACES: Signatures] install refuses what another than the lock's signer signed, also where [trust]
    knows both: a lock's digest can be changed together with the files at its origin."""
    folder, source = origin.work / "pdf", f"file://{origin.bare}"
    other = make_ssh_key(world.root / "other", "bob@example.com")
    allowed = [json.dumps(str(each.parent / "allowed")) for each in (key, other)]
    write_trust(world, f"[trust]\nallowed_signers = [{', '.join(allowed)}]\n")
    world.ok("sign", str(folder), "--key", str(key))
    origin.push()
    world.ok("add", source, "--skill", "pdf", "--yes")
    (root,) = [str(world.project)]
    alice = read_lock(root)["pdf"].own["signer"]
    world.ok("sign", str(folder), "--key", str(other))
    origin.push()
    world.ok("update", "pdf", "--accept-signer")
    changed = read_lock(root)["pdf"]
    assert changed.own["signer"]["signer"] == "bob@example.com"
    world.ok("install")
    shutil.rmtree(world.store / "pdf")
    change_lock(root, record=[changed.with_own(signer=alice)])
    stderr = world.fails("E086", "install").stderr
    assert "it was signed by alice@example.com" in stderr
    assert "now by bob@example.com" in stderr
    assert "'skc update pdf --accept-signer'" in stderr
    assert not (world.store / "pdf").exists()
    change_lock(root, record=[changed])
    world.ok("install")
    assert "signed by bob" in world.ok("verify").stdout


@pytest.mark.slow
def test_a_signed_tag(world: World, origin: Origin, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Signatures] A colleague's install finds the signer of a tag again; a tag of another name, in
    the place of the one that was asked for, says nothing."""
    monkeypatch.setenv("HOME", str(world.home))
    (world.home / ".gitconfig").write_text(f"[gpg.ssh]\nallowedSignersFile = {key.parent / 'allowed'}\n")
    origin.push("pdf")
    for name, text in (("gpg.format", "ssh"), ("user.signingkey", str(key))):
        origin.git("config", name, text)
    origin.git("tag", "-s", "old", "-m", "old")
    origin.git("push", "-q", "origin", "old", "old:refs/tags/new")
    source = f"file://{origin.bare}"
    write_trust(world, '[trust]\nrequire = "signed"\n')
    assert "it is not signed" in world.fails("E086", "add", f"{source}@new", "--skill", "pdf").stderr
    world.ok("add", f"{source}@old", "--skill", "pdf", "--yes")
    assert "pdf: signed by alice@example.com" in world.ok("verify").stdout
    shutil.rmtree(world.store / "pdf")
    shutil.rmtree(world.home / ".skillc/evidence")
    world.ok("install")
    assert "pdf: signed by alice@example.com" in world.ok("verify").stdout
    (world.home / ".gitconfig").unlink()  # a colleague's git has no key
    write_trust(world, "")
    shutil.rmtree(world.store / "pdf")
    assert "W105" in world.ok("install").stderr
    assert "pdf: signed, but not checked: git has no key" in world.ok("verify").stdout
    (world.store / "pdf/SKILL.md").write_text(SKILL)
    assert verified(world, world.project)["state"] == "none"  # the tag is not about these files


@pytest.mark.slow
def test_an_expired_certificate(world: World, origin: Origin, company: Company) -> None:
    """[SURFACES: Signatures] An update by the same signer whose certificate expired is asked about like
    another signer; install of locked files says so."""
    folder, source = origin.work / "pdf", f"file://{origin.bare}"

    def sign(more: str, days: tuple[int, int]) -> None:
        (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + more)
        chain = company.chain(days=days)
        world.ok("sign", str(folder), "--key", str(company.folder / "key.pem"), "--certificate", chain)
        origin.push()

    sign("One.\n", (-30, 30))
    world.ok("add", source, "--skill", "pdf", "--yes")  # of a root that is not known
    sign("Two.\n", (-30, -1))
    stderr = world.fails("E086", "update", "pdf", "--yes").stderr
    assert f"it was signed by {company.name} (SHA256:" in stderr
    assert f"and is now signed by {company.name}" in stderr
    assert "its certificate was valid until" in stderr
    status, _, said = on_terminal(world, "y\n", "update", "pdf")
    assert (status, "Take it all the same?" in said) == (0, True)
    write_trust(world, f'[trust]\nroots = ["{company.folder / "root.pem"}"]\n')
    sign("Three.\n", (-30, -2))
    world.ok("update", "pdf")  # it was accepted
    assert f"pdf: signed by {company.name}" in world.ok("verify").stdout
    assert ", expired: its certificate" in world.ok("verify").stdout
    shutil.rmtree(world.store / "pdf")
    warning = world.ok("install").stderr
    assert "W105" in warning
    assert ", expired: its certificate was valid until" in warning
    write_trust(world, '[trust]\nrequire = "signed"\n')
    shutil.rmtree(world.store / "pdf")
    world.fails("E086", "install")


@pytest.mark.slow
def test_other_kinds_of_objects(world: World) -> None:
    """[SURFACES: Getting skills] A repository with SHA-256 objects is one coded line, here and over HTTP."""
    served = world.root / "served"
    work = Origin(world.root)
    work.git("init", "-q", "--object-format=sha256", "-b", "main", str(work.work), at=world.root)
    work.skill("pdf")
    work.git("add", "-A")
    work.git("commit", "-q", "-m", "one")
    work.git("clone", "-q", "--bare", str(work.work), str(served / "skills.git"), at=world.root)
    with serving(Server(served)) as server:
        for source in (f"file://{work.bare}", f"git+{server.url}"):
            assert "sha256 repositories are not supported" in world.fails("E080", "add", source).stderr
