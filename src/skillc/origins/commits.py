"""Signed commits and tags of git, as git itself says: OpenPGP, SSH and X.509, by the user's own settings.

Git is asked in a repository that holds this object alone, so that nothing of a repository from elsewhere says
how it is checked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from tempfile import TemporaryDirectory

from skillc.origins.signature import (
    BROKEN,
    EXPIRED,
    GIT,
    TIME_OUT,
    UNKNOWN,
    VALID,
    BrokenSignature,
    NotChecked,
    Signature,
)
from skillc.text import one_line

_HEADERS = (b"\ngpgsig ", b"\ngpgsig-sha256 ")
_ENDS = (b"-----END PGP SIGNATURE-----", b"-----END SSH SIGNATURE-----", b"-----END SIGNED MESSAGE-----")
_SHA256 = re.compile(rb"(?:tree|object) [0-9a-f]{64}\n")
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
    form = "sha256" if _SHA256.match(data) else "sha1"
    with TemporaryDirectory(prefix="skillc-") as folder:
        environment |= {"GIT_DIR": folder, "GIT_DEFAULT_HASH": form, "LC_ALL": "C"}

        def run(*words: str) -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(  # noqa: S603 -- git itself, without a shell
                [shutil.which("git") or "git", *words],
                input=data,
                cwd=folder,
                env=environment,
                capture_output=True,
                timeout=TIME_OUT,
                check=False,
            )

        try:
            run("init", "--quiet", "--bare", folder)
            name = run("hash-object", "-t", kind, "-w", "--stdin", "--literally").stdout.decode().strip()
            return run(f"verify-{kind}", "--raw", name).stderr.decode("utf-8", "replace")
        except FileNotFoundError:
            raise NotChecked(f"the {kind} is signed, and git is not here to check it") from None
        except subprocess.TimeoutExpired:
            raise NotChecked(f"git did not answer within {TIME_OUT:.0f} seconds") from None
        except OSError as error:
            raise NotChecked(f"git can't be asked: {one_line(str(error))}") from None
