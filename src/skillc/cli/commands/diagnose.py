"""`skc diagnose`: the old name of `skc doctor --library`."""

from __future__ import annotations

from skillc.cli.commands.doctor import FILTERS, show_library
from skillc.cli.output import note_new_name
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc diagnose

{FILTERS}

$ skc diagnose --repository team --errors
""")


def run(arguments: Arguments) -> int:
    note_new_name("diagnose", "doctor --library")
    return show_library(arguments)
