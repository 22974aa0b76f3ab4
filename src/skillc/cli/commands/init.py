"""`skc init`: a store for skills here, and a first SKILL.md."""

from __future__ import annotations

from skillc import compiler  # lazy
from skillc.cli import show, workspace
from skillc.cli.approval import Terminal
from skillc.cli.syntax import Arguments, Command
from skillc.paths import require_home

COMMAND = Command("""
skc init

Without a name, creates the store .skillc/skills/ if it does not exist.

[name]  The new skill's name: a-z, 0-9 and hyphens.
--description <text>  What the skill does, and when to use it. On a terminal, skc asks for it.
--global  Use the home directory's store, ~/.skillc/skills.

$ skc init
$ skc init release-notes
$ skc init release-notes --description "Write release notes. Use when a version is tagged."
$ skc init release-notes --global
""")


def run(arguments: Arguments) -> int:
    root = require_home() if arguments.has("global") else workspace().cwd
    creation = compiler.create_skill(
        root, arguments.optional("name"), arguments.optional("description"), Terminal()
    )
    return show(arguments, creation, [creation.report()])
