"""Signatures that other programs make and check: `ssh-keygen` those of skills, git those of commits and tags.

    skc digest pdf --signed | ssh-keygen -Y verify -n skillc-digest-1 -f allowed -I alice -s pdf/skill.ssh.sig

An SSH signature (`skill.ssh.sig`) is over the digest of all files but the two signatures [D64]. Keys stay
where they are: `ssh-keygen` reads them, or asks an agent or a hardware key. Git checks OpenPGP, SSH and X.509
by the user's own settings, in a repository that holds the one object alone, so that nothing of a repository
from elsewhere says how.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from skillc.errors import CannotRun, InvalidConfiguration, InvalidOption
from skillc.origins.signature import (
    BROKEN,
    EXPIRED,
    GIT,
    SSH,
    UNKNOWN,
    VALID,
    BrokenSignature,
    NotChecked,
    Signature,
    reading,
)
from skillc.text import one_line

NAMESPACE = "skillc-digest-1"
TIME_OUT = 20.0  # seconds for a check; signing may wait for a person
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_NOT_KNOWN = "its key is not in [trust] allowed_signers, or not for this use and today"
_HEADERS = (b"\ngpgsig ", b"\ngpgsig-sha256 ")
_ENDS = (b"-----END PGP SIGNATURE-----", b"-----END SSH SIGNATURE-----", b"-----END SIGNED MESSAGE-----")
# What the programs say that git asks: OpenSSH in a sentence, GnuPG and gpgsm in lines of status.
_SSH_GOOD = re.compile(r'Good "git" signature (?:for (.+) )?with \S+ key (\S+)')
_PGP_RESULT = re.compile(r"^\[GNUPG:\] (GOOD|EXP|EXPKEY|REVKEY|BAD)SIG \S+ (.*)", re.MULTILINE)
_PGP_KEY = re.compile(r"^\[GNUPG:\] VALIDSIG (\S+)", re.MULTILINE)
_PGP_DOUBT = re.compile(r"^\[GNUPG:\] TRUST_(?:UNDEFINED|NEVER)", re.MULTILINE)
_NO_ANSWER = ("NO_PUBKEY", "gpg.ssh.allowedSignersFile", "cannot run")
_NOT_TRUSTED = "git does not know how far to trust the key"
_PGP_STATES = {
    "GOOD": (VALID, ""),
    "EXP": (EXPIRED, "the signature expired"),
    "EXPKEY": (EXPIRED, "the key expired"),
    "REVKEY": (BROKEN, "the key was revoked"),
    "BAD": (BROKEN, "git says that it does not fit"),
}


def check_ssh(data: bytes, digest: str, allowed_signers: Sequence[str]) -> Signature:
    """Check a signature over a digest; `allowed_signers` are files as `ssh-keygen` reads them.

    Raises BrokenSignature, and NotChecked where `ssh-keygen` does not answer.
    """
    namespace, key = read_signature(data)
    if namespace != NAMESPACE:
        raise BrokenSignature(f"it was made for '{namespace}', not for '{NAMESPACE}'")
    for signers in allowed_signers:
        if not os.path.isfile(signers):
            raise InvalidConfiguration(signers, "there is no such file of allowed signers")
    with TemporaryDirectory(prefix="skillc-") as folder:
        path = os.path.join(folder, "signature")
        with open(path, "wb") as file:
            file.write(data)

        def ask(*words: str) -> subprocess.CompletedProcess[bytes]:
            return _run("ssh-keygen", "-Y", *words, "-s", path, content=_message(digest))

        if ask("check-novalidate", "-n", NAMESPACE).returncode:
            raise BrokenSignature(f"the key {key} did not sign the files as they are")
        for signers in allowed_signers:
            for who in ask("find-principals", "-f", signers).stdout.decode("utf-8", "replace").splitlines():
                # A name with '!' is one that a line excepts.
                words = "verify", "-n", NAMESPACE, "-f", signers, "-I", who
                if not who.startswith("!") and ask(*words).returncode == 0:
                    return Signature(VALID, who, SSH, key)
    return Signature(UNKNOWN, "", SSH, key, _NOT_KNOWN)


def sign_digest(digest: str, key: str) -> bytes:
    """Return a signature over a digest by the key in a file; of one in an agent, the public half will do."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise CannotRun("ssh-keygen", "it is not here; OpenSSH has it")
    argv = [program, "-Y", "sign", "-n", NAMESPACE, "-f", key]
    run = subprocess.run(argv, input=_message(digest), capture_output=True, check=False)  # noqa: S603
    if run.returncode:
        reason = one_line(run.stderr.decode("utf-8", "replace").strip().replace("\n", ": "))
        raise InvalidOption(f"the key '{key}' can't be used: {reason or 'ssh-keygen failed'}")
    return run.stdout


