"""What a skill's files are at this moment: the hash that an approval is bound to [D46], file by file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillc.errors import InvalidSkill
from skillc.library import ORIGIN, at_path
from skillc.skills import list_files, source_hash
from skillc.startup.digest import file_sha256_hex

MAX_BYTES = 1 << 30  # of all files together; nobody approves more


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`digest` is the skill's source hash [D3], files with a dot included, since a script may read them."""

    digest: str
    files: Mapping[str, str]

    def changes_since(self, before: Mapping[str, str]) -> list[str]:
        """How the files differ from earlier ones: `changed: path`, `added: path`, `removed: path`."""
        found = []
        for name in sorted({*self.files, *before}):
            if name not in before:
                found.append(f"added: {name}")
            elif name not in self.files:
                found.append(f"removed: {name}")
            elif self.files[name] != before[name]:
                found.append(f"changed: {name}")
        return found


def fingerprint(directory: str) -> Fingerprint:
    """Read every file of a skill; raises PathEscapes for a link that leads out of it."""
    note = ORIGIN if at_path(directory).is_copy else ""  # ours, and another for each state of a repository
    files = [file for file in list_files(directory, hidden=True) if file.name != note]
    if sum(file.size for file in files) > MAX_BYTES:
        raise InvalidSkill(directory, f"more than {MAX_BYTES >> 30} GiB of files")
    digests = {}
    for file in files:
        with open(file.path, "rb") as opened:
            digests[file.name] = file_sha256_hex(opened, file.size)
    return Fingerprint(source_hash(digests.items()), digests)
