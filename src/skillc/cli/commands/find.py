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
    from skillc.cli.progress import watch_reading
    from skillc.library import find_skills
    from skillc.paths import current_directory

    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    watch_reading()
    rerank = not arguments.given("no_rerank")
    found = find_skills(current_directory(), task, limit, rerank=rerank, tell=_tell)
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json({"query": task, "results": [skill.as_json() for skill in found]})
    else:
        from skillc.index.skills.lines import lines

        for line in lines(found):
            print(line)
    return 0


def _tell(diagnostic: Diagnostic) -> None:
    from skillc.cli.output import warn

    warn([diagnostic])
