"""Marketplaces by their address: the file names plugins, and each plugin is a git repository.

    https://example.com/.claude-plugin/marketplace.json     for Claude Code
    https://example.com/.agents/plugins/marketplace.json    for Codex

What is added comes from the repository of its plugin, and the lock file names that. Only hosts that a person
named are asked. A registry of ours has an index of skills beside the file, which is read instead.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from skillc.errors import OriginNotFound
from skillc.install.candidate import Candidate
from skillc.install.discover import choose_by_name
from skillc.install.origin import ARCHIVES, Origin, check_ref, clean_path, parse_origin
from skillc.install.places import open_session, origin_errors
from skillc.install.plugins import Plugin, read_plugins
from skillc.remotes import has_index_beside, host_of

MAX_JSON = 16 << 20  # bytes of a marketplace's file
MAX_OPENED = 100  # plugins in which a skill is looked for


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
