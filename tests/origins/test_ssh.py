"""SSH signatures by the real ssh-keygen, and signed commits and tags by the real git."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from skillc.origins import UNSIGNED, Evidence, Signature, Trust, check_signatures, check_skill, combine
from skillc.origins.signature import BROKEN, EXPIRED, UNCHECKED, UNKNOWN, VALID
from tests.conftest import World
from tests.origins.conftest import NEEDS_SSH, write_trust
from tests.support.keys import make_ssh_key

pytestmark = NEEDS_SSH
FILE = "skill.ssh.sig"


@pytest.fixture
def key(world: World) -> Path:
    return make_ssh_key(world.root / "keys")


def check(skill: Path, *allowed: Path) -> Signature:
    return combine(check_signatures(str(skill), "pdf", Trust(allowed_signers=tuple(map(str, allowed)))))


def test_sign_and_check(world: World, skill: Path, key: Path) -> None:
    """[SURFACES: Signatures] An SSH key signs the digest of all files but signatures; changes break it."""
    value = world.json("sign", str(skill), "--key", str(key))
    assert (value["id"], value["signature"]) == ("pdf", str(skill / FILE))
    stranger, friend = check(skill), check(skill, key.parent / "allowed")
    assert (stranger.state, friend.state, friend.signer) == (UNKNOWN, VALID, "alice@example.com")
    assert stranger.key == friend.key
    digest = world.ok("digest", str(skill), "--signed").stdout
    allowed = str(key.parent / "allowed")
    words = ["-Y", "verify", "-n", "skillc-digest-1", "-f", allowed, "-I", "alice@example.com"]
    subprocess.run(["ssh-keygen", *words, "-s", skill / FILE], input=digest.encode(), check=True)
    assert world.ok("digest", str(skill)).stdout != digest  # the signature is a file of the skill
    (skill / "scripts/fill.py").chmod(0o644)
    assert check(skill, key.parent / "allowed").state == BROKEN
    (skill / "scripts/fill.py").chmod(0o755)
    assert check(skill, key.parent / "allowed").state == VALID


def test_what_does_not_verify(skill: Path, key: Path, world: World) -> None:
    """[SURFACES: Signatures] Another namespace, a text that is no signature, and a flipped byte."""
    world.ok("sign", str(skill), "--key", str(key))
    good = (skill / FILE).read_bytes()
    subprocess.run(["ssh-keygen", "-Y", "sign", "-n", "git", "-f", key, skill / "SKILL.md"], check=True)
    (skill / "SKILL.md.sig").rename(skill / FILE)
    reasons = [check(skill).reason]
    for data in (b"", b"nonsense", good[:80], good.replace(b"-----END", b"AAAA\n-----END", 1)):
        (skill / FILE).write_bytes(data)
        reasons.append(check(skill).reason)
        assert check(skill).state == BROKEN
    assert reasons[0] == "it was made for 'git', not for 'skillc-digest-1'"
    assert reasons[1] == reasons[2] == "it is no SSH signature"
    (skill / FILE).unlink()
    (skill / FILE).symlink_to("/etc/passwd")
    with pytest.raises(Exception, match="escapes"):
        check(skill)


def test_a_program_that_hangs(world: World, skill: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Signatures] A program that does not answer leaves one signature unchecked, and no more."""
    world.ok("sign", str(skill), "--key", str(key))
    write_trust(world, f'[trust]\nallowed_signers = ["{key.parent / "allowed"}"]\n')
    programs = world.root / "programs"
    programs.mkdir()
    for name in ("ssh-keygen", "git"):
        (programs / name).write_text("#!/bin/sh\nexec sleep 60\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    monkeypatch.setattr("skillc.origins.ssh_and_git.TIME_OUT", 0.2)
    plain = world.skill("plain", "---\nname: plain\ndescription: Nothing.\n---\n# Plain\n")
    result = world.ok("verify", str(skill), str(plain), env={"PATH": path})
    assert "pdf: signed, but not checked: ssh-keygen did not answer within" in result.stdout
    assert "plain: unsigned" in result.stdout
    monkeypatch.setenv("PATH", path)
    assert "git did not answer" in judge(b"tree 1\ngpgsig x\n\nm").reason


def test_agent(world: World, skill: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Signatures] A key in ssh-agent signs by its public half."""
    text = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    names = ("SSH_AUTH_SOCK", "SSH_AGENT_PID")
    agent = {name: text.partition(f"{name}=")[2].partition(";")[0] for name in names}
    for name, value in agent.items():
        monkeypatch.setenv(name, value)
    try:
        subprocess.run(["ssh-add", "-q", key], check=True)
        key.unlink()
        world.ok("sign", str(skill), "--key", f"{key}.pub", env=agent)
        assert check(skill, key.parent / "allowed").state == VALID
    finally:
        subprocess.run(["ssh-agent", "-k"], capture_output=True, check=True)


def test_names_that_a_line_excepts(world: World, skill: Path, key: Path) -> None:
    """[SURFACES: Signatures] A name that a line of allowed signers excepts is not the signer."""
    world.ok("sign", str(skill), "--key", str(key))
    allowed = world.root / "excepted"
    allowed.write_text(f"!mallory@example.com,*@example.com {Path(f'{key}.pub').read_text()}")
    assert check(skill, allowed).signer == "*@example.com"
    allowed.write_text(f"!mallory@example.com {Path(f'{key}.pub').read_text()}")
    assert (check(skill, allowed).state, check(skill, allowed).signer) == (UNKNOWN, "")


def test_a_signature_before(world: World, skill: Path, key: Path) -> None:
    """[SURFACES: Signatures] The signature that was there goes to the trash."""
    assert "trashed" not in world.json("sign", str(skill), "--key", str(key))
    other = make_ssh_key(world.root / "other", "bob@example.com")
    trashed = world.json("sign", str(skill), "--key", str(other))["trashed"]
    assert "SSH SIGNATURE" in Path(trashed).read_text()
    assert check(skill, other.parent / "allowed").signer == "bob@example.com"


def judge(commit: bytes, tag: bytes = b"") -> Signature:
    """Return what is known of files that came with a commit, and with a tag that names it."""
    return combine(check_skill("/nowhere", "pdf", Trust(), "0" * 64, Evidence(commit, tag)))


def test_git(world: World, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Signatures] What git itself says of a commit and of a tag, by the user's own settings."""
    monkeypatch.setenv("HOME", str(world.home))
    folder = world.root / "repository"
    folder.mkdir()

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True).stdout

    git("init", "-q")
    for name, text in (("gpg.format", "ssh"), ("user.signingkey", str(key)), ("user.name", "Alice")):
        git("config", name, text)
    git("config", "user.email", "alice@example.com")
    git("commit", "-q", "-S", "--allow-empty", "-m", "signed")
    signed = git("cat-file", "commit", "HEAD")
    git("commit", "-q", "--allow-empty", "-m", "unsigned")
    git("tag", "-s", "v1", "-m", "v1")
    plain, tag = git("cat-file", "commit", "HEAD"), git("cat-file", "tag", "v1")
    assert judge(plain) == UNSIGNED
    assert [judge(signed).state, judge(plain, tag).state] == [UNCHECKED, UNCHECKED]
    config = world.home / ".gitconfig"
    config.write_text(f"[gpg.ssh]\nallowedSignersFile = {key.parent / 'allowed'}\n")
    for signature in (judge(signed), judge(plain, tag)):
        assert (signature.state, signature.signer, signature.kind) == (VALID, "alice@example.com", "git")
        assert signature.key.startswith("SHA256:")
    (world.home / "nobody").write_text("")
    config.write_text(f"[gpg.ssh]\nallowedSignersFile = {world.home / 'nobody'}\n")
    assert {judge(signed).state, judge(plain, tag).state} == {UNKNOWN}
    assert judge(signed.replace(b"\n\nsigned", b"\n\nSigned")).state == BROKEN
    assert judge(plain, tag.replace(b"\n\nv1", b"\n\nV1")).state == BROKEN
    monkeypatch.setenv("PATH", "/nowhere")
    assert judge(signed).state == UNCHECKED


