"""`skc browse`: collections and skills, as the `browse_skills` tool shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.quotes import shell_quote
from skillc.text import one_line

COMMAND = Command(
    "browse",
    arguments=(Argument("path", "The collection to list, such as extraction/medical.", required=False),),
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
    return show(arguments, lambda: listing, lambda: _lines(listing))


def _lines(listing: dict[str, Any]) -> Iterator[str]:
    for collection in listing.get("subcollections", []):
        count, description = collection["count"], collection["description"]
        # A collection without a description of its own has its count for one.
        text = "" if description == f"{count} skills" else f"  {description}"
        yield one_line(f"{collection['path']}/  ({count}){text}")
    for skill in listing["skills"]:
        yield one_line(f"{skill['id']}  {skill['description']}")
    if not listing["skills"] and not listing.get("subcollections"):
        yield "No skills."
    if "more" in listing:
        cursor = shell_quote(listing["next_cursor"])
        yield f'{listing["more"]} more: --cursor {cursor}, or search them with: skc find "<task>"'
