"""`skc search`: sections of a skill that hold some words [RFC-0004:C-SEARCH].

JSON: `{"query", "results"}`, each result `{"file", "section", "snippet", "score"}`, best first.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway import SearchResults
    from skillc.library import Skill

COMMAND = Command(
    "search",
    "Find the sections of a skill that hold all words of a query, best first.",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
        Argument("query", "Words; put several in quotes."),
    ),
    options=(
        Option("--limit", "At most so many results.", value="<n>", kind="count", default=10),
        Option("--any", "Sections that hold any of the words; more and rarer ones count more."),
        Option("--phrase", "The words as they stand, one after the other."),
        Option("--raw", "The query is in SQLite FTS5's own language."),
        FORMAT,
    ),
    examples=(
        'skc search pdf "fill forms"',
        'skc search pdf "fill forms checkbox" --any',
        "skc search pdf 'NEAR(form field, 5)' --raw",
    ),
)


def run(arguments: Arguments) -> int:
    from skillc import errors
    from skillc.cli.access import access, tokenizer
    from skillc.cli.syntax import see
    from skillc.gateway import search_sections

    modes = [mode for mode in ("any", "phrase", "raw") if arguments.given(mode)]
    if len(modes) > 1:
        raise errors.InvalidOption(f"--{modes[0]} and --{modes[1]} exclude each other; {see(COMMAND)}")
    mode = modes[0] if modes else "all"
    query, setting = arguments.text("query"), tokenizer()
    limit = arguments.count("limit") or 10
    skill, found = access(
        "search",
        arguments.text("skill"),
        {"query": query, "result_count": 0},
        lambda skill: (skill, search_sections(skill, query, limit=limit, mode=mode, tokenizer=setting)),
        lambda pair: {"result_count": len(pair[1].results)},
    )
    _remark(found, mode, skill, setting)
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json(found.as_json())
    else:
        for line in found.lines():
            print(line)
    return 0


def _remark(found: SearchResults, mode: str, skill: Skill, tokenizer: str) -> None:
    """Say on stderr what helps: that the index is behind, or which words would have been found."""
    from skillc.gateway import has_changes

    if has_changes(skill, tokenizer):
        from skillc.cli.output import warn
        from skillc.errors import warning

        warn([warning("W004", skill.name, skill.name)])
    if mode == "all" and not found.results:
        from skillc.gateway import explain_no_results

        note = explain_no_results(skill, found.query, "--any", tokenizer)
        if note:
            print(note, file=sys.stderr)
