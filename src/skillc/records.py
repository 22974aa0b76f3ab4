"""Records: JSON files of ours with a digest inside, so that a byte that changed is noticed.

    {"version": 2, "sha256": "3f…", "disabled": […]}

The digest covers everything else in the file, in whatever order and layout it is written. It is no
signature: it tells damage, not forgery. Notes are caches, which have none: there is a file of each kind for
each store, an object that is safe to delete.

    ~/.skillc/cache/<kind>/<hash of the root>.json

>>> is_sealed(seal({"version": 1, "skills": ["pdf"]}))
True
>>> is_sealed({**seal({"version": 1, "skills": ["pdf"]}), "skills": ["doc"]})
False
"""

from __future__ import annotations

import json
import os

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration, InvalidOption, SkillcError
from skillc.startup import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    Content = TypeVar("Content")

DIGEST = "sha256"
MAX_NOTES = 64 << 20  # bytes


def digest(value: object) -> str:
    """Return the SHA-256 of a JSON value, whatever the order of its keys."""
    return sha256_hex(json.dumps(value, sort_keys=True).encode())


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its digest, behind its version if it has one."""
    rest = {key: value for key, value in content.items() if key != DIGEST}
    version = {"version": rest["version"]} if "version" in rest else {}
    return {**version, DIGEST: digest(rest), **rest}


def is_sealed(content: Mapping[str, Any]) -> bool:
    """Return whether an object has the digest of what else it holds."""
    return content.get(DIGEST) == digest({key: content[key] for key in content if key != DIGEST})


def read_record(path: str, limit: int, *, unsealed: int = -1) -> dict[str, Any]:
    """Return the content of a record; raise OSError, and ValueError for one that is damaged.

    `unsealed` is the last version that was written without a digest, which is accepted as it is; 0 means
    files without a version.
    """
    try:
        content = json.loads(paths.read_regular(path, limit))
        has_old_version = content["version"] <= unsealed if unsealed else "version" not in content
        is_old = DIGEST not in content and has_old_version
        if is_old or is_sealed(content):
            return dict(content)
    except (KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError(f"'{path}' is not as it was written")


def write_record(path: str, content: Mapping[str, Any], *, private: bool = False) -> None:
    """Write a record with its digest, and wait for the disk."""
    text = json.dumps(seal(content), indent=1, ensure_ascii=False)
    atomic.write(path, f"{text}\n".encode(), durable=True, private=private)


class Record:
    """A record in the home's `.skillc`, where no project can write: its content is what `key` has, or all.

    `unsealed` is as for `read_record`, and `advice` what a person does about a damaged file. One that others
    have a right of `closed` for is not believed. No dataclass: 'skc find' may read one.
    """

    def __init__(
        self,
        name: str,
        version: int,
        key: str = "",
        advice: str = "",
        unsealed: int = -1,
        limit: int = 1 << 20,  # bytes
        private: bool = True,
        closed: int = 0,
        closed_advice: str = "",
    ) -> None:
        self.name, self.version, self.key, self.advice = name, version, key, advice
        self.unsealed, self.limit, self.private = unsealed, limit, private
        self.closed, self.closed_advice = closed, closed_advice

    @property
    def path(self) -> str:
        return os.path.join(paths.require_home(), paths.DIRECTORY, self.name)

    def read(self, parse: Callable[[Any], Content], default: Content) -> Content:
        """Return what `parse` makes of the content, `default` without a file; raises InvalidConfiguration."""
        if paths.home() is None:
            return default
        path = self.path
        try:
            content = read_record(path, self.limit, unsealed=self.unsealed)
            if os.name == "posix" and os.stat(path).st_mode & self.closed:
                raise InvalidConfiguration(path, self.closed_advice)
            if content["version"] > self.version:
                raise ValueError(content["version"])
            return parse(content[self.key] if self.key else content)
        except (FileNotFoundError, NotADirectoryError):
            return default
        except OSError as error:
            raise InvalidConfiguration(path, error.strerror or str(error)) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidOption):
            raise InvalidConfiguration(path, self.advice) from None

    def lock(self) -> atomic.Lock:
        """Return the lock to hold while the file is read, changed and written."""
        path = self.path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return atomic.Lock(f"{path}.lock")

    def write(self, content: Any) -> None:
        content = {self.key: content} if self.key else content
        write_record(self.path, {"version": self.version, **content}, private=self.private)


def damaged_name(path: str) -> str:
    """Return where a damaged record is kept: beside the new one, over no other."""
    name, number = f"{path}.damaged", 1
    while os.path.lexists(name):
        number += 1
        name = f"{path}.damaged-{number}"
    return name


def read_notes(kind: str, root: str) -> dict[str, Any]:
    """Return the notes of a kind on a store; none where they are missing or damaged."""
    try:
        notes = json.loads(paths.read_regular(_notes_file(kind, root), MAX_NOTES))
    except (OSError, ValueError, RecursionError, SkillcError):  # without a home there are none
        return {}
    return notes if isinstance(notes, dict) else {}


def write_notes(kind: str, root: str, notes: dict[str, Any]) -> None:
    """Replace the notes of a kind on a store; a home that can't be written keeps none."""
    try:
        path = _notes_file(kind, root)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic.write(path, json.dumps(notes).encode(), private=True)
    except (OSError, SkillcError):
        pass


def _notes_file(kind: str, root: str) -> str:
    return os.path.join(paths.cache_directory(), kind, f"{paths.path_hash(os.path.realpath(root))}.json")
