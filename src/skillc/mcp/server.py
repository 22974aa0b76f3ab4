"""Create the server, the SDK's with our tools, resources, prompts and Skills over MCP on it."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    NotificationParams,
    ServerCapabilities,
    Tool,
)

from skillc import __version__
from skillc.engine import run_sync
from skillc.errors import InvalidOption
from skillc.mcp.prompts import Prompts
from skillc.mcp.resources import Resources
from skillc.mcp.skills import ServedSkills
from skillc.mcp.toolbox import Toolbox
from skillc.mcp.tools.agent import GATEWAY_TOOLS, LIBRARY_TOOLS, RUN_TOOLS
from skillc.mcp.tools.author import AUTHOR_TOOLS
from skillc.mcp.tools.definition import Call, ToolDefinition
from skillc.mcp.watch import Watch
from skillc.spelling import did_you_mean
from skillc.workspace import Workspace

TOOLS: tuple[ToolDefinition, ...] = (*GATEWAY_TOOLS, *AUTHOR_TOOLS, *LIBRARY_TOOLS, *RUN_TOOLS)
PATH = "/mcp"
TOKEN = "SKILLC_MCP_TOKEN"  # noqa: S105 -- the variable that holds it
IDLE_TIME = 15 * 60.0  # seconds after which a session without requests ends
MAX_SESSIONS = 100

# What a stub names, and what finds and loads a skill [D78].
DEFAULT = ("skc_find", "load_skill", "skc_outline", "skc_show", "skc_search", "skc_open", "skc_sources")
ALL = "all"  # in place of names: every tool but `run`, which is named

INSTRUCTIONS = """\
Skills are folders of instructions, references and scripts for certain kinds of tasks. When a task may \
have one, look with skc_find. Call load_skill to get a skill's instructions, and follow them. For large \
skills, read piece by piece instead: skc_outline, then skc_show or skc_search. Files of a skill: \
skc_sources and skc_open, or the resources skill://<id>/<path>."""

# What a server answers whose skills are switched off: empty lists, and errors for every use.
LISTS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": []},
    "prompts/list": {"prompts": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "skills/list": {"skills": []},
}
CACHING = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
REFUSED = {"tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete"}
REFUSED |= {"skills/get", "resources/directory/read"}


def choose_tools(words: Iterable[str]) -> list[ToolDefinition]:
    """Return the tools that are named by themselves, by their groups or by `all`; raises InvalidOption [D78].

    What they say of others is left out where those are not chosen.
    """
    groups = {tool.group for tool in TOOLS}
    names: set[str] = set()
    for word in words:
        more = {t.name for t in TOOLS if word in (t.name, t.group) or (word == ALL and t.group != "run")}
        if not more:
            choices = [ALL, *sorted(groups), *sorted(tool.name for tool in TOOLS)]
            hint = (
                did_you_mean(word, choices) or f"it takes {ALL}, {', '.join(choices[1:5])} or names of tools"
            )
            raise InvalidOption(f"--tools has no '{word}'; {hint}")
        names |= more
    others = {tool.name for tool in TOOLS} - names
    chosen = [tool for tool in TOOLS if tool.name in names]
    return [replace(tool, declaration=_without(tool.declaration, others)) for tool in chosen]


def _without(declaration: Tool, names: Collection[str]) -> Tool:
    return declaration.model_copy(update={"description": leave_out(declaration.description or "", names)})


def leave_out(text: str, names: Collection[str]) -> str:
    """Return a text without the sentences that speak of these names.

    >>> leave_out("Find skills. Then load_skill.", ["load_skill"])
    'Find skills.'
    """
    sentences = re.split(r"(?<=\.) ", text)
    return " ".join(each for each in sentences if not {*names} & {*re.findall(r"\w+", each)})


def _name_tools(text: str, others: Collection[str]) -> str:
    """Return an inventory that speaks of the tool which is offered."""
    return text.replace("browse_skills", "skc_find") if "browse_skills" in others else text


def create_server(
    workspace: Workspace, tools: Iterable[str] = (), preload: Iterable[str] = ()
) -> Server[Any]:
    """Return a server over a workspace, with the default tools or some, as `choose_tools` takes them.

    Its instructions have the skills to `preload`; raises SkillNotFound for one that is not there.
    """
    blocks = [] if workspace.switched_off_by() else run_sync(_render(workspace, preload))
    chosen = choose_tools(tuple(tools) or DEFAULT)
    others = {tool.name for tool in TOOLS} - {tool.name for tool in chosen}
    toolbox = Toolbox(chosen, lambda ctx: Call(workspace, ctx))
    skills = ServedSkills(workspace)
    watch = Watch(skills)
    name_tools = partial(_name_tools, others=others)
    resources = Resources(lambda _: workspace.engine(), lambda _: skills, watch.ask, name_tools)
    prompts = Prompts(workspace, name_tools)

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
        instructions="\n\n".join([leave_out(INSTRUCTIONS, others), *blocks]),
        lifespan=lifespan,
        **toolbox.handlers(),
        **resources.handlers(),
        on_subscribe_resource=watch.subscribe,
        on_unsubscribe_resource=watch.unsubscribe,
        on_subscriptions_listen=listen,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
        on_completion=prompts.complete,
    )
    server.middleware.append(_Switch(workspace))
    resources.extend(server)
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


class _Switch:
    """Middleware that lists nothing and refuses every use while skills are switched off [D56].

    The configuration is followed, as everywhere: when `enabled` changes, so do the answers.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in LISTS and ctx.method not in REFUSED:
            return await call_next(ctx)
        file = self._workspace.switched_off_by()
        if not file:
            return await call_next(ctx)
        if ctx.method in LISTS:
            return LISTS[ctx.method] | CACHING
        raise MCPError(INVALID_PARAMS, f"skills are switched off in {file}")


def serve_http(
    workspace: Workspace,
    tools: Iterable[str],
    host: str,
    port: int,
    names: Iterable[str],
    announce: Callable[[str], None],
    preload: Iterable[str] = (),
) -> None:
    """Serve any number of clients over streamable HTTP until SIGINT or SIGTERM.

    A request must name one of the loopback's names or of `names` as its host, and so must the origin of a
    page that sends one. It must bring the token: every user of this machine reaches the loopback, and a
    client answers the questions that its person should answer.
    """
    from skillc.server import Guard, read_token, run_app  # stdio needs none of it, and agents wait for that

    token = read_token(TOKEN, host, "--http") or _make_token()
    app = create_server(workspace, tools, preload).streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard has it
        session_idle_timeout=IDLE_TIME,
        max_sessions=MAX_SESSIONS,
    )
    guard = Guard(app, host, names, token)
    run_app(guard, host, port, lambda url: announce(url + PATH), lifespan="on", option="--http")


def _make_token() -> str:
    """Return a new token, and print it once."""
    token = secrets.token_urlsafe(32)
    note = f"note: {TOKEN} is not set; clients must send 'Authorization: Bearer {token}'"
    print(note, file=sys.stderr, flush=True)
    return token
