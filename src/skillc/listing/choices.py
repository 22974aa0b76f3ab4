"""Change what agents list: fit listings, choose for one skill, take all of it back [D75, D76]."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillc import paths
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, SkillcError, unexpected
from skillc.library import Skill
from skillc.library.records import (
    AUTO,
    DEMAND,
    LISTED,
    DeploymentRecord,
    ListingRecord,
    change_listing_record,
    read_deployments,
    read_listing_record,
)
from skillc.listing.fit import apply_states
from skillc.listing.folders import all_places
from skillc.listing.limits import restore_share
from skillc.listing.listing import find_agents
from skillc.listing.more_skills import is_more_skills
from skillc.listing.plan import hidden_state
from skillc.listing.rules import read_rules
from skillc.text import utf8_text


@dataclass(frozen=True, slots=True)
class ListingChoice(Result):
    """What was chosen for a skill, or for all, and the paths in agents' folders that it changed."""

    id: str | None
    choice: str
    changed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    failures: tuple[SkillcError, ...] = hidden(())


def choose_listing(skill: Skill, choice: str, agents: str, cwd: str) -> ListingChoice:
    """Have a skill listed always, or on demand, or leave it to 'skc listing fit', where it is deployed."""
    records = _find_records(skill, agents, cwd)
    if not records:
        raise InvalidOption(f"'{skill.name}' is deployed to no agent{' of these' * bool(agents)}")
    readers = {rule: all_places(rule, cwd) for rule in read_rules().values() if rule.is_installed()}

    def choose(record: ListingRecord) -> None:
        for each in records:
            record.choose(each.path, choice)

    before = read_listing_record()
    change_listing_record(choose)
    changes: dict[str, str] = {}
    for each in records:
        state = hidden_state(os.path.dirname(each.path), readers) if choice == DEMAND else LISTED
        is_left_to_fit = choice == AUTO and before.choice(each.path) == AUTO
        if state != each.state and not is_left_to_fit:
            changes[each.path] = state
    diagnostics, failures = apply_states(changes)
    return ListingChoice(skill.name, choice, tuple(changes), tuple(diagnostics), tuple(failures))


def _find_records(skill: Skill, agents: str, cwd: str) -> list[DeploymentRecord]:
    records = [each for each in read_deployments() if each.source == utf8_text(skill.source) and each.is_here]
    if not agents:
        return records
    folders: set[str] = set()
    for agent in find_agents(agents):
        rule = read_rules().get(agent.name)
        folders.update(folder for folder, _ in (all_places(rule, cwd) if rule else ()))
        folders.add(os.path.join(paths.user_home() or "", *agent.user.split("/")))
    names = {agent.name for agent in find_agents(agents)}
    own = [each for each in records if each.target in names]
    return own or [each for each in records if os.path.dirname(each.path) in folders]


def has_fitted() -> bool:
    """Return whether skills are on demand that no person chose: listings were fitted."""
    record = read_listing_record()
    return any(
        each.state != LISTED and record.choice(each.path) == AUTO and not is_more_skills(each)
        for each in read_deployments()
    )


def reset_listings(cwd: str, *, in_project: bool = False, keeps_choices: bool = False) -> ListingChoice:
    """List every skill again, forget choices and budgets, and take out what skc put there for it.

    `in_project` is about the folders of the project here, else about all others. With `keeps_choices`, what a
    person chose stays.
    """
    project = next(paths.project_roots(cwd), None)

    def is_meant(path: str) -> bool:
        return in_project == bool(project and paths.is_inside(path, project))

    def forget(record: ListingRecord) -> None:
        choices = record.tables.get("choices", {})
        record.tables["choices"] = {f: names for f, names in choices.items() if not is_meant(f)}
        if not in_project:
            record.tables.pop("budgets", None)
            record.tables.pop("whole", None)

    record = ListingRecord({})
    if keeps_choices:
        record = read_listing_record()
    else:
        change_listing_record(forget)
    failures = [] if in_project or keeps_choices else _restore_shares()
    changes = {
        each.path: LISTED
        for each in read_deployments()
        if each.state != LISTED
        and is_meant(each.path)
        and record.choice(each.path) == AUTO
        and not is_more_skills(each)
    }
    diagnostics, problems = apply_states(changes)
    return ListingChoice(None, AUTO, tuple(changes), tuple(diagnostics), (*failures, *problems))


def _restore_shares() -> list[SkillcError]:
    failures: list[SkillcError] = []
    for rule in read_rules().values():
        try:
            restore_share(rule)
        except (SkillcError, OSError) as error:
            failures.append(unexpected(error))
    return failures
