"""`skc stats`: what agents used of a skill."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.library import Skill
    from skillc.usage import Filters, Stats

COMMAND = Command(
    "stats",
    "Show what agents used: sections, files, searches, errors.",
    arguments=(
        Argument("skill", "A skill's name or folder; all without it.", required=False, completes="skills"),
    ),
    options=(
        Option(
            "--group-by",
            "What to count by: summary, sections, files, commands, projects, errors or search.",
            value="<what>",
            default="summary",
            completes="summary sections files commands projects errors search",
        ),
        Option("--since", "From this date or time on, in UTC.", value="<time>"),
        Option("--until", "Up to this date or time.", value="<time>"),
        Option(
            "--project",
            "Only accesses from this directory or below; may be repeated.",
            value="<path>",
            repeat=True,
        ),
        Option("--html", "Write a page with charts to a file.", value="<file>"),
        Option("--prune", "Remove log entries older than this: 90d, 12w, 6m, 2y.", value="<age>"),
        FORMAT,
    ),
    examples=(
        "skc stats pdf",
        "skc stats pdf --group-by sections --since 2026-01-01",
        "skc stats pdf --html usage.html",
        "skc stats --prune 90d",
    ),
)


def run(arguments: Arguments) -> int:
    from skillc.places import current_directory
    from skillc.usage import Filters, check_group

    group = arguments.text("group_by")
    check_group(group)
    cwd = current_directory()
    since, until = arguments.optional("since"), arguments.optional("until")
    filters = Filters.parse(since, until, arguments.texts("project"), cwd)
    if arguments.optional("prune") is not None:
        return _prune(arguments, cwd)
    if arguments.optional("html") is not None:
        return _page(arguments, filters, cwd)
    stats = _stats(arguments.optional("skill"), group, filters, cwd)
    if arguments.text("format") == "json":
        from skillc.cli.printing import print_json

        print_json(stats.as_json())
    else:
        _print(stats)
    return 0


def _skills(name: str | None, cwd: str) -> list[Skill]:
    from skillc.library import resolve, stored_skills

    return [resolve(name, cwd)] if name is not None else list(stored_skills(cwd))


def _stats(name: str | None, group: str, filters: Filters, cwd: str) -> Stats:
    from skillc.cli.access import access
    from skillc.usage import stats_of, stats_of_all

    if name is None:
        return stats_of_all(_skills(None, cwd), group, filters)
    return access("stats", name, {"group_by": group}, lambda skill: stats_of(skill, group, filters))


def _prune(arguments: Arguments, cwd: str) -> int:
    from skillc.cli.printing import print_json
    from skillc.usage import age, logs_of, prune_log

    days = age(arguments.text("prune"))
    removed = {
        skill.name: sum(prune_log(path, days) for path in logs_of(skill))
        for skill in _skills(arguments.optional("skill"), cwd)
    }
    if arguments.text("format") == "json":
        print_json({"removed": removed})
    else:
        print(f"Removed {sum(removed.values())} entries of {len(removed)} skills")
    return 0


def _page(arguments: Arguments, filters: Filters, cwd: str) -> int:
    import os

    from skillc import atomic
    from skillc.gateway import outline
    from skillc.usage import by_day, stats_of_all, usage_page
    from skillc.usage.stats import GROUPS

    name = arguments.optional("skill")
    skills = _skills(name, cwd)
    answers = {group: stats_of_all(skills, group, filters) for group in GROUPS}
    read = {(entry["section"], entry["file"]) for entry in answers["sections"].data}
    unread = [
        (entry.heading, entry.file)
        for skill in skills
        for entry in outline(skill)
        if (entry.heading, entry.file) not in read
    ]
    title = f"Usage of {name}" if name else "Usage of all skills"
    path = os.path.join(cwd, arguments.text("html"))
    atomic.write(path, usage_page(title, answers, by_day(skills, filters), unread).encode())
    print(f"Wrote {path}")
    return 0


def _print(stats: Stats) -> None:
    """The answer for people: a few lines, or bars."""
    title = f"'{stats.skill}'" if stats.skill else "all skills"
    period = f", {stats.start} to {stats.end}" if stats.start else ""
    print(f"{stats.query.capitalize()} of {title}{period}")
    if stats.query == "summary":
        for name, count in stats.data.items():
            print(f"  {name.replace('_', ' '):<16} {count:>8,}")
        return
    rows = _rows(stats.data)
    if not rows:
        print("  nothing yet")
    _bars(rows)


def _rows(data: Any) -> list[tuple[str, int]]:
    """What was counted, in one text each, and how often."""
    if isinstance(data, dict):
        return list(data.items())
    rows = []
    for entry in data:
        subject = [str(value) for key, value in entry.items() if key != "count" and value]
        rows.append(("  ".join(subject) or "(none)", entry["count"]))
    return rows


def _bars(rows: list[tuple[str, int]]) -> None:
    """Counts in a column; on a terminal with bars."""
    from skillc.errors import one_line

    if not rows:
        return
    highest = max(count for _, count in rows)
    digits = len(f"{highest:,}")
    room = _terminal_width() - digits - 5
    label = min(max(len(one_line(text)) for text, _ in rows), room - 12) if room > 24 else 0
    for text, count in rows:
        shown = one_line(text)
        if not label:
            print(f"  {count:>{digits},}  {shown}")
            continue
        shown = shown if len(shown) <= label else shown[: label - 1] + "…"
        bar = "█" * max(1, round((room - label) * count / highest))
        print(f"  {count:>{digits},}  {shown:<{label}} {bar}")


def _terminal_width() -> int:
    """How wide the terminal is; 0 where nobody looks."""
    import os

    if not sys.stdout.isatty():
        return 0
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80
