"""The plugins that the file of a marketplace lists, as Claude Code and Codex read it, and where each is.

>>> source = {"source": "github", "repo": "acme/pdf", "ref": "v1"}
>>> (plugin,) = read_plugins({"plugins": [{"name": "pdf", "source": source}]})
>>> plugin.place
'github:acme/pdf#v1'
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_PLUGINS = 10_000
_REPOSITORY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin: a `folder` beside the marketplace's file, or what is at an `address`.

    `path` is the folder in the repository at that address, and `skills` those folders in the plugin that
    have its skills, where they are named. A `refusal` says why the plugin can't be read, and what to do.
    """

    name: str
    description: str = ""
    folder: str | None = None
    address: str = ""
    ref: str = ""
    path: str = ""
    skills: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def place(self) -> str:
        """What `skc add` takes for a plugin that is elsewhere; only of GitHub can a folder be named."""
        is_short = self.address.startswith("github:")
        path = f"/{self.path.strip('./')}" if self.path and is_short else ""
        prefix = "git+" if "://" in self.address and not self.address.endswith(".git") else ""
        return f"{prefix}{self.address}{path}{f'#{self.ref}' if self.ref else ''}"


def read_plugins(data: object) -> tuple[Plugin, ...] | None:
    """Return the plugins of a marketplace; None for what is none. Of two with one name, the first counts."""
    entries = data.get("plugins") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(entries, list):
        return None
    metadata = data.get("metadata")
    root = _text(metadata.get("pluginRoot")) if isinstance(metadata, dict) else ""
    plugins: dict[str | int, Plugin] = {}
    for number, entry in enumerate(entries[:MAX_PLUGINS]):
        if isinstance(entry, dict):
            name = _text(entry.get("name")).strip()
            plugins.setdefault(name or number, _read_plugin(name, entry, root))
    return tuple(plugins.values())


def _read_plugin(name: str, entry: Mapping[str, Any], root: str) -> Plugin:
    source, skills = entry.get("source"), entry.get("skills")
    folders = skills if isinstance(skills, list) else [skills]
    fields: dict[str, Any] = {
        "description": _text(entry.get("description")),
        "skills": tuple(posixpath.normpath(each) for each in folders if isinstance(each, str)),
    }
    if isinstance(source, str) and "://" not in source:
        fields["folder"] = posixpath.normpath(posixpath.join(root, source))
    elif isinstance(source, str):
        fields |= _locate({"source": "url", "url": source})
    else:
        fields |= _locate(source if isinstance(source, dict) else {})
    return Plugin(name, **fields)


def _locate(source: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a plugin for its source."""
    kind = _text(source.get("source"))
    repository, url, package = (_text(source.get(key)).strip() for key in ("repo", "url", "package"))
    commit, ref = _text(source.get("sha")), _text(source.get("ref"))
    place = {"ref": commit if _COMMIT.fullmatch(commit) else ref, "path": _text(source.get("path"))}
    if kind == "github" and _REPOSITORY.fullmatch(repository):
        return {"address": f"github:{repository}"} | place
    if kind in ("url", "git", "git-subdir") and url:
        return {"address": f"github:{url}" if _REPOSITORY.fullmatch(url) else url} | place
    if kind == "local" and place["path"]:
        return {"folder": posixpath.normpath(place["path"])}
    if kind in ("npm", "pip") and package:
        command = "npm pack" if kind == "npm" else "pip download"
        way = f"'{command}' gets it, and 'skc add <file>' adds it if it is an archive"
        return {"refusal": f"it is the package '{package}' of {kind}; {way}"}
    return {"refusal": f"its source '{kind}' is not one that skc reads: a git repository"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
