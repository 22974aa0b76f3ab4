"""Origins, where skills come from, and downloads, what origins give.

An origin is read from what a person wrote, or a lock has, by `address`; `download` opens it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from skillc.errors import Diagnostic, OriginNotFound, warning
from skillc.origins import NO_EVIDENCE, Evidence
from skillc.quotes import shell_quote
from skillc.remotes import Failure, RemoteSkill
from skillc.remotes.http import Hosts, Session, hide_secrets
from skillc.skills import SkillId
from skillc.spelling import did_you_mean
from skillc.text import first_of, one_line

ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
OURS = "skillc:"  # before the address of a skill in a registry that speaks our own API
REGISTRY = "clawhub:"  # before the slug of a skill in a registry
CLAWHUB = "https://clawhub.ai"
FILE = "file://"
MAIN_FILE = "/skill.md"  # the end of an address, in lower case, that gives a skill of one file
MAX_NAMES = 10  # in a hint
UNLISTED = RemoteSkill(SkillId("unlisted"))  # of a skill that no remote lists

Report = Callable[[Diagnostic], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Origin:
    """A place to get skills from, as a person named it or as a lock file has it.

    `type` is the lock file's `sourceType`: github, gitlab, git, local, well-known or download (archives,
    files and registries). `source` is the short name in the lock file (`owner/repo`, an address, a path),
    `url` the address to ask, `ref` a branch, tag or commit (of a registry a version or tag), and `path` the
    folder inside that is wanted. `secret_url` is the address with its credentials: it is used and never shown
    or kept. `hosts` are others than its own that may be asked.
    """

    type: str
    source: str
    url: str
    ref: str = ""
    path: str = ""
    secret_url: str = field(default="", repr=False, compare=False)
    hosts: frozenset[str] = field(default=frozenset(), kw_only=True)

    @property
    def address(self) -> str:
        """The address to ask, with credentials."""
        return self.secret_url or self.url

    @property
    def allowed_hosts(self) -> Hosts:
        return Hosts.around(self.url, self.hosts)

    @property
    def names(self) -> tuple[str, str]:
        """What rules about sources may call it."""
        return self.source, self.url

    @property
    def is_git(self) -> bool:
        return self.type in ("github", "gitlab", "git")

    @property
    def slug(self) -> str:
        """The name of a skill in a registry; empty for any other origin."""
        if self.is_ours:
            return self.source.removeprefix(f"{OURS}{self.url}/")
        rest = self.source.removeprefix(REGISTRY) if self.is_registry else ""
        return rest.rpartition("/")[2] if "://" in rest else rest

    @property
    def is_file(self) -> bool:
        """Whether it is the address of a SKILL.md itself."""
        return self.type == "download" and urlsplit(self.url).path.lower().endswith(MAIN_FILE)

    @property
    def is_registry(self) -> bool:
        return self.type == "download" and self.source.startswith((REGISTRY, OURS))

    @property
    def is_ours(self) -> bool:
        """Whether it is a skill of a registry that speaks our own API."""
        return self.type == "download" and self.source.startswith(OURS)

    def label(self) -> str:
        """Return the origin as people read it, without secrets."""
        name = self.source if self.type != "well-known" else self.url
        return f"{name}{f'/{self.path}' if self.path else ''}{f'@{self.ref}' if self.ref else ''}"

    def at(self, ref: str) -> Origin:
        """Return the origin at another version, tag, branch or commit; HEAD is git's default branch."""
        if not (self.is_git or self.is_registry):
            raise OriginNotFound(self.label(), "it has no versions, just what is there now")
        return replace(self, ref="" if ref == "HEAD" and self.is_git else check_ref(self.label(), ref))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill in a download: its name, its folder on this machine, and the path of its SKILL.md inside.

    `path` is what the lock file calls `skillPath`, with forward slashes: `skills/pdf/SKILL.md`. One that a
    site or a registry lists is what that says of it, `remote`.
    """

    name: str
    folder: str
    path: str
    description: str = ""
    tree: str = ""  # the git tree of the folder, of a git repository
    source: str = ""  # the origin's name in the lock file, of a registry that was found at an address
    yanked: Mapping[str, str] = field(default_factory=dict, compare=False)  # reasons, by version
    requires: tuple[str, ...] = ()  # skills that the plugin needs which it is part of
    links: frozenset[str] = frozenset()  # names in a git repository that are links, and files in the folder
    remote: RemoteSkill = field(default=UNLISTED, repr=False, compare=False)
    download: Download = field(default=None, repr=False, compare=False)  # type: ignore[assignment]  # says so

    @property
    def inside(self) -> str:
        """The path of its folder in the download."""
        return posixpath.dirname(self.path)

    @property
    def version(self) -> str:
        """The version in its registry."""
        return self.remote.version

    @property
    def digest(self) -> str:
        """The digest that a site says it has, `wellKnownDigest` in the lock file."""
        return "" if self.source else self.remote.digest

    @property
    def origin(self) -> Origin:
        """Where it comes from, as the lock file keeps it."""
        whole = self.download.origin
        if not self.source or whole.is_registry:
            return whole
        return Origin("download", self.source, whole.url, secret_url=whole.secret_url)

    @property
    def address(self) -> str:
        """The address that it came from: after redirects, once it is complete."""
        return self.download.addresses.get(self.folder) or self.remote.address or self.download.resolved

    def find_evidence(self) -> Evidence:
        """Return what its origin says of it, which may have to be asked."""
        return self.download.find_evidence(self)

    def complete(self) -> None:
        """Have all its files in its folder."""
        self.download.complete([self])

    def warn_of_yank(self, name: str, version: str, *, is_replaced: bool = False) -> list[Diagnostic]:
        """Return W093 for a version that its registry yanked, if it did.

        `is_replaced` says that another takes its place now; `name` is what the skill is called here.
        """
        if version not in self.yanked:
            return []
        advice = f"installed it keeps working, 'skc update {shell_quote(name)}@latest' takes the newest"
        way = "another takes its place" if is_replaced else advice
        return [warning("W093", name, version, self.yanked[version], way)]


@dataclass(frozen=True, slots=True)
class Download:
    """What an origin gave: a folder on this machine, gone when the download is closed.

    `commit` is that of a git repository, and `resolved` the address that was really read. With `lazy`, the
    folders of candidates are incomplete until `complete` was called with them.
    """

    origin: Origin
    folder: str
    candidates: tuple[Candidate, ...]
    commit: str = ""
    resolved: str = ""
    complete: Callable[[Sequence[Candidate]], None] = field(default=lambda _: None, repr=False)
    time: int = 0  # of the commit, in seconds since 1970
    is_tag: bool = False  # whether the ref that was asked for is a tag
    find_evidence: Callable[[Candidate], Evidence] = field(default=lambda _: NO_EVIDENCE, repr=False)
    addresses: dict[str, str] = field(default_factory=dict, repr=False)  # of folders that are complete

    def __post_init__(self) -> None:
        mine = (replace(each, download=self) for each in self.candidates)
        object.__setattr__(self, "candidates", tuple(mine))


def choose_by_name(origin: Origin, skills: Mapping[str, T], names: Sequence[str]) -> list[T]:
    """Return the skills of an index that are wanted, or all; raises OriginNotFound if one is missing."""
    if not skills:
        raise OriginNotFound(origin.label(), "there is no skill in it")
    misses = [name for name in names if name not in skills]
    if misses:
        raise not_there(origin, misses[0], skills)
    return [skills[name] for name in dict.fromkeys(names or skills)]


def not_there(origin: Origin, name: str, there: Iterable[str]) -> OriginNotFound:
    """Return the error for a skill that an origin does not have, with those that may have been meant."""
    names = sorted(set(there))
    listing = f"there are {first_of(names, MAX_NAMES)}" if names else ""
    hint = did_you_mean(name, names) or listing
    return OriginNotFound(origin.label(), f"there is no skill '{name}' in it", hint and f"hint: {hint}")


def open_session(origin: Origin) -> Session:
    """Return requests on behalf of an origin, whose credentials go to its own host alone."""
    return Session.for_person(origin.url, origin.address, origin.allowed_hosts)


@contextmanager
def origin_errors(origin: Origin) -> Iterator[None]:
    """Turn failures of a remote into OriginNotFound (E080), without secrets."""
    try:
        yield
    except Failure as error:
        raise OriginNotFound(origin.label(), hide_secrets(one_line(error.reason)), error.hint) from None


def check_ref(text: str, ref: str) -> str:
    """Return a ref; refuse one that none can be."""
    if ref.startswith("-") or not ref.isprintable() or " " in ref:
        raise OriginNotFound(text, f"'{ref}' is not the name of a branch, tag or commit")
    return ref


def clean_path(text: str, path: str) -> str:
    """Return the path of a folder in a repository; refuse one that leaves it."""
    words = [word for word in unquote(path).strip("/").split("/") if word not in ("", ".")]
    if ".." in words or any("\\" in word or "\0" in word for word in words):
        raise OriginNotFound(text, "the path leaves the repository")
    if words and words[-1].lower() == "skill.md":
        words.pop()
    return "/".join(words)
