"""Source stores: where a name leads, and which skills a project and the home hold.

The first of these that has it: a path to a folder with SKILL.md, the project stores from the
working directory upwards, the global store (RFC-0007, D13a). In a store, `billing/refunds` is a
folder in a folder. Skills of repositories come after all of these (`locate`).
"""

from __future__ import annotations

import os

from skillc import errors, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.errors import Diagnostic

PROJECT = "project"
GLOBAL = "global"


class Skill:
    """A skill's folder and where its compiled form belongs.

    `name` is what resolves: in a collection its ID, with slashes. `source` is canonical. `root` is the
    project (or home) whose `.skillc` it belongs to; `stored` tells whether it is built where it is or is
    a folder from elsewhere. `repository` is the one it was found in, if it was none of the stores, and
    `copied` tells whether the folder is a copy from there, `recent` whether that was looked at a moment
    ago and not now; `diagnostics` is what was to say on the way.
    """

    __slots__ = (
        "_built",
        "copied",
        "diagnostics",
        "name",
        "recent",
        "repository",
        "root",
        "scope",
        "source",
        "stored",
    )

    def __init__(
        self,
        name: str,
        source: str,
        scope: str,
        root: str,
        stored: bool,
        repository: str = "",
        copied: bool = False,
        diagnostics: tuple[Diagnostic, ...] = (),
        recent: bool = False,
    ) -> None:
        self.name = name
        self.source = source
        self.scope = scope
        self.root = root
        self.stored = stored
        self.repository = repository
        self.copied = copied
        self.diagnostics = diagnostics
        self.recent = recent
        self._built: list[tuple[str, str, str]] | None = None

    @property
    def segment(self) -> str:
        """The name without its collection: what its folder is called, for agents and in the format."""
        return self.name.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The name as one directory among those of all skills."""
        return folder_name(self.name)

    def runtime(self) -> str:
        """The runtime directory that `build` writes without --global."""
        return os.path.join(paths.runtime_store(self.root or paths.require_home()), self.folder)

    def global_runtime(self) -> str:
        return os.path.join(paths.runtime_store(paths.require_home()), self.folder)

    def runtimes(self) -> list[str]:
        """Where the compiled form may be, in the order to look [D13a]."""
        return [os.path.join(store, self.folder) for store in self.runtime_stores()]

    def runtime_stores(self) -> list[str]:
        """The directories those are in."""
        home = paths.home()
        if not self.root and home is None:
            return []  # a folder from elsewhere and no home: there is nowhere to look
        own = paths.runtime_store(self.root or paths.require_home())
        return [own] if self.scope == GLOBAL or home is None else [own, paths.runtime_store(home)]

    def built(self) -> list[tuple[str, str, str]]:
        """Those directories, each with the index and the manifest in it; put together once."""
        if self._built is None:
            self._built = [
                (runtime, paths.index_file(runtime, self.source), paths.manifest_file(runtime))
                for runtime in self.runtimes()
            ]
        return self._built

    def __repr__(self) -> str:
        return f"<Skill {self.name!r} {self.scope} {self.source!r}>"


def folder_name(name: str) -> str:
    """A name with slashes as the name of one directory; IDs have no plus sign.

    >>> folder_name("billing/refunds")
    'billing+refunds'
    """
    return name.replace("/", "+")


def locate_skill(name: str, cwd: str) -> Skill:
    """Return the skill that `name` means in `cwd`: from the stores, else from the repositories (`locate`).

    Not from a running event loop: repositories are asked in one of their own.
    """
    try:
        return resolve(name, cwd)
    except (errors.InvalidSkill, errors.SkillNotFound):
        from skillc.library.locate import locate_anywhere  # not what agents ask for most
    return locate_anywhere(name, cwd)


def resolve(name: str, cwd: str) -> Skill:
    """The skill that `name` (a name or a path) means in `cwd`; raises SkillNotFound or InvalidSkill."""
    incomplete = None
    for skill in _candidates(name, cwd):
        if is_skill(skill.source):
            return skill
        incomplete = incomplete or skill.source
    if incomplete is not None:
        raise errors.InvalidSkill(incomplete)
    raise errors.SkillNotFound(name)


def _candidates(name: str, cwd: str) -> Iterator[Skill]:
    """The directories that `name` could mean, best first."""
    if not name or "\0" in name:
        return
    path = os.path.join(cwd, name)
    if os.path.isdir(path):
        yield at_path(path)
    if name in (os.curdir, os.pardir) or (os.path.basename(name) != name and not _is_id(name)):
        return
    for scope, root in roots(cwd):
        source = os.path.join(paths.skills_store(root), *name.split("/"))
        if os.path.isdir(source) and not _within_a_skill(source, name):
            yield Skill(name, os.path.realpath(source), scope, root, stored=True)


def _is_id(name: str) -> bool:
    from skillc.skills import is_segment  # only for names with slashes

    return all(map(is_segment, name.split("/")))


def _within_a_skill(source: str, name: str) -> bool:
    """Whether a directory in a store is among the files of a skill and so no skill itself [D25]."""
    for _ in range(name.count("/")):
        source = os.path.dirname(source)
        if is_skill(source):
            return True
    return False


def at_path(path: str) -> Skill:
    """The skill in a directory: of the store or repository it stands in, or of none and then global."""
    path = os.path.abspath(path)
    home = paths.home()
    for place in (path, os.path.realpath(path)):
        before, marker, inside = place.rpartition(os.path.join(os.sep, paths.DIRECTORY, ""))
        kind, _, name = inside.replace(os.sep, "/").partition("/")
        if not marker or not name:
            continue
        if kind == "skills" and ("/" not in name or (_is_id(name) and not _within_a_skill(place, name))):
            scope = GLOBAL if home and os.path.realpath(before) == os.path.realpath(home) else PROJECT
            return Skill(name, os.path.realpath(path), scope, before or os.sep, stored=True)
        if kind == "cache" and home and os.path.realpath(before) == os.path.realpath(home):
            copy = _copied(os.path.realpath(path), name, home)
            if copy is not None:
                return copy
    source = os.path.realpath(path)
    return Skill(os.path.basename(path) or "root", source, GLOBAL, home or "", stored=False)


def _copied(source: str, inside: str, home: str) -> Skill | None:
    """The skill whose copy a directory of the cache is: `skills/<repository>/<name>`."""
    kind, _, rest = inside.partition("/")
    repository, _, folder = rest.partition("/")
    if kind != "skills" or not repository or not folder or "/" in folder:
        return None
    from skillc.library.copies import read_origin  # only for paths in there

    return Skill(folder.replace("+", "/"), source, GLOBAL, home, True, read_origin(source), copied=True)


def roots(cwd: str) -> Iterator[tuple[str, str]]:
    """Scope and root of every store, nearest project first, the home last."""
    for root in paths.project_roots(cwd):
        yield PROJECT, root
    home = paths.home()
    if home is not None:
        yield GLOBAL, home


def import_root(cwd: str) -> tuple[str, str]:
    """Scope and root of the store that a folder from elsewhere is imported into [D10]."""
    for scope, root in roots(cwd):
        if scope == GLOBAL or os.path.isdir(paths.skills_store(root)):
            return scope, root
    return GLOBAL, paths.require_home()


def stored_skills(cwd: str, scope: str = "all") -> Iterator[Skill]:
    """Every folder with SKILL.md in the stores, project before global, then by name."""
    for where, root in roots(cwd):
        if scope not in ("all", where):
            continue
        store = paths.skills_store(root)
        try:
            with os.scandir(store) as entries:
                found = sorted(
                    (e.name, e.is_symlink() or os.name == "nt") for e in entries if e.name[0] != "."
                )
        except OSError:
            continue
        canonical = os.path.realpath(store)
        for name, may_lead_elsewhere in found:  # on Windows a junction, which does not look like a link
            source = os.path.join(canonical, name)
            if is_skill(source):
                source = os.path.realpath(source) if may_lead_elsewhere else source
                yield Skill(name, source, where, root, stored=True)


def is_skill(directory: str) -> bool:
    """Whether a directory has a SKILL.md."""
    return any(os.path.isfile(os.path.join(directory, name)) for name in paths.SKILL_FILES)


def is_compiled(directory: str) -> bool:
    """Whether a directory is what `build` wrote rather than a source [D7]."""
    manifests = (
        paths.manifest_file(directory),
        os.path.join(paths.meta_directory(directory), "manifest.json"),
    )
    return any(map(os.path.isfile, manifests))
