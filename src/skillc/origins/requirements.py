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
shape is no requirement. A plugin's file is in a folder around those of its skills.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any

from skillc import paths
from skillc.contract import optional
from skillc.errors import Diagnostic, SkillcError, warning
from skillc.skills.document import NotYaml, load_yaml, parse, read_main_file, read_words
from skillc.text import first_of
from skillc.versions import in_range

MAX_FILE = 1 << 20  # bytes of a file with requirements
MAX_NAMES = 100  # of one kind
MAX_TEXT = 500  # characters of a name or an address
_OPENCLAW = ("openclaw", "clawdbot", "clawdis")  # names that it had
# A repository as APM writes it: acme/skills/pdf#v1, gitlab.com/acme/skills, git@gitlab.com:acme/skills.git
_REPOSITORY = re.compile(
    r"(?:https://|git@)?(?:([\w-]+(?:\.[\w-]+)+)[/:])?([\w-]+/[\w-][\w.-]*?)(?:\.git)?(/[\w./-]+)?(?:#([\w./-]+))?"
)
_PLUGINS = (".claude-plugin/plugin.json", "plugin.json")
_CODEX = {"mcp": "mcp", "env_var": "environment", "cli": "programs"}  # its kinds of tools
Requirement = tuple[str, Any]  # its kind, and what is needed


@dataclass(frozen=True, slots=True)
class RequiredSkill:
    """A skill that another one needs: its name or ID, a range of versions, and where it is to be had.

    With `is_whole`, all the skills of the repository with this name.
    """

    name: str
    versions: str = optional("")
    source: str = optional("")  # as `skc add` takes it; empty where the requirement does not say
    is_whole: bool = optional(False)

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    def __bool__(self) -> bool:
        return bool(self.name)

    def label(self) -> str:
        return f"{self.name}@{self.versions}" if self.versions else self.name

    def fits(self, name: str, source: str) -> bool:
        """Return whether a skill that is installed under a name, from a source, is the one that is meant."""
        place = self.name if self.is_whole else self.name.rpartition("/")[0]
        is_there = not place or f"/{place}/" in f"/{source}/"
        return is_there and (self.is_whole or name == self.short_name)

    def accepts(self, version: str) -> bool:
        """Return whether a version is in the range, or may be: a tag, and a version that is not known."""
        is_range = bool(self.versions) and self.versions[0] in "0123456789^~<>=*xv"
        return not version or not is_range or in_range(version, self.versions)


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that a skill needs. Of each group of programs, one will do."""

    skills: tuple[RequiredSkill, ...] = ()
    programs: tuple[tuple[str, ...], ...] = ()
    environment: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()

    def missing_here(self) -> list[str]:
        """Say which programs and variables are missing on this machine."""
        programs = [group for group in self.programs if not any(map(shutil.which, group))]
        variables = [f"the variable {name}" for name in self.environment if name not in os.environ]
        return [
            *(f"the program '{group[0]}'" for group in programs if len(group) == 1),
            *(f"one of the programs {' or '.join(group)}" for group in programs if len(group) > 1),
            *variables,
        ]

    def lines(self) -> Iterator[str]:
        """Yield what is needed, for people: a line for each kind."""
        kinds = {
            "skills": [each.label() for each in self.skills],
            "programs": [" or ".join(group) for group in self.programs],
            "variables": self.environment,
            "MCP servers": self.mcp,
        }
        for kind, names in kinds.items():
            if names:
                yield f"{'needs':<9} {kind} {first_of(names, 10)}"


def read_requirements(folder: str, outer: Iterable[str] = ()) -> Requirements:
    """Return what the skill in a folder needs, in all dialects, and what `read_outer` said of it."""
    found: list[Requirement] = []
    try:
        document = parse(read_main_file(folder))
        found += _read_frontmatter(document.frontmatter.fields if document.frontmatter else {})
    except (SkillcError, OSError):
        pass  # what reads the skill itself says so
    for name in ("apm.yml", *_PLUGINS, "agents/openai.yaml"):
        try:
            found += _read_file(name, paths.read_regular(os.path.join(folder, *name.split("/")), MAX_FILE))
        except OSError:
            pass
    found += [("skills", _parse_label(each)) for each in outer]
    kinds: dict[str, dict[Any, Any]] = {"skills": {}, "programs": {}, "environment": {}, "mcp": {}}
    for kind, value in found:  # each once
        if value:
            kinds[kind].setdefault(value.name if isinstance(value, RequiredSkill) else value, value)
    return Requirements(**{kind: tuple(values.values())[:MAX_NAMES] for kind, values in kinds.items()})


def read_outer(
    folders: Iterable[str], read: Callable[[Sequence[str]], Mapping[str, bytes]]
) -> dict[str, tuple[str, ...]]:
    """Return the skills that plugins need, by the folders of their own skills in a download.

    The nearest plugin around a folder counts. `read` gives the contents of files by their paths, all at once.
    """
    places: dict[str, list[str]] = {}
    for folder in folders:
        words = folder.split("/") if folder else []
        around = range(len(words))[::-1]
        places[folder] = ["/".join([*words[:count], name]) for count in around for name in _PLUGINS]
    files = read(list(dict.fromkeys(chain.from_iterable(places.values()))))
    labels: dict[str, tuple[str, ...]] = {}
    for name, data in files.items():
        skills = [value for kind, value in _read_file(name, data) if kind == "skills" and value]
        labels[name] = tuple(skill.label() for skill in skills[:MAX_NAMES])
    nearest = ((folder, next(filter(labels.get, names), "")) for folder, names in places.items())
    return {folder: labels.get(name, ()) for folder, name in nearest}


def _parse_label(text: str) -> RequiredSkill:
    """Return a required skill as `label` writes it, such as `acme/pdf@^1.2`."""
    name, _, versions = text.partition("@")
    return RequiredSkill(name.strip().strip("/"), versions.strip())


def _read_frontmatter(fields: Mapping[str, Any]) -> Iterator[Requirement]:
    """Yield what a SKILL.md says, in our form, ToolHive's and OpenClaw's."""
    metadata = _table(fields.get("metadata"))
    requires = _table(metadata.get("requires"))
    yield from (("skills", _parse_label(word)) for word in _words(requires.get("skills")))
    yield from (("programs", (word,)) for word in _words(requires.get("programs")))
    yield from ((kind, word) for kind in ("environment", "mcp") for word in _words(requires.get(kind)))
    # Images of a registry of containers, which skc can't fetch, or git://host/owner/repo@ref#path.
    for word in _words(fields.get("toolhive.requires", metadata.get("toolhive.requires"))):
        place, _, path = word.removeprefix("git://").partition("#")
        place, _, ref = place.partition("@")
        is_git = word.startswith("git://")
        name = place.rpartition("/")[2].partition(":")[0]
        yield "skills", _of_repository(place, ref, path) if is_git else RequiredSkill(name)
    for name in _OPENCLAW:
        requires = _table(_table(metadata.get(name)).get("requires"))
        yield from (("programs", (word,)) for word in _words(requires.get("bins")))
        yield "programs", _words(requires.get("anyBins"))
        yield from (("environment", word) for word in _words(requires.get("env")))


def _read_file(name: str, data: bytes) -> Iterator[Requirement]:
    """Yield what a file beside a SKILL.md says: APM's, a plugin's or Codex's."""
    try:
        is_json, data = name.endswith(".json"), data if len(data) <= MAX_FILE else b""
        manifest = _table(json.loads(data) if is_json else load_yaml(data.decode()).value)
    except (ValueError, RecursionError, NotYaml):
        return
    needs = manifest.get("dependencies")
    for each in _list(needs) if is_json else ():
        fields = {"name": each} if isinstance(each, str) else _table(each)
        plugin, _, _ = _text(fields.get("name")).partition("@")  # its marketplace
        yield "skills", RequiredSkill(plugin, _text(fields.get("version")))
    for each in _list(_table(needs).get("apm")):
        fields = {"git": each} if isinstance(each, str) else _table(each)
        if match := _REPOSITORY.fullmatch(_text(fields.get("git"))):
            host, repository, path, ref = match.groups("")
            place = f"{host or 'github.com'}/{repository}"
            for inside in _words(fields.get("skills")) or [path or _text(fields.get("path"))]:
                yield "skills", _of_repository(place, ref or _text(fields.get("ref")), inside)
    for each in _list(_table(needs).get("mcp")):
        yield "mcp", _text(each if isinstance(each, str) else _table(each).get("name"))
    for each in map(_table, _list(_table(needs).get("tools"))):
        tool, kind = _text(each.get("value")), _CODEX.get(_text(each.get("type")))
        if tool and kind:
            yield kind, (tool,) if kind == "programs" else tool


