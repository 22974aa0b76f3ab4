"""Records: JSON files of ours with a digest inside, so that a byte that changed is noticed.

    {"version": 2, "sha256": "3f…", "disabled": […]}

The digest covers everything else in the file, in whatever order and layout it is written. It is no
signature: it tells damage, not forgery.

>>> is_sealed(seal({"version": 1, "skills": ["pdf"]}))
True
>>> is_sealed({**seal({"version": 1, "skills": ["pdf"]}), "skills": ["doc"]})
False
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from skillc import atomic, paths
from skillc.startup import sha256_hex

DIGEST = "sha256"


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


def damaged_name(path: str) -> str:
    """Return where a damaged record is kept: beside the new one, over no other."""
    name, number = f"{path}.damaged", 1
    while os.path.lexists(name):
        number += 1
        name = f"{path}.damaged-{number}"
    return name
