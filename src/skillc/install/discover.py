"""Find the skills among the files of a repository, an archive or a folder.

They are looked for in the root, in `skills/`, `.claude/skills` and `.agents/skills`, in the folders that the
files of plugins and marketplaces name, and then anywhere up to a depth. Of two with one name, the first
counts. A skill inside a skill belongs to its files, and is found only where it is asked for by name.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from skillc.errors import Diagnostic, OriginNotFound, SkillcError, warning
from skillc.install.marketplace import Plugin, read_plugins
from skillc.install.origin import Candidate, Origin, not_there
from skillc.paths import DIRECTORY, SKILL_FILES
from skillc.skills import is_name, to_segment
from skillc.skills.document import parse, read_metadata
from skillc.text import first_of

MAX_DEPTH = 8  # folders between the root and a skill that is named nowhere
MAX_SKILLS = 20_000
MAX_PLACES = 3  # of plugins, in a hint
MAX_MANIFEST = 1 << 20  # bytes of a plugin's or a marketplace's file
FIRST = ("", "skills", f"{DIRECTORY}/skills", ".claude/skills", ".agents/skills")
MANIFESTS = (
    "plugin.json", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json", ".cursor-plugin/plugin.json", ".cursor-plugin/marketplace.json",
    ".codex-plugin/plugin.json",
)  # fmt: skip
SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"))

Read = Callable[[Sequence[str], Sequence[str]], Mapping[str, bytes]]


def discover(
    origin: Origin,
    paths: Iterable[str],
    read: Read,
    names: Sequence[str] = (),
    report: Callable[[Diagnostic], None] = lambda _: None,
) -> list[Candidate]:
    """Return the skills below the origin's path: those with these `names`, or all without duplicates.

    `paths` are those of all files. `read` gets paths of files and gives their contents; it also gets folders
    that will be needed whole. `names` may be paths, too. Raises OriginNotFound for one that is not there.
    """
    files = _main_files(paths, origin.path)
    folders, plugins = _read_manifests(origin, read)
    if not files:
        where = f"there is no skill in '{origin.path}'" if origin.path else "there is no skill in it"
        hint = _name_plugins(plugins) or "hint: a skill is a folder with a SKILL.md"
        raise OriginNotFound(origin.label(), where, hint)
    inner_files = [file for folder, file in files.items() if _is_nested(folder, files)]
    order = _sort(origin.path, set(files.values()).difference(inner_files), folders)
    if not names:
        by_name: dict[str, Candidate] = {}
        for skill in _read_skills(order, read, (), report):
            by_name.setdefault(skill.name, skill)
        return list(by_name.values())
    words = set(map(_key, names))
    likely = [file for file in (*order, *inner_files) if not words.isdisjoint(_keys(file))]
    skills = _read_skills(likely, read, likely, report)
    if _choose(skills, names)[1]:  # a name that is not its folder's
        skills = _read_skills((*order, *inner_files), read, (), report)
    matches, misses = _choose(skills, names)
    if misses:
        error = not_there(origin, misses[0], [skill.name for skill in skills])
        elsewhere = [plugin for plugin in plugins if plugin.name == misses[0]]
        error.details = _name_plugins(elsewhere) or error.details
        raise error
    return matches


def _name_plugins(plugins: Sequence[Plugin]) -> str:
    """Return a hint with the places of plugins that are elsewhere; empty without any."""
    places = first_of([f"'{plugin.name}' ('skc add {plugin.place}')" for plugin in plugins], MAX_PLACES)
    return f"hint: its marketplace has plugins in other places: {places}" if places else ""


def _choose(skills: Sequence[Candidate], names: Sequence[str]) -> tuple[list[Candidate], list[str]]:
    """Return the first skill for each name or path that is wanted, and the names that none has."""
    exact: dict[str, Candidate] = {}
    loose: dict[str, Candidate] = {}
    for skill in skills:
        exact |= {key: skill for key in (skill.name, skill.path) if key not in exact}
        loose |= {key: skill for key in _keys(skill.path, skill.name) if key not in loose}
    found = {word: exact.get(word) or loose.get(_key(word)) for word in names}
    matches = {skill.path: skill for skill in found.values() if skill is not None}
    return list(matches.values()), [word for word, skill in found.items() if skill is None]


def _keys(path: str, name: str = "") -> set[str]:
    """Return what may name the skill of a SKILL.md, as `_key` writes it."""
    folder = posixpath.dirname(path)
    return {name.lower(), posixpath.basename(folder).lower(), folder, path} - {""}


def _key(word: str) -> str:
    return word if "/" in word else word.lower()


def _main_files(paths: Iterable[str], top: str) -> dict[str, str]:
    """Return the path of each SKILL.md below `top` by its folder; compiled skills are none."""
    prefix = f"{top}/" if top else ""
    files: dict[str, str] = {}
    builds: set[str] = set()
    for path in paths:
        if not path.startswith(prefix):
            continue
        folder, name = posixpath.split(path)
        if name in SKILL_FILES:
            if name == SKILL_FILES[0] or folder not in files:
                files[folder] = path
        elif name == "manifest.json" and folder.endswith(f"{DIRECTORY}"):
            builds.add(posixpath.dirname(folder))
    files = {folder: path for folder, path in files.items() if folder not in builds}
    if len(files) > MAX_SKILLS:
        raise SkillcError(f"over {MAX_SKILLS} skills in one place; name a folder of it")
    return files


def _is_nested(folder: str, folders: Container[str]) -> bool:
    """Return whether a skill's folder is inside that of another skill."""
    while folder:
        folder = posixpath.dirname(folder)
        if folder in folders:
            return True
    return False


