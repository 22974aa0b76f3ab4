"""`skc info`: everything about one skill, and the commands for what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.lines import CODE, FAINT, STRONG, WORDS, Line, Mark
from skillc.cli.syntax import Arguments, Command
from skillc.tables import pad, width_of
from skillc.text import fold_line, one_line

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
    return show(arguments, info, [*describe(info), "", *_next(info)])


def describe(info: install.SkillInfo) -> Iterator[str]:
    """Yield a skill's name and what is known of it, in lines."""
    version = f"  {one_line(info.version)}" if info.version else ""
    yield Line(Mark(one_line(info.id), STRONG), version, Mark(f"  {info.scope}", FAINT), breaks=WORDS)
    if info.description:
        yield Line("  ", fold_line(info.description), hang=2)
    for label, text in info.facts():
        yield Line(Mark(f"  {label:<9} ", FAINT), one_line(text), hang=12, breaks=WORDS)


def _next(info: install.SkillInfo) -> Iterator[str]:
    commands = [(one_line(command), purpose) for command, purpose in info.commands()]
    width = max((width_of(command) for command, _ in commands), default=0)
    for command, purpose in commands:
        yield Line(
            "  ", Mark(pad(command, width), CODE), f"  {one_line(purpose)}", hang=width + 4, breaks=WORDS
        )
