"""`skc find`: which skills fit a task, over all repositories.

JSON: `{"query", "results"}`, each result `{"id", "name", "description", "score", "source_name", "also",
"matched", "section", "read"}`, best first.
"""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

MAX_LIMIT = 1000
MAX_TASK = 16 << 20  # characters that are read from standard input

COMMAND = Command(
    "find",
    arguments=(
        Argument(
            "task",
            "The task, from a few words to several pages. Put it in quotes; - reads stdin.",
            is_text=True,
        ),
    ),
    options=(
        Option("--limit", "Maximum number of results.", kind="count", default=10, maximum=MAX_LIMIT),
        FORMAT,
    ),
    description="Any word of the task may match. Names and descriptions count more than the text below them.",
    examples=('skc find "fill in a PDF form"', "skc find -"),
)


def run(arguments: Arguments) -> int:
    from skillc.index.skills import format_results

    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    skills = workspace(progress=True).find(task, limit)
    return show(
        arguments,
        lambda: {"query": task, "results": [skill.as_json() for skill in skills]},
        lambda: format_results(skills),
    )
