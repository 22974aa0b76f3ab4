"""Marketplaces of plugins for Claude Code and Codex: files with addresses, and git repositories.

    [/{prefix}]/.claude-plugin/marketplace.json      each plugin is a git repository:
    [/{prefix}]/.agents/plugins/marketplace.json     /plugins/{id}.git, /plugins/{id}@{version}.git
    [/{prefix}]/marketplace.git                      both files, and all plugins in folders

A plugin holds one skill, in `skills/<name>`. So nothing in a skill is read as a hook, a server or a command.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.registry import to_name
from skillc.registry.model import Caller
from skillc.server.caches import Cache
from skillc.server.protocols import git
from skillc.server.protocols.adapter import (
    Entry,
    fail_plainly,
    find_address,
    find_prefix,
    list_entries,
    serve,
)
from skillc.server.protocols.git import Files, Repository, make_repository
from skillc.server.responses import Endpoint, Refusal, respond_tagged
from skillc.server.service import Service
from skillc.server.uploads import read_members
from skillc.skills import to_segment
from skillc.startup import sha256_hex
from skillc.versions import LATEST

CLAUDE, CODEX = ".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"
MAX_PLUGINS, MAX_BYTES = 1000, 32 << 20  # in the repository of a marketplace, all files together
MAX_CACHE = 16 << 20  # bytes of packs
CHALLENGE = 'Basic realm="skillc", charset="UTF-8"'  # git sends a password when it is asked for one

Source = Callable[[Entry], Any]


def routes(service: Service) -> list[BaseRoute]:
    packs: Cache[Repository] = Cache(MAX_CACHE, lambda repository: len(repository.pack))  # by their files

    def repository(find: Callable[[Request, Caller], Repository]) -> tuple[Endpoint, Endpoint]:
        """Return the two endpoints of the repository that `find` makes for a caller."""

        def advertise(request: Request, caller: Caller) -> Response:
            return git.advertise(request, find(request, caller))

        async def upload(request: Request, caller: Caller) -> Response:
            lines = await git.read_wants(request)
            return git.upload_pack(lines, await service.call(find, request, caller))

        return serve(service, advertise, challenge), serve(service, upload, challenge)

    def find_plugin(request: Request, caller: Caller) -> Repository:
        skill_id, _, reference = request.path_params["id"].partition("@")
        version = service.registry.skill(caller, skill_id).resolve(reference or LATEST)
        key = f"plugin {version.skill} {version.version} {version.archive}"

        def make() -> Repository:
            files = _read_plugin(service, caller, Entry(version, to_name(version.skill.name)))
            time = int(version.published_at.timestamp())
            return make_repository(files, f"{version.skill} {version.version}", time)

        return packs.get(key, make)

    def find_marketplace(request: Request, caller: Caller) -> Repository:
        entries = list_entries(service.registry, caller, find_prefix(request))
        name = _name(find_address(service, request), find_prefix(request))
        rows = [f"{entry.name} {entry.version.archive} {entry.version.skill}" for entry in entries]
        key = "\n".join([name, *rows])
        return packs.get(sha256_hex(key.encode()), lambda: _make_marketplace(service, caller, name, entries))

    def listing(describe: Callable[[str, list[Entry], Source], Any]) -> Endpoint:
        def respond(request: Request, caller: Caller) -> Response:
            address, prefix = find_address(service, request), find_prefix(request)

            def make() -> Any:
                return describe(
                    _name(address, prefix),
                    list_entries(service.registry, caller, prefix),
                    lambda e: {"source": "url", "url": f"{address}/plugins/{e.version.skill}.git"},
                )

            kind = describe.__name__, address
            return respond_tagged(request, *service.listing(caller, prefix, kind, make))

        return serve(service, respond)

    plugin, marketplace = repository(find_plugin), repository(find_marketplace)
    claude, codex = listing(describe_for_claude), listing(describe_for_codex)
    return [
        *_git_routes("/plugins/{id:path}.git", plugin),
        *(
            route
            for above in ("", "/{prefix:path}")
            for route in (
                Route(f"{above}/{CLAUDE}", claude),
                Route(f"{above}/{CODEX}", codex),
                *_git_routes(f"{above}/marketplace.git", marketplace),
            )
        ),
    ]


def _git_routes(place: str, endpoints: tuple[Endpoint, Endpoint]) -> Iterable[Route]:
    advertise, upload = endpoints
    yield Route(f"{place}/info/refs", advertise)
    yield Route(f"{place}/{git.SERVICE}", upload, methods=["POST"])


def challenge(request: Request, error: Exception) -> Response:
    """Return an error for git: in plain text, and 401 asks for a password."""
    response = fail_plainly(request, error)
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = CHALLENGE
    return response


def describe_for_claude(name: str, entries: list[Entry], source: Source) -> dict[str, Any]:
    """Return the marketplace as Claude Code reads it."""
    plugins = [_describe(entry) | {"source": source(entry), "category": "skills"} for entry in entries]
    about = {"description": f"Skills of {name}"}
    return {"name": name, "owner": {"name": name}, "metadata": about, "plugins": plugins}


def describe_for_codex(name: str, entries: list[Entry], source: Source) -> dict[str, Any]:
    """Return the marketplace as Codex reads it."""
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    plugins = [
        _describe(entry) | {"source": source(entry), "policy": policy, "category": "Productivity"}
        for entry in entries
    ]
    return {"name": name, "interface": {"displayName": name}, "plugins": plugins}


def _describe(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "description": entry.description, "version": entry.version.version}


def _name(address: str, prefix: str) -> str:
    """Return the name of a marketplace; each agent knows one of a name."""
    host = urlsplit(address).netloc
    return "-".join(["skillc", to_segment(host), *([to_segment(prefix)] if prefix else [])])


def _make_marketplace(service: Service, caller: Caller, name: str, entries: list[Entry]) -> Repository:
    files: dict[str, tuple[bytes, bool]] = {}
    left = MAX_BYTES if len(entries) <= MAX_PLUGINS else -1
    for entry in entries:
        if left < 0:
            limits = f"{MAX_PLUGINS} skills or {MAX_BYTES >> 20} MiB"
            raise Refusal(403, f"these are over {limits}; add a prefix of them, or {CLAUDE}")
        for path, file in _read_plugin(service, caller, entry).items():
            left -= len(file[0])
            files[f"plugins/{entry.name}/{path}"] = file
    files[CLAUDE] = _json(describe_for_claude(name, entries, lambda e: f"./plugins/{e.name}"))
    local: Source = lambda e: {"source": "local", "path": f"./plugins/{e.name}"}  # noqa: E731
    files[CODEX] = _json(describe_for_codex(name, entries, local))
    return make_repository(files, f"{len(entries)} skills", int(max((e.since for e in entries), default=0)))


def _read_plugin(service: Service, caller: Caller, entry: Entry) -> Files:
    """Return the files of a plugin: a manifest for each kind of agent, and the skill in its folder."""
    manifest = _json(_describe(entry))
    names = ("plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json")
    files = dict.fromkeys(names, manifest)
    for member, data in read_members(service.registry.read_archive(caller, entry.version)):
        files[f"skills/{entry.name}/{member.name}"] = data, bool(member.mode & 0o100)
    return files


def _json(value: object) -> tuple[bytes, bool]:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n", False
