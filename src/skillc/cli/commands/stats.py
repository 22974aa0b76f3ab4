"""`skc stats`: what agents used of a skill, or of all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from skillc import atomic, gateway, library, usage
from skillc.cli import can_print, show, workspace
from skillc.cli.lines import CODE, CUT, Line, Mark
from skillc.cli.output import report_all, warn
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.cli.terminal import columns, is_dumb
from skillc.cli.usage_errors import see
from skillc.errors import Diagnostic, InvalidOption
from skillc.paths import current_directory
from skillc.tables import pad, width_of
from skillc.text import count_of, one_line

Result = TypeVar("Result")
MAX_BARS = 100  # columns for bars; longer ones are hard to compare with their labels
COMMAND = Command(
    "stats",
    arguments=(Argument("[skill]", "A skill's name, ID or folder. Default: all skills.", "skills"),),
    options=(
        Option(
            "--group-by <what>",
            "Group by summary, sections, files, commands, projects, errors or search.",
            "summary sections files commands projects errors search",
            default="summary",
        ),
        Option("--since <time>", "Count accesses from this date or time (UTC) on."),
        Option("--until <time>", "Count accesses up to this date or time (UTC)."),
        Option("--project <path>...", "Count only accesses from this directory or below. Can be repeated."),
        Option("--all", "Count what authors did, too: build, lint, stats, and what was typed at a terminal."),
        Option(
            "--limit <n>", "Maximum number of rows. Default: 50, and of skills only those that were used."
        ),
        Option("--html <file>", "Write an HTML page with charts to this file."),
        Option("--prune <age>", "Remove log entries older than this: 90d, 12w, 6m, 2y."),
    ),
    description=(
        "Counts what agents did; --all also counts the author's own commands."
        " Times are RFC 3339 (2026-03-02T10:00:00Z). A date means the start of that day."
        " Both ends are included."
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
        return _write_page(arguments, html)
    group = arguments.text("group_by")

    def count(skills: list[library.Skill]) -> tuple[usage.Stats, list[tuple[str, int]]]:
        filters = _filters(arguments)
        if arguments.optional("skill") is not None:
            return usage.compute_stats(skills[0], group, filters), []
        by_skill = [] if arguments.as_json or group != "summary" else usage.count_by_skill(skills, filters)
        return usage.compute_stats(skills, group, filters), by_skill

    log = {name: arguments.optional(name) for name in ("group_by", "since", "until")}
    stats, by_skill = _with_skills(arguments, log, count)
    warn(stats.diagnostics)
    if not stats.start and not arguments.has("all") and sys.stdout.isatty():
        print("note: no agent used it so far; --all counts what authors did, too", file=sys.stderr)
    return show(arguments, stats, usage.render_stats(stats, by_skill, _draw_bars, arguments.count("limit")))


def _with_skills(
    arguments: Arguments, log: dict[str, str | None], operation: Callable[[list[library.Skill]], Result]
) -> Result:
    """Run an operation on the skill that is named, which is logged, or on all."""
    here, name = workspace(), arguments.optional("skill")
    if name is None:
        return operation(list(library.stored_skills(here.cwd)))
    return here.operate("stats", name, {**log}, lambda skill: operation([skill]))


def _filters(arguments: Arguments) -> usage.Filters:
    usage.check_group(arguments.text("group_by"))
    since, until = arguments.optional("since"), arguments.optional("until")
    every = arguments.has("all")
    return usage.Filters.parse(since, until, arguments.texts("project"), current_directory(), every=every)


def _prune(arguments: Arguments, oldest: str) -> int:
    if arguments.texts("project") or any(arguments.optional(o) for o in ("since", "until", "html")):
        raise InvalidOption(f"--prune goes with no filter and no page; {see(COMMAND)}")
    log: dict[str, str | None] = {"prune": oldest}
    counts, failures = _with_skills(arguments, log, lambda skills: usage.prune_logs(skills, oldest))
    report_all((), failures)
    entries = count_of(sum(counts.values()), "entry", "entries")
    show(arguments, {"removed": counts}, f"Removed {entries} of {count_of(len(counts), 'skill')}")
    return 1 if failures else 0


def _write_page(arguments: Arguments, file: str) -> int:
    is_one, path = arguments.is_given("skill"), os.path.join(current_directory(), file)
    if not os.path.isdir(os.path.dirname(path)):
        raise InvalidOption(f"--html {file}: there is no folder '{os.path.dirname(path)}'; make it first")

    def headings(skill: library.Skill) -> list[tuple[str, int, str]]:
        return [(entry.file, entry.level, entry.heading) for entry in gateway.read_outline(skill)]

    def write(skills: list[library.Skill]) -> tuple[Diagnostic, ...]:
        text, problems = usage.make_page(skills, _filters(arguments), headings, is_one=is_one)
        atomic.write(path, text.encode("utf-8", "replace"))
        return problems

    warn(_with_skills(arguments, {"html": file}, write))
    return show(arguments, {"path": path, "html": path}, f"Wrote {path}")


def _draw_bars(rows: Sequence[tuple[str, int]]) -> list[str]:
    """Return counts in a column; on a terminal with bars."""
    highest = max((count for _, count in rows), default=0) or 1
    digits = len(f"{highest:,}")
    room = min(columns(), MAX_BARS) - digits - 5
    if room < 24 or is_dumb():  # no terminal, too narrow for bars, or read aloud
        return usage.format_rows(rows)
    from skillc.cli.layout import cut, printable  # rich, only where a person looks

    block = "█" if can_print("█") else "#"
    labels = [printable(one_line(text)) for text, _ in rows]
    width = min(max(map(width_of, labels), default=0), room - 12)
    lines: list[str] = []
    for text, (_, count) in zip(labels, rows, strict=True):
        bar = block * max(1 if count else 0, round((room - width) * count / highest))
        label = pad(cut(text, width), width)
        lines.append(Line(f"  {count:>{digits},}  {label} ", Mark(bar, CODE), breaks=CUT))
    return lines
