"""Simulate what an agent does with its budget: which descriptions are whole, cut, or left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from skillc.listing.rules import Rule

WHOLE, CUT, NAME, ON_DEMAND, ABSENT = "whole", "cut", "name", "on-demand", "absent"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill as an agent finds it; `is_hidden` when it is on demand. `where` is `user` or `project`.

    `folder` is the name of its folder, empty for a command.
    """

    name: str
    description: str
    path: str
    folder: str
    where: str
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a listing: for each candidate its state and the characters shown; sums of all lines."""

    states: tuple[tuple[str, int], ...]
    used: int
    needed: int


def simulate_listing(rule: Rule, candidates: Sequence[Candidate], budget: int | None) -> Outcome:
    """Return what the agent shows of each skill, in the order in which it lists them.

    `budget` is the most that its listing may take, or None.
    """
    lines = [Line(rule, each) for each in candidates]
    listed = [line for line in lines if line.is_listed]
    names = {line.candidate.name for line in listed}
    own = own_lines(rule, names)
    everything = own + listed
    needed = sum(line.cost(line.wanted) for line in everything)
    if budget is not None and needed > budget:
        {"fit": _fit, "stop": _stop, "even": _even}[rule.overflow](own, listed, budget)
    used = sum(line.cost(line.shown) for line in everything if line.shown is not None)
    return Outcome(tuple(line.state() for line in lines), used, needed)


def own_lines(rule: Rule, names: Collection[str]) -> list[Line]:
    """Return the lines of the agent's own skills, but for those of which another one has the name."""
    return [
        Line(rule, Candidate(name, "x" * size, "", name, "builtin"))
        for name, size in rule.own.items()
        if name not in names
    ]


class Line:
    """A line of a listing: how long its description is, how much is wanted, and how much is shown.

    `shown` is None for a skill that is not there at all, 0 for one by its name alone.
    """

    def __init__(self, rule: Rule, candidate: Candidate) -> None:
        self.rule = rule
        self.candidate = candidate
        text = escape(candidate.description) if "<" in rule.line else candidate.description
        self.length = len(text)
        is_long = bool(rule.longest) and len(candidate.description) > rule.longest
        self.wanted = rule.longest if is_long else self.length
        is_absent = (is_long and rule.too_long == "absent") or not (candidate.description or rule.without)
        self.is_listed = not candidate.is_hidden and not is_absent
        self.shown: int | None = self.wanted if self.is_listed else None
        values = {each: getattr(candidate, each) for each in ("name", "folder", "path", "where")}
        self.rest = rule.measure(rule.line.format(description="", **values))
        self.alone = rule.measure(rule.names.format(**values))
        self.sizes = (
            range(self.length + 1)
            if text.isascii() and text.isprintable()
            else [0, *accumulate(0 if c == rule.free else rule.measure(c) for c in text)]
        )

    @property
    def can_be_whole(self) -> bool:
        return self.is_listed and self.wanted == self.length

    def cost(self, shown: int | None) -> int:
        """Return what a line with so much of its description takes."""
        if shown is None:
            return 0
        size = self.rest + self.sizes[shown] if shown else self.alone
        return -(-size // self.rule.unit) * self.rule.unit

    def state(self) -> tuple[str, int]:
        if self.candidate.is_hidden:
            return ON_DEMAND, 0
        if self.shown is None:
            return ABSENT, 0
        if self.shown >= self.length:
            return WHOLE, len(self.candidate.description)
        return (CUT, self.shown) if self.shown else (NAME, 0)


def _fit(own: Sequence[Line], listed: Sequence[Line], budget: int) -> None:
    """Give each description in turn that still fits; all others are names."""
    room = budget + 1 - sum(line.cost(line.shown) for line in own)  # no line break at the end
    room -= sum(line.cost(0) for line in listed)
    for line in listed:
        more = line.cost(line.wanted) - line.cost(0)
        line.shown = line.wanted if more <= room else 0
        room -= more if line.shown else 0


def _stop(own: Sequence[Line], listed: Sequence[Line], budget: int) -> None:
    """List until one does not fit; it and all behind it are names."""
    room = budget
    for line in (*listed, *own):
        room = room - line.cost(line.wanted) if line.cost(line.wanted) <= room else -1
        line.shown = line.wanted if room >= 0 else 0


def _even(own: Sequence[Line], listed: Sequence[Line], budget: int) -> None:
    """Give all names, then a character of its description to each in turn, until the budget is used up."""
    lines = [*own, *listed]
    room = budget
    for line in lines:
        line.shown = 0
        room -= line.cost(0)
        if room < 0:  # even the names are too much
            line.shown = None
    growing = [line for line in lines if line.shown is not None]
    while growing:
        growing = [line for line in growing if line.shown is not None and line.shown < line.wanted]
        longer: list[Line] = []
        for line in growing:
            size = line.shown or 0
            more = line.cost(size + 1) - line.cost(size)
            if more <= room:
                line.shown = size + 1
                room -= more
                longer.append(line)
        growing = longer
