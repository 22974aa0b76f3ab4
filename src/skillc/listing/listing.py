"""What each agent shows of each skill: the value behind `skc listing`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillc import compiler, paths
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, warning
from skillc.library.records import AUTO, change_listing_record, read_listing_record
from skillc.listing.budget import ABSENT, ON_DEMAND, WHOLE, simulate_listing
from skillc.listing.folders import Folders, FoundSkill, all_places, plain_place
from skillc.listing.limits import find_limit
from skillc.listing.rules import check_version, find_version, read_rules
from skillc.settings import load_settings
from skillc.spelling import did_you_mean
from skillc.text import utf8_text


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """A skill in an agent's folder; `shown` and `length` are characters of its description.

    `id` is the agent's name for it, `skill` its ID where it is ours. Without a measured rule of the agent,
    the state is not known.
    """

    id: str
    path: str
    state: str | None
    shown: int
    length: int
    ours: bool
    choice: str = AUTO
    skill: str = hidden("")


@dataclass(frozen=True, slots=True)
class AgentListing:
    """What an agent puts of skills into its prompt: sizes are characters of the listing."""

    agent: str
    version: str | None
    window: int
    budget: int | None
    needed: int
    used: int
    measured: str | None
    skills: tuple[ListedSkill, ...]
    display: str = hidden("")
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    setting: str = hidden("")
    foreign: int = hidden(0)  # skills that it lists and skc did not put there

    @property
    def listed(self) -> int:
        """The number of skills that are not on demand."""
        return sum(skill.state not in (ON_DEMAND, ABSENT) for skill in self.skills)

    @property
    def whole(self) -> int:
        return sum(skill.state == WHOLE for skill in self.skills)

    @property
    def misfits(self) -> int:
        """The number of descriptions that are missing, or too long to be shown whole, with any budget."""
        if self.measured is None or self.overflows:
            return 0
        return sum(skill.state not in (WHOLE, ON_DEMAND) for skill in self.skills)

    @property
    def whole_names(self) -> list[str]:
        """The skills that are whole, as the agent's folders name them."""
        whole = (os.path.split(each.path) for each in self.skills if each.state == WHOLE)
        return [os.path.basename(folder) for folder, name in whole if name in paths.SKILL_FILES]

    @property
    def overflows(self) -> bool:
        return self.budget is not None and self.needed > self.budget and self.whole < self.listed

    @property
    def overflow(self) -> Diagnostic | None:
        """A warning about a listing with skills of ours that is too long, with the command for it."""
        if not (self.overflows and any(skill.ours for skill in self.skills)):
            return None
        return warning("W102", self.display, self.whole, self.listed)


@dataclass(frozen=True, slots=True)
class Listings(Result):
    agents: tuple[AgentListing, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for each in self.agents for diagnostic in each.diagnostics)


def list_agents(cwd: str, agents: str = "", window: int | None = None) -> Listings:
    """Return what the agents that are installed here, or those that are named, show of skills."""
    size, folders = window or load_settings(cwd).window, Folders()
    return Listings(tuple(_list_agent(agent, cwd, size, folders) for agent in find_agents(agents)))


def find_agents(names: str = "") -> list[compiler.Agent]:
    """Return the agents of a list with commas, or those that are installed here."""
    return _named(names) if names else _installed()


def _named(text: str) -> list[compiler.Agent]:
    """Return the agents of a list with commas, by their names and aliases."""
    table = compiler.agents_by_name()
    agents: list[compiler.Agent] = []
    for word in filter(None, map(str.strip, text.lower().split(","))):
        if word not in table:
            raise InvalidOption(
                f"unknown agent '{word}' for --agent; {did_you_mean(word, table) or 'see docs/agents.md'}"
            )
        agents += [table[word]] if table[word] not in agents else []
    return agents


def _installed() -> list[compiler.Agent]:
    """Return the agents that are here; of those that are not measured, one for each folder."""
    rules = read_rules()
    names = {name for name, _ in compiler.detect_targets("user", paths.current_directory())}
    folders = {folder for rule in rules.values() if rule.is_installed() for folder in rule.user_folders()}
    return [
        agent
        for agent in compiler.read_agents()
        if (agent.name in rules and rules[agent.name].is_installed())
        or (agent.name in names and agent.name not in rules and plain_place(agent)[0][0] not in folders)
    ]


def _list_agent(agent: compiler.Agent, cwd: str, window: int, folders: Folders) -> AgentListing:
    rule = read_rules().get(agent.name)
    if rule is None:
        skills = [_describe(each, None, 0, AUTO) for each in folders.find(None, plain_place(agent))]
        return AgentListing(agent.name, None, window, None, 0, 0, None, tuple(skills), agent.display)
    version = find_version(rule)
    found = folders.find(rule, all_places(rule, cwd), cwd)
    budget = find_limit(rule, window, cwd)
    outcome = simulate_listing(rule, [each.candidate for each in found], budget)
    choice = read_listing_record().choice
    return AgentListing(
        agent=agent.name,
        version=version,
        window=window,
        budget=budget,
        needed=outcome.needed,
        used=outcome.used,
        measured=rule.measured.isoformat(),
        skills=tuple(
            _describe(each, state, shown, choice(each.path))
            for each, (state, shown) in zip(found, outcome.states, strict=True)
        ),
        display=agent.display,
        diagnostics=check_version(rule, version),
        setting=rule.setting,
        foreign=sum(each.is_foreign for each in found),
    )


def _describe(found: FoundSkill, state: str | None, shown: int, choice: str) -> ListedSkill:
    each, record = found.candidate, found.record
    skill = record.skill if record is not None else ""
    size = len(each.description)
    return ListedSkill(each.name, each.path, state, shown, size, record is not None, choice, skill)


def note_whole(names: Mapping[str, Sequence[str]]) -> None:
    """Put on record what agents show whole, which a hook need not say again."""
    lists = {agent: list(map(utf8_text, each)) for agent, each in names.items()}
    if not lists.items() <= read_listing_record().table("whole").items():
        change_listing_record(lambda record: record.table("whole").update(lists))
