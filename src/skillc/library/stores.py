"""Source stores: which skill a name means, and which skills a project and the home hold.

A name means the first of these that exists: a path to a folder with SKILL.md, the project stores from
the working directory upwards, the global store (RFC-0007, D13a). In a store, `billing/refunds` is a
folder in a folder. Then a skill of that name that was deployed from elsewhere [D51]; skills of repositories
come after all of these (`locate`).
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
ORIGIN = ".origin"  # the note in a copy of a repository's skill


class Skill:
    """A skill's folder and where its compiled form belongs.

    `name` is what resolves: in a collection its ID, with slashes. `source` is canonical. `root` is the
    project (or home) whose `.skillc` it belongs to; a skill that `is_stored` is built there, any other is a
    folder from elsewhere. `repository` is the one it was found in, if it was in none of the stores. If it
    `is_copy`, the folder is a copy from there; if it `is_recent`, the repository was not asked again.
    `diagnostics` are warnings from locating it.
    """

    def __init__(
        self,
        name: str,
        source: str,
        scope: str,
        root: str,
        is_stored: bool,
        repository: str = "",
        is_copy: bool = False,
        diagnostics: tuple[Diagnostic, ...] = (),
        is_recent: bool = False,
    ) -> None:
        self.name = name
        self.source = source
        self.scope = scope
        self.root = root
        self.is_stored = is_stored
        self.repository = repository
        self.is_copy = is_copy
        self.diagnostics = diagnostics
        self.is_recent = is_recent
        self._runtimes: list[str] | None = None

    @property
    def segment(self) -> str:
        """The name without its collection: its folder's name, for agents and in the format."""
        return self.name.rpartition("/")[2]

    @property
    def reference(self) -> str:
        """The name, else the path, by which commands find this skill anywhere in its project."""
        return self.name if self.is_stored else self.source

    @property
    def folder(self) -> str:
        """The name as one directory among those of all skills."""
        return folder_name(self.name)

    def runtime(self) -> str:
        """Return the runtime directory that `build` writes without --global."""
        return os.path.join(paths.runtime_store(self.root or paths.require_home()), self.folder)

    def global_runtime(self) -> str:
        return os.path.join(paths.runtime_store(paths.require_home()), self.folder)

    def runtimes(self) -> list[str]:
        """Return where the compiled form may be, in order of precedence; computed once [D13a]."""
        if self._runtimes is None:
            self._runtimes = [os.path.join(store, self.folder) for store in self.runtime_stores()]
        return self._runtimes

    def runtime_stores(self) -> list[str]:
        """Return the directories that `runtimes` are in."""
        home = paths.home()
        if not self.root and home is None:
            return []  # a folder from elsewhere and no home
        own = paths.runtime_store(self.root or paths.require_home())
        return [own] if self.scope == GLOBAL or home is None else [own, paths.runtime_store(home)]

    def __repr__(self) -> str:
        return f"<Skill {self.name!r} {self.scope} {self.source!r}>"


def folder_name(name: str) -> str:
    """Return a name with slashes as the name of one directory; IDs have no plus sign.

    >>> folder_name("billing/refunds")
    'billing+refunds'
    """
    return name.replace("/", "+")


def resolve(name: str, cwd: str, *, may_be_path: bool = True) -> Skill:
    """Return what `name` or a path means in the stores of `cwd`; raises SkillNotFound or InvalidSkill."""
    incomplete = None
    for skill in _candidates(name, cwd, may_be_path):
        if is_skill(skill.source):
            return skill if skill.is_stored else _find_source(skill)
        incomplete = incomplete or skill.source
    from skillc.library.records import source_of_name  # names are mostly in a store

    source = source_of_name(name)
    if source is not None and is_skill(source) and not (skill := at_path(source)).is_copy:
        return skill  # a copy of a repository's skill is for the repository to bring up to date
    if incomplete is not None:
        raise errors.InvalidSkill(incomplete, paths.why_closed(incomplete))
    raise errors.SkillNotFound(name)


def _find_source(skill: Skill) -> Skill:
    """Return the skill that a compiled folder was made from, if the user's record has that folder [D51]."""
    if not is_compiled(skill.source):
        return skill
    from skillc.library.records import source_of_folder

    source = source_of_folder(skill.source)
    return at_path(source) if source is not None and is_skill(source) else skill


