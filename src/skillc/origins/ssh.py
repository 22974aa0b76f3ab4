"""SSH signatures (`skill.ssh.sig`): made and checked by `ssh-keygen`, over the digest of all other files.

    skc digest pdf --signed | ssh-keygen -Y verify -n skillc-digest-1 -f allowed -I alice -s pdf/skill.ssh.sig

The digest is that of all files but the two signatures [D64]. Keys stay where they are: `ssh-keygen` reads
them, or asks an agent or a hardware key.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from skillc.errors import CannotRun, InvalidConfiguration, InvalidOption
from skillc.origins.signature import (
    SSH,
    TIME_OUT,
    UNKNOWN,
    VALID,
    BrokenSignature,
    NotChecked,
    Signature,
    reading,
)
from skillc.text import one_line

NAMESPACE = "skillc-digest-1"
PROGRAM = "ssh-keygen"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_NOT_KNOWN = "its key is not in [trust] allowed_signers, or not for this use and today"


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
        what = "-n", NAMESPACE, "-s", path
        if _run("check-novalidate", *what, digest=digest) is None:
            raise BrokenSignature(f"the key {key} did not sign the files as they are")
        for signers in allowed_signers:
            for who in (_run("find-principals", "-s", path, "-f", signers) or "").splitlines():
                # A name with '!' is one that a line excepts.
                is_name = not who.startswith("!")
                if is_name and _run("verify", *what, "-f", signers, "-I", who, digest=digest) is not None:
                    return Signature(VALID, who, SSH, key)
    return Signature(UNKNOWN, "", SSH, key, _NOT_KNOWN)


def sign_digest(digest: str, key: str) -> bytes:
    """Return a signature over a digest by the key in a file; of one in an agent, the public half will do."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise CannotRun(PROGRAM, "it is not here; OpenSSH has it")
    argv = [program, "-Y", "sign", "-n", NAMESPACE, "-f", key]
    run = subprocess.run(argv, input=_message(digest), capture_output=True, check=False)  # noqa: S603
    if run.returncode:
        reason = one_line(run.stderr.decode("utf-8", "replace").strip().replace("\n", ": "))
        raise InvalidOption(f"the key '{key}' can't be used: {reason or f'{PROGRAM} failed'}")
    return run.stdout


def _message(digest: str) -> bytes:
    return f"sha256:{digest}\n".encode()


def _run(*words: str, digest: str = "") -> str | None:
    """Return what a check by `ssh-keygen` prints; None where it says no."""
    argv = [shutil.which(PROGRAM) or PROGRAM, "-Y", *words]
    try:
        run = subprocess.run(  # noqa: S603 -- a program of the system, without a shell
            argv, input=_message(digest), capture_output=True, timeout=TIME_OUT, check=False
        )
    except FileNotFoundError:
        raise NotChecked(f"{PROGRAM} is not here; OpenSSH has it") from None
    except subprocess.TimeoutExpired:
        raise NotChecked(f"{PROGRAM} did not answer within {TIME_OUT:.0f} seconds") from None
    except OSError as error:
        raise NotChecked(f"{PROGRAM} can't be asked: {one_line(str(error))}") from None
    return None if run.returncode else run.stdout.decode("utf-8", "replace")


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
