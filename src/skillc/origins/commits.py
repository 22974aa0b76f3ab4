"""Signed commits and tags of git, as git itself says: OpenPGP, SSH and X.509, by the user's own settings.

The commit is checked as it was fetched, and only then: no skill folder holds it. Git is asked in a repository
that holds this object alone, so that nothing of a repository from elsewhere says how.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from tempfile import TemporaryDirectory

from skillc.origins.signature import BROKEN, EXPIRED, GIT, UNCHECKED, UNKNOWN, VALID, Signature
from skillc.text import one_line

TIME_OUT = 20.0  # seconds
_HEADERS = (b"\ngpgsig ", b"\ngpgsig-sha256 ")
_ENDS = (b"-----END PGP SIGNATURE-----", b"-----END SSH SIGNATURE-----", b"-----END SIGNED MESSAGE-----")
# What `git log --format=%G?` says, and what it means here.
_STATES = {"G": VALID, "U": UNKNOWN, "X": EXPIRED, "Y": EXPIRED, "R": BROKEN, "B": BROKEN}
_REASONS = {
    "U": "git does not know how far to trust the key",
    "X": "the signature expired",
    "Y": "the key expired",
    "R": "the key was revoked",
    "B": "git says that it does not fit the commit",
}
_NO_KEY = "git has no key to check it with"
_SSH_TAG = re.compile(r'Good "git" signature (?:for (.+) )?with \S+ key (\S+)')
_PGP_TAG = re.compile(r"^\[GNUPG:\] (GOOD|EXP|EXPKEY|REVKEY|BAD)SIG \S+ (.*)", re.MULTILINE)
_PGP_KEY = re.compile(r"^\[GNUPG:\] VALIDSIG (\S+)", re.MULTILINE)
_PGP_DOUBT = re.compile(r"^\[GNUPG:\] TRUST_(?:UNDEFINED|NEVER)", re.MULTILINE)
_LETTERS = {"GOOD": "G", "EXP": "X", "EXPKEY": "Y", "REVKEY": "R", "BAD": "B"}


def is_signed(data: bytes) -> bool:
    """Return whether a commit, or an annotated tag, has a signature."""
    head = data.partition(b"\n\n")[0]
    return any(header in head for header in _HEADERS) or data.rstrip().endswith(_ENDS)


def check_commit(commit: bytes, tag: bytes = b"") -> Signature | None:
    """Say by whom a commit is signed, or else the tag that names it; None where neither is."""
    if is_signed(commit):
        return _ask_git(commit, "commit")
    return _ask_git(tag, "tag") if tag and is_signed(tag) else None


def _ask_git(data: bytes, kind: str) -> Signature:
    program = shutil.which("git")
    if program is None:
        return Signature(UNCHECKED, kind=GIT, reason=f"the {kind} is signed, and git is not here to check it")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    with TemporaryDirectory(prefix="skillc-") as folder:

        def run(*words: str, content: bytes = b"") -> tuple[str, str]:
            process = subprocess.run(  # noqa: S603 -- git itself, without a shell
                [program, *words],
                input=content,
                cwd=folder,
                env={**environment, "GIT_DIR": folder, "GIT_DEFAULT_HASH": "sha1", "LC_ALL": "C"},
                capture_output=True,
                timeout=TIME_OUT,
                check=False,
            )
            return process.stdout.decode("utf-8", "replace"), process.stderr.decode("utf-8", "replace")

        try:
            run("init", "--quiet", "--bare", folder)
            name = run("hash-object", "-t", kind, "-w", "--stdin", "--literally", content=data)[0].strip()
            if kind == "tag":
                return _read_tag(run("verify-tag", "--raw", name)[1])
            return _read_commit(run("log", "-1", "--no-walk", "--format=%G?%n%GS%n%GF%n%GK", name)[0])
        except subprocess.TimeoutExpired:
            return Signature(UNCHECKED, kind=GIT, reason=f"git did not answer within {TIME_OUT:.0f} seconds")
        except OSError as error:
            return Signature(UNCHECKED, kind=GIT, reason=f"git can't be asked: {one_line(str(error))}")


def _read_commit(text: str) -> Signature:
    """Read what git says of a commit: a letter, the signer, and its key, a line each."""
    letter, signer, fingerprint, key = (*text.split("\n"), "", "", "", "")[:4]
    if letter not in _STATES:
        return Signature(UNCHECKED, kind=GIT, reason=_NO_KEY)
    return Signature(_STATES[letter], signer, GIT, fingerprint or key, _REASONS.get(letter, ""))


def _read_tag(text: str) -> Signature:
    """Read what git says of a tag, in the words of the program that checked it."""
    if match := _SSH_TAG.search(text):
        state, reason = (VALID, "") if match[1] else (UNKNOWN, _REASONS["U"])
        return Signature(state, match[1] or "", GIT, match[2], reason)
    found, key = _PGP_TAG.findall(text), _PGP_KEY.search(text)
    if len(found) == 1:
        letter = _LETTERS[found[0][0]]
        letter = "U" if letter == "G" and _PGP_DOUBT.search(text) else letter
        return _read_commit(f"{letter}\n{found[0][1]}\n{key[1] if key else ''}")
    if "NO_PUBKEY" in text or "gpg.ssh.allowedSignersFile" in text:
        return Signature(UNCHECKED, kind=GIT, reason=_NO_KEY)
    return Signature(BROKEN, kind=GIT, reason="git says that the tag's signature is not good")
