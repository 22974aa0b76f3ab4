"""Serve a registry over MCP: its skills as resources, Skills over MCP, and tools to find and load them.

    create_registry_app(registry, mounts=lambda service: {"/mcp": create_registry_endpoint(service)})

Each request is signed in by itself and sees what its caller may read; there are no sessions, so that any
process can answer it. The latest version of each skill is served. A version never changes, so its entry is
made once.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import islice
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from skillc import __version__
from skillc.engine import DefaultSkillEngine, render_browse
from skillc.errors import InvalidSkillId, RegistryRefused, SkillNotFound
from skillc.library import format_results
from skillc.mcp.resources import Resources
from skillc.mcp.skills import (
    MAX_ENTRIES,
    FileEntry,
    NotServed,
    SkillEntry,
    check_files,
    check_frontmatter,
    parse_uri,
    split_path,
)
from skillc.mcp.toolbox import Toolbox
from skillc.mcp.tools.agent import LIBRARY_TOOLS
from skillc.mcp.tools.definition import Answer, Function, Request
from skillc.paths import SKILL_FILE
from skillc.registry import Registry
from skillc.registry.model import Caller, Version
from skillc.server import Cache, CallerGuard, Service, caller_of
from skillc.skills import SkillId

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
PATH = "/mcp"
MAX_DEPTH = 64  # segments of a URI's path
MAX_IDS = 20_000  # of a collection
INSTRUCTIONS = """\
This is a registry of skills: folders of instructions, references and scripts for certain kinds of tasks. \
When a task may have one, look with skc_find or browse_skills, then load_skill to get its instructions and \
follow them. Files of a skill are the resources skill://<id>/<path>."""


def create_registry_endpoint(service: Service) -> CallerGuard:
    """Return an application that the server of a registry mounts at `/mcp`."""
    app = create_registry_server(service).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard has it
    )
    return CallerGuard(app, service)


def create_registry_server(service: Service) -> Server[Any]:
    """Return a server whose requests carry their callers."""
    entries = _Entries(service.registry)

    def engine(ctx: Context) -> DefaultSkillEngine:
        return service.engine(caller_of(ctx.request))

    # The tools of a workspace, over the registry.

    async def find(request: Request, task: str, limit: int, all: bool, **scope: str) -> Answer:
        skills = await service.find(caller_of(request.ctx.request), task, limit, every=all, **scope)
        return Answer(skills.as_json(task), "\n".join(format_results(skills)))

    async def browse(request: Request, path: str, query: str | None, cursor: str | None) -> Answer:
        value = await engine(request.ctx).browse(path, query, cursor)
        return Answer(value, "\n".join(render_browse(value)))

    async def load(request: Request, id: str) -> Answer:
        (skill,) = await engine(request.ctx).resolve_and_render([id])
        return Answer(skill, skill.rendered_body)

    runs: tuple[Function, ...] = (find, browse, load)
    tools = [replace(tool, run=run) for tool, run in zip(LIBRARY_TOOLS, runs, strict=True)]
    toolbox = Toolbox(tools, Request)
    resources = Resources(engine, lambda ctx: _CallerSkills(entries, caller_of(ctx.request)))
    server: Server[Any] = Server(
        "skillc",
        version=__version__,
        title="skillc: a registry of Agent Skills",
        description="Find and read the skills of a registry; every skill is served over MCP, too.",
        instructions=INSTRUCTIONS,
        **toolbox.handlers(),
        **resources.handlers(),
    )
    resources.extend(server)
    return server


class _Entries:
    """A cache of entries by version, or of the reasons why there is none."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._entries: Cache[SkillEntry | NotServed] = Cache(MAX_ENTRIES)

    def get(self, caller: Caller, version: Version) -> SkillEntry:
        """Return the entry of a version that this caller may read; raises NotServed."""
        entry = self._entries.get((version.skill, version.archive), lambda: self._make(caller, version))
        if isinstance(entry, NotServed):
            raise NotServed(*entry.args)
        return entry

    def _make(self, caller: Caller, version: Version) -> SkillEntry | NotServed:
        files = self.registry.files(caller, version)
        if not any(file.path == SKILL_FILE for file in files):
            return NotServed(f"its main file is not called {SKILL_FILE}")
        try:
            check_files(file.size for file in files)
            main = self.registry.read_file(caller, version, SKILL_FILE)
            frontmatter = check_frontmatter(version.skill, main)
        except NotServed as error:
            return error.with_traceback(None)
        entries = tuple(FileEntry(file.path, file.digest.partition(":")[2], file.size) for file in files)
        return SkillEntry(version.skill, "", frontmatter, entries, ())


def _in_thread(
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Coroutine[Any, Any, Result]]:
    """Return a function that runs another one in a thread, because it waits for the database."""

    async def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return await anyio.to_thread.run_sync(lambda: function(*args, **kwargs))

    return run


class _CallerSkills:
    """The skills of a registry as one caller sees them."""

    def __init__(self, entries: _Entries, caller: Caller) -> None:
        self._registry = entries.registry
        self._entries = entries
        self._caller = caller

    @_in_thread
    def ids(self, prefix: str) -> list[SkillId]:
        skills = self._registry.source(self._caller).skills(prefix)
        try:
            return [skill.id for skill in islice(skills, MAX_IDS) if skill.latest and skill.id != prefix]
        except InvalidSkillId:
            return []

    @_in_thread
    def entry(self, skill_id: SkillId) -> SkillEntry:
        return self._entries.get(self._caller, self._version(skill_id))

    def _version(self, skill_id: SkillId) -> Version:
        try:
            return self._registry.skill(self._caller, skill_id).resolve()
        except (SkillNotFound, RegistryRefused):  # one answer: nothing is told about what may not be read
            raise NotServed(f"skill '{skill_id}' is not served") from None

    @_in_thread
    def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        entries: list[SkillEntry] = []
        for skill in self._registry.source(self._caller).skills(after=after):
            if len(entries) >= skills or files <= 0:
                return entries, after
            after = skill.id
            try:
                entry = self._entries.get(self._caller, skill.resolve())
            except (SkillNotFound, NotServed):
                continue
            entries.append(entry)
            files -= len(entry.files)
        return entries, None

    def _find(self, uri: str) -> tuple[SkillEntry, str]:
        path = parse_uri(uri)
        for skill_id, rest in split_path(path) if path.count("/") < MAX_DEPTH else ():
            try:
                version = self._version(skill_id)
            except NotServed:
                continue
            return self._entries.get(self._caller, version), rest
        raise NotServed(f"nothing is served at {uri}")

    find = _in_thread(_find)

    @_in_thread
    def read(self, uri: str) -> tuple[bytes, str]:
        entry, path = self._find(uri)
        if not any(file.path == path for file in entry.files):
            raise NotServed(f"nothing is served at {uri}")
        return self._registry.read_file(self._caller, self._version(entry.skill_id), path), path
