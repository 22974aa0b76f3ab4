"""`skc pin`: keep skills at their versions."""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.commands.install import GLOBAL
from skillc.cli.commands.update import find_entries
from skillc.cli.output import warn
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command
from skillc.paths import current_directory
from skillc.text import one_line

SKILLS = Argument("skill", "Names of skills in the lock.", repeat=True, completes="locked")

COMMAND = Command(
    "pin",
    arguments=(SKILLS,),
    options=(GLOBAL, FORMAT),
    description="'skc update' leaves a pinned skill as it is. The lock has the note, so it holds for a team.",
    examples=("skc pin pdf", "skc pin pdf docx"),
)


def run(arguments: Arguments) -> int:
    return set_pins(arguments, True)


def set_pins(arguments: Arguments, is_pinned: bool) -> int:
    """Note in the lock whether skills are pinned."""
    root = install.find_root(current_directory(), is_global=arguments.has("global"))
    names = [entry.name for entry in find_entries(root, arguments.texts("skill"))]
    warn(install.set_pins(root, names, is_pinned))
    verb = "Pinned" if is_pinned else "Unpinned"
    value = {"skills": [{"id": name, "pinned": is_pinned} for name in names]}
    return show(arguments, lambda: value, lambda: [one_line(f"{verb} '{name}'") for name in names])