def _of_repository(place: str, ref: str, path: str) -> RequiredSkill:
    """Return a skill of a repository, such as github.com/acme/skills, or all that it has."""
    host, _, repository = place.partition("/")
    address = f"github:{repository}" if host == "github.com" else f"git+https://{place}"
    path = path.strip("/")
    source = f"{address}@{ref}" if ref else address
    return RequiredSkill(f"{repository}/{path}".strip("/"), "", source, not path)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: object) -> str:
    """Return a text of one line as people write them; an empty one for anything else."""
    return value if isinstance(value, str) and value.isprintable() and len(value) <= MAX_TEXT else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, read_words(value))))


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
        reason = self.reason or "which is not installed"
        return warning("W104", self.required_by, f"'{self.skill.label()}', {reason}")


def find_unmet(skills: Iterable[Installed]) -> list[Unmet]:
    """Return which required skills are missing, or conflict with what is installed."""
    installed = {skill.name: skill for skill in skills}
    unmet: list[Unmet] = []
    for skill in installed.values():
        for required in skill.requirements.skills:
            other = installed.get(required.short_name)
            choice = installed.values() if required.is_whole else filter(None, [other])
            there = next((each for each in choice if required.fits(each.name, each.source)), None)
            if there is None:
                reason = f"and the '{other.name}' here is from {other.source}" if other else ""
                unmet.append(Unmet(required, skill.name, reason))
            elif not required.accepts(there.version):
                unmet.append(Unmet(required, skill.name, f"and {there.version} is installed"))
    return unmet


def find_requirers(skills: Sequence[Installed], name: str) -> list[str]:
    """Return the skills that need one that is installed under a name."""
    source = next((each.source for each in skills if each.name == name), "")
    return sorted(
        skill.name
        for skill in skills
        if skill.name != name and any(each.fits(name, source) for each in skill.requirements.skills)
    )


def find_cycle(skills: Iterable[Installed]) -> list[str]:
    """Return the names of skills that need each other in a circle, the first one again at the end."""
    needs = {each.name: [s.short_name for s in each.requirements.skills] for each in skills}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return [*error.args[1]][::-1]
    return []