@pytest.fixture
def gpg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of GnuPG, whose path is short enough for a socket."""
    if shutil.which("gpg") is None:
        pytest.skip("GnuPG is not here")
    folder = Path(mkdtemp(prefix="gpg-", dir="/tmp"))
    monkeypatch.setenv("GNUPGHOME", str(folder))
    yield folder
    subprocess.run(["gpgconf", "--kill", "all"], check=False)
    shutil.rmtree(folder)


@pytest.mark.slow
def test_git_openpgp(world: World, gpg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Signatures] A key that is in the keyring, and not trusted, is no known signer, be it of a
    commit or of a tag; an expired one is expired."""
    monkeypatch.setenv("HOME", str(world.home))
    folder = world.root / "repository"
    folder.mkdir()

    def run(*words: str) -> bytes:
        return subprocess.run(words, cwd=folder, capture_output=True, check=True).stdout

    make = ("gpg", "--batch", "--passphrase", "", "--quick-gen-key")
    run(*make, "Alice <alice@example.com>", "ed25519", "sign", "never")
    run("git", "init", "-q")
    for name, text in (("user.name", "Alice"), ("user.email", "alice@example.com")):
        run("git", "config", name, text)
    run("git", "config", "user.signingkey", "alice@example.com")
    run("git", "commit", "-q", "-S", "--allow-empty", "-m", "signed")
    signed = run("git", "cat-file", "commit", "HEAD")
    run("git", "commit", "-q", "--allow-empty", "-m", "unsigned")
    run("git", "tag", "-s", "v1", "-m", "v1")
    plain, tag = run("git", "cat-file", "commit", "HEAD"), run("git", "cat-file", "tag", "v1")

    def states() -> set[str]:
        return {judge(signed).state, judge(plain, tag).state}

    assert states() == {VALID}
    public = run("gpg", "--export")
    listing = run("gpg", "--list-keys", "--with-colons").decode()
    fingerprint = listing.partition("fpr:::::::::")[2].partition(":")[0]
    run("gpg", "--batch", "--quick-set-expire", fingerprint, "seconds=1")
    time.sleep(2.1)
    assert states() == {EXPIRED}
    stranger = gpg / "stranger"
    stranger.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(stranger))
    assert states() == {UNCHECKED}
    subprocess.run(["gpg", "--import"], input=public, capture_output=True, check=True)
    assert states() == {UNKNOWN}
    programs = world.root / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    with monkeypatch.context() as context:
        context.setenv("PATH", str(programs))  # without gpg
        assert states() == {UNCHECKED}
