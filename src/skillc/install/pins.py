"""Pins: what the lock files of other tools say about skills, each with its origin and its exact version.

| file | of | the version is |
| --- | --- | --- |
| `skills-lock.json` | npm's `skills`, skc | a hash of the files; a commit if skc wrote it |
| `.skill-lock.json` | npm's `skills`, `gh skill`, for the user | a git tree |
| `.clawhub/lock.json` | ClawHub | a version of the registry |
| `agr.lock` | agr | a commit |
| `apm.lock.yaml` | APM | a commit |
| `SKILL.md` with `metadata.github-repo` | `gh skill` | a git tree |

Files are hostile: they come with projects. An entry that can't be understood is a pin with a problem.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from skillc import paths
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.install.entry import LockEntry
from skillc.install.global_lock import global_lock_file
from skillc.install.origin import CLAWHUB, REGISTRY, Origin, parse_origin, recall_origin
from skillc.skills import NotYaml, load_yaml, parse

MAX_BYTES = 16 << 20
MAX_NODES = 500_000  # of YAML
_COMMIT = re.compile("[0-9a-f]{40}")
_DEPLOYED = re.compile(r"(?:^|/)skills/([^/]+)(?:/|$)")  # where APM puts a skill
_AGR_REPOSITORIES = ("skills", "agent-resources")  # of a handle without one, in this order
_AGR_URL = "https://github.com/{owner}/{repo}.git"
NOWHERE = Origin("", "", "")


@dataclass(frozen=True, slots=True)
class Pin:
    """A skill at a version: the `commit`, else the `tree` or `hash` that its files must have.

    Without a path in its origin it is found by name. `others` are origins to ask if that one does not have
    it. With a `problem` there is nothing to ask.
    """

    name: str
    file: str  # the lock that it stands in
    origin: Origin = NOWHERE
    commit: str = ""
    tree: str = ""
    hash: str = ""
    others: tuple[Origin, ...] = ()
    problem: str = ""

    @property
    def label(self) -> str:
        """Where the skill comes from, for people."""
        return f"{self.origin.label()}{f' ({self.commit[:12]})' if self.commit else ''}"

    def with_hosts(self, hosts: frozenset[str]) -> Pin:
        """Return the same pin, for which other hosts may be asked."""
        others = tuple(replace(origin, hosts=hosts) for origin in self.others)
        return replace(self, origin=replace(self.origin, hosts=hosts), others=others)


def find_locks(cwd: str, scope: str = "") -> list[str]:
    """Return the lock files of other tools in the project around `cwd`, or of the user."""
    files = []
    if scope != "global":
        root = next(paths.project_roots(cwd), cwd)
        for directory in dict.fromkeys((cwd, root)):
            files += [os.path.join(directory, name) for name in READERS if "." in name and name != "SKILL.md"]
    mine = global_lock_file()
    if scope != "project" and mine:
        files.append(mine)
    return [path for path in dict.fromkeys(files) if os.path.isfile(path)]


def is_of_home(pin: Pin) -> bool:
    """Return whether a pin stands in the user's own lock, not in that of a project."""
    return os.path.basename(pin.file) == ".skill-lock.json"


def read_pins(path: str) -> list[Pin]:
    """Return the pins of a lock file or a skill, or of all in a folder; raises InvalidConfiguration."""
    if os.path.isdir(path):
        return [pin for file in _files_of(path) for pin in read_pins(file)]
    name = os.path.basename(path)
    if name == "lock.json" and os.path.basename(os.path.dirname(path)) in (".clawhub", ".clawdhub"):
        name = ".clawhub/lock.json"
    reader = READERS.get(name)
    if reader is None:
        kinds = ", ".join(READERS)
        raise InvalidConfiguration(path, f"it is no lock file that is known; those are {kinds}")
    try:
        data = paths.read_regular(path, MAX_BYTES)
        return list(reader(path, data))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, NotYaml) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InvalidConfiguration(path, f"it can't be read as a lock file: {reason}") from None


def _files_of(folder: str) -> Iterator[str]:
    """Yield the lock files in a folder, and the SKILL.md of skills in it."""
    for name in READERS:
        if name != "SKILL.md" and os.path.isfile(os.path.join(folder, name)):
            yield os.path.join(folder, name)
    entries = [folder, *(os.path.join(folder, name) for name in sorted(os.listdir(folder)))]
    yield from (
        os.path.join(entry, "SKILL.md")
        for entry in entries
        if os.path.isfile(os.path.join(entry, "SKILL.md"))
    )


def _read_npm(path: str, data: bytes) -> Iterator[Pin]:
    """Read skills-lock.json: a hash of the files, and the commit where skc noted one."""
    for name, fields in json.loads(data)["skills"].items():
        entry = LockEntry(name, fields)
        pin = Pin(name, path, commit=entry.commit, hash=entry.hash)
        yield _with_origin(pin, partial(recall_origin, fields, os.path.dirname(path)))


def _read_global(path: str, data: bytes) -> Iterator[Pin]:
    """Read .skill-lock.json: the folder's git tree, or a hash of the files if it is not from GitHub."""
    for name, fields in json.loads(data)["skills"].items():
        version = str(fields.get("skillFolderHash") or "")
        pin = Pin(name, path, tree=version if _COMMIT.fullmatch(version) else "")
        if not pin.tree:
            pin = replace(pin, hash=version if len(version) == 64 else "")
        yield _with_origin(pin, partial(recall_origin, fields, os.path.dirname(path)))


