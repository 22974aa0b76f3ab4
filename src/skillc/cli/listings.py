"""What commands show that list skills: those that are here, were brought in, are listed, are trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillc import listing
from skillc.cli.lines import CODE, FAINT, GOOD, STRONG, WARNING, WORDS, Line, Mark, Table
from skillc.paths import short_path
from skillc.tables import pad, width_of
from skillc.text import count_of, fold_line, one_line

if TYPE_CHECKING:
    from skillc.cli.syntax import Arguments
    from skillc.install import ImportResult, InstalledSkills, SkillInfo
    from skillc.tools import Decisions

SPARE = ("SCOPE", "FROM", "VERSION", "SOURCE")  # columns that go, in this order, where there is no room


def show_installed(skills: InstalledSkills, arguments: Arguments) -> Iterator[str]:
    """Yield the skills that are here, in the way that was asked for, their number, and what to do."""
    if arguments.has("licenses"):
        rows = [[each.id, each.version, each.licence or "unknown"] for each in skills.skills]
        yield Table(["SKILL", "VERSION", "LICENCE"], rows, ())
        yield skills.total_line()
        return
    if arguments.has("long"):
        for skill in skills.skills:
            yield from _describe(skill)
            yield ""
    else:
        yield from _tabulate(skills, with_source=arguments.has("verbose"))
    yield skills.total_line()
    yield from skills.advice()


def _tabulate(skills: InstalledSkills, *, with_source: bool) -> Iterator[str]:
    header, rows = list(skills.HEADER), [list(skill.row()) for skill in skills.skills]
    for row, skill in zip(rows, skills.skills, strict=True):
        row[-1] = _mark(row[-1])
        row += [skill.source_path] if with_source else []
    if rows:
        yield Table([*header, *(["SOURCE"] if with_source else [])], rows, SPARE)


def _mark(status: str) -> str:
    """Return a status that asks for something so that it stands out."""
    is_fine = all(word in ("normal", "pinned") or word.startswith("disabled") for word in status.split(", "))
    return status if is_fine else Mark(status, WARNING)


def _describe(info: SkillInfo) -> Iterator[str]:
    """Yield a skill's name and what is known of it, in lines."""
    version = f"  {one_line(info.version)}" if info.version else ""
    yield Line(Mark(one_line(info.id), STRONG), version, Mark(f"  {info.scope}", FAINT), breaks=WORDS)
    if info.description:
        yield Line("  ", fold_line(info.description), hang=2)
    for label, text in info.facts():
        yield Line(Mark(f"  {label:<9} ", FAINT), one_line(text), hang=12, breaks=WORDS)


def show_info(info: SkillInfo) -> Iterator[str]:
    """Yield what is known of a skill, and the commands for what comes next."""
    yield from _describe(info)
    yield ""
    commands = [(one_line(command), purpose) for command, purpose in info.commands()]
    width = max((width_of(command) for command, _ in commands), default=0)
    for command, purpose in commands:
        mark = Mark(pad(command, width), CODE)
        yield Line("  ", mark, f"  {one_line(purpose)}", hang=width + 4, breaks=WORDS)


def show_imported(result: ImportResult, *, is_preview: bool) -> Iterator[str]:
    """Yield what was brought in, and from where, what was left and why, and the counts."""
    if result.imported:
        rows = [
            (each.name, each.how, _place(each.source, each.name), _place(each.destination, each.name))
            for each in result.imported
        ]
        yield Table(("SKILL", "HOW", "FROM", "TO"), rows)
    if result.skipped:
        yield Table(("SKIPPED", "REASON"), [(short_path(each.path), each.reason) for each in result.skipped])
    moved, copied = (sum(each.how == how for each in result.imported) for how in ("moved", "copied"))
    verb = "would be imported" if is_preview else "imported"
    yield f"{moved + copied} {verb} ({moved} moved, {copied} copied), {len(result.skipped)} skipped"
    if copied and not is_preview:
        yield "'skc build --all' builds the copies and deploys them."


def _place(path: str, name: str) -> str:
    """Return where a skill is, for people: of a folder of its name, the one around it."""
    folder, last = os.path.split(path)
    return f"{short_path(folder)}{os.sep}" if os.path.isabs(folder) and last == name else short_path(path)


