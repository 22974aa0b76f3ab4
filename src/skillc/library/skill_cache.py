"""Local copies of the skills of remote repositories, for all that works on folders.

    <home>/.skillc/cache/skills/<repository>/<ID with + for />/
        the skill's files
        .origin             the repository's name, and the version of the skill: its folder or its digest

The folder's path stays the same while the skill changes, so that what was built from it stays too. A
copy is replaced as a whole when the skill has changed, and is used on while its repository is away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.library.stores import ORIGIN, folder_name, is_id, read_origin
from skillc.quotes import yaml_quote
from skillc.skills import SkillId, make_folder
from skillc.startup import sha256_hex

if TYPE_CHECKING:
    from skillc.library.repositories import SkillRepositoryConfig
    from skillc.library.sources import SkillDocument

_NOT_ADDRESS = ("allow_hosts", "auth_header", "auth_token", "depth", "env", "refresh_seconds", "ssh_key")


def copy_path(repository: SkillRepositoryConfig, skill_id: str) -> str:
    """Return the path for the copy of a skill."""
    return os.path.join(copies_folder(repository), folder_name(skill_id))


def copies_folder(repository: SkillRepositoryConfig) -> str:
    """Return the folder for the copies of a repository's skills. Variables in an address are not expanded."""
    address = {key: str(value) for key, value in repository.settings.items() if key not in _NOT_ADDRESS}
    key = sha256_hex(json.dumps([repository.type, sorted(address.items())]).encode())[:16]
    return os.path.join(paths.cache_directory(), "skills", key)


def list_copies(folder: str) -> list[tuple[SkillId, str]]:
    """Return the copies of one repository, below a folder of the cache: IDs and folders."""
    ids = ((name, name.replace("+", "/")) for name in paths.list_names(folder) if name[0] != ".")
    return [
        (SkillId(skill_id), os.path.realpath(os.path.join(folder, name)))
        for name, skill_id in ids
        if is_id(skill_id)
    ]


def write_copy(path: str, repository: str, document: SkillDocument, directory: str | None) -> str:
    """Make the copy at `path` equal to the skill: to its folder where it has one, else to its text."""
    text = b"" if directory else _skill_file(document)
    version = directory or sha256_hex(text)
    origin = f"{repository}\n{version}\n".encode("utf-8", "surrogateescape")
    if read_origin(path) != origin:
        parent = os.path.dirname(path)
        os.makedirs(parent, mode=0o700, exist_ok=True)
        atomic.sweep(parent)
        files = {ORIGIN: origin} if directory else {paths.SKILL_FILE: text, ORIGIN: origin}
        make_folder(path, copy_of=directory, files=files)
    return path


def _skill_file(document: SkillDocument) -> bytes:
    """Return a SKILL.md that reads back as the document."""
    skill = document.descriptor
    fields: dict[str, Any] = {"name": skill.name, "description": skill.description, **document.extensions}
    if skill.metadata:
        fields["metadata"] = dict(skill.metadata)
    if skill.requires_capabilities:
        fields["requires_capabilities"] = list(skill.requires_capabilities)
    lines = [f"{_key(key)}: {_value(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", document.body]).encode("utf-8", "replace")


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "").replace("_", "").isalnum() else yaml_quote(key)


def _value(value: Any) -> str:
    """Return a value in YAML's flow style, which is JSON's with more ways to write text."""
    if isinstance(value, str):
        return yaml_quote(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_quote(str(k))}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value, default=str)
