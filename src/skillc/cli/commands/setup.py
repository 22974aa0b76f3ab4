"""`skc setup`: everything an agent needs to use skc, in one command; --undo takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.lines import GOOD, STRONG, Line, Mark
from skillc.cli.syntax import Arguments, Command
from skillc.paths import short_path

if TYPE_CHECKING:
    from skillc.setup import Setups  # loads all that sets agents up

COMMAND = Command("""
skc setup

Makes agents use the skills that are installed: a link to skc on the PATH that agents have, the MCP server, a
hook that names the skills that fit a prompt, the permission to read skills that are installed, and listings
in which every description is whole ('skc listing fit'). The changes are shown first. All else in the agents'
files stays, to the byte; profiles of shells are never changed. docs/setup.md says what each agent gets.

[agent]... :clients  Agents to set up. Default: those that are here.
--no-mcp  Leave the MCP server out.
--no-hook  Leave the hook out that tells the agent which skills fit a prompt.
--no-permission  Leave the permission out to read installed skills without a question.
--no-listing  Leave the listings of skills as they are.
--dry-run  Show the changes, and write nothing.
--yes  Write without asking.
--undo  Take out what this command put in.

$ skc setup
$ skc setup claude --dry-run
$ skc setup codex --no-mcp --yes
$ skc setup --undo
""")


def run(arguments: Arguments) -> int:
    if not (arguments.has("undo") or arguments.has("dry_run") or arguments.has("no_mcp")):
        from skillc.mcp import serve_stdio  # noqa: F401 -- fails before an agent is told to start it
    result = attended_workspace(arguments).setup(
        *arguments.texts("agent"),
        mcp=not arguments.has("no_mcp"),
        hook=not arguments.has("no_hook"),
        permission=not arguments.has("no_permission"),
        listing=not arguments.has("no_listing"),
        dry_run=arguments.has("dry_run"),
        yes=arguments.has("yes"),
        undo=arguments.has("undo"),
    )
    if result.is_written and not (arguments.has("undo") or arguments.has("no_mcp")):
        from skillc.mcp import rehearse

        rehearse(each.agent for each in result.agents if each.changes)
    return show(arguments, result, _lines(result, arguments))


def _lines(result: Setups, arguments: Arguments) -> Iterator[str]:
    done, planned = ("Took out", "Would take out") if arguments.has("undo") else ("Wrote", "Would write")
    if not result.is_written:
        done = planned if arguments.has("dry_run") else "Not changed"
    for each in result.agents:
        if not each.changes:
            yield Line(Mark(f"{each.display}: ", STRONG), "nothing to do")
        for change in each.changes:
            word = Mark(done, GOOD) if result.is_written else done
            yield Line(
                Mark(f"{each.display}: ", STRONG), word, f": {change.what} ({short_path(change.path)})"
            )
        if each.own and result.is_written:
            yield Line(Mark(f"{each.display}: ", STRONG), each.own)
    if result.advice and result.is_written:
        yield f"{result.advice[0].upper()}{result.advice[1:]}"
    if not result.agents:
        yield "Nothing to do: no agent was set up."
