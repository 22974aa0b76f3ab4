"""Keep files that are sent ahead of a publication, until it names them.

The bytes are a blob with a line in front that says which caller sent them. So a publication can name what its
own caller sent, and nothing else: the digest of a file that another one published does not lead to its bytes.
`collect` removes uploads after a day; the blobs of a version are written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta

from skillc.errors import InvalidParameter
from skillc.registry.access import Caller
from skillc.registry.blobs import Blobs, digest_of
from skillc.registry.model import Role
from skillc.registry.package import MAX_BYTES

MAX_AGE = timedelta(hours=1)
_MARK = b"skillc upload 1 "
_ALGORITHM = "sha256:"
_NAME = re.compile("[0-9a-f]{64}")


class Uploads:
    """The uploads of a registry."""

    def __init__(self, blobs: Blobs, clock: Callable[[], datetime]) -> None:
        self._blobs = blobs
        self._clock = clock

    def check(self, caller: Caller, size: object = 0) -> None:
        """Raise RegistryRefused where a caller may publish nothing, InvalidParameter for a wrong size."""
        caller.require_anywhere(Role.PUBLISHER)
        if not isinstance(size, int) or not 0 <= size <= MAX_BYTES:
            raise InvalidParameter("size", f"it is a number of bytes up to {MAX_BYTES >> 20} MiB")

    def add(self, caller: Caller, data: bytes) -> str:
        """Keep a file, and return the name of the upload."""
        self.check(caller, len(data))
        header = {"subject": caller.subject, "time": self._clock().isoformat()}
        blob = _MARK + json.dumps(header).encode() + b"\n" + data
        digest = digest_of(blob)
        self._blobs.write(digest, blob)
        return digest.removeprefix(_ALGORITHM)

    def read(self, caller: Caller, name: str) -> bytes:
        """Return what this caller sent during the last hour; raises InvalidParameter for anything else."""
        blob = self._blobs.find(f"{_ALGORITHM}{name}") if _NAME.fullmatch(name) else None
        if blob is None or not blob.startswith(_MARK):
            raise InvalidParameter("upload", f"there is no upload '{name[:64]}'")
        line, _, data = blob[len(_MARK) :].partition(b"\n")
        header = json.loads(line)
        is_old = self._clock() - datetime.fromisoformat(header["time"]) > MAX_AGE
        if header["subject"] != caller.subject or is_old:
            raise InvalidParameter("upload", f"there is no upload '{name[:64]}'")
        return data
