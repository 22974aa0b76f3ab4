"""What each agent shows of each skill: the value behind `skc listing`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import compiler, paths
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption
from skillc.library import read_deployments
from skillc.listing.budget import ABSENT, ON_DEMAND, WHOLE, Candidate, fit_listing
from skillc.listing.rules import Rule, check_version, find_version, read_rules
from skillc.settings import load_settings
from skillc.skills import NotYaml, load_yaml, main_file, parse, read_main_file
from skillc.spelling import did_you_mean

POLICY = os.path.join("agents", "openai.yaml")
MAX_POLICY = 1 << 16  # bytes


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """A skill in an agent's folder; `shown` and `length` are characters of its description.

    Without a measured rule of the agent, the state is not known.
    """

    id: str
    path: str
    state: str | None
    shown: int
    length: int
    ours: bool
    choice: str = "auto"


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

    @property
    def listed(self) -> int:
        """The number of skills that are not on demand."""
        return sum(skill.state not in (ON_DEMAND, ABSENT) for skill in self.skills)

    @property
    def whole(self) -> int:
        return sum(skill.state == WHOLE for skill in self.skills)

    @property
    def overflows(self) -> bool:
        return self.budget is not None and self.needed > self.budget


@dataclass(frozen=True, slots=True)
class Listings(Result):
    agents: tuple[AgentListing, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for each in self.agents for diagnostic in each.diagnostics)


def list_agents(cwd: str, agents: str = "", window: int | None = None) -> Listings:
    """Return what the agents that are installed here, or those that are named, show of skills."""
    settings = load_settings(cwd)
    return Listings(
        tuple(
            _list_agent(agent, cwd, window or settings.window)
            for agent in (_named(agents) if agents else _installed())
        )
    )


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
        or (agent.name in names and agent.name not in rules and _user_folder(agent) not in folders)
    ]


def _user_folder(agent: compiler.Agent) -> str:
    return os.path.join(paths.user_home() or "", *agent.user.split("/"))


def _list_agent(agent: compiler.Agent, cwd: str, window: int) -> AgentListing:
    rule = read_rules().get(agent.name)
    ours = {record.path for record in read_deployments()}
    if rule is None:
        skills = [
            ListedSkill(
                each.name, each.path, None, 0, len(each.description), os.path.dirname(each.path) in ours
            )
            for each in _find_candidates([(_user_folder(agent), "user")], _describe_plainly)
        ]
        return AgentListing(agent.name, None, window, None, 0, 0, None, tuple(skills), agent.display)
    version = find_version(rule)
    candidates = list(_find_candidates(_places(rule, cwd), lambda *found: _describe(rule, *found)))
    fit = fit_listing(rule, candidates, window)
    return AgentListing(
        agent=agent.name,
        version=version,
        window=window,
        budget=rule.characters(window),
        needed=fit.needed,
        used=fit.used,
        measured=rule.measured.isoformat(),
        skills=tuple(
            ListedSkill(
                each.name, each.path, state, shown, len(each.description), os.path.dirname(each.path) in ours
            )
            for each, (state, shown) in zip(candidates, fit.states, strict=True)
        ),
        display=agent.display,
        diagnostics=check_version(rule, version),
    )


def _places(rule: Rule, cwd: str) -> list[tuple[str, str]]:
    """Return the folders that an agent reads, in its order, each once."""
    user = [(folder, "user") for folder in rule.user_folders()]
    project = [(folder, "project") for folder in rule.project_folders(cwd)]
    places: dict[str, tuple[str, str]] = {}
    for folder, where in user + project if rule.first == "user" else project + user:
        places.setdefault(os.path.realpath(folder), (folder, where))
    return list(places.values())


Describe = Callable[[str, str, Mapping[str, Any], bytes], tuple[str, str, bool]]


def _find_candidates(places: Sequence[tuple[str, str]], describe: Describe) -> Iterator[Candidate]:
    """Yield the skills of folders as an agent finds them; of one name, the first."""
    names: set[str] = set()
    for folder, where in places:
        for name in _folders_with_skills(folder):
            path = os.path.join(folder, name)
            try:
                file, data = main_file(path), read_main_file(path)
            except Exception:  # noqa: S112 -- the agent can't read it either
                continue
            front = parse(data).frontmatter
            title, description, is_hidden = describe(path, name, front.fields if front else {}, data)
            if title not in names:
                names.add(title)
                yield Candidate(title, description, os.path.join(path, file), name, where, is_hidden)


def _folders_with_skills(folder: str) -> Collection[str]:
    try:
        return sorted(
            name
            for name in os.listdir(folder)
            if name[0] != "." and os.path.isdir(os.path.join(folder, name))
        )
    except OSError:
        return ()


def _describe_plainly(path: str, name: str, fields: Mapping[str, Any], data: bytes) -> tuple[str, str, bool]:
    return name, _text(fields, "description"), False


def _describe(
    rule: Rule, path: str, name: str, fields: Mapping[str, Any], data: bytes
) -> tuple[str, str, bool]:
    """Return what an agent calls a skill and says of it, and whether it is on demand there."""
    description = _text(fields, "description")
    if description and rule.when and _text(fields, rule.when):
        description += f" - {_text(fields, rule.when)}"
    if not description and rule.without == "heading":
        body = data.decode("utf-8", "replace").rpartition("\n---\n")[2]
        description = next((line.lstrip("# ").strip() for line in body.splitlines() if line.strip()), "")
    if rule.hidden_by == "policy":
        description = " ".join(description.split())
        is_hidden = _is_on_demand(path)
    else:
        is_hidden = rule.hidden_by == "field" and fields.get("disable-model-invocation") is True
    return (_text(fields, "name") or name) if rule.name == "field" else name, description, is_hidden


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return "" if value is None else str(value).strip()


def _is_on_demand(folder: str) -> bool:
    """Return whether `agents/openai.yaml` keeps a skill out of the listing."""
    try:
        text = paths.read_regular(os.path.join(folder, POLICY), MAX_POLICY).decode("utf-8", "replace")
        value = load_yaml(text).value
    except (OSError, NotYaml):
        return False
    policy = value.get("policy") if isinstance(value, dict) else None
    return isinstance(policy, dict) and policy.get("allow_implicit_invocation") is False
