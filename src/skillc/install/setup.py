"""Set an agent up for skc, or take that back: the program, the MCP server, the prompt hook, the permission.

Each part is an entry in a file of the agent's. It is put into the text or cut from it, so that every other
byte stays (`hooks`, `clients`, `setup_record`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillc import paths
from skillc.contract import Result, hidden
from skillc.errors import InvalidOption, SkillcError
from skillc.install import clients
from skillc.install.hooks import HOOKS, Part, hook_entry, hook_part
from skillc.install.program import find_script, read_login_path
from skillc.install.setup_record import FileRecord, change_file_records, read_file_records
from skillc.jsonc import cut_value, find_value, parse_settings
from skillc.listing import read_rules
from skillc.shared_files import read_file, read_text, replace_file, rewrite_file
from skillc.startup import sha256_hex
from skillc.surface import UNATTENDED, Person

# What the hook that permits reading is asked about: matchers of tools, each with a condition.
PERMISSIONS = (("Bash", "Bash(skc *)"), (f"mcp__{clients.NAME}__.*", ""))
PATH_LINE = 'export PATH="$HOME/.local/bin:$PATH"'


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """What to set up, and whether to ask."""

    mcp: bool = True
    hook: bool = True
    permission: bool = True
    dry_run: bool = False
    yes: bool = False
    undo: bool = False


@dataclass(frozen=True, slots=True)
class SetupChange:
    """What changes in a file."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What changes for an agent, and what the user has to do next."""

    agent: str
    changes: tuple[SetupChange, ...]
    next: str | None
    display: str = hidden("")


@dataclass(frozen=True, slots=True)
class Setups(Result):
    """The changes for all agents, which are written unless they were only to be shown, or declined."""

    agents: tuple[AgentSetup, ...]
    is_written: bool = hidden(True)


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of a file."""

    agent: str
    path: str
    parts: tuple[Part, ...]
    record: FileRecord | None
    undo: bool

    def apply(self, text: str) -> str | None:
        """Return the text as it is to be; None where the file goes."""
        try:
            if self.undo:
                return take_out(text, self.parts, self.record or FileRecord())
            for part in self.parts:
                text = part.put(text)
            return text
        except (ValueError, IndexError, RecursionError, TypeError) as error:
            reason = f"skc can't change it ({error}); nothing was written"
            raise SkillcError(f"'{self.path}' is not as {self.agent} reads it, and {reason}") from None

    def changes(self) -> Iterator[SetupChange]:
        """Yield what changes in the file."""
        text = read_text(self.path)
        for part in self.parts:
            if (part.cut(text) if self.undo else part.put(text)) != text:
                yield SetupChange(self.path, part.what)

    def is_needed(self) -> bool:
        text = read_file(self.path)
        return not (self.undo and text is None) and self.apply(text or "") != text


@dataclass(frozen=True, slots=True)
class Link:
    """A link to `skc` that is to be made, or to go, at `path`; `line` is one for the shell's profile."""

    path: str = ""
    target: str = ""
    line: str = ""


def set_up(names: Sequence[str], options: SetupOptions, person: Person = UNATTENDED) -> Setups:
    """Set agents up, those that are named or all that are here; with `undo`, take it back.

    The changes are shown and agreed to first. Raises InvalidOption for an agent that is not known, and where
    no one can answer.
    """
    recorded = read_file_records()
    agents = list(dict.fromkeys(_find_agent(name, options) for name in names)) or _find_agents(
        options, recorded
    )
    link = Link() if options.undo else _plan_link()
    program = "" if options.undo else _find_program(link)
    plan = [edit for agent in agents for edit in _plan(agent, options, recorded, program)]
    edits = [edit for edit in plan if edit.is_needed()]
    link = _plan_unlink(recorded, edits) if options.undo else link
    changes = {
        agent: [c for edit in edits if edit.agent == agent for c in edit.changes()] for agent in agents
    }
    if agents and link.path:
        changes[agents[0]].insert(0, SetupChange(link.path, f"link to {link.target}"))
    agreed = _agree(edits, link, options, person)
    if agreed:
        _write_all(edits, link, options.undo)
    return Setups(
        tuple(
            AgentSetup(
                agent,
                tuple(changes[agent]),
                _advise(agent, link, options, bool(changes[agent])),
                _display(agent),
            )
            for agent in agents
        ),
        is_written=agreed,
    )


def _find_agent(name: str, options: SetupOptions) -> str:
    """Return the agent of a name, as the table of servers calls it; refuse one that is not here."""
    display, client = clients.find_client(name, "setup")
    key = next((key for key, value in clients.AGENTS.items() if value is client), "")
    if not key:
        hint = f"hint: 'skc mcp --install {name}' prints the entry of the MCP server to add"
        raise InvalidOption(f"skc does not know the files of {display}, and can't set it up", hint)
    if not options.undo and not _is_here(key):
        hint = "hint: install it and start it once, then run this again"
        raise SkillcError(f"{display} is not here: neither its program nor its folder", hint)
    return key


def _find_agents(options: SetupOptions, recorded: Mapping[str, FileRecord]) -> list[str]:
    """Return the agents that are here; to undo, those whose files were changed."""
    if options.undo:
        return [key for key in clients.AGENTS if recorded.keys() & set(_files(key))]
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


