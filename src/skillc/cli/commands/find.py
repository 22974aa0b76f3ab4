"""`skc find`: which skills fit a task, over all repositories.

JSON: `{"query", "results"}`, each result `{"id", "name", "description", "score", "source_name", "also",
"matched", "section", "read"}`, best first.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.catalog.library import FoundSkill

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
        FORMAT,
    ),
    description="Any word of the task may match; names and descriptions count more than what is below them.",
    examples=('skc find "fill in a PDF form"', "skc find -"),
)


def run(arguments: Arguments) -> int:
    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    found = _found(task, limit)
    if arguments.text("format") == "json":
        from skillc.cli.printing import print_json

        print_json({"query": task, "results": [skill.as_json() for skill in found]})
    else:
        _print(found)
    return 0


def _found(task: str, limit: int) -> list[FoundSkill]:
    """Straight from the index where all repositories are folders, as they mostly are."""
    from skillc.library.catalog.chain import folders
    from skillc.places import current_directory

    parts = folders(current_directory())
    if parts is not None:
        from skillc.library.catalog.library import library

        return library().find(parts, task, limit, lambda skill_id, needs: not needs)
    from skillc.cli import prompting

    return prompting.run(prompting.engine().find(task, limit))


def _print(found: list[FoundSkill]) -> None:
    from skillc.errors import one_line

    for skill in found:
        print(f"{one_line(skill.id)}  ({skill.score:.1f}, {one_line(skill.source_name)})")
        print(f"  {one_line(' '.join(skill.description.split()))}")
        words = ", ".join(word for word, _ in skill.matched[:SHOWN])
        print(f"  matched: {one_line(words)}")
        if skill.also:
            print(f"  also: {one_line(', '.join(f'{skill_id} ({name})' for name, skill_id in skill.also))}")
        print(f"  read: {one_line(skill.read)}")
    if not found:
        print("No skills fit.")


SHOWN = 12  # words that matched, in text
