"""`skc browse`: collections and skills, as the `browse_skills` tool shows them."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.engine import render_browse

COMMAND = Command(
    "browse",
    arguments=(
        Argument(
            "path",
            "The collection to list, such as extraction/medical.",
            required=False,
            completes="collections",
        ),
    ),
    options=(
        Option("--query", "Search the names and descriptions of all skills.", value="<words>"),
        Option("--cursor", "Go on after this entry, as the last answer says.", value="<cursor>"),
        FORMAT,
    ),
    examples=("skc browse", "skc browse extraction", "skc browse --query email"),
)


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    path, query = arguments.optional("path") or "", arguments.optional("query")
    listing = here.wait(here.engine().browse(path, query, arguments.optional("cursor")))
    return show(arguments, lambda: listing, lambda: render_browse(listing))
