"""Marketplaces by their address: the file names plugins, and each plugin is a git repository.

    https://example.com/.claude-plugin/marketplace.json     for Claude Code
    https://example.com/.agents/plugins/marketplace.json    for Codex

What is added comes from the repository of its plugin, and the lock file names that. Only hosts that a person
named are asked. A registry of ours has an index of skills beside the file, which is read instead.

>>> source = {"source": "github", "repo": "acme/pdf", "ref": "v1"}
>>> (plugin,) = read_plugins({"plugins": [{"name": "pdf", "source": source}]})
>>> plugin.place
'github:acme/pdf#v1'
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from skillc.errors import OriginNotFound
from skillc.install.address import parse_origin
from skillc.install.origin import (
    ARCHIVES,
    Candidate,
    Origin,
    check_ref,
    choose_by_name,
    clean_path,
    open_session,
    origin_errors,
)
from skillc.remotes import has_index_beside
from skillc.remotes.http import host_of

MAX_JSON = 16 << 20  # bytes of a marketplace's file
MAX_OPENED = 100  # plugins in which a skill is looked for
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


@dataclass(frozen=True, slots=True)
class Marketplace:
    """The plugins that the file at an address lists."""

    origin: Origin
    plugins: tuple[Plugin, ...]

    def candidates(self) -> tuple[Candidate, ...]:
        """Return the plugins as people choose from them."""
        return tuple(Candidate(each.name, "", "", each.description) for each in self.plugins)

    def choose(self, names: Sequence[str]) -> list[Plugin]:
        """Return the plugins with these names; raises OriginNotFound."""
        return choose_by_name(self.origin, {each.name: each for each in self.plugins}, names)

    def search(self) -> list[Plugin]:
        """Return the plugins that can be opened to look for a skill; raises OriginNotFound for too many."""
        plugins = [each for each in self.plugins if each.address]
        if len(plugins) > MAX_OPENED:
            reason = f"it lists {len(plugins)} plugins, and they are not opened to look for a skill"
            raise OriginNotFound(self.origin.label(), reason, "hint: --skill takes the name of a plugin")
        return plugins

    def origin_of(self, plugin: Plugin) -> Origin:
        """Return where a plugin is; raises OriginNotFound for one that can't be asked."""
        if plugin.folder is not None:
            where = f"is the folder '{plugin.folder}' of the repository that the marketplace is in"
            raise self._failure(plugin, where, _hint(self.origin.url))
        if plugin.refusal:
            raise self._failure(plugin, f"can't be read: {plugin.refusal}")
        if not plugin.address.startswith(("https://", "http://", "github:")):
            hint = f"hint: if you trust it, 'skc add {plugin.address}' asks it"
            raise self._failure(plugin, "is not at an https address", hint)
        is_archive = plugin.address.partition("?")[0].lower().endswith(ARCHIVES)
        is_plain = plugin.address.startswith("github:") or is_archive
        origin = parse_origin(plugin.address if is_plain else f"git+{plugin.address}", "/")
        if refusal := self.origin.allowed_hosts.refusal(origin.url):
            raise self._failure(plugin, f"is elsewhere: {refusal}")
        path = clean_path(self.origin.label(), plugin.path) if plugin.path else origin.path
        return replace(
            origin,
            ref=check_ref(self.origin.label(), plugin.ref) or origin.ref,
            path=path,
            hosts=self.origin.hosts,
            secret_url=self._with_credentials(origin.url) or origin.secret_url,
        )

    def _with_credentials(self, url: str) -> str:
        """Return an address with those that the marketplace was asked with, if it is on the same host."""
        own, other = urlsplit(self.origin.address), urlsplit(url)
        user = own.netloc.rpartition("@")[0]
        if not user or (own.scheme, host_of(self.origin.url)) != (other.scheme, host_of(url)):
            return ""
        return urlunsplit(other._replace(netloc=f"{user}@{other.netloc}"))

    def _failure(self, plugin: Plugin, reason: str, hint: str = "") -> OriginNotFound:
        return OriginNotFound(self.origin.label(), f"the plugin '{plugin.name}' {reason}", hint)


def find_marketplace(origin: Origin) -> Marketplace | None:
    """Return the marketplace at an address; None where there is none, or an index of skills beside it."""
    path = urlsplit(origin.url).path
    if origin.type != "well-known" or not path.endswith(".json") or path.endswith("/index.json"):
        return None
    session = open_session(origin)
    with origin_errors(origin):
        plugins = read_plugins(session.get_json(origin.address, MAX_JSON))
        if plugins is None or has_index_beside(session, origin.url):
            return None
    plugins = tuple(plugin for plugin in plugins if plugin.name)
    if not plugins:
        raise OriginNotFound(origin.label(), "the marketplace lists no plugin", _hint(origin.url))
    return Marketplace(origin, plugins)


def keep_skills(plugin: Plugin, root: str, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return those of the skills in a repository that a plugin names; all where it names none."""
    if not plugin.skills:
        return tuple(candidates)
    folders = [posixpath.normpath(posixpath.join(root, each)) for each in plugin.skills]
    return tuple(
        each
        for each in candidates
        if any(folder == "." or each.path.startswith(f"{folder}/") for folder in folders)
    )


def _hint(url: str) -> str:
    """Return how to name the repository that a file is in, as far as its address tells."""
    parts = urlsplit(url)
    words = parts.path.strip("/").split("/")
    if parts.hostname == "raw.githubusercontent.com" and len(words) > 2:
        return f"hint: 'skc add {words[0]}/{words[1]}' reads that repository"
    return "hint: 'skc add' reads that repository, if you give its address"
