"""Change what agents list: fit listings, choose for one skill, take all of it back [D75, D76]."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillc import paths
from skillc.compiler import agents_by_name, change_states
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, SkillcError, warning
from skillc.library import (
    AUTO,
    DEMAND,
    LISTED,
    DeploymentRecord,
    ListingRecord,
    Skill,
    change_listing_record,
    read_deployments,
    read_listing_record,
)
from skillc.listing.budget import WHOLE, fit_listing
from skillc.listing.fit import Choice, Plan, hidden_state
from skillc.listing.folders import all_places, project_places, user_places
from skillc.listing.listing import find_agents, list_agents
from skillc.listing.more_skills import is_more_skills, keep_more_skills
from skillc.listing.rules import Rule, check_version, find_version, read_rules
from skillc.settings import load_settings
from skillc.surface import UNATTENDED, Person
from skillc.text import count_of, one_line, utf8_text

MAX_LINES = 20  # skills of one agent that a text names
USUAL = ("short", "no room")  # reasons that come last in it


@dataclass(frozen=True, slots=True)
class AgentFit:
    """What an agent lists when its listing is fitted; sizes are characters."""

    agent: str
    budget: int
    used: int
    listed: tuple[str, ...]
    on_demand: tuple[str, ...]
    display: str = hidden("")
    choices: tuple[Choice, ...] = hidden(())
    whole: tuple[str, ...] = hidden(())

    def lines(self) -> Iterator[str]:
        """Yield the choice with its reasons, for people."""
        yield (
            f"{self.display}: {len(self.listed)} listed, {len(self.on_demand)} on demand;"
            f" {self.used:,} of {self.budget:,} characters"
        )
        if self.used > self.budget:
            yield "  what skc did not put there, or has to list always, takes more: not all is shown whole"
        for state, verb in ((True, "listed"), (False, "on demand")):
            choices = [each for each in self.choices if (each.state == LISTED) == state]
            choices.sort(key=lambda each: each.reason in USUAL)
            yield from (f"  {verb:9}  {each.id} ({each.reason})" for each in choices[:MAX_LINES])
            if len(choices) > MAX_LINES:
                yield f"  {verb:9}  … and {len(choices) - MAX_LINES:,} more"


@dataclass(frozen=True, slots=True)
class Fitting(Result):
    """Listings that were fitted, or would be; `changes` are skills in agents' folders."""

    agents: tuple[AgentFit, ...]
    changes: int = hidden(0)
    is_preview: bool = hidden(False)
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    failures: tuple[SkillcError, ...] = hidden(())

    def lines(self) -> Iterator[str]:
        for each in self.agents:
            yield from map(one_line, each.lines())
        if not self.agents:
            yield "No agent whose listing was measured is here; 'skc listing' says what there is."
        elif self.is_preview:
            yield f"{count_of(self.changes, 'change')} would be made"
        else:
            yield f"{count_of(self.changes, 'change')} made; 'skc listing reset' takes all of it back"


@dataclass(frozen=True, slots=True)
class ListingChoice(Result):
    """What was chosen for a skill, or for all, and the paths in agents' folders that it changed."""

    id: str | None
    choice: str
    changed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    failures: tuple[SkillcError, ...] = hidden(())


def fit_listings(
    cwd: str,
    agents: str = "",
    *,
    budget: int = 0,
    in_project: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    is_automatic: bool = False,
    person: Person = UNATTENDED,
) -> Fitting:
    """Choose what agents list, and once a person agrees, deploy skills so.

    `budget` is in tokens, and stays. With `is_automatic` nothing is asked, and an agent that is newer than
    the one that was measured stays as it is. `in_project` is about the project's folders, else the user's.
    """
    rules, diagnostics = _find_rules(agents, is_automatic=is_automatic)
    record = read_listing_record()
    if budget:
        record.table("budgets").update({rule.agent: budget for rule in rules})
    plan = _plan(rules, cwd, record, in_project=in_project)
    fits = tuple(_describe(plan, rule) for rule in rules)
    changes = {each.path: each.state for each in plan.choices.values() if each.is_change}
    preview = Fitting(fits, len(changes), True, diagnostics)
    if dry_run or not rules:
        return preview
    if changes and not (yes or is_automatic):
        text = "\n".join([*(each.line() for each in diagnostics), *preview.lines()])
        if not (person.can_answer and person.confirm(text, "Change it?")):
            raise InvalidOption(
                "nothing changed; 'skc listing fit --yes' fits without asking, --dry-run shows the choice"
            )
    if budget:
        change_listing_record(lambda new: new.table("budgets").update({rule.agent: budget for rule in rules}))
    problems, failures = _apply(changes)
    if not in_project:
        _note_whole({each.agent: each.whole for each in fits})
    return Fitting(fits, len(changes), False, (*diagnostics, *problems), tuple(failures))


