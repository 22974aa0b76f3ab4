"""`skc find`: which skills fit a task, over all repositories.

JSON: `{"query", "results"}`, each result `{"id", "name", "description", "score", "source_name", "also",
"matched", "section", "read"}`, best first.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.errors import Diagnostic
    from skillc.index.skills import FoundSkill, Searchable

MAX_LIMIT = 1000
MAX_TASK = 16 << 20  # characters that are read from standard input

COMMAND = Command(
    "find",
    "Find the skills that fit a task, over all repositories, best first.",
    arguments=(
        Argument("task", "What is to be done, in words or pages; put it in quotes, or - to read stdin."),
    ),
    options=(
        Option("--limit", "At most so many.", value="<n>", kind="count", default=10, maximum=MAX_LIMIT),
        Option("--no-rerank", "By words alone and quicker, where the extra 'rerank' is installed."),
        FORMAT,
    ),
    description="Any word of the task may match; names and descriptions count more than what is below them.",
    examples=('skc find "fill in a PDF form"', "skc find -"),
)


def run(arguments: Arguments) -> int:
    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    found = _found(task, limit, rerank=not arguments.given("no_rerank"))
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json({"query": task, "results": [skill.as_json() for skill in found]})
    else:
        from skillc.index.skills import format_results

        for line in format_results(found):
            print(line)
    return 0


def _found(task: str, limit: int, rerank: bool) -> list[FoundSkill]:
    """Straight from the index where all repositories are folders, as they mostly are."""
    from skillc.library.folders import folders
    from skillc.paths import current_directory

    parts = folders(current_directory())
    if parts is not None:
        return _in_folders(parts, task, limit, rerank)
    from skillc.cli import prompting

    engine = prompting.engine()
    return prompting.run(engine.find(task, limit, rerank=rerank), engine.source)


def _in_folders(parts: list[Searchable], task: str, limit: int, rerank: bool) -> list[FoundSkill]:
    from skillc.cli.progress import watch_reading
    from skillc.index.skills import skill_index

    watch_reading()

    def may_use(skill_id: str, needs: tuple[str, ...]) -> bool:
        return not needs

    if not rerank:
        return skill_index().find(parts, task, limit, may_use)
    from skillc.index.meaning import rerank as reranking

    return reranking.find(skill_index(), parts, task, limit, may_use, tell=_tell)


def _tell(diagnostic: Diagnostic) -> None:
    from skillc.cli.output import warn

    warn([diagnostic])
