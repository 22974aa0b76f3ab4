"""`skc search`: sections of a skill that hold some words."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "search",
    "Find the sections of a skill that hold all words of a query, best first.",
    arguments=(
        Argument("skill", "A skill's name or folder.", completes="skills"),
        Argument("query", "Words; put several in quotes."),
    ),
    options=(Option("--limit", "At most so many results.", value="<n>", kind="count", default=10), FORMAT),
    examples=('skc search pdf "fill forms"',),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.printing import print_json, warn
    from skillc.config import load
    from skillc.gateway import search
    from skillc.library import resolve
    from skillc.places import current_directory

    cwd = current_directory()
    config = load(cwd)
    warn(config.diagnostics)
    query = arguments.text("query")
    limit = arguments.count("limit") or 10
    results = search(resolve(arguments.text("skill"), cwd), query, limit=limit, tokenizer=config.tokenizer)
    if arguments.text("format") == "json":
        fields = ("file", "section", "snippet", "score")
        found = [{field: getattr(result, field) for field in fields} for result in results]
        print_json({"query": query, "results": found})
        return 0
    for result in results:
        print(f"{result.file}#{result.section} (score: {result.score:.2f})")
        print(f"  {' '.join(result.snippet.split())}")
    if not results:
        print("No results.")
    return 0
