"""Read what a skill needs beside itself: other skills, programs, variables and MCP servers.

There is no standard. Of ours, which is `metadata.requires` in the frontmatter, each is a list:

    metadata:
      requires:
        skills: ["acme/pdf@^1.2"]
        programs: [pdftotext]
        environment: [PDF_KEY]
        mcp: [github]

The others are ToolHive's `toolhive.requires`, OpenClaw's `metadata.openclaw.requires`, APM's `apm.yml`, the
`plugin.json` of Claude's plugins, and Codex's `agents/openai.yaml`. They are read leniently: what has another
shape is no requirement.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillc import paths
from skillc.contract import optional
from skillc.errors import Diagnostic, SkillcError, warning
from skillc.skills.document import NotYaml, load_yaml, parse, read_main_file, read_words
from skillc.text import first_of
from skillc.versions import in_range

MAX_FILE = 1 << 20  # bytes of a file with requirements
MAX_NAMES = 100  # of one kind
_OPENCLAW = ("openclaw", "clawdbot", "clawdis")  # names that it had
_GITHUB = re.compile(r"(?:github\.com/)?([\w.-]+/[\w.-]+(?:/[\w./-]+)?)(?:#([\w./-]+))?")


@dataclass(frozen=True, slots=True)
class RequiredSkill:
    """A skill that another one needs: its name or ID, a range of versions, and where it is to be had."""

    name: str
    versions: str = optional("")
    source: str = optional("")  # as `skc add` takes it; empty where the requirement does not say

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    def label(self) -> str:
        return f"{self.name}@{self.versions}" if self.versions else self.name

    def fits(self, name: str, source: str) -> bool:
        """Return whether a skill that is installed under a name, from a source, is the one that is meant."""
        return name == self.short_name and ("/" not in self.name or f"/{source}".endswith(f"/{self.name}"))

    def accepts(self, version: str) -> bool:
        """Return whether a version is in the range, or may be: a tag, and a version that is not known."""
        is_range = bool(self.versions) and self.versions[0] in "0123456789^~<>=*xv"
        return not version or not is_range or in_range(version, self.versions)


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that a skill needs. Of each group in `any_programs`, one program will do."""

    skills: tuple[RequiredSkill, ...] = ()
    programs: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    any_programs: tuple[tuple[str, ...], ...] = ()

    def missing_here(self) -> list[str]:
        """Say which programs and variables are missing on this machine."""
        programs = [f"the program '{each}'" for each in self.programs if shutil.which(each) is None]
        programs += [
            f"one of the programs {' or '.join(group)}"
            for group in self.any_programs
            if not any(map(shutil.which, group))
        ]
        return [*programs, *(f"the variable {name}" for name in self.environment if name not in os.environ)]

    def lines(self) -> Iterator[str]:
        """Yield what is needed, for people: a line for each kind."""
        kinds = {
            "skills": [each.label() for each in self.skills],
            "programs": [*self.programs, *(" or ".join(group) for group in self.any_programs)],
            "variables": self.environment,
            "MCP servers": self.mcp,
        }
        for kind, names in kinds.items():
            if names:
                yield f"{'needs':<9} {kind} {first_of(names, 10)}"


@dataclass(slots=True)
class _Collector:
    """Gathers requirements of several dialects, each once."""

    skills: dict[str, RequiredSkill] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    environment: dict[str, None] = field(default_factory=dict)
    mcp: dict[str, None] = field(default_factory=dict)
    any_programs: dict[tuple[str, ...], None] = field(default_factory=dict)

    def add_skill(self, name: str, versions: str = "", source: str = "") -> None:
        name = name.strip().strip("/")
        if name and name.isprintable():
            self.skills.setdefault(name, RequiredSkill(name, versions.strip(), source))

    def finish(self) -> Requirements:
        return Requirements(
            tuple(self.skills.values())[:MAX_NAMES],
            tuple(self.programs)[:MAX_NAMES],
            tuple(self.environment)[:MAX_NAMES],
            tuple(self.mcp)[:MAX_NAMES],
            tuple(self.any_programs)[:MAX_NAMES],
        )


def read_requirements(folder: str) -> Requirements:
    """Return what the skill in a folder needs, in all dialects."""
    collector = _Collector()
    fields: Mapping[str, Any] = {}
    try:
        document = parse(read_main_file(folder))
        fields = document.frontmatter.fields if document.frontmatter else {}
    except (SkillcError, OSError):
        pass  # what reads the skill itself says so
    metadata = _table(fields.get("metadata"))
    _read_ours(collector, _table(metadata.get("requires")))
    _read_toolhive(collector, fields.get("toolhive.requires", metadata.get("toolhive.requires")))
    for name in _OPENCLAW:
        _read_openclaw(collector, _table(_table(metadata.get(name)).get("requires")))
    files: list[tuple[str, Callable[[_Collector, Mapping[str, Any]], None]]] = [
        ("apm.yml", _read_apm),
        (".claude-plugin/plugin.json", _read_plugin),
        ("plugin.json", _read_plugin),
        ("agents/openai.yaml", _read_codex),
    ]
    for name, read in files:
        read(collector, _load(os.path.join(folder, *name.split("/"))))
    return collector.finish()


def _load(path: str) -> Mapping[str, Any]:
    """Return the table in a file of JSON or YAML; an empty one where there is none."""
    try:
        text = paths.read_regular(path, MAX_FILE).decode()
        value = json.loads(text) if path.endswith(".json") else load_yaml(text).value
    except (OSError, ValueError, RecursionError, NotYaml):
        return {}
    return _table(value)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _words(value: object) -> dict[str, None]:
    return dict.fromkeys(word for word in read_words(value) if word.isprintable())


