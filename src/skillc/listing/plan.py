"""Choose what each agent lists, so that every listed description of ours is whole [D75].

First what a person wants always, then what was used or offered by a hook, where use fades with age, then the
shortest. Skills that skc did not put there count and stay as they are.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from skillc.compiler import Agent, DeploymentState, agents_by_name, inspect_deployment
from skillc.library import at_path
from skillc.library.records import (
    ALWAYS,
    DEMAND,
    LEFT_OUT,
    LISTED,
    ON_DEMAND,
    DeploymentRecord,
    ListingRecord,
)
from skillc.listing.budget import Candidate, Line, own_lines
from skillc.listing.folders import Folders, FoundSkill, Place
from skillc.listing.more_skills import MAX_DESCRIPTION, NAME, describe, is_more_skills
from skillc.listing.rules import CHARACTERS, Rule, read_rules
from skillc.settings import Settings
from skillc.usage import count_by_day, count_offers_by_day

HALF_LIFE = 30  # days after which a use counts half
OFFERED = 0.1  # what an offer of a hook counts, where a read counts 1
MANY_OFFERS = 10  # after which a skill that was never read of them is no more wanted than any other
SHARE = 50  # the part of the window that a listing has by default where the agent sets no limit
UNTOUCHED = (DeploymentState.OTHER, DeploymentState.EDITED, DeploymentState.GONE)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done with a skill at a path, and why."""

    path: str
    id: str
    state: str
    reason: str
    record: DeploymentRecord

    @property
    def is_change(self) -> bool:
        return self.state != self.record.state


@dataclass(slots=True)
class _Item:
    """A skill at a path of ours, with its line at each agent that can list it or leave it out."""

    path: str
    id: str
    record: DeploymentRecord
    choice: str
    hidden: str
    score: float = 0
    lines: dict[str, Line] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return max((line.cost(line.wanted) for line in self.lines.values()), default=0)

    def key(self) -> tuple[bool, float, int, str]:
        return self.choice != ALWAYS, -self.score, self.size, self.path


class Plan:
    """The choice for a set of agents, whose folders may be shared: a folder has one state of a skill."""

    def __init__(
        self,
        places: Mapping[Rule, Sequence[Place]],
        readers: Mapping[Rule, Sequence[Place]],
        limits: Mapping[str, int | None],
        settings: Settings,
        record: ListingRecord,
    ) -> None:
        self.limits = limits
        self._readers = readers
        self.budgets = {
            rule.agent: budget_of(rule.agent, limits[rule.agent], settings, record) for rule in places
        }
        folders = Folders()
        self.found = {rule: folders.find(rule, each) for rule, each in places.items()}
        self._record = record
        self._items = self._find_items()
        self.choices: dict[str, Choice] = {}
        self._choose({})
        if any(choice.state != LISTED for choice in self.choices.values()):
            self._choose({rule.agent: _more_cost(rule, each) for rule, each in places.items()})

    def _find_items(self) -> dict[str, _Item]:
        items: dict[str, _Item] = {}
        score = score_use()
        for rule, found in self.found.items():
            for each in found:
                if each.record is None or not _is_ours(each):
                    continue
                hidden = hidden_state(os.path.dirname(each.path), self._readers)
                if hidden == ON_DEMAND and not rule.hidden_by:
                    continue  # it lists what others have on demand
                item = items.get(each.path)
                if item is None:
                    choice = self._record.choice(each.path)
                    item = _Item(each.path, each.candidate.name, each.record, choice, hidden)
                    item.score = score(each.record.source)
                    items[each.path] = item
                item.lines[rule.agent] = Line(rule, each.listed)
        return items

    def _choose(self, reserve: Mapping[str, int]) -> None:
        """Give each skill in turn its whole description at every agent that sees it, as long as all fit."""
        rooms = {
            rule.agent: self.budgets[rule.agent] - self._fixed(rule) - reserve.get(rule.agent, 0)
            for rule in self.found
        }
        self.choices = {}
        for item in sorted(self._items.values(), key=_Item.key):
            state, reason = _decide(item, rooms)
            if state == LISTED:
                for agent, line in item.lines.items():
                    rooms[agent] -= line.cost(line.wanted) if line.is_listed else 0
            self.choices[item.path] = Choice(item.path, item.id, state, reason, item.record)

    def _fixed(self, rule: Rule) -> int:
        """Return what an agent's own skills take, and those that are not for us to choose."""
        others = [
            line
            for each in self.found[rule]
            if rule.agent not in getattr(self._items.get(each.path), "lines", ())
            and not is_more_skills(each.record)
            and (line := Line(rule, each.candidate)).is_listed
        ]
        lines = [*own_lines(rule, {line.candidate.name for line in others}), *others]
        return sum(line.cost(line.wanted) for line in lines)

    def candidates(self, rule: Rule) -> list[Candidate]:
        """Return what an agent will find, for a look at what it will show."""
        result, demand = [], dict[str, list[str]]()
        for each in self.found[rule]:
            if is_more_skills(each.record):
                continue
            choice = self.choices.get(each.path)
            if choice is None:
                result.append(each.candidate)
                continue
            folder, name = os.path.split(each.path)
            if choice.state != LISTED:
                demand.setdefault(folder, []).append(name)
            is_hidden = choice.state == LEFT_OUT or (choice.state == ON_DEMAND and bool(rule.hidden_by))
            result.append(replace(each.listed, is_hidden=is_hidden or each.listed.is_hidden))
        for folder, names in list(demand.items())[:1]:
            result.append(_more_skills(folder, describe(names)))
        return result