def _read_clawhub(path: str, data: bytes) -> Iterator[Pin]:
    """Read .clawhub/lock.json; which registry a skill is from stands in the folder of the skill."""
    skills = os.path.join(os.path.dirname(os.path.dirname(path)), "skills")
    for slug, fields in json.loads(data)["skills"].items():
        owner = str(fields.get("ownerHandle") or "").lstrip("@")
        registry = _registry_of(os.path.join(skills, slug, ".clawhub", "origin.json"))
        address = f"{REGISTRY}{registry}{f'{owner}/' if owner else ''}{slug}@{fields['version']}"
        yield _with_origin(Pin(slug, path), partial(parse_origin, address, os.sep))


def _registry_of(path: str) -> str:
    """Return the address of a registry with a slash after it; empty for ClawHub's own."""
    try:
        registry = str(json.loads(paths.read_regular(path, MAX_BYTES))["registry"]).rstrip("/")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "" if registry in ("", CLAWHUB) else f"{registry}/"


def _read_agr(path: str, data: bytes) -> Iterator[Pin]:
    """Read agr.lock; the addresses of its sources are in agr.toml beside it."""
    urls = {"github": _AGR_URL}
    try:
        manifest = tomllib.loads(
            paths.read_regular(os.path.join(os.path.dirname(path), "agr.toml"), MAX_BYTES).decode()
        )
        urls |= {str(each["name"]): str(each["url"]) for each in manifest.get("source", ())}
    except (OSError, ValueError, KeyError, TypeError):
        pass  # those of GitHub need none
    for fields in tomllib.loads(data.decode())["skill"]:
        words = str(fields.get("handle") or "").split("/")
        pin = Pin(
            str(fields.get("installed-name") or words[-1]), path, commit=str(fields.get("commit") or "")
        )
        url = urls.get(str(fields.get("source") or "github"), "")
        if fields.get("path"):
            yield replace(pin, problem=f"a folder of this machine; 'skc import {fields['path']}' copies it")
        elif len(words) not in (2, 3) or not url:
            yield replace(pin, problem="its handle or its source is not known")
        else:
            names = words[1:2] if len(words) == 3 else _AGR_REPOSITORIES
            addresses = [url.replace("{owner}", words[0]).replace("{repo}", name) for name in names]
            yield _with_origin(pin, *(partial(parse_origin, each, os.sep) for each in addresses))


def _read_apm(path: str, data: bytes) -> Iterator[Pin]:
    """Read apm.lock.yaml: a dependency is a skill, or a package that was deployed with skills."""
    for fields in load_yaml(data.decode(), MAX_NODES).value["dependencies"]:
        commit, folder = (
            str(fields.get("resolved_commit") or ""),
            str(fields.get("virtual_path") or "").strip("/"),
        )
        folder = folder.removesuffix("/SKILL.md")
        files = fields.get("deployed_files") or ()
        names = {match[1] for each in files if (match := _DEPLOYED.search(str(each)))}
        if folder and fields.get("package_type") in (None, "claude_skill"):
            names = {os.path.basename(folder)}
        repository = str(fields["repo_url"])
        host = str(fields.get("host") or "github.com")
        address = (
            repository if "://" in repository or repository.startswith(f"{host}/") else f"{host}/{repository}"
        )
        address = address if "://" in address else f"https://{address}"
        for name in sorted(names) or [os.path.basename(folder or repository)]:
            pin = Pin(name, path, commit=commit)
            if not names or not commit:
                local = "a folder of this machine" if fields.get("source") == "local" else "it holds no skill"
                yield replace(pin, problem=local if not names or local[0] == "a" else "it has no commit")
                continue
            place = folder if os.path.basename(folder) == name else ""
            yield _with_origin(pin, partial(_parse_at, f"git+{address}", place))


def _read_github(path: str, data: bytes) -> Iterator[Pin]:
    """Read what `gh skill` notes in a SKILL.md; one without has no pin."""
    frontmatter = parse(data).frontmatter
    fields = frontmatter.fields.get("metadata") if frontmatter else None
    if not isinstance(fields, Mapping) or not fields.get("github-repo"):
        return
    ref = re.sub("^refs/(heads|tags)/", "", str(fields.get("github-ref") or ""))
    folder = str(fields.get("github-path") or "").strip("/").removesuffix("SKILL.md").rstrip("/")
    pin = Pin(
        os.path.basename(os.path.dirname(os.path.abspath(path))),
        path,
        tree=str(fields.get("github-tree-sha") or ""),
    )
    if _COMMIT.fullmatch(ref):
        pin = replace(pin, commit=ref)
    address = str(fields["github-repo"])
    yield _with_origin(pin, partial(_parse_at, address, folder, "" if pin.commit else ref))


def _parse_at(address: str, path: str, ref: str = "") -> Origin:
    """Return the origin of a folder in a repository."""
    return replace(parse_origin(address, os.sep), path=path, ref=ref)


def _with_origin(pin: Pin, *parsers: Callable[[], Origin]) -> Pin:
    """Return a pin with the origins that these return, or with the problem that one raises."""
    if pin.commit and not _COMMIT.fullmatch(pin.commit):
        return replace(pin, commit="", problem="its commit is no commit")
    try:
        first, *others = [parse() for parse in parsers]
    except SkillcError as error:
        return replace(pin, problem=error.message)
    if not (pin.commit or pin.tree or pin.hash or first.is_registry):
        return replace(
            pin, origin=first, problem=f"the lock does not say which version; 'skc add {first.label()}'"
        )
    return replace(pin, origin=first, others=tuple(others))


READERS: dict[str, Callable[[str, bytes], Iterator[Pin]]] = {
    "skills-lock.json": _read_npm,
    ".skill-lock.json": _read_global,
    ".clawhub/lock.json": _read_clawhub,
    "agr.lock": _read_agr,
    "apm.lock.yaml": _read_apm,
    "SKILL.md": _read_github,
}