def _sort(top: str, files: Iterable[str], folders: Sequence[str]) -> list[str]:
    """Return the files in the order in which they count; those too deep are left out."""
    first = [posixpath.join(top, name) if name else top for name in FIRST]

    def rank(path: str) -> tuple[int, int, str] | None:
        folder = posixpath.dirname(path)
        parent = posixpath.dirname(folder)
        if folder == top:
            return 0, 0, path
        if parent in first[1:]:
            return first.index(parent), 0, path
        for index, base in enumerate(folders):
            if base in (folder, parent):
                return len(first) + index, 0, path
        words = posixpath.relpath(folder, top or ".").split("/")
        if len(words) > MAX_DEPTH or not SKIPPED.isdisjoint(words):
            return None
        if words[:2] == [DIRECTORY, "runtime"]:
            return None
        return len(first) + len(folders), len(words), path

    ranks = {path: rank(path) for path in files}
    return [path for _, path in sorted((place, path) for path, place in ranks.items() if place is not None)]


def _read_manifests(origin: Origin, read: Read) -> tuple[list[str], list[Plugin]]:
    """Return the folders in which plugins and marketplaces say that skills are, and plugins elsewhere."""
    names = [posixpath.join(origin.path, name) for name in MANIFESTS]
    folders: list[str] = []
    elsewhere: dict[str, Plugin] = {}
    for data in read(names, ()).values():
        try:
            manifest = json.loads(data[: MAX_MANIFEST + 1])
        except (ValueError, RecursionError):
            continue
        plugins = _plugins_of(manifest)
        elsewhere |= {plugin.name: plugin for plugin in plugins if plugin.address}
        for folder in _folders_of(plugins):
            place = posixpath.normpath(posixpath.join(origin.path, folder))
            if not place.startswith(("..", "/")) and place not in folders:
                folders.append("" if place == "." else place)
    return folders, list(elsewhere.values())


def _plugins_of(manifest: object) -> Sequence[Plugin]:
    """Return the plugins of a marketplace, or the one that a plugin's own file is about."""
    plugins = read_plugins(manifest)
    if plugins is None and isinstance(manifest, dict):
        plugins = read_plugins({"plugins": [manifest | {"name": "plugin", "source": ""}]})
    return plugins or ()


def _folders_of(plugins: Iterable[Plugin]) -> Iterable[str]:
    """Yield the folders that plugins in this place name, relative to the root."""
    for plugin in plugins:
        if plugin.folder is not None:
            yield from (posixpath.join(plugin.folder, folder) for folder in plugin.skills)
            yield posixpath.join(plugin.folder, "skills")


def _read_skills(
    files: Sequence[str], read: Read, whole: Sequence[str], report: Callable[[Diagnostic], None]
) -> list[Candidate]:
    """Return the skills with these SKILL.md files; one that can't be used is reported and left out."""
    contents = read(files, [posixpath.dirname(path) for path in whole])
    skills: list[Candidate] = []
    for path in files:
        folder = posixpath.basename(posixpath.dirname(path))
        try:
            metadata = read_metadata(parse(contents[path]), folder or "skill")
        except KeyError:
            continue
        except SkillcError as error:
            report(warning("W080", path, error.message))
            continue
        name = metadata.name if is_name(metadata.name) else to_segment(metadata.name or folder)
        skills.append(Candidate(name, "", path, metadata.description))
    return skills


def walk_folder(root: str, limit: int) -> list[str]:
    """Return the paths of the files below a folder, with forward slashes; at most `limit` of them.

    Links to folders are not followed, but one to a skill is listed as that skill.
    """
    paths: list[str] = []
    for directory, folders, files in os.walk(root):
        prefix = os.path.relpath(directory, root).replace(os.sep, "/")
        prefix = "" if prefix == "." else f"{prefix}/"
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        if prefix.count("/") > MAX_DEPTH + 1:
            folders.clear()
        for name in folders:
            place = os.path.join(directory, name)
            if os.path.islink(place):
                mains = [m for m in SKILL_FILES if os.path.isfile(os.path.join(place, m))]
                paths += [f"{prefix}{name}/{main}" for main in mains]
        paths += [f"{prefix}{name}" for name in files]
        if len(paths) > limit:
            raise SkillcError(f"over {limit} files in '{root}'; name a folder of it")
    return paths
