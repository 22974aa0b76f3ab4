"""What `skc listing` shows of each agent's listing."""

from __future__ import annotations

from collections.abc import Iterator

from skillc import listing
from skillc.cli.lines import FAINT, GOOD, STRONG, WARNING, WORDS, Line, Mark
from skillc.cli.output import table
from skillc.text import count_of, one_line


def show_listings(result: listing.Listings, *, with_skills: bool) -> Iterator[str]:
    """Yield a table of agents, what to do where a listing is too long, and perhaps every skill."""
    if not result.agents:
        yield "No agent that skc knows is here; 'skc listing --agent claude' asks about one all the same."
    rows = [_row(each) for each in result.agents]
    yield from (
        table(("AGENT", "SKILLS", "WHOLE", "CUT", "NAME", "ON DEMAND", "USED", "BUDGET"), rows)
        if rows
        else ()
    )
    for each in result.agents:
        yield from _advise(each)
    for each in result.agents if with_skills else ():
        yield ""
        yield Line(Mark(f"{each.display}: ", STRONG), count_of(len(each.skills), "skill"))
        cells = [(_state(skill), f"{skill.shown:,}", f"{skill.length:,}", skill.id) for skill in each.skills]
        yield from table(("STATE", "SHOWN", "OF", "SKILL"), cells) if cells else ()


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
