"""Set an agent up for skc, or take that back: the program, the MCP server, the prompt hook, the permission.

Each part is an entry in a file of the agent's. It is put into the text or cut from it, so that every other
byte stays (`hooks`, `clients`, `setup_record`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillc import paths
from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, SkillcError
from skillc.listing import read_rules
from skillc.setup import clients, mcp_entry
from skillc.setup.edits import Edit, FileRecord, SetupChange, read_file_records, write_edits
from skillc.setup.hooks import HOOKS, Part, hook_entry, hook_part, is_ignored
from skillc.setup.listing import ListingPlan, config_path, plan_listing
from skillc.setup.program import Link, find_program, own_link, plan_link, plan_unlink
from skillc.shared_files import read_text
from skillc.surface import Here, Person

# What the hook that permits reading is asked about: matchers of tools, each with a condition.
PERMISSIONS = (("Bash", "Bash(skc *)"), (f"mcp__{mcp_entry.NAME}__.*", ""))


@dataclass(frozen=True, slots=True)
class _Options:
    """What to set up, and whether to ask."""

    mcp: bool
    hook: bool
    permission: bool
    listing: bool
    dry_run: bool
    yes: bool
    undo: bool


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What changes for an agent, and what the user has to do next."""

    agent: str
    changes: tuple[SetupChange, ...]
    next: str | None
    display: str = hidden("")
    own: str = hidden("")  # of `next`, what is about this agent alone


@dataclass(frozen=True, slots=True)
class Setups(Result):
    """The changes for all agents, which are written unless they were only to be shown, or declined."""

    agents: tuple[AgentSetup, ...]
    is_written: bool = hidden(True)
    advice: str = hidden("")  # what the user has to do next for all of them


def set_up(
    here: Here,
    *names: str,
    mcp: bool = True,
    hook: bool = True,
    permission: bool = True,
    listing: bool = True,
    dry_run: bool = False,
    yes: bool = False,
    undo: bool = False,
) -> Setups:
    """Make agents use skc, those that are named or all that are here, or take that back with `undo`.

    The changes are shown and agreed to first. Raises InvalidOption for an agent that is not known, and where
    no one can answer.
    """
    if undo and not (mcp and hook and permission and listing):
        raise InvalidOption("--undo takes all of it out; leave --no-mcp and the like away")
    options = _Options(mcp, hook, permission, listing, dry_run, yes, undo)
    recorded = read_file_records()
    agents = list(dict.fromkeys(_find_agent(name, options) for name in names)) or _find_agents(
        options, recorded
    )
    plan = _make_plan(agents, options, recorded, here.cwd)
    changes: dict[str, list[SetupChange]] = {agent: [] for agent in agents}
    if agents and plan.link.path:
        changes[agents[0]].append(SetupChange(plan.link.path, f"link to {plan.link.target}"))
    for edit in plan.edits:
        changes[edit.agent] += edit.changes()
    for agent, change in plan.listing.changes():
        changes[agent].append(change)
    agreed = _agree(plan, options, here.person)
    if agreed:
        here.tell(*plan.write())
    advice = _advise_moved(recorded) if options.undo else _advise_path(plan.link)
    setups = tuple(
        _describe(agent, changes[agent], plan.listing.advise(agent), advice, options) for agent in agents
    )
    return Setups(setups, agreed, advice)


