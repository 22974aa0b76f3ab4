"""Say what a signature says: its state, the signer, and how that is known.

A signature says who vouches for the files, not that they are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from skillc.contract import hidden, optional
from skillc.skills import SIGNATURES
from skillc.text import one_line

OMS_FILE, SSH_FILE = SIGNATURES
MAX_SIGNATURE = 4 << 20  # bytes of a signature file

NONE = "none"
VALID = "valid"  # by a signer whom the user named
UNKNOWN = "unknown-signer"  # the files are as they were signed, by a signer whom the user did not name
EXPIRED = "expired"  # the same, but a certificate is not valid today
UNCHECKED = "unchecked"  # what it takes to check it is not here
BROKEN = "broken"
# Of several signatures, the first of these states is that of the skill.
_ORDER = (BROKEN, VALID, EXPIRED, UNKNOWN, UNCHECKED, NONE)
OMS, SSH, GIT, REGISTRY = "oms", "ssh", "git", "registry"  # kinds
NOT_SAFE = "Signed says who made it, not that it is safe."


@dataclass(frozen=True, slots=True)
class Signature:
    """What one signature says: its state, the signer, and the key that the signer is known by.

    `key` is the fingerprint of an SSH key, of the key of a root certificate, or of a registry.
    """

    state: str
    signer: str = ""
    kind: str = ""
    key: str = optional("")
    reason: str = optional("")  # why it is not simply valid, or what it leaves out
    is_expired: bool = hidden(False)  # also where the signer is not known

    @property
    def is_signed(self) -> bool:
        """Whether the files are those that the holder of the key signed."""
        return self.state in (VALID, UNKNOWN, EXPIRED) and bool(self.key)

    @property
    def who(self) -> str:
        """The signer and the key, for people."""
        return f"{self.signer} ({self.key})" if self.signer and self.key else self.signer or self.key

    def pin(self) -> dict[str, str]:
        """Return what a lock keeps of it: nothing where nothing is signed, or could be checked."""
        fields = {"kind": self.kind, "signer": self.signer, "key": self.key}
        fields |= {"state": EXPIRED} if self.is_expired else {}
        return fields if self.is_signed else {}

    def is_by(self, other: Signature) -> bool:
        """Return whether both are by one signer: by the key, and where that is a root's, by the name, too.

        What the holder of a key is called depends on what the user knows of it, and may change.
        """
        is_same_key = (self.kind, self.key) == (other.kind, other.key)
        return self.is_signed and is_same_key and (self.kind != OMS or self.signer == other.signer)

    def line(self) -> str:
        """Return what a person reads: who signed, and how that is known."""
        who = one_line(f"by {self.who if self.signer else f'the key {self.key}'}")
        why = one_line(f": {self.reason}" if self.reason else "")
        texts = {
            NONE: "unsigned",
            VALID: f"signed {who}{why}",
            UNKNOWN: f"signed {who}, not known here{why}",
            EXPIRED: f"signed {who}, expired{why}",
            UNCHECKED: f"signed, but not checked{why}",
            BROKEN: f"signature broken{why}",
        }
        return texts[self.state]


UNSIGNED = Signature(NONE)


class BrokenSignature(Exception):
    """A signature does not say what it should: the text is the sentence for people."""


class NotChecked(Exception):
    """A signature can't be checked on this machine: the text is the sentence for people."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise BrokenSignature for content from outside that is no such thing, whatever reading it raises."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError):
        raise BrokenSignature(f"it is no {what}") from None


def combine(signatures: Sequence[Signature], pin: Signature | None = None) -> Signature:
    """Return the signature that counts of several: a broken one first, then the best known.

    With the `pin` of a lock it is the one of that kind: to know more of another signer is no change.

    >>> combine([Signature(UNKNOWN, "a"), Signature(VALID, "b"), UNSIGNED]).signer
    'b'
    """
    best = min(signatures, key=lambda each: _ORDER.index(each.state), default=UNSIGNED)
    if pin is None or best.state == BROKEN:
        return best
    return next((each for each in signatures if each.kind == pin.kind), best)


def read_pin(fields: object) -> Signature | None:
    """Return the signature that a lock keeps of a skill when it came in, as `pin` wrote it; None for none."""
    pin = fields if isinstance(fields, dict) else {}
    kind, signer, key = (pin.get(each) for each in ("kind", "signer", "key"))
    if not (isinstance(kind, str) and isinstance(signer, str) and isinstance(key, str)):
        return None
    return Signature(UNKNOWN, signer, kind, key, is_expired=pin.get("state") == EXPIRED)
