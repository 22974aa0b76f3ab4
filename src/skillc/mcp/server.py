"""Create the server: the SDK's, with our tools, resources, prompts and Skills over MCP on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp_types import NotificationParams, PaginatedRequestParams, ServerCapabilities

from skillc import __version__
from skillc.engine import run_sync
from skillc.mcp.prompts import Prompts
from skillc.mcp.resources import EXTENSION, SETTINGS, DirectoryReadParams, Resources, SkillsGetParams
from skillc.mcp.skills import ServedSkills
from skillc.mcp.switch import Switch
from skillc.mcp.toolbox import Toolbox
from skillc.mcp.tools.definition import GROUPS
from skillc.mcp.watch import Watch
from skillc.workspace import Workspace

INSTRUCTIONS = """\
Skills are folders of instructions, references and scripts for certain kinds of tasks. When a task may \
have one, look with skc_find or browse_skills, then load_skill to get its instructions and follow them. For \
large skills, read piece by piece instead: skc_outline, then skc_show or skc_search. Files of a skill: \
skc_sources and skc_open, or the resources skill://<id>/<path>."""


def create_server(
    workspace: Workspace, groups: Iterable[str] = GROUPS, preload: Iterable[str] = ()
) -> Server[Any]:
    """Return a server over a workspace, with the tools of some groups; run it with the SDK or `mcp.serve`.

    Its instructions have the skills to `preload`; raises SkillNotFound for one that is not there.
    """
    blocks = [] if workspace.switched_off_by() else run_sync(_render(workspace, preload))
    toolbox = Toolbox(workspace, groups)
    skills = ServedSkills(workspace)
    watch = Watch(skills)
    resources = Resources(workspace.engine, skills, watch.ask)
    prompts = Prompts(workspace)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch.run)
            try:
                yield {}
            finally:
                listen.close()
                tasks.cancel_scope.cancel()

    listen = _Listen(watch)
    server = _Server(
        workspace,
        "skillc",
        version=__version__,
        title="skillc: Agent Skills",
        description="Find, read, check and build Agent Skills; every skill is served over MCP, too.",
        instructions="\n\n".join([INSTRUCTIONS, *blocks]),
        lifespan=lifespan,
        get_tool_input_schema=toolbox.input_schema,
        on_list_tools=toolbox.list,
        on_call_tool=toolbox.call,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_subscribe_resource=watch.subscribe,
        on_unsubscribe_resource=watch.unsubscribe,
        on_subscriptions_listen=listen,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
        on_completion=prompts.complete,
    )
    server.middleware.append(Switch(workspace))
    server.extensions[EXTENSION] = SETTINGS
    server.add_request_handler("skills/list", PaginatedRequestParams, resources.skills_list)
    server.add_request_handler("skills/get", SkillsGetParams, resources.skills_get)
    server.add_request_handler("resources/directory/read", DirectoryReadParams, resources.directory_read)
    server.add_notification_handler("notifications/initialized", NotificationParams, watch.greet)
    return server


async def _render(workspace: Workspace, preload: Iterable[str]) -> list[str]:
    skills = await workspace.engine().resolve_and_render(dict.fromkeys(preload))
    return [skill.rendered_body for skill in skills]


class _Server(Server[Any]):
    """The SDK's server, which says in its handshake that it reports changes of resources.

    While skills are switched off it has no instructions.
    """

    def __init__(self, workspace: Workspace, *args: Any, **kwargs: Any) -> None:
        self._workspace = workspace
        super().__init__(*args, **kwargs)

    @property
    def instructions(self) -> str | None:
        return None if self._workspace.switched_off_by() else self._instructions

    @instructions.setter
    def instructions(self, text: str | None) -> None:
        self._instructions = text

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(options, *args, **kwargs)

    def get_capabilities(self, *args: Any, **kwargs: Any) -> ServerCapabilities:
        """Say that tools and prompts never change; the SDK would say that they do because resources do."""
        capabilities = super().get_capabilities(*args, **kwargs)
        for one in (capabilities.tools, capabilities.prompts):
            if one is not None:
                one.list_changed = False
        return capabilities


class _Listen(ListenHandler):
    """The SDK's `subscriptions/listen`, which also starts the watch."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch.bus)
        self._watch = watch

    async def __call__(self, ctx: Any, params: Any) -> Any:
        await self._watch.begin()
        return await super().__call__(ctx, params)
