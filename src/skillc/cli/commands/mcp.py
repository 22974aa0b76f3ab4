"""`skc mcp`: the skills for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys

from skillc import mcp
from skillc.cli import workspace
from skillc.cli.options import parse_address
from skillc.cli.output import announce_url, print_json
from skillc.cli.syntax import Arguments, Command
from skillc.errors import SkillcError
from skillc.workspace import Workspace

COMMAND = Command("""
skc mcp

Over stdio it serves one client, which starts and stops it. Over HTTP it serves any number of clients at /mcp,
checks the Host and Origin headers, and requires the token in SKILLC_MCP_TOKEN. If that is not set, it makes a
token and prints it on stderr.

By default it offers what reads and finds skills: skc_find, load_skill, skc_outline, skc_show, skc_search,
skc_open and skc_sources. Each tool costs a part of every conversation.

docs/mcp.md lists tools, resources and prompts.

--http <host:port>  Serve over HTTP at this address instead of over stdin and stdout.
--tools <a,b> :groups  Tools to offer: names, groups (gateway, library, authoring, run), or all but running
    them.
--allow-host <name>...  Accept requests for this host name, too. Can be repeated.
--preload <id>... :ids  Put this skill into the server's instructions. Can be repeated.
--capability <name>... :capabilities  Offer skills that need this capability, too. Can be repeated.
--install <agent> :clients  Add this server to an agent's configuration.
--uninstall <agent> :clients  Remove this server from an agent's configuration.
--project  With these two: change the project's configuration instead of the user's.
--print  With these two: print the change without writing it.
--force  With --uninstall: remove the entry even if a person changed it.

$ skc mcp
$ skc mcp --http 127.0.0.1:8765
$ skc mcp --tools all,run
$ skc mcp --preload house-style --capability shell
$ skc mcp --install claude --print
$ skc mcp --install cursor --project
$ skc mcp --uninstall claude
""")


SERVER_OPTIONS = ("http", "tools", "allow_host", "preload", "capability")


def run(arguments: Arguments) -> int:
    text = arguments.optional("tools")
    tools = [word.strip() for word in text.split(",")] if text is not None else []
    agent, old_agent = arguments.optional("install"), arguments.optional("uninstall")
    if agent is not None and old_agent is not None:
        raise arguments.error("--install and --uninstall exclude each other")
    if arguments.has("force") and old_agent is None:
        raise arguments.error("--force goes with --uninstall")
    if agent is not None or old_agent is not None:
        if option := arguments.first_given(*SERVER_OPTIONS):
            raise arguments.error(f"{option} is for serving: put it behind 'mcp' in the agent's entry")
        return _change_client(agent, old_agent or "", arguments)
    if option := arguments.first_given("print", "project"):
        raise arguments.error(f"{option} goes with --install and --uninstall")
    address = arguments.optional("http")
    if arguments.as_json and address is None:
        raise arguments.error("--format json goes with --http, --install and --uninstall: stdout is MCP's")
    if arguments.is_given("allow_host") and address is None:
        raise arguments.error("--allow-host goes with --http")
    workspace()  # says on stderr which directories are not used
    here, preload = Workspace(capabilities=arguments.texts("capability")), arguments.texts("preload")
    if address is None:
        mcp.serve_stdio(here, tools, preload)
        return 0
    host, port = parse_address(address, "--http")
    names = arguments.texts("allow_host")
    mcp.serve_http(here, tools, host, port, names, lambda url: announce_url(arguments, url), preload)
    return 0


def _change_client(agent: str | None, old_agent: str, arguments: Arguments) -> int:
    """Show a change of an agent's configuration, and say whether it was written."""
    is_preview = arguments.has("print")
    if agent is not None and not is_preview:
        _ = mcp.create_server  # loads the SDK, which fails before an agent is told to start it
    result = Workspace().change_client(
        agent or old_agent,
        remove=agent is None,
        project=arguments.has("project"),
        force=arguments.has("force"),
        dry_run=is_preview,
    )
    if result.difference and not arguments.as_json:
        print(f"{result.path}:\n{result.difference}" if result.path else result.difference)
    if result.obstacle:
        raise SkillcError(result.obstacle)
    if result.written and agent is not None:
        mcp.rehearse([agent])
    if arguments.as_json:
        print_json(result)
    else:
        print(result.note, file=sys.stderr)
    return 0