def _candidates(name: str, cwd: str, may_be_path: bool) -> Iterator[Skill]:
    """Yield the directories that `name` could mean, best first."""
    if not name or "\0" in name:
        return
    path = os.path.join(cwd, name)
    if may_be_path and os.path.isdir(path):
        yield at_path(path)
    if name in (os.curdir, os.pardir) or (os.path.basename(name) != name and not is_id(name)):
        return
    for scope, root in roots(cwd):
        source = os.path.join(paths.skills_store(root), *name.split("/"))
        if os.path.isdir(source) and not _is_inside_skill(source, name):
            yield Skill(name, os.path.realpath(source), scope, root, is_stored=True)


def is_id(name: str) -> bool:
    from skillc.skills import is_segment  # only for names with slashes

    return all(map(is_segment, name.split("/")))


def _is_inside_skill(source: str, name: str) -> bool:
    """Return whether a directory of a store is among the files of a skill, so no skill itself [D25]."""
    for _ in range(name.count("/")):
        source = os.path.dirname(source)
        if is_skill(source):
            return True
    return False


def at_path(path: str) -> Skill:
    """Return the skill in a directory: of its store or repository, else a global one."""
    path = os.path.abspath(path)
    home = paths.home()
    for place in (path, os.path.realpath(path)):
        before, marker, inside = place.rpartition(os.path.join(os.sep, paths.DIRECTORY, ""))
        kind, _, name = inside.replace(os.sep, "/").partition("/")
        if not marker or not name:
            continue
        root = before or os.sep
        is_home = home is not None and os.path.realpath(root) == os.path.realpath(home)
        if not is_home and not paths.is_own(os.path.join(root, paths.DIRECTORY)):
            continue
        if kind == "skills" and ("/" not in name or (is_id(name) and not _is_inside_skill(place, name))):
            return Skill(name, os.path.realpath(path), GLOBAL if is_home else PROJECT, root, is_stored=True)
        if kind == "cache" and home and is_home:
            kind, _, rest = name.partition("/")
            repository, _, folder = rest.partition("/")
            if kind == "skills" and repository and folder and "/" not in folder:
                source, name = os.path.realpath(path), folder.replace("+", "/")
                repository = read_origin(source).decode("utf-8", "replace").partition("\n")[0]
                return Skill(name, source, GLOBAL, home, True, repository, is_copy=True)
    source = os.path.realpath(path)
    return Skill(os.path.basename(path) or "root", source, GLOBAL, home or "", is_stored=False)


def read_origin(path: str) -> bytes:
    """Return the note beside a copy: the repository's name on a line, then which state it is of."""
    try:
        return paths.read_regular(os.path.join(path, ORIGIN), 8192)
    except OSError:
        return b""


def roots(cwd: str) -> Iterator[tuple[str, str]]:
    """Yield scope and root of every store, nearest project first, the home last."""
    for root in paths.project_roots(cwd):
        yield PROJECT, root
    home = paths.home()
    if home is not None:
        yield GLOBAL, home


def import_root(cwd: str) -> tuple[str, str]:
    """Return scope and root of the store that a folder from elsewhere is imported into [D10].

    A project that has no store gets one if no project above it has one.
    """
    projects = list(paths.project_roots(cwd))
    stores = (root for root in projects if os.path.isdir(paths.skills_store(root)))
    root = next(stores, projects[0] if projects else "")
    return (PROJECT, root) if root else (GLOBAL, paths.require_home())


def stored_skills(cwd: str, scope: str = "all") -> Iterator[Skill]:
    """Yield every folder with SKILL.md in the stores, project before global, then by name.

    A folder that can't be read may be a skill, so that it is one here: to load it is an error that says so.
    """
    for store_scope, root in roots(cwd):
        if scope not in ("all", store_scope):
            continue
        store = paths.skills_store(root)
        try:
            with os.scandir(store) as scan:
                names = sorted((e.name, e.is_symlink() or os.name == "nt") for e in scan if e.name[0] != ".")
        except OSError:
            continue
        canonical = os.path.realpath(store)
        for name, may_be_link in names:  # on Windows it may be a junction, which does not look like a link
            source = os.path.join(canonical, name)
            if is_skill(source) or paths.why_closed(source):
                source = os.path.realpath(source) if may_be_link else source
                yield Skill(name, source, store_scope, root, is_stored=True)


def is_skill(directory: str) -> bool:
    return any(os.path.isfile(os.path.join(directory, name)) for name in paths.SKILL_FILES)


def is_compiled(directory: str) -> bool:
    """Return whether a directory was written by `build`, and so is no source [D7]."""
    old_manifest = os.path.join(paths.meta_directory(directory), "manifest.json")
    return os.path.isfile(paths.manifest_file(directory)) or os.path.isfile(old_manifest)
