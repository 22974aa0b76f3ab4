"""`skc search`: sections of a skill that hold some words [RFC-0004:C-SEARCH]."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import SKILL, Arguments, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = Command(f"""
skc search

{SKILL}
<query> :anything  The words to search for. Put several in quotes.
--limit <n> =10  Maximum number of results.
--any  Match any of the words. More matches and rarer words rank higher.
--phrase  Match the words in this order, next to each other.
--raw  Use SQLite FTS5 query syntax.

$ skc search pdf "fill forms"
$ skc search pdf "fill forms checkbox" --any
$ skc search pdf 'NEAR(form field, 5)' --raw
$ skc search pdf -- --force
""")


def run(arguments: Arguments) -> int:
    modes = [mode for mode in ("any", "phrase", "raw") if arguments.has(mode)]
    if len(modes) > 1:
        raise arguments.error(f"--{modes[0]} and --{modes[1]} exclude each other")
    results = workspace().search(
        arguments.text("skill"),
        arguments.text("query"),
        limit=arguments.count("limit") or 10,
        mode=modes[0] if modes else "all",
    )

    def view() -> Iterator[str]:
        from skillc.cli.views import show_results  # only where a person looks

        return show_results(results)

    return show(arguments, results, results.lines(), view)
