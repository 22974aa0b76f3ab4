"""What lies in agents' folders: each skill as the agent finds it, and as it would be if it were listed.

Some folders several agents read; people know those by the agents.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillc import compiler, paths
from skillc.library.records import LEFT_OUT, ON_DEMAND, DeploymentRecord, is_path_target, read_deployments
from skillc.listing.budget import Candidate
from skillc.listing.commands import Place, describe, find_commands, read_field
from skillc.listing.rules import Rule, read_rules
from skillc.skills.document import NotYaml, load_yaml, main_file, parse, read_main_file

POLICY = os.path.join("agents", "openai.yaml")
MAX_POLICY = 1 << 16  # bytes

File = tuple[str, Mapping[str, Any], str]  # the name of a SKILL.md, its fields, and its text


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill at `path` in an agent's folder: as it is, and as it would be listed; ours has a record."""

    path: str
    candidate: Candidate
    listed: Candidate
    record: DeploymentRecord | None

    @property
    def is_foreign(self) -> bool:
        """Whether it is a listed skill that skc did not put there, but no command."""
        return self.record is None and bool(self.candidate.folder) and not self.candidate.is_hidden


def user_places(rule: Rule) -> list[Place]:
    return _once((folder, "user") for folder in rule.user_folders())


def project_places(rule: Rule, cwd: str) -> list[Place]:
    return _once((folder, "project") for folder in rule.project_folders(cwd))


def all_places(rule: Rule, cwd: str) -> list[Place]:
    """Return the folders that an agent reads, in its order, each once."""
    user, project = user_places(rule), project_places(rule, cwd)
    return _once(user + project if rule.first == "user" else project + user)


def plain_place(agent: compiler.Agent) -> list[Place]:
    """Return the folder of an agent that was not measured."""
    return [(os.path.join(paths.user_home() or "", *agent.user.split("/")), "user")]


def _once(places: Iterable[Place]) -> list[Place]:
    unique: dict[str, Place] = {}
    for folder, where in places:
        unique.setdefault(os.path.realpath(folder), (folder, where))
    return list(unique.values())


class Folders:
    """A look at agents' folders, in which each file is read once, however many agents read it."""

    def __init__(self) -> None:
        self._records = {record.path: record for record in read_deployments()}
        self._files: dict[str, File | None] = {}

    def find(self, rule: Rule | None, places: Sequence[Place], cwd: str = "") -> list[FoundSkill]:
        """Return the skills of folders as an agent finds them; of one name, the first.

        Those that are left out of a folder of ours come after those that are in it, and commands after all.
        `cwd` is where a project's settings count.
        """
        found: dict[str, FoundSkill] = {}
        for folder, where in places:
            here = _folders_with_skills(folder)
            away = [
                os.path.basename(record.path)
                for record in self._records.values()
                if record.method == LEFT_OUT and os.path.dirname(record.path) == folder
            ]
            for name in (*here, *sorted({*away} - {*here})):
                skill = self._look(rule, os.path.join(folder, name), where)
                if skill is not None:
                    found.setdefault(skill.candidate.name, skill)
        commands = find_commands(rule, places, cwd) if rule else ()
        return [*found.values(), *(FoundSkill(each.path, each, each, None) for each in commands)]

    def _look(self, rule: Rule | None, path: str, where: str) -> FoundSkill | None:
        record = self._records.get(path)
        if record is None or record.state not in (ON_DEMAND, LEFT_OUT):
            candidate = self._describe(rule, path, path, where)
            return FoundSkill(path, candidate, candidate, record) if candidate else None
        listed = self._describe(rule, record.runtime, path, where)
        if listed is None:
            return None
        if record.state == LEFT_OUT:
            return FoundSkill(path, replace(listed, is_hidden=True), listed, record)
        candidate = self._describe(rule, path, path, where)
        return FoundSkill(path, candidate, listed, record) if candidate else None

    def _describe(self, rule: Rule | None, folder: str, path: str, where: str) -> Candidate | None:
        """Return what an agent calls a skill and says of it, and whether it is on demand there."""
        file = self._read(folder)
        if file is None:
            return None
        main, fields, body = file
        name, description, is_hidden = os.path.basename(path), describe(rule, fields, body), False
        title = read_field(fields, "name") if rule and rule.name == "field" else ""
        if rule and rule.hidden_by == "policy":
            description = " ".join(description.split())
            is_hidden = _is_on_demand(folder)
        elif rule and rule.hidden_by == "field":
            is_hidden = fields.get("disable-model-invocation") is True
        return Candidate(title or name, description, os.path.join(path, main), name, where, is_hidden)

    def _read(self, folder: str) -> File | None:
        key = os.path.realpath(folder)
        if key not in self._files:
            try:
                document = parse(read_main_file(folder))
                body = document.data[document.body :].decode("utf-8", "replace")
                fields = document.frontmatter.fields if document.frontmatter else {}
                self._files[key] = main_file(folder), fields, body
            except Exception:  # the agent can't read it either
                self._files[key] = None
        return self._files[key]


def _folders_with_skills(folder: str) -> Collection[str]:
    try:
        return sorted(
            name
            for name in os.listdir(folder)
            if name[0] != "." and os.path.isdir(os.path.join(folder, name))
        )
    except OSError:
        return ()


def _is_on_demand(folder: str) -> bool:
    """Return whether `agents/openai.yaml` keeps a skill out of the listing."""
    try:
        text = paths.read_regular(os.path.join(folder, POLICY), MAX_POLICY).decode("utf-8", "replace")
        value = load_yaml(text).value
    except (OSError, NotYaml):
        return False
    policy = value.get("policy") if isinstance(value, dict) else None
    return isinstance(policy, dict) and policy.get("allow_implicit_invocation") is False


def describe_targets(targets: Iterable[compiler.Target]) -> list[str]:
    """Return what people call targets: a shared folder with the agents that are here and read it.

    shared (.agents/skills): codex, gemini-cli
    """
    here = compiler.agents_here()
    return [_describe_target(name, directory, here) for name, directory in targets]


def join_targets(targets: Iterable[compiler.Target]) -> str:
    """Return what people call targets in one line: those of one agent each come first."""
    labels = describe_targets(targets)
    single = ", ".join(label for label in labels if ":" not in label)
    return "; ".join(filter(None, (single, *(label for label in labels if ":" in label))))


def _describe_target(name: str, directory: str, here: Iterable[compiler.Agent]) -> str:
    shared = next((each for each in compiler.SHARED if directory.endswith(os.path.join(os.sep, each))), "")
    if not shared or is_path_target(name):
        return name
    is_user = directory == os.path.join(paths.user_home() or os.sep, *shared.split("/"))
    rules = read_rules()
    readers = []
    for agent in here:
        rule = rules.get(agent.name)
        folders = () if rule is None else rule.user if is_user else rule.project
        if shared in (agent.user if is_user else agent.project, *folders):
            readers.append(agent.name)
    return f"shared ({shared}){': ' if readers else ''}{', '.join(readers)}"
