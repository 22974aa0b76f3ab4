"""Fit agents' listings: choose what each lists, show it, and deploy skills so [D75, D76]."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillc.compiler import agents_by_name, change_states
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, SkillcError, warning
from skillc.library.records import (
    LISTED,
    ON_DEMAND,
    ListingRecord,
    change_listing_record,
    read_deployments,
    read_listing_record,
)
from skillc.listing.budget import WHOLE, simulate_listing
from skillc.listing.folders import project_places, user_places
from skillc.listing.limits import NewShare, find_limit, plan_share
from skillc.listing.listing import find_agents, note_whole
from skillc.listing.more_skills import keep_more_skills
from skillc.listing.plan import Choice, Plan
from skillc.listing.rules import Rule, check_version, find_version, read_rules
from skillc.quotes import shell_quote
from skillc.settings import load_settings
from skillc.surface import UNATTENDED, Person
from skillc.text import count_of, one_line

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
    setting: str = hidden("")
    elsewhere: int = hidden(0)  # skills that it lists though they are on demand for others
    needed: int = hidden(0)  # characters of all that is listed, if all were whole
    foreign: int = hidden(0)  # skills that it lists and skc did not put there

    @property
    def excess(self) -> str:
        """What a person can do where skills that skc may not hide need more than the budget; else empty."""
        if self.elsewhere or self.needed <= self.budget:
            return ""
        if not self.foreign:
            return "what it has to list takes more: not all is shown whole"
        count = count_of(self.foreign, "skill")
        return (
            f"{count} that skc did not put there take more: 'skc import' takes them over, to be fitted then"
        )

    def lines(self) -> Iterator[str]:
        """Yield the choice with its reasons, for people."""
        yield (
            f"{self.display}: {len(self.listed)} listed, {len(self.on_demand)} on demand;"
            f" {self.used:,} of {self.budget:,} characters"
        )
        if self.setting:
            yield f"  setting    {self.setting}"
        if self.elsewhere:
            count = count_of(self.elsewhere, "skill")
            text = f"on demand there; {self.display} has no such state, and lists all"
            yield f"  {count} of another agent's folder, {text}"
        elif self.excess:
            yield f"  {self.excess}"
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
    record, window = read_listing_record(), load_settings(cwd).window
    shares: dict[str, NewShare] = {}
    if budget:
        record.table("budgets").update({rule.agent: budget for rule in rules})
        plans = ((rule.agent, plan_share(rule, budget, window)) for rule in rules if not in_project)
        shares = {agent: share for agent, share in plans if share is not None}
    plan = _plan(rules, cwd, record, shares, in_project=in_project)
    fits = tuple(_describe(plan, rule, shares.get(rule.agent)) for rule in rules)
    changes = {each.path: each.state for each in plan.choices.values() if each.is_change}
    count = len(changes) + len(shares)
    preview = Fitting(fits, count, True, diagnostics)
    if dry_run or not rules:
        return preview
    if count and not (yes or is_automatic):
        text = "\n".join([*(each.line() for each in diagnostics), *preview.lines()])
        if not (person.can_answer and person.confirm(text, "Change it?")):
            raise InvalidOption(
                "nothing changed; 'skc listing fit --yes' fits without asking, --dry-run shows the choice"
            )
    for share in shares.values():  # before anything else: an agent's file may be none that can be changed
        share.write()
    if budget:
        change_listing_record(lambda new: new.table("budgets").update({rule.agent: budget for rule in rules}))
    problems, failures = apply_states(changes)
    if not (in_project or failures):
        note_whole({each.agent: each.whole for each in fits})
    done = len(shares) + sum(each.state == changes.get(each.path) for each in read_deployments())
    return Fitting(fits, done, False, (*diagnostics, *problems), tuple(failures))


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


def _plan(
    rules: Sequence[Rule],
    cwd: str,
    record: ListingRecord,
    shares: Mapping[str, NewShare],
    *,
    in_project: bool,
) -> Plan:
    settings = load_settings(cwd)
    limits = {
        rule.agent: shares[rule.agent].limit(settings.window)
        if rule.agent in shares
        else find_limit(rule, settings.window, cwd if in_project else "")
        for rule in rules
    }
    here = [rule for rule in read_rules().values() if rule.is_installed() or rule in rules]
    readers = {rule: project_places(rule, cwd) if in_project else user_places(rule) for rule in here}
    return Plan({rule: readers[rule] for rule in rules}, readers, limits, settings, record)


def _describe(plan: Plan, rule: Rule, share: NewShare | None) -> AgentFit:
    candidates = plan.candidates(rule)
    outcome = simulate_listing(rule, candidates, plan.limits[rule.agent])
    here = {found.path for found in plan.found[rule]}
    seen = [choice for path, choice in plan.choices.items() if path in here]
    # Only what is not in its folders is on demand for an agent that has no other way to it.
    elsewhere = [] if rule.hidden_by else [each.id for each in seen if each.state == ON_DEMAND]
    choices = [each for each in seen if rule.hidden_by or each.state != ON_DEMAND]
    states = zip(candidates, outcome.states, strict=True)
    whole = [each.folder for each, (state, _) in states if state == WHOLE and each.folder]
    return AgentFit(
        rule.agent,
        plan.budgets[rule.agent],
        outcome.used,
        (*(each.id for each in choices if each.state == LISTED), *elsewhere),
        tuple(each.id for each in choices if each.state != LISTED),
        agents_by_name()[rule.agent].display,
        tuple(choices),
        tuple(whole),
        share.what if share else "",
        len(elsewhere),
        outcome.needed,
        sum(each.is_foreign for each in plan.found[rule]),
    )


def apply_states(changes: Mapping[str, str]) -> tuple[list[Diagnostic], list[SkillcError]]:
    """Deploy skills in their new states, but for those in folders that can't be written."""
    closed = {
        folder: SkillcError(
            f"can't write '{folder}'; its skills stay as they are", f"hint: chmod u+rwx {shell_quote(folder)}"
        )
        for folder in sorted(set(map(os.path.dirname, changes)))
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK)
    }
    changes = {path: state for path, state in changes.items() if os.path.dirname(path) not in closed}
    diagnostics, failures = change_states(changes) if changes else ([], [])
    return [*diagnostics, *keep_more_skills(closed)], [*closed.values(), *failures]