def _read_ours(collector: _Collector, requires: Mapping[str, Any]) -> None:
    for word in _words(requires.get("skills")):
        name, _, versions = word.partition("@")
        collector.add_skill(name, versions)
    collector.programs |= _words(requires.get("programs"))
    collector.environment |= _words(requires.get("environment"))
    collector.mcp |= _words(requires.get("mcp"))


def _read_toolhive(collector: _Collector, value: object) -> None:
    """Read references to images of a registry of containers, which skc can't fetch, or to git."""
    for word in _words(value):
        is_git = word.startswith("git://")
        path, _, fragment = word.removeprefix("git://").partition("#")
        path, _, tag = path.partition("@")
        name = (fragment or path).rpartition("/")[2].partition(":")[0]
        collector.add_skill(name, "", f"https://{path}{f'@{tag}' if tag else ''}" if is_git else "")


def _read_openclaw(collector: _Collector, requires: Mapping[str, Any]) -> None:
    collector.programs |= _words(requires.get("bins"))
    collector.environment |= _words(requires.get("env"))
    if group := tuple(_words(requires.get("anyBins"))):
        collector.any_programs[group] = None


def _read_apm(collector: _Collector, manifest: Mapping[str, Any]) -> None:
    dependencies = _table(manifest.get("dependencies"))
    for each in _list(dependencies.get("apm")):
        text = each if isinstance(each, str) else _table(each).get("git")
        match = _GITHUB.fullmatch(text) if isinstance(text, str) else None
        if match:
            ref = match[2] or (_table(each).get("ref") if isinstance(each, dict) else None)
            words = [*match[1].split("/"), *str(_table(each).get("path") or "").split("/")]
            path = "/".join(filter(None, words))
            collector.add_skill(path, "", f"{path}@{ref}" if ref else path)
    for each in _list(dependencies.get("mcp")):
        name = each if isinstance(each, str) else _table(each).get("name")
        if isinstance(name, str) and name.isprintable():
            collector.mcp[name] = None


def _read_plugin(collector: _Collector, manifest: Mapping[str, Any]) -> None:
    for each in _list(manifest.get("dependencies")):
        fields = {"name": each} if isinstance(each, str) else _table(each)
        name, versions = fields.get("name"), fields.get("version")
        if isinstance(name, str):
            name, _, _ = name.partition("@")  # its marketplace
            collector.add_skill(name, versions if isinstance(versions, str) else "")


def _read_codex(collector: _Collector, settings: Mapping[str, Any]) -> None:
    kinds = {"mcp": collector.mcp, "env_var": collector.environment, "cli": collector.programs}
    for each in _list(_table(settings.get("dependencies")).get("tools")):
        name, kind = _table(each).get("value"), _table(each).get("type")
        if isinstance(name, str) and name.isprintable() and isinstance(kind, str) and kind in kinds:
            kinds[kind][name] = None


@dataclass(frozen=True, slots=True)
class Installed:
    """A skill that is installed, as requirements look at it."""

    name: str
    source: str
    version: str
    requirements: Requirements


@dataclass(frozen=True, slots=True)
class Unmet:
    """A skill that is needed and not there, or that is there in another version or from elsewhere."""

    skill: RequiredSkill
    required_by: str
    reason: str = ""  # empty where it is missing

    def warn(self) -> Diagnostic:
        label = f"'{self.skill.label()}', {self.reason or 'which is not installed'}"
        return warning("W104", self.required_by, label)

    def line(self) -> str:
        return f"'{self.required_by}' needs '{self.skill.label()}', {self.reason or 'which is not installed'}"


def find_unmet(skills: Iterable[Installed]) -> list[Unmet]:
    """Return which required skills are missing, or conflict with what is installed."""
    installed = {skill.name: skill for skill in skills}
    unmet: list[Unmet] = []
    for skill in installed.values():
        for required in skill.requirements.skills:
            there = installed.get(required.short_name)
            if there is None:
                unmet.append(Unmet(required, skill.name))
            elif not required.fits(there.name, there.source):
                reason = f"and the '{there.name}' here is from {there.source}"
                unmet.append(Unmet(required, skill.name, reason))
            elif not required.accepts(there.version):
                unmet.append(Unmet(required, skill.name, f"and {there.version} is installed"))
    return unmet


def find_requirers(skills: Iterable[Installed], name: str, source: str) -> list[str]:
    """Return the skills that need one that is installed under a name, from a source."""
    return sorted(
        skill.name
        for skill in skills
        if skill.name != name and any(each.fits(name, source) for each in skill.requirements.skills)
    )


def find_cycle(skills: Iterable[Installed]) -> list[str]:
    """Return the names of skills that need each other in a circle, the first one again at the end."""
    needs = {each.name: [s.short_name for s in each.requirements.skills] for each in skills}
    done: set[str] = set()
    for start in needs:
        way: list[str] = []
        rest = [(start, 0)]
        while rest:
            name, depth = rest.pop()
            done.update(way[depth:])  # all that they need was looked at
            del way[depth:]
            if name in way:
                return [*way[way.index(name) :], name]
            if name in done:
                continue
            way.append(name)
            rest += [(each, depth + 1) for each in needs.get(name, ()) if each in needs]
        done.update(way)
    return []
