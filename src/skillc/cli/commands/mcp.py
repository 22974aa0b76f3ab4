"""`skc mcp`: the skills for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys
from functools import partial

from skillc.cli import workspace
from skillc.cli.syntax import Arguments, Command, Option
from skillc.errors import InvalidOption, require_extra
from skillc.mcp import plan
from skillc.paths import current_directory
from skillc.workspace import Workspace

COMMAND = Command(
    "mcp",
    options=(
        Option(
            "--http", "Serve over HTTP at this address instead of over stdin and stdout.", value="<host:port>"
        ),
        Option(
            "--tools",
            "Groups of tools to offer.",
            value="<a,b>",
            default="gateway,library,run",
            completes="gateway library run",
        ),
        Option(
            "--allow-host",
            "Accept requests for this host name, too. Can be repeated.",
            value="<name>",
            repeat=True,
        ),
        Option(
            "--preload",
            "Put this skill into the server's instructions. Can be repeated.",
            value="<id>",
            repeat=True,
        ),
        Option(
            "--capability",
            "Offer skills that need this capability, too. Can be repeated.",
            value="<name>",
            repeat=True,
        ),
        Option("--install", "Add this server to an agent's configuration.", value="<agent>"),
        Option("--project", "With --install: change the project's configuration instead of the user's."),
        Option("--print", "With --install: print the change without writing it."),
    ),
    description=(
        "Over stdio it serves one client, which starts and stops it. Over HTTP it serves any number of"
        " clients at /mcp, checks the Host and Origin headers, and requires the token in SKILLC_MCP_TOKEN. If"
        " that is not set, it makes a token and prints it on stderr.\n"
        "docs/mcp.md lists tools, resources and prompts. Needs: pip install 'skillc[mcp]'"
    ),
    examples=(
        "skc mcp",
        "skc mcp --http 127.0.0.1:8765",
        "skc mcp --preload house-style --capability shell",
        "skc mcp --install claude --print",
        "skc mcp --install cursor --project",
    ),
)
GROUPS = ("gateway", "library", "run")


def run(arguments: Arguments) -> int:
    agent = arguments.optional("install")
    groups = _groups(arguments.text("tools"))
    if agent is not None:
        return _install(agent, arguments)
    if arguments.has("print") or arguments.has("project"):
        raise InvalidOption("--print and --project go with --install")
    address = arguments.optional("http")
    with require_extra("mcp"):  # the SDK takes long to import; --install does without
        from skillc.mcp import serve_http, serve_stdio
    workspace()  # says on stderr which directories are not used
    here = Workspace(capabilities=arguments.texts("capability"))
    preload = arguments.texts("preload")
    if address is None:
        serve_stdio(here, groups, preload)
        return 0
    host, port = _address(address)
    announce = partial(print, "Serving on", flush=True)
    serve_http(here, groups, host, port, arguments.texts("allow_host"), announce, preload)
    return 0


def _groups(text: str) -> list[str]:
    groups = [group.strip() for group in text.split(",") if group.strip()]
    wrong = next((group for group in groups if group not in GROUPS), None)
    if wrong is not None or not groups:
        raise InvalidOption(f'--tools takes {", ".join(GROUPS)}, not "{wrong or text}"')
    return groups


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = "127.0.0.1", text
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise InvalidOption(f'--http takes a host and a port from 0 to 65535, not "{text}"')
    return host.strip("[]") or "127.0.0.1", int(port)


def _install(agent: str, arguments: Arguments) -> int:
    change = plan(agent, current_directory(), project=arguments.has("project"))
    print(f"{change.path}:\n{change.difference}")
    if change.text is None:
        print("Nothing to do: it is there already.", file=sys.stderr)
    elif arguments.has("print"):
        print("Nothing was written.", file=sys.stderr)
    else:
        change.write()
        print(f"Written to {change.path}", file=sys.stderr)
    return 0