def show_listings(result: listing.Listings, *, with_skills: bool) -> Iterator[str]:
    """Yield a table of agents, what to do where a listing is too long, and perhaps every skill."""
    if not result.agents:
        yield "No agent that skc knows is here; 'skc listing --agent claude' asks about one all the same."
    rows = [_row(each) for each in result.agents]
    if rows:
        yield Table(("AGENT", "SKILLS", "WHOLE", "CUT", "NAME", "ON DEMAND", "USED", "BUDGET"), rows)
    for each in result.agents:
        yield from _advise(each)
    for each in result.agents if with_skills else ():
        yield ""
        yield Line(Mark(f"{each.display}: ", STRONG), count_of(len(each.skills), "skill"))
        cells = [(_state(skill), f"{skill.shown:,}", f"{skill.length:,}", skill.id) for skill in each.skills]
        if cells:
            yield Table(("STATE", "SHOWN", "OF", "SKILL"), cells)


def _row(each: listing.AgentListing) -> tuple[str, ...]:
    if each.measured is None:
        return one_line(each.display), str(len(each.skills)), *["?"] * 4, "?", "not measured"
    counts = [
        sum(skill.state == state for skill in each.skills)
        for state in (listing.CUT, listing.NAME, listing.ON_DEMAND)
    ]
    budget = "none" if each.budget is None else f"{each.budget:,}"
    cut = [
        Mark(str(count), WARNING) if count and place < 2 else str(count) for place, count in enumerate(counts)
    ]
    return each.display, str(len(each.skills)), str(each.whole), *cut, f"{each.used:,}", budget


def _advise(each: listing.AgentListing) -> Iterator[str]:
    """Say what it costs where a listing is too long, and what would be needed."""
    missing = sum(skill.state == listing.ABSENT for skill in each.skills)
    if each.overflows:
        tokens = -(-each.needed // listing.CHARACTERS)
        raised = f", 'skc listing fit --agent {each.agent} --budget {tokens}' all of it for {tokens:,} tokens"
        yield Line(
            Mark(f"{each.display}: ", WARNING),
            f"the model sees {each.whole} of {each.listed + missing} descriptions whole; all would take"
            f" {each.needed:,} characters, and there are {each.budget or 0:,} with a window of"
            f" {each.window:,} tokens. {_way(each)} lists what fits"
            f"{f'{raised} of every conversation' if each.setting else ''}",
            breaks=WORDS,
        )
        return
    if each.misfits:
        text = (
            f"{count_of(each.misfits, 'description')} missing or too long for it, and not shown whole;"
            " --skills names them, and 'skc listing fit' has those of skc's on demand"
        )
        yield Line(Mark(f"{each.display}: ", WARNING), text, breaks=WORDS)
    if each.measured and each.budget is None and each.skills:
        tokens = each.used // listing.CHARACTERS
        yield Line(
            Mark(
                f"{each.display} cuts nothing: every conversation pays about {tokens:,} tokens for it", FAINT
            )
        )


def _way(each: listing.AgentListing) -> str:
    """Return the commands that fit a listing: only what skc put there can be on demand."""
    start = (
        f"'skc import' takes over {count_of(each.foreign, 'skill')} of others, and " if each.foreign else ""
    )
    return f"{start}'skc listing fit'"


def _state(skill: listing.ListedSkill) -> str:
    faults = (listing.CUT, listing.NAME, listing.ABSENT)
    style = GOOD if skill.state == listing.WHOLE else WARNING if skill.state in faults else None
    return Mark(skill.state, style) if skill.state and style else skill.state or "?"


def show_decisions(result: Decisions) -> Iterator[str]:
    """Yield what was decided of skills and of variables."""
    if not result.entries and not result.variables:
        yield "Nothing was decided yet."
        return
    rows = [
        (each.skill, each.verdict, "yes" if each.current else "no", each.digest[:16] or "old", each.path)
        for each in result.entries
    ]
    yield Table(("SKILL", "DECISION", "CURRENT", "DIGEST", "PATH"), rows)
    if result.variables:
        yield ""
        cells = [(use.variable, use.host, use.project) for use in result.variables]
        yield Table(("VARIABLE", "HOST", "PROJECT"), cells)
