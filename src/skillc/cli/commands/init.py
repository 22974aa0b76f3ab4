"""`skc init`: a store for skills here, and a first SKILL.md."""

from __future__ import annotations

from skillc import compiler
from skillc.cli import show, workspace
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.paths import require_home

COMMAND = Command(
    "init",
    arguments=(Argument("[name]", "The new skill's name: a-z, 0-9 and hyphens."),),
    options=(Option("--global", "Use the home directory's store, ~/.skillc/skills."),),
    description="Without a name, creates the store .skillc/skills/ if it does not exist.",
    examples=("skc init", "skc init release-notes", "skc init release-notes --global"),
)


def run(arguments: Arguments) -> int:
    root = require_home() if arguments.has("global") else workspace().cwd
    name = arguments.optional("name")
    path = compiler.create_store(root) if name is None else compiler.create_skill(root, name)
    return show(arguments, {"name": name, "path": path}, [compiler.describe_creation(name, path)])
