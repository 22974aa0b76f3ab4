"""`skc stats`: what agents used of a skill, or of all."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.usage import Filters, LogValue, Stats

COMMAND = Command(
    "stats",
    "Show what agents used: sections, files, searches, errors.",
    arguments=(
        Argument(
            "skill", "A skill's name, ID or folder; all without it.", required=False, completes="skills"
        ),
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
    description=(
        "Times are RFC 3339 (2026-03-02T10:00:00Z) or dates, which mean the start of their day.\n"
        "Both ends count."
    ),
    examples=(
        "skc stats pdf",
        "skc stats pdf --group-by sections --since 2026-01-01",
        "skc stats pdf --html usage.html",
        "skc stats --prune 90d",
    ),
)


def run(arguments: Arguments) -> int:
    html, prune = arguments.optional("html"), arguments.optional("prune")
    if prune is not None:
        return _prune(arguments, prune)
    if html is not None:
        return _page(arguments, html)
    return _answer(arguments)


def _with_skills(arguments: Arguments, noted: dict[str, LogValue], run: Callable[[list[Skill]], Any]) -> Any:
    """Run an operation on the skill that is named, which is logged, or on all."""
    from skillc.cli.access import access
    from skillc.library import stored_skills
    from skillc.paths import current_directory

    name = arguments.optional("skill")
    if name is None:
        return run(list(stored_skills(current_directory())))
    return access("stats", name, noted, lambda skill: run([skill]))


def _asked(arguments: Arguments) -> tuple[str, Filters]:
    """The group and the filters; raises InvalidQueryType or InvalidFilter."""
    from skillc.paths import current_directory
    from skillc.usage import Filters, check_group

    group, since, until = arguments.text("group_by"), arguments.optional("since"), arguments.optional("until")
    check_group(group)
    return group, Filters.parse(since, until, arguments.texts("project"), current_directory())


def _answer(arguments: Arguments) -> int:
    from skillc.cli.output import print_json, warn
    from skillc.usage import compute_stats

    as_json = arguments.text("format") == "json"

    def answer(skills: list[Skill]) -> tuple[Stats, list[tuple[str, int]]]:
        group, filters = _asked(arguments)
        if arguments.optional("skill") is not None:
            return compute_stats(skills[0], group, filters), []
        stats = compute_stats(skills, group, filters)
        return stats, [] if as_json or group != "summary" else _by_skill(skills, filters)

    noted: dict[str, LogValue] = {name: arguments.optional(name) for name in ("group_by", "since", "until")}
    stats, skills = _with_skills(arguments, noted, answer)
    warn(stats.diagnostics)
    if as_json:
        print_json(stats.as_json())
    else:
        _print(stats, skills)
    return 0


def _labels(skills: Sequence[Skill]) -> list[str]:
    """The names of skills; those that are equal are told apart by their scope."""
    names = [skill.name for skill in skills]
    return [f"{s.name} ({s.scope})" if names.count(s.name) > 1 else s.name for s in skills]


def _by_skill(skills: Sequence[Skill], filters: Filters) -> list[tuple[str, int]]:
    """The accesses of each skill, most first."""
    from skillc.usage import compute_stats

    totals = [sum(compute_stats(skill, "commands", filters).data.values()) for skill in skills]
    return sorted(zip(_labels(skills), totals, strict=True), key=lambda count: (-count[1], count[0]))


def _prune(arguments: Arguments, given: str) -> int:
    from skillc.cli.output import print_json
    from skillc.cli.syntax import see
    from skillc.errors import InvalidOption, SkillcError
    from skillc.usage import find_logs, parse_age, prune_log

    if arguments.texts("project") or any(arguments.optional(o) for o in ("since", "until", "html")):
        raise InvalidOption(f"--prune goes with no filter and no page; {see(COMMAND)}")
    failed: list[SkillcError] = []

    def prune(skills: list[Skill]) -> dict[str, int]:
        days = parse_age(given)
        removed: dict[str, int] = {}
        for path, name in {path: skill.name for skill in skills for path in find_logs(skill)}.items():
            try:
                removed[name] = removed.get(name, 0) + prune_log(path, days)
            except SkillcError as error:
                failed.append(error)
        return removed

    removed = _with_skills(arguments, {"prune": given}, prune)
    for error in failed:
        print(error.text(), file=sys.stderr)
    if arguments.text("format") == "json":
        print_json({"removed": removed})
    else:
        skills = "1 skill" if len(removed) == 1 else f"{len(removed)} skills"
        print(f"Removed {sum(removed.values()):,} entries of {skills}")
    return 1 if failed else 0


def _page(arguments: Arguments, given: str) -> int:
    import os

    from skillc import atomic
    from skillc.cli.output import print_json, warn
    from skillc.paths import current_directory
    from skillc.usage import GROUPS, compute_stats, count_by_day, render_page

    name = arguments.optional("skill")
    path = os.path.join(current_directory(), given)

    def page(skills: list[Skill]) -> tuple[Diagnostic, ...]:
        _, filters = _asked(arguments)
        if name is None:
            answers = {group: compute_stats(skills, group, filters) for group in GROUPS}
        else:
            answers = {group: compute_stats(skills[0], group, filters) for group in GROUPS}
        unread, noticed = _unread(skills, filters)
        counts = _by_skill(skills, filters) if name is None else ()
        title = f"Usage of {skills[0].name}" if name is not None else "Usage of all skills"
        text = render_page(title, answers, count_by_day(skills, filters), unread, skills=counts)
        atomic.write(path, text.encode("utf-8", "replace"))
        return (*answers["summary"].diagnostics, *noticed)

    warn(_with_skills(arguments, {"html": given}, page))
    if arguments.text("format") == "json":
        print_json({"html": path})
    else:
        print(f"Wrote {path}")
    return 0


def _unread(
    skills: Sequence[Skill], filters: Filters
) -> tuple[dict[str, list[tuple[int, str]]], tuple[Diagnostic, ...]]:
    """The sections of which nobody read a part, by file; of several skills, with their names."""
    from skillc.errors import unexpected, warning
    from skillc.gateway import read_outline
    from skillc.usage import find_reads, find_unread

    found: dict[str, list[tuple[int, str]]] = {}
    noticed: tuple[Diagnostic, ...] = ()
    for label, skill in zip(_labels(skills), skills, strict=True):
        try:
            headings = [(entry.file, entry.level, entry.heading) for entry in read_outline(skill)]
        except Exception as error:  # of one skill, which must not keep the others from their page
            noticed += (warning("W001", skill.source, unexpected(error).message),)
            continue
        for file, entries in find_unread(headings, *find_reads(skill, filters)).items():
            found[f"{label}: {file}" if len(skills) > 1 else file] = entries
    return found, noticed


def _print(stats: Stats, skills: Sequence[tuple[str, int]]) -> None:
    """The answer for people: a few lines, or bars."""
    from skillc.text import one_line

    title = f"'{stats.skill}'" if stats.skill else "all skills"
    period = f", {stats.start} to {stats.end}" if stats.start else ""
    print(one_line(f"{stats.query.capitalize()} of {title}{period}"))
    if stats.query == "summary":
        for name, count in stats.data.items():
            print(f"  {name.replace('_', ' '):<16} {count:>8,}")
        if skills:
            print()
            _bars(skills)
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


def _bars(rows: Sequence[tuple[str, int]]) -> None:
    """Counts in a column; on a terminal with bars."""
    from skillc.text import one_line

    rows = [(one_line(text), count) for text, count in rows]
    highest = max((count for _, count in rows), default=0) or 1
    digits = len(f"{highest:,}")
    room = _terminal_width() - digits - 5
    if room < 24:  # nobody looks, or there is no room to draw
        for text, count in rows:
            print(f"  {count:>{digits},}  {text}")
        return
    full, cut = ("█", "…") if _can_show("█…") else ("#", "~")
    widths = [_width(text) for text, _ in rows]
    label = min(max(widths, default=0), room - 12)
    for (text, count), width in zip(rows, widths, strict=True):
        if width > label:
            while _width(text) >= label:
                text = text[:-1]
            text, width = text + cut, _width(text) + 1
        bar = full * max(1 if count else 0, round((room - label) * count / highest))
        print(f"  {count:>{digits},}  {text}{' ' * (label - width)} {bar}".rstrip())


def _width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def _terminal_width() -> int:
    """How wide the terminal is; 0 where nobody looks."""
    import os

    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80 if sys.stdout.isatty() else 0
    except (OSError, ValueError):
        return 0
