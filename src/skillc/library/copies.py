"""Copies of remote skills as local folders, so that whatever works on a folder works on them.

    <home>/.skillc/cache/skills/<repository>/<ID with + for />/
        the skill's files
        .origin             the repository's name, and which state of the skill this is

The folder's path stays the same while the skill changes, so that what was built from it stays too. A
copy is replaced as a whole when the repository has another state, and is used while that can't be asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.library.stores import folder_name
from skillc.skills.folder import make_folder
from skillc.startup.digest import sha256_hex
from skillc.text import yaml_quote

if TYPE_CHECKING:
    from skillc.library.config import SkillRepositoryConfig
    from skillc.library.descriptors import SkillDocument

ORIGIN = ".origin"
_NO_ADDRESS = ("auth_header", "auth_token", "depth", "env", "refresh_seconds", "ssh_key")


def place(repository: SkillRepositoryConfig, skill_id: str) -> str:
    """Return where the copy of a skill belongs. Variables in an address are not expanded."""
    address = {key: str(value) for key, value in repository.settings.items() if key not in _NO_ADDRESS}
    key = sha256_hex(json.dumps([repository.type, sorted(address.items())]).encode())[:16]
    return os.path.join(paths.cache_directory(), "skills", key, folder_name(skill_id))


def update(path: str, repository: str, document: SkillDocument, directory: str | None) -> str:
    """Make the copy at `path` equal to the skill: to its folder if it has one, else to its text."""
    text = b"" if directory else _skill_file(document)
    state = directory or sha256_hex(text)
    origin = f"{repository}\n{state}\n".encode("utf-8", "surrogateescape")
    if _read(path) != origin:
        parent = os.path.dirname(path)
        os.makedirs(parent, mode=0o700, exist_ok=True)
        atomic.sweep(parent)
        files = {ORIGIN: origin} if directory else {paths.SKILL_FILE: text, ORIGIN: origin}
        make_folder(path, copy_of=directory, files=files)
    return path


def origin(path: str) -> str:
    """Return the name of the repository that a copy came from."""
    return _read(path).decode("utf-8", "replace").partition("\n")[0]


def _read(path: str) -> bytes:
    try:
        with open(os.path.join(path, ORIGIN), "rb") as file:
            return file.read(8192)
    except OSError:
        return b""


def _skill_file(document: SkillDocument) -> bytes:
    """Return a SKILL.md that reads back as the document."""
    skill = document.descriptor
    fields: dict[str, Any] = {"name": skill.name, "description": skill.description, **document.extensions}
    if skill.metadata:
        fields["metadata"] = dict(skill.metadata)
    if skill.requires_capabilities:
        fields["requires_capabilities"] = list(skill.requires_capabilities)
    lines = []
    for key, value in fields.items():
        plain = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
        lines.append(f"{key if plain else yaml_quote(key)}: {_flow(value)}")
    return "\n".join(["---", *lines, "---", "", document.body]).encode("utf-8", "replace")


def _flow(value: Any) -> str:
    """Return a value in YAML's flow style, which is JSON's with more ways to write text."""
    if isinstance(value, str):
        return yaml_quote(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_quote(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return json.dumps(value, default=str)
