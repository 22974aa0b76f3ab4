"""Serve a registry over MCP: its skills as resources, Skills over MCP, and tools to find and load them.

    create_registry_app(registry, mounts=lambda service: {"/mcp": create_registry_endpoint(service)})

Each request is signed in by itself and sees what its caller may read; there are no sessions, so that any
process can answer it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from skillc import __version__
from skillc.engine import render_browse
from skillc.errors import unexpected
from skillc.index.skills import format_results
from skillc.mcp.resources import (
    EXTENSION,
    SETTINGS,
    DirectoryReadParams,
    Resources,
    SkillsGetParams,
    refuse_cursor,
)
from skillc.mcp.tools.definition import Answer, result_of
from skillc.mcp.tools.library import LIBRARY_TOOLS
from skillc.mcp.versions import CallerSkills, Entries
from skillc.registry import Caller
from skillc.server import CallerGuard, Service, caller_of

PATH = "/mcp"
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
        self._entries = Entries(service.registry)
        self._tools = {tool.name: tool for tool in LIBRARY_TOOLS}

    def resources(self, ctx: Context) -> Resources:
        """Return the handlers of resources as the caller of a request sees them."""
        caller = caller_of(ctx.request)
        skills = CallerSkills(self._service.registry, self._entries, caller)
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
        return Answer(skill.as_json(), skill.rendered_body)