def _message(digest: str) -> bytes:
    return f"sha256:{digest}\n".encode()


def read_signature(data: bytes) -> tuple[str, str]:
    """Return the namespace of a signature, and the fingerprint of the key that made it."""
    with reading("SSH signature"):
        text = data.decode("ascii").strip()
        if not (text.startswith(_BEGIN) and text.endswith(_END)):
            raise ValueError
        blob = b64decode("".join(text.removeprefix(_BEGIN).removesuffix(_END).split()), validate=True)
        key, rest = _take(blob.removeprefix(b"SSHSIG\0\0\0\1"))
        namespace, _ = _take(rest)
    digest = b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
    return namespace.decode("utf-8", "replace"), f"SHA256:{digest}"


def _take(data: bytes) -> tuple[bytes, bytes]:
    """Return the first text of SSH's encoding, which has its length before it, and what follows."""
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 + size:
        raise ValueError
    return data[4 : 4 + size], data[4 + size :]


def is_signed(data: bytes) -> bool:
    """Return whether a commit, or an annotated tag, has a signature."""
    head = data.partition(b"\n\n")[0]
    return any(header in head for header in _HEADERS) or data.rstrip().endswith(_ENDS)


def check_commit(commit: bytes, tag: bytes = b"") -> Signature:
    """Say by whom a commit is signed, or else the tag that names it.

    Raises BrokenSignature, and NotChecked where git does not answer or has no key.
    """
    data, kind = (commit, "commit") if is_signed(commit) else (tag, "tag")
    text = _ask_git(data, kind)
    if match := _SSH_GOOD.search(text):
        if match[1]:
            return Signature(VALID, match[1], GIT, match[2])
        return Signature(UNKNOWN, "", GIT, match[2], _NOT_TRUSTED)
    results, key = _PGP_RESULT.findall(text), _PGP_KEY.search(text)
    if len(results) == 1:
        state, reason = _PGP_STATES[results[0][0]]
        if state == VALID and _PGP_DOUBT.search(text):
            state, reason = UNKNOWN, _NOT_TRUSTED
        return Signature(state, results[0][1], GIT, key[1] if key else "", reason, state == EXPIRED)
    if any(words in text for words in _NO_ANSWER):
        raise NotChecked("git has no key, or no program, to check it with")
    raise BrokenSignature(f"git says that the {kind}'s signature is not good")


def _ask_git(data: bytes, kind: str) -> str:
    """Return what git says of the signature of an object."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    with TemporaryDirectory(prefix="skillc-") as folder:
        environment |= {"GIT_DIR": folder, "GIT_DEFAULT_HASH": "sha1", "LC_ALL": "C"}
        _run("git", "init", "--quiet", "--bare", folder, environment=environment)
        words = ("hash-object", "-t", kind, "-w", "--stdin", "--literally")
        name = _run("git", *words, content=data, environment=environment).stdout.decode().strip()
        answer = _run("git", f"verify-{kind}", "--raw", name, environment=environment)
        return answer.stderr.decode("utf-8", "replace")


def _run(
    program: str, *words: str, content: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Ask a program of the system, without a shell; raises NotChecked where it does not answer."""
    path = shutil.which(program)
    if path is None:
        raise NotChecked(f"{program} is not here to check it")
    try:
        return subprocess.run(  # noqa: S603
            [path, *words],
            input=content,
            env=environment,
            capture_output=True,
            timeout=TIME_OUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotChecked(f"{program} did not answer within {TIME_OUT:.0f} seconds") from None
    except OSError as error:
        raise NotChecked(f"{program} can't be asked: {one_line(str(error))}") from None