def _decide(item: _Item, rooms: Mapping[str, int]) -> tuple[str, str]:
    if item.choice == DEMAND:
        return item.hidden, "as you chose"
    lines = [(agent, line) for agent, line in item.lines.items() if not line.candidate.is_hidden]
    if item.choice == ALWAYS:
        return LISTED, "always, as you chose"
    if not lines:
        return LISTED, "on demand, as its author wants it"
    if not all(line.can_be_whole for _, line in lines):
        return item.hidden, "its description is too long to be shown whole, or missing"
    if any(line.cost(line.wanted) > rooms[agent] for agent, line in lines):
        return item.hidden, "used, but there is no room" if item.score else "no room"
    return LISTED, "used" if item.score else "short"


def _is_ours(each: FoundSkill) -> bool:
    """Return whether a skill is one that skc deployed, and that is as it was deployed."""
    record = each.record
    return (
        record is not None
        and not is_more_skills(record)
        and os.path.isdir(record.source)
        and inspect_deployment(record) not in UNTOUCHED
    )


def hidden_state(folder: str, places: Mapping[Rule, Sequence[Place]]) -> str:
    """Return how a skill is on demand in a folder: by what its agent obeys, else by being left out.

    The agent whose own folder it is decides; in one that several share, all that are here and read it.
    """
    agents = agents_by_name()
    owners = [rule for rule in read_rules().values() if _has_folder(agents[rule.agent], folder)]
    readers = [rule for rule, each in places.items() if any(folder == place for place, _ in each)]
    readers = owners if len(owners) == 1 else readers
    return ON_DEMAND if readers and all(rule.hidden_by for rule in readers) else LEFT_OUT


def _has_folder(agent: Agent, folder: str) -> bool:
    own = (os.path.join(os.sep, *each.split("/")) for each in (agent.user, agent.project) if each)
    return folder.endswith(tuple(own))


def budget_of(agent: str, own: int | None, settings: Settings, record: ListingRecord) -> int:
    """Return the characters that a listing may take: the agent's limit, or as much as the user gives it."""
    given = record.tables.get("budgets", {}).get(agent, 0) * CHARACTERS
    if own is not None:
        return min(own, given) if given else own
    return given or (settings.budget or settings.window // SHARE) * CHARACTERS


def _more_cost(rule: Rule, places: Sequence[Place]) -> int:
    """Return what the way to skills on demand takes at most, in the folder whose line is the longest."""
    lines = [Line(rule, _more_skills(folder, "x" * MAX_DESCRIPTION, "skc-")) for folder, _ in places]
    return max((line.cost(line.wanted) for line in lines), default=0)


def _more_skills(folder: str, description: str, start: str = "") -> Candidate:
    name = f"{start}{NAME}"
    return Candidate(name, description, os.path.join(folder, name, "SKILL.md"), name, "user")


def score_use() -> Callable[[str], float]:
    """Return a function that says how much a skill was used, where old use counts less."""
    today = datetime.now(UTC).date()

    def score(source: str) -> float:
        skill = at_path(source)
        offers = count_offers_by_day([skill])
        counts: list[tuple[str, float]] = [*count_by_day([skill])]
        if sum(reads for _, _, reads in offers) or sum(count for _, count, _ in offers) < MANY_OFFERS:
            counts += [(day, OFFERED * count) for day, count, _ in offers]
        return sum(count * math.exp2(-max(0, _age(day, today)) / HALF_LIFE) for day, count in counts)

    return score


def _age(day: str, today: date) -> int:
    try:
        return (today - date.fromisoformat(day)).days
    except ValueError:  # of a row that another program wrote
        return 0
