"""`skc find`: which skills fit a task, over all repositories."""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.syntax import Arguments, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTED = 100  # results beyond the limit that are counted for a person
LIMITS = ("repository", "collection", "capability", "tag")
MAX_TASK = 16 << 20  # characters that are read from standard input

COMMAND = Command("""
skc find

Any word of the task may match. Names and descriptions count more than the text below them.

<task> :anything  The task, from a few words to several pages. Put it in quotes; - reads stdin.
--limit <n> =10 ..1000  Maximum number of results.
--all  Show copies and near-copies of a skill as results of their own.
--repository <name> :repositories  Only skills of this repository.
--collection <path> :collections  Only skills of this collection, and of those below it.
--capability <name> :capabilities  Only skills that need this capability.
--tag <tag> :tags  Only skills with this tag in their frontmatter.

$ skc find "fill in a PDF form"
$ skc find deploy --collection cloud --tag aws
$ skc find -
""")


def run(arguments: Arguments) -> int:
    from skillc.index.skills import FoundSkills, Scope
    from skillc.library import format_results

    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    limits = {name: arguments.text(name) for name in LIMITS}
    scope = Scope(every=arguments.has("all"), **limits)
    here = workspace(progress=True)
    extra = COUNTED if sys.stdout.isatty() and not arguments.as_json else 0  # a person wants to know of more
    matches = here.find(task, limit + extra, scope)
    skills = FoundSkills(matches[:limit], matches.corrections)
    if not skills and any(limits.values()):
        from skillc.cli.options import explain_filters  # only where nothing was found

        explain_filters(here, task, scope)

    def view() -> Iterator[str]:
        from skillc.cli.views import show_found  # only where a person looks

        yield from show_found(skills)
        more = len(matches) - limit
        if more > 0:
            count = f"{more:,}" if more < COUNTED else f"{COUNTED} or more"
            yield f"{count} more: --limit {limit + more} shows {'it' if more == 1 else 'them'}, too"

    value = skills.as_json(task) if arguments.as_json else None
    return show(arguments, value, format_results(skills), view)
