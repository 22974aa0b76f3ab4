"""`skc lock`: show skills-lock.json, or check the store against it."""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.commands.install import GLOBAL, NO_LOCK
from skillc.cli.output import table
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.paths import current_directory
from skillc.text import one_line

COMMAND = Command(
    "lock",
    options=(
        Option("--check", "Compare lock and store; status 1 if they differ."),
        GLOBAL,
        FORMAT,
    ),
    description=(
        "Lists the skills of skills-lock.json with where they come from. With --check, for CI: is every"
        " locked skill installed as it is locked, does the lock name its commit, and is nothing installed"
        " that is not in the lock? Fetches nothing and changes nothing."
    ),
    examples=("skc lock", "skc lock --check"),
)


def run(arguments: Arguments) -> int:
    root = install.find_root(current_directory(), is_global=arguments.has("global"))
    if arguments.has("check"):
        return show_problems(arguments, install.check_lock(root), "Lock and store are equal.")
    entries = [
        {
            "id": name,
            "source": entry.text("source"),
            "ref": entry.text("ref") or None,
            "commit": entry.commit or None,
            "pinned": entry.is_pinned,
        }
        for name, entry in sorted(install.read_lock(root).items())
    ]
    rows = [
        (
            str(e["id"]),
            str(e["source"]),
            str(e["ref"] or ""),
            str(e["commit"] or "")[:12],
            "pinned" * bool(e["pinned"]),
        )
        for e in entries
    ]
    lines = list(table(("SKILL", "SOURCE", "REF", "COMMIT", ""), rows)) if rows else [NO_LOCK]
    return show(arguments, lambda: {"skills": entries}, lambda: lines, "paint_report")


def show_problems(arguments: Arguments, problems: list[install.LockProblem], text: str) -> int:
    """Print differences between lock and store; return status 1 where there are some."""
    lines = [one_line(f"{p.id}{f'/{p.file}' if p.file else ''}: {p.problem}") for p in problems]
    value = {"problems": [problem.as_json() for problem in problems]}
    show(arguments, lambda: value, lambda: lines or [text], "paint_report")
    return 1 if problems else 0
