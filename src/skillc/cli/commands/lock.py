"""`skc lock`: show skills-lock.json, or check the store against it."""

from __future__ import annotations

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL, NO_LOCK
from skillc.cli.output import table
from skillc.cli.syntax import Arguments, Command, Option

COMMAND = Command(
    "lock",
    options=(
        Option("--check", "Compare lock and store; status 1 if they differ."),
        GLOBAL,
    ),
    description=(
        "Lists the skills of skills-lock.json with where they come from. With --check, for CI: is every"
        " locked skill installed as it is locked, does the lock name its commit, and is nothing installed"
        " that is not in the lock? Fetches nothing and changes nothing."
    ),
    examples=("skc lock", "skc lock --check"),
)


def run(arguments: Arguments) -> int:
    here, is_global = workspace(), arguments.has("global")
    if arguments.has("check"):
        problems = here.verify(is_global=is_global, by_file=False)
        return show_problems(arguments, problems, "Lock and store are equal.")
    result = here.locked(is_global=is_global)
    rows = [(e.id, e.source, e.ref or "", (e.commit or "")[:12], "pinned" * e.pinned) for e in result.skills]
    lines = table(("SKILL", "SOURCE", "REF", "COMMIT", ""), rows) if rows else [NO_LOCK]
    return show(arguments, result, lines)


def show_problems(arguments: Arguments, result: install.LockProblems, text: str) -> int:
    """Print differences between lock and store, or `text` without any; return status 1 for some."""
    show(arguments, result, [each.line for each in result.problems] or [text])
    return 1 if result.problems else 0
