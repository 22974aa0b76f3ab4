"""`skc find`: which skills fit a task, over all repositories."""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

MAX_LIMIT = 1000
LIMITS = ("repository", "collection", "capability", "tag")
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
        Option("--all", "Show copies and near-copies of a skill as results of their own."),
        Option("--repository", "Only skills of this repository.", value="<name>", completes="repositories"),
        Option(
            "--collection",
            "Only skills of this collection, and of those below it.",
            value="<path>",
            completes="collections",
        ),
        Option(
            "--capability", "Only skills that need this capability.", value="<name>", completes="capabilities"
        ),
        Option("--tag", "Only skills with this tag in their frontmatter.", value="<tag>", completes="tags"),
        FORMAT,
    ),
    description="Any word of the task may match. Names and descriptions count more than the text below them.",
    examples=('skc find "fill in a PDF form"', "skc find deploy --collection cloud --tag aws", "skc find -"),
)


def run(arguments: Arguments) -> int:
    from skillc.index.skills import Scope, format_results

    task, limit = arguments.text("task"), arguments.count("limit") or 10
    if task == "-":
        task = sys.stdin.read(MAX_TASK)
    limits = {name: arguments.optional(name) or "" for name in LIMITS}
    scope = Scope(every=arguments.has("all"), **limits)
    skills = workspace(progress=True).find(task, limit, scope)
    return show(
        arguments,
        lambda: skills.as_json(task),
        lambda: format_results(skills),
        "paint_skills",
    )
