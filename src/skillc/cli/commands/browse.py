"""`skc browse`: collections and skills, as the `browse_skills` tool shows them."""

from __future__ import annotations

from collections.abc import Iterator

from skillc.cli import show, workspace
from skillc.cli.options import check_repository, explain_collection
from skillc.cli.syntax import Arguments, Command
from skillc.quotes import shell_quote
from skillc.text import one_line
from skillc.workspace import Workspace

COMMAND = Command("""
skc browse

[path] :collections  The collection to list, such as extraction/medical.
--query <words>  Search the names and descriptions of all skills.
--repository <name> :repositories  Only skills of this repository.
--collection <path> :collections  Only skills of this collection, and of those below it.
--limit <n> =50 ..10000  Maximum number of entries.
--cursor <cursor>  Go on after this entry, as the last answer says.

$ skc browse
$ skc browse extraction
$ skc browse --query email --repository team
""")


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    query, repository = arguments.optional("query"), arguments.text("repository")
    path, collection = (arguments.text(name) for name in ("path", "collection"))
    if path and collection:
        raise arguments.error("<path> and --collection are the same: give one")
    place = (path or collection).strip("/")
    check_repository(here, repository)
    request = here.engine().browse(
        place,
        query,
        arguments.optional("cursor"),
        limit=arguments.count("limit") or 50,
        repository=repository,
        collection=collection.strip("/"),
    )
    listing = here.wait(request)
    if not listing["skills"] and not listing.get("subcollections"):
        for note in _explain(here, place, query, repository):
            here.report(one_line(f"note: {note}"))
    from skillc.engine import render_browse  # takes long to load, and help does without

    lines = [*render_browse(listing)]

    def view() -> Iterator[str]:
        from skillc.cli.views import show_listing  # only where a person looks

        return show_listing(listing, lines[-1])

    return show(arguments, listing, lines, view)


def _explain(here: Workspace, place: str, query: str | None, repository: str) -> Iterator[str]:
    """Yield what to do where nothing is listed."""
    if place:
        paths = {each.path for each in here.wait(here.engine().collections(), warnings=False)}
        yield from explain_collection(place, paths)
    if query:
        yield f"no name or description has these words; 'skc find {shell_quote(query, chr(34))}' reads more"
    elif repository and not place:
        yield f"the repository '{repository}' lists no skills; 'skc repo list' shows its state"