def _find_rules(agents: str, *, is_automatic: bool) -> tuple[list[Rule], tuple[Diagnostic, ...]]:
    """Return the rules of the agents that can be fitted, and what is to be said of them."""
    rules: list[Rule] = []
    diagnostics: list[Diagnostic] = []
    for agent in find_agents(agents):
        rule = read_rules().get(agent.name)
        if rule is None:
            diagnostics += [warning("W101", agent.display)] if agents else []
            continue
        newer = check_version(rule, find_version(rule))
        diagnostics += newer
        if not (newer and is_automatic):
            rules.append(rule)
    return rules, tuple(diagnostics)


def _plan(rules: Sequence[Rule], cwd: str, record: ListingRecord, *, in_project: bool) -> Plan:
    here = [rule for rule in read_rules().values() if rule.is_installed() or rule in rules]
    readers = {rule: project_places(rule, cwd) if in_project else user_places(rule) for rule in here}
    return Plan({rule: readers[rule] for rule in rules}, readers, load_settings(cwd), record)


def _describe(plan: Plan, rule: Rule) -> AgentFit:
    candidates = plan.candidates(rule)
    fit = fit_listing(rule, candidates, plan.window)
    choices = [choice for found in plan.found[rule] if (choice := plan.choices.get(found.path)) is not None]
    choices.sort(key=list(plan.choices.values()).index)
    whole = [each.folder for each, (state, _) in zip(candidates, fit.states, strict=True) if state == WHOLE]
    return AgentFit(
        rule.agent,
        plan.budgets[rule.agent],
        fit.used,
        tuple(each.id for each in choices if each.state == LISTED),
        tuple(each.id for each in choices if each.state != LISTED),
        agents_by_name()[rule.agent].display,
        tuple(choices),
        tuple(whole),
    )


def _apply(changes: Mapping[str, str]) -> tuple[list[Diagnostic], list[SkillcError]]:
    diagnostics, failures = change_states(changes) if changes else ([], [])
    return [*diagnostics, *keep_more_skills()], failures


def _note_whole(names: Mapping[str, Sequence[str]]) -> None:
    """Put on record what agents show whole, which a hook need not say again."""
    lists = {agent: list(map(utf8_text, each)) for agent, each in names.items()}
    if not lists.items() <= read_listing_record().table("whole").items():
        change_listing_record(lambda record: record.table("whole").update(lists))


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
    diagnostics, failures = _apply(changes)
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


def reset_listings(cwd: str, *, in_project: bool = False) -> ListingChoice:
    """List every skill again, forget choices and budgets, and take out what skc put there for it.

    `in_project` is about the folders of the project here, else about all others.
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

    change_listing_record(forget)
    changes = {
        record.path: LISTED
        for record in read_deployments()
        if record.state != LISTED and is_meant(record.path) and not is_more_skills(record)
    }
    diagnostics, failures = _apply(changes)
    return ListingChoice(None, AUTO, tuple(changes), tuple(diagnostics), tuple(failures))


def renew_listings(cwd: str) -> list[Diagnostic]:
    """Do what listings need after skills changed; return what is to be said of it.

    Where `[listing] fit` is set they are fitted. The way to skills on demand is kept current, and a listing
    that overflows is told.
    """
    if paths.home() is None:
        return []
    if load_settings(cwd).fit:
        fitting = fit_listings(cwd, is_automatic=True)
        diagnostics = list(fitting.diagnostics)
        if fitting.changes:
            diagnostics.append(warning("W103", count_of(fitting.changes, "skill")))
    else:
        diagnostics = keep_more_skills()
    listings = [each for each in list_agents(cwd).agents if each.measured]
    _note_whole({each.agent: each.whole_names for each in listings})
    return [*diagnostics, *(each.overflow for each in listings if each.overflow is not None)]
