"""Sign a skill with a key of the author's, and say the digest that others can compute."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillc import atomic, paths, trash
from skillc.contract import hidden, optional
from skillc.errors import InvalidOption
from skillc.library import locate_skill
from skillc.origins.check import check_signatures
from skillc.origins.policy import read_trust
from skillc.origins.signature import (
    NOT_SAFE,
    OMS,
    OMS_FILE,
    SSH,
    SSH_FILE,
    combine,
)
from skillc.skills import SIGNATURES, digest_skill, is_name, to_segment
from skillc.skills.document import parse, read_main_file, read_metadata
from skillc.surface import Here
from skillc.text import one_line

REASON = "the signature before 'skc sign'"
MAX_KEY = 1 << 20  # bytes of a file with a key
_SSH_KEY = re.compile(rb"-----BEGIN OPENSSH PRIVATE KEY-----|(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+ [A-Za-z0-9+/]")


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a skill [D64]: of all files, or of all but its signatures, which is what SSH signs."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class Signed:
    """A skill that was signed, and the file with the signature."""

    id: str
    signature: str
    kind: str
    signer: str = optional("")
    trashed: str = optional("")  # where the signature before is now
    hint: str = hidden("")

    def lines(self) -> Iterator[str]:
        yield one_line(f"Signed '{self.id}' in {self.signature}")
        if self.trashed:
            yield one_line(f"  the signature before is in the trash: {self.trashed}")
        yield f"  {self.hint}"
        yield f"  {NOT_SAFE}"


def find_digest(here: Here, name: str, *, signed: bool = False) -> Digest:
    """Return the digest of a skill by name or path; with `signed`, that which signatures are over."""
    skill = locate_skill(name, here.cwd)
    digest = digest_skill(skill.source, without=SIGNATURES if signed else ())
    return Digest(skill.name, f"sha256:{digest.digest}")


def sign_skill(here: Here, name: str, key: str, *, certificate: str = "") -> Signed:
    """Sign a skill with the key in a file: an SSH key, or the PEM of one of the curves that OMS has.

    `certificate` is a PEM file of the certificate of such a key, and those above it. A signature that
    is there goes to the trash. Raises InvalidOption for a key that can't be used.
    """
    skill = locate_skill(name, here.cwd)
    folder, path = skill.source, os.path.join(here.cwd, os.path.expanduser(key))
    try:
        head = paths.read_regular(path, MAX_KEY)
    except OSError as error:
        raise InvalidOption(f"the key '{key}' can't be read: {error.strerror or error}") from None
    own_name = read_metadata(parse(read_main_file(folder)), skill.segment).name
    name = own_name if is_name(own_name) else to_segment(own_name)
    if _SSH_KEY.search(head):
        if certificate:
            raise InvalidOption("--certificate goes with a key of OMS, as PEM, not with an SSH key")
        from skillc.origins.ssh_and_git import sign_digest

        kind, file = SSH, SSH_FILE
        data = sign_digest(digest_skill(folder, without=SIGNATURES).digest, path)
        hint = "others check it with your public key in [trust] allowed_signers; see docs/origins.md"
    else:
        from skillc.origins.keys import read_certificates, read_signing_key
        from skillc.origins.statements import sign_folder

        kind, file, secret = OMS, OMS_FILE, read_signing_key(path)
        chain_path = os.path.join(here.cwd, os.path.expanduser(certificate))
        chain = read_certificates(chain_path, secret) if certificate else []
        data = sign_folder(folder, name, secret, chain)
        what = "the root of its certificate" if certificate else "its public key"
        hint = f"others check it with {what} in [trust] roots; see docs/origins.md"
    target = os.path.join(folder, file)
    trashed = trash.put(target, REASON).path if os.path.lexists(target) else ""
    atomic.write(target, data, mode=0o644)
    signature = combine(check_signatures(folder, name, read_trust()))
    return Signed(skill.name, target, kind, signature.signer, trashed, hint)
