"""`skc stats`: what agents used of a skill, or of all."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from skillc import usage
from skillc.cli import show, workspace
from skillc.cli.syntax import Arguments, Command
from skillc.text import count_of

COMMAND = Command("""
skc stats

Counts what agents did; --all also counts the author's own commands. Times are RFC 3339
(2026-03-02T10:00:00Z). A date means the start of that day. Both ends are included.

'offers' counts how often the hook of an agent named a skill, and how often it was read within the hour.
'missed' lists prompts that no skill fitted, which are kept where ~/.skillc/config.toml has 'log_missed =
true' below '[hook]'.

[skill] :skills  A skill's name, ID or folder. Default: all skills.
--group-by <what> =summary :summary,sections,files,commands,projects,errors,search,offers,missed  Group by
    summary, sections, files, commands, projects, errors, search, offers or missed.
--since <time>  Count accesses from this date or time (UTC) on.
--until <time>  Count accesses up to this date or time (UTC).
--project <path>...  Count only accesses from this directory or below. Can be repeated.
--all  Count what authors did, too: build, lint, stats, and what was typed at a terminal.
--limit <n>  Maximum number of rows. Default: 50, and of skills only those that were used.
--html <file>  Write an HTML page with charts to this file.
--prune <age>  Remove log entries older than this: 90d, 12w, 6m, 2y.

$ skc stats pdf
$ skc stats pdf --group-by sections --since 2026-01-01
$ skc stats pdf --html usage.html
$ skc stats --prune 90d
""")


def run(arguments: Arguments) -> int:
    name, html, prune = map(arguments.optional, ("skill", "html", "prune"))
    filters: usage.FilterOptions = {
        "since": arguments.optional("since"),
        "until": arguments.optional("until"),
        "projects": arguments.texts("project"),
        "every": arguments.has("all"),
    }
    if prune is not None:
        if html or filters["since"] or filters["until"] or filters["projects"]:
            raise arguments.error("--prune goes with no filter and no page")
        here = workspace()
        counts, failures = here.prune_usage(prune, name)
        here.tell((), failures)
        entries = count_of(sum(counts.values()), "entry", "entries")
        show(arguments, {"removed": counts}, f"Removed {entries} of {count_of(len(counts), 'skill')}")
        return 1 if failures else 0
    group = arguments.text("group_by")
    if html is not None:
        usage.check_group(group)
        path = workspace().write_usage_page(html, name, **filters)
        return show(arguments, {"path": path, "html": path}, f"Wrote {path}")
    stats = workspace().stats(name, group, with_skills=not arguments.as_json, **filters)
    if not stats.start and not arguments.has("all") and sys.stdout.isatty():
        print("note: no agent used it so far; --all counts what authors did, too", file=sys.stderr)
    limit = arguments.count("limit")

    def view() -> Iterator[str]:
        from skillc.cli.views import draw_bars  # only where a person looks

        return usage.render_stats(stats, draw_bars, limit)

    return show(arguments, stats, usage.render_stats(stats, limit=limit), view)