def _plan(
    agent: str, options: SetupOptions, recorded: Mapping[str, FileRecord], program: str
) -> Iterator[Edit]:
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
        entry = clients.find_entry(text, client, path)
        is_ours = entry is not None and clients.is_our_entry(entry, client)
        return clients.cut_entry(text, client, path) if is_ours else text

    put = partial(clients.put_entry, agent=client, path=path, start=clients.command())
    return Part("MCP server", put, cut, () if path.endswith(".toml") else ((client.key,),))


def _own_link() -> str:
    home = paths.user_home()
    return os.path.join(home, ".local", "bin", "skc") if home else ""


def _find_program(link: Link) -> str:
    """Return the path of `skc` by which hooks start it: our link, which stays when skc is updated."""
    script, own = find_script(), _own_link()
    if not script or any(part.startswith("archive-v") for part in script.split(os.sep)):
        text = "skc is not installed: it runs from a cache, or has no program"
        raise SkillcError(text, "hint: 'uv tool install skillc' or 'pipx install skillc' installs it")
    return own if link.path or (own and os.path.realpath(own) == os.path.realpath(script)) else script


def _plan_link() -> Link:
    """Return the link by which a login shell finds this `skc`; an empty one where it finds one already."""
    script, own, login = find_script(), _own_link(), read_login_path()
    path = login if login is not None else os.environ.get("PATH", "")
    if not script or not own or os.name == "nt" or shutil.which("skc", path=path):
        return Link()
    line = "" if os.path.dirname(own) in path.split(os.pathsep) else PATH_LINE
    return Link(line=line) if os.path.lexists(own) else Link(own, script, line)


def _plan_unlink(recorded: Mapping[str, FileRecord], edits: Sequence[Edit]) -> Link:
    """Return the link that was made for agents, once none of them needs it."""
    path = _own_link()
    target = recorded[path].before if path in recorded else None
    others = recorded.keys() - {edit.path for edit in edits} - {path}
    is_ours = target and os.path.islink(path) and os.readlink(path) == target
    return Link(path, target or "") if is_ours and not others else Link()


def _advise(agent: str, link: Link, options: SetupOptions, is_changed: bool) -> str | None:
    """Return what the user has to do next."""
    advice = [f"restart {_display(agent)}, which reads this when it starts"] if is_changed else []
    if is_changed and options.hook and not options.undo and agent in HOOKS:
        advice += [HOOKS[agent].next] if HOOKS[agent].next else []
    if link.line:
        advice.append(f"add this line to your shell's profile, so that agents find skc: {link.line}")
    return "; ".join(advice) or None


def _agree(edits: Sequence[Edit], link: Link, options: SetupOptions, person: Person) -> bool:
    """Show the changes, and return whether to write them."""
    if not edits and not link.path:
        return True
    text = "\n".join(_describe(edits, link))
    if options.dry_run or options.yes:
        person.show(text)
        return options.yes and not options.dry_run
    if not person.can_answer:
        raise InvalidOption(
            "setup asks before it writes, and no one can answer here; give --yes or --dry-run"
        )
    return person.confirm(text, "Write this?")


def _describe(edits: Iterable[Edit], link: Link) -> Iterator[str]:
    if link.path:
        yield f"{paths.short_path(link.path)}: link to {link.target}\n"
    for edit in edits:
        before = read_text(edit.path)
        yield f"{paths.short_path(edit.path)}:\n{clients.compare(before, edit.apply(before) or '')}\n"


def _write_all(edits: Sequence[Edit], link: Link, undo: bool) -> None:
    """Write all files or none: what was written is put back where a later one fails."""
    written: list[tuple[Edit, str | None, str | None]] = []
    try:
        for edit in edits:
            written.append((edit, *rewrite_file(edit.path, edit.apply)))
        if link.path and undo:
            os.unlink(link.path)
        elif link.path:
            os.makedirs(os.path.dirname(link.path), exist_ok=True)
            os.symlink(link.target, link.path)
        changes = {
            edit.path: None if undo else _record(edit, before, after) for edit, before, after in written
        }
        change_file_records(
            changes | ({link.path: None if undo else FileRecord(before=link.target)} if link.path else {})
        )
    except (OSError, SkillcError) as error:
        for edit, before, after in written:
            if read_file(edit.path) == after:
                replace_file(edit.path, before)
        if isinstance(error, SkillcError):
            raise
        place = error.filename or link.path
        raise SkillcError(f"can't write '{place}': {error.strerror}; nothing was changed") from None


def take_out(text: str, parts: Sequence[Part], record: FileRecord) -> str | None:
    """Return a text without our entries, as it was before where nothing else changed; None for no file."""
    if record.before is not None and record.after == sha256_hex(text.encode()):
        return record.before
    for part in reversed(parts):
        text = part.cut(text)
    for path in record.created:
        if find_value(parse_settings(text), path) in ({}, []):
            text = cut_value(text, path)
    return None if record.is_new and text.strip() in ("", "{}") else text


def _record(edit: Edit, before: str | None, after: str | None) -> FileRecord:
    """Return how a file was before, as far as cutting our entries does not give that back."""
    old = edit.record or FileRecord(is_new=before is None)
    base = before if edit.record is None else take_out(before or "", edit.parts, old)
    value = {} if edit.path.endswith(".toml") else parse_settings(before or "")
    around = [path for part in edit.parts for path in part.containers]
    created = {*old.created, *(path for path in around if find_value(value, path) is None)}
    record = FileRecord(old.is_new, tuple(sorted(created, key=len, reverse=True)))
    if take_out(after or "", edit.parts, record) == base:
        return record
    return FileRecord(record.is_new, record.created, base, sha256_hex((after or "").encode()))
