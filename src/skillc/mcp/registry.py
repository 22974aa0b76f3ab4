"""Serve a registry over MCP: its skills as resources, Skills over MCP, and tools to find and load them.

    create_registry_app(registry, mounts=lambda service: {"/mcp": create_registry_endpoint(service)})

Each request is signed in by itself and sees what its caller may read; there are no sessions, so that any
process can answer it. The latest version of each skill is served. A version never changes, so its entry is
made once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from skillc import __version__
from skillc.engine import render_browse
from skillc.errors import InvalidSkillId, RegistryRefused, SkillNotFound, unexpected
from skillc.library import format_results
from skillc.mcp.resources import (
    EXTENSION,
    SETTINGS,
    DirectoryReadParams,
    Resources,
    SkillsGetParams,
    refuse_cursor,
)
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
from skillc.mcp.tools.agent import LIBRARY_TOOLS
from skillc.mcp.tools.definition import Answer, result_of
from skillc.paths import SKILL_FILE
from skillc.registry import Caller, Registry, Version
from skillc.server import CallerGuard, Service, caller_of
from skillc.skills import SkillId

PATH = "/mcp"
MAX_DEPTH = 64  # segments of a URI's path
MAX_IDS = 20_000  # of a collection
PAGE = 500
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
    handlers = _Handlers(service)

    def on(method: str) -> Callable[[Context, Any], Awaitable[Any]]:
        async def handle(ctx: Context, params: Any) -> Any:
            return await getattr(handlers.resources(ctx), method)(ctx, params)

        return handle

    server: Server[Any] = Server(
        "skillc",
        version=__version__,
        title="skillc: a registry of Agent Skills",
        description="Find and read the skills of a registry; every skill is served over MCP, too.",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=on("list_resources"),
        on_list_resource_templates=on("templates"),
        on_read_resource=on("read"),
    )
    server.extensions[EXTENSION] = SETTINGS
    server.add_request_handler("skills/list", types.PaginatedRequestParams, on("skills_list"))
    server.add_request_handler("skills/get", SkillsGetParams, on("skills_get"))
    server.add_request_handler("resources/directory/read", DirectoryReadParams, on("directory_read"))
    return server


class _Handlers:
    """The handlers of a server, each for the caller of its request."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._entries = _Entries(service.registry)
        self._tools = {tool.name: tool for tool in LIBRARY_TOOLS}

    def resources(self, ctx: Context) -> Resources:
        """Return the handlers of resources as the caller of a request sees them."""
        caller = caller_of(ctx.request)
        skills = _CallerSkills(self._service.registry, self._entries, caller)
        return Resources(lambda: self._service.engine(caller), skills)

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema, for the HTTP transport."""
        return self._tools[name].declaration.input_schema if name in self._tools else None

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        refuse_cursor(params)
        return types.ListToolsResult(tools=[tool.declaration for tool in self._tools.values()])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; errors of the operation are results, an unknown tool is the protocol's error."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        run: dict[str, Callable[..., Awaitable[Answer]]]
        run = {"skc_find": self._find, "browse_skills": self._browse, "load_skill": self._load}
        try:
            return result_of(await run[tool.name](caller_of(ctx.request), **tool.check(params.arguments)), [])
        except Exception as error:
            return tool.fail(unexpected(error), [])

    async def _find(self, caller: Caller, task: str, limit: int, all: bool, **scope: str) -> Answer:
        skills = await self._service.find(caller, task, limit, every=all, **scope)
        return Answer(skills.as_json(task), "\n".join(format_results(skills)))

    async def _browse(self, caller: Caller, path: str, query: str | None, cursor: str | None) -> Answer:
        value = await self._service.engine(caller).browse(path, query, cursor)
        return Answer(value, "\n".join(render_browse(value)))

    async def _load(self, caller: Caller, id: str) -> Answer:
        (skill,) = await self._service.engine(caller).resolve_and_render([id])
        return Answer(skill, skill.rendered_body)


class _Entries:
    """A cache of entries by version, or of the reasons why there is none; the oldest are dropped."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._entries: OrderedDict[tuple[str, str], SkillEntry | str] = OrderedDict()
        self._lock = Lock()

    def get(self, caller: Caller, version: Version) -> SkillEntry:
        """Return the entry of a version that this caller may read; raises NotServed."""
        key = version.skill, version.archive
        with self._lock:
            entry = self._entries.pop(key, None)
        if entry is None:
            try:
                entry = self._make(caller, version)
            except NotServed as error:
                entry = str(error)
        with self._lock:
            self._entries[key] = entry
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
        if isinstance(entry, str):
            raise NotServed(entry)
        return entry

    def _make(self, caller: Caller, version: Version) -> SkillEntry:
        files = self._registry.files(caller, version)
        check_files(file.size for file in files)
        if not any(file.path == SKILL_FILE for file in files):
            raise NotServed(f"its main file is not called {SKILL_FILE}")
        main = self._registry.read_file(caller, version, SKILL_FILE)
        entries = tuple(FileEntry(file.path, file.digest.partition(":")[2], file.size) for file in files)
        return SkillEntry(version.skill, "", check_frontmatter(version.skill, main), entries, ())


class _CallerSkills:
    """The skills of a registry as one caller sees them."""

    def __init__(self, registry: Registry, entries: _Entries, caller: Caller) -> None:
        self._registry = registry
        self._entries = entries
        self._caller = caller

    async def ids(self, prefix: str) -> list[SkillId]:
        return await anyio.to_thread.run_sync(self._ids, prefix)

    async def entry(self, skill_id: SkillId) -> SkillEntry:
        return await anyio.to_thread.run_sync(self._entry, skill_id)

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        return await anyio.to_thread.run_sync(self._page, after, skills, files)

    async def find(self, uri: str) -> tuple[SkillEntry, str]:
        return await anyio.to_thread.run_sync(self._find, uri)

    async def read(self, uri: str) -> tuple[bytes, str]:
        return await anyio.to_thread.run_sync(self._read, uri)

    def _ids(self, prefix: str) -> list[SkillId]:
        ids: list[SkillId] = []
        after = ""
        try:
            while page := self._registry.skills(self._caller, prefix, after, PAGE):
                ids += (skill.id for skill in page if skill.latest and skill.id != prefix)
                after = page[-1].id
                if len(ids) >= MAX_IDS:
                    break
        except InvalidSkillId:
            return []
        return ids

    def _entry(self, skill_id: SkillId) -> SkillEntry:
        return self._entries.get(self._caller, self._version(skill_id))

    def _version(self, skill_id: SkillId) -> Version:
        try:
            return self._registry.skill(self._caller, skill_id).resolve()
        except (SkillNotFound, RegistryRefused):  # one answer: nothing is told about what may not be read
            raise NotServed(f"skill '{skill_id}' is not served") from None

    def _page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        entries: list[SkillEntry] = []
        while page := self._registry.skills(self._caller, after=after, limit=skills):
            for skill in page:
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

    def _read(self, uri: str) -> tuple[bytes, str]:
        entry, path = self._find(uri)
        if not any(file.path == path for file in entry.files):
            raise NotServed(f"nothing is served at {uri}")
        return self._registry.read_file(self._caller, self._version(entry.skill_id), path), path