def _describe(
    agent: str, changes: Sequence[SetupChange], excess: str, advice: str, options: _Options
) -> AgentSetup:
    own = "; ".join(filter(None, (_advise(agent, options, bool(changes)), excess)))
    following = "; ".join(filter(None, (own, advice))) or None
    return AgentSetup(agent, tuple(changes), following, _display(agent), own)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that changes: files, the link, the listings. To undo, files in `forgotten` have no record then."""

    edits: Sequence[Edit]
    link: Link
    listing: ListingPlan
    forgotten: Sequence[str] | None
    cwd: str

    def write(self) -> tuple[Sequence[Diagnostic], Sequence[SkillcError]]:
        write_edits(self.edits, self.link, self.forgotten)
        return self.listing.write(self.cwd)

    def lines(self) -> Iterator[str]:
        if self.link.path:
            yield f"{paths.short_path(self.link.path)}: link to {self.link.target}\n"
        for edit in self.edits:
            before = read_text(edit.path)
            yield f"{paths.short_path(edit.path)}:\n{clients.compare(before, edit.apply(before) or '')}\n"
        yield from self.listing.lines()


def _make_plan(
    agents: Sequence[str], options: _Options, recorded: Mapping[str, FileRecord], cwd: str
) -> Plan:
    link = Link() if options.undo else plan_link()
    program = "" if options.undo else find_program(link)
    edits = [edit for agent in agents for edit in _plan(agent, options, recorded, program)]
    shared = {own_link(), config_path()}  # which go with the last agent
    is_over = options.undo and not recorded.keys() - {edit.path for edit in edits} - shared
    forgotten = [edit.path for edit in edits]
    if is_over:
        record = recorded.get(own_link())
        link, forgotten = plan_unlink(record.before if record else None), [*forgotten, *shared]
    listing = ListingPlan(())
    if options.listing and (is_over or not options.undo):
        listing = plan_listing(agents, recorded, cwd, undo=options.undo, yes=options.yes)
    every = [*edits, listing.edit] if listing.edit else edits
    needed = [edit for edit in every if edit.is_needed()]
    return Plan(needed, link, listing, forgotten if options.undo else None, cwd)


def _find_agent(name: str, options: _Options) -> str:
    """Return the agent of a name, as the table of servers calls it; refuse one that is not here."""
    display, client = clients.find_client(name, "setup", needs_files=True)
    key = next((key for key, value in clients.AGENTS.items() if value is client), "")
    if not key:
        hint = f"hint: 'skc mcp --install {name}' prints the entry of the MCP server to add"
        raise InvalidOption(f"skc does not know the files of {display}, and can't set it up", hint)
    if not options.undo and not _is_here(key):
        hint = "hint: install it and start it once, then run this again"
        raise SkillcError(f"{display} is not here: neither its program nor its folder", hint)
    return key


def _find_agents(options: _Options, recorded: Mapping[str, FileRecord]) -> list[str]:
    """Return the agents that are here; to undo, those whose files were changed."""
    if options.undo:
        changed = [key for key in clients.AGENTS if recorded.keys() & set(_files(key))]
        return changed or [key for key in clients.AGENTS if recorded and _is_here(key)]
    agents = [key for key in clients.AGENTS if _is_here(key)]
    if not agents:
        raise SkillcError("no agent that skc can set up is here", "hint: install one, and start it once")
    return agents


def _files(key: str) -> Iterator[str]:
    yield clients.agent_file(clients.AGENTS[key].user)
    if key in HOOKS:
        yield clients.agent_file(HOOKS[key].file)


def _is_here(key: str) -> bool:
    rule = next((rule for name, rule in read_rules().items() if name in (key, f"{key}-cli")), None)
    return rule.is_installed() if rule else os.path.isdir(os.path.dirname(next(_files(key))))


def _display(key: str) -> str:
    return clients.find_client(key, "setup")[0]


def _plan(agent: str, options: _Options, recorded: Mapping[str, FileRecord], program: str) -> Iterator[Edit]:
    """Yield the edits of an agent's files, one for each file."""
    files: dict[str, list[Part]] = {}
    client, hooks = clients.AGENTS[agent], HOOKS.get(agent)
    if options.mcp:
        path = clients.agent_file(client.user)
        files.setdefault(path, []).append(_server_part(client, path))
    if hooks is not None and options.hook:
        entries = [hook_entry(program, "prompt", agent)]
        part = hook_part("prompt hook", hooks.prompt, "prompt", entries)
        files.setdefault(clients.agent_file(hooks.file), []).append(part)
    if hooks is not None and options.permission and hooks.permission:
        entries = [hook_entry(program, "permission", agent, *each) for each in PERMISSIONS]
        part = hook_part("permission to read installed skills", hooks.permission, "permission", entries)
        files.setdefault(clients.agent_file(hooks.file), []).append(part)
    for path, parts in files.items():
        yield Edit(agent, path, tuple(parts), recorded.get(path), options.undo)


def _server_part(client: clients.Agent, path: str) -> Part:
    def cut(text: str) -> str:
        entry = mcp_entry.find_entry(text, client, path)
        is_ours = entry is not None and mcp_entry.is_our_entry(entry, client)
        return mcp_entry.cut_entry(text, client, path) if is_ours else text

    put = partial(mcp_entry.put_entry, agent=client, path=path, start=mcp_entry.command())
    return Part("MCP server", put, cut, () if path.endswith(".toml") else ((client.key,),))


def _advise(agent: str, options: _Options, is_changed: bool) -> str:
    """Return what the user has to do next for an agent."""
    advice = [advice] if not options.undo and (advice := _advise_file(agent, options)) else []
    advice += [f"restart {_display(agent)}, which reads this when it starts"] if is_changed else []
    if is_changed and options.hook and not options.undo and agent in HOOKS:
        advice += [HOOKS[agent].next] if HOOKS[agent].next else []
    return "; ".join(advice)


def _advise_path(link: Link) -> str:
    return f"add this line to your shell's profile, so that agents find skc: {link.line}" if link.line else ""


def _advise_moved(recorded: Mapping[str, FileRecord]) -> str:
    """Return what is to be done with a file that was set up where no agent has its files now."""
    known = {own_link(), config_path()}.union(*map(_files, clients.AGENTS))
    moved = [path for path in sorted(recorded) if path not in known]
    if not moved:
        return ""
    text = "run this with the variable that moved it then (CLAUDE_CONFIG_DIR, CODEX_HOME, XDG_CONFIG_HOME)"
    return f"setup changed '{paths.short_path(moved[0])}', too: {text}"


def _advise_file(agent: str, options: _Options) -> str:
    """Return what is to be done with the file of an agent's hooks, so that it is read."""
    path = clients.agent_file(HOOKS[agent].file) if agent in HOOKS else ""
    if not path or not (options.hook or options.permission) or not is_ignored(agent, read_text(path)):
        return ""
    text = f"{_display(agent)} ignores a file with comments, or with a comma before a bracket"
    return f"take those out of '{paths.short_path(path)}': {text}"


def _agree(plan: Plan, options: _Options, person: Person) -> bool:
    """Show the changes, and return whether to write them."""
    text = "\n".join(plan.lines())
    if not text and not plan.listing.lists_all:
        return True
    if options.dry_run or options.yes:
        person.show(text)
        return options.yes and not options.dry_run
    if not person.can_answer:
        raise InvalidOption(
            "setup asks before it writes, and no one can answer here; give --yes or --dry-run"
        )
    return person.confirm(text, "Write this?")
