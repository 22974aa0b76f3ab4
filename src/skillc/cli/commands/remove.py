"""`skc remove`: take skills away from agents and out of their store."""

from __future__ import annotations

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.approval import confirm, terminal
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.quotes import shell_quote
from skillc.text import one_line

COMMAND = Command(
    "remove",
    arguments=(
        Argument("skill", "A skill's name, or the path of its folder.", repeat=True, completes="stored"),
    ),
    options=(
        Option("--keep-source", "Leave the skill in its store; remove what was made from it."),
        Option("--purge", "Delete the log of what agents used as well."),
        Option("--dry-run", "Say what would be removed, and do nothing."),
        Option("--yes", "Do not ask first. Without a terminal, nothing is asked."),
        FORMAT,
    ),
    description=(
        "Links, stubs and copies go from agents' directories, the compiled skill with its index from"
        " the runtime directory, and the skill itself into the trash. The log stays, for when the skill comes"
        " back."
    ),
    examples=("skc remove pdf", "skc remove pdf docx --dry-run", "skc remove pdf --keep-source"),
)


def run(arguments: Arguments) -> int:
    here = workspace()
    keep, purge = arguments.has("keep_source"), arguments.has("purge")
    names = arguments.texts("skill")
    skills = list(
        {each.source: each for each in (install.find_removable(name, here.cwd) for name in names)}.values()
    )
    if arguments.has("dry_run"):
        return _show(arguments, [install.preview_removal(skill) for skill in skills], keep, is_preview=True)
    if not arguments.has("yes") and terminal():
        text = "\n".join(_lines([install.preview_removal(skill) for skill in skills], keep, is_preview=True))
        if not confirm(text, "Remove?"):
            raise InvalidOption("nothing removed; 'skc remove --yes' removes without asking")
    removals = []
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            removals.append(install.remove_skill(skill, here.cwd, keep_source=keep, purge=purge))
            here.tell(removals[-1].diagnostics)
    return _show(arguments, removals, keep)


def _show(
    arguments: Arguments, removals: list[install.Removal], keep: bool, *, is_preview: bool = False
) -> int:
    value = {"removed": [removal.as_json() for removal in removals]}
    return show(arguments, lambda: value, lambda: _lines(removals, keep, is_preview), "paint_report")


def _lines(removals: list[install.Removal], keep: bool, is_preview: bool = False) -> list[str]:
    lines = []
    for removal in removals:
        verb = "Would remove" if is_preview else "Removed"
        lines.append(f"{verb} '{removal.name}'")
        lines += [f"  {path}" for path in removal.deployments]
        if removal.item:
            restore = f"skc restore {shell_quote(removal.item)}"
            lines.append(
                f"  {removal.source} is in the trash; '{restore}' brings it back, 'skc build' deploys it"
            )
        elif removal.source:
            where = f"stays; 'skc build {shell_quote(removal.name)}' deploys it again" if keep else "-> trash"
            lines.append(f"  {removal.source} {where}")
    return [one_line(line) for line in lines]
