"""`skc info`: everything about one skill, and the commands for what comes next."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.listings import show_info
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc info

Where it comes from and where it is, which agents have it, what it costs a context, how often it was read,
what was edited, and the commands for what comes next. Asks no network: of newer versions it knows what 'skc
outdated' last learned.

<skill> :skills  A skill's name or ID, or a path such as ./pdf.

$ skc info pdf
$ skc info pdf --format json
""")


def run(arguments: Arguments) -> int:
    info = workspace().info(arguments.text("skill"))
    return show(arguments, info, show_info(info))
