"""The addresses of origins: parse what a person wrote, and recall what a lock says.

>>> origin = parse_origin("anthropics/skills/document-skills/pdf@v1.2", "/")
>>> origin.type, origin.source, origin.ref, origin.path
('github', 'anthropics/skills', 'v1.2', 'document-skills/pdf')
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from skillc.errors import InvalidOption, InvalidSkillId, OriginNotFound
from skillc.install.origin import (
    ARCHIVES,
    CLAWHUB,
    FILE,
    MAIN_FILE,
    OURS,
    REGISTRY,
    Origin,
    check_ref,
    clean_path,
)
from skillc.remotes.http import LOOPBACK, guess_type, hide_secrets, host_of, is_plain, parse_registry
from skillc.skills import SkillId

_MCP = "mcp:"  # before the address of an MCP server, in locks of older versions
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_SHORT = re.compile(rf"({_NAME})/({_NAME})(?:/(.*?))?/?")
_SCP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9_.-]+:(?!//).+")
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_REF = re.compile(r"(?<=[^/])@")  # not before a folder such as packages/@scope
_SLUG = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)?")
_GITHUB_FILES = ("archive", "releases", "raw", "zipball", "tarball")
_MARKETPLACE = re.compile(r"(^|/)(\.claude-plugin|\.agents/plugins)$")  # in the folder that it is about
# In a browser's address of a folder or file: the words before the ref.
_TREES = (
    ("-", "tree"), ("-", "blob"), ("tree",), ("blob",), ("commit",), ("-", "commit"),
    ("src", "branch"), ("src", "tag"), ("src", "commit"), ("src",),
)  # fmt: skip


def parse_origin(text: str, cwd: str, hosts: frozenset[str] = frozenset()) -> Origin:
    """Return what a person means by an address, a repository's name or a path.

    `hosts` may be asked besides its own. Raises OriginNotFound (E080), whose message hides credentials.
    """
    return replace(_enter_repository(_parse(text, cwd)), hosts=hosts)


def _enter_repository(origin: Origin) -> Origin:
    """Divide the path of a git repository on this machine: a folder in it may have been named."""
    if not origin.is_git or not origin.url.startswith(FILE):
        return origin
    place = os.path.normpath(origin.url.removeprefix(FILE))
    root = place
    while not (os.path.exists(os.path.join(root, ".git")) or _is_bare(root)):
        root, last = os.path.split(root)
        if not last and os.path.isdir(place):
            hint = f"hint: '{place}' alone is the folder as it is now"
            raise OriginNotFound(origin.label(), "it is in no git repository", hint)
        if not last:
            return origin
    path = os.path.relpath(place, root).replace(os.sep, "/")
    return replace(origin, source=FILE + root, url=FILE + root, path="" if path == "." else path)


def _is_bare(folder: str) -> bool:
    """Return whether a folder is a git repository without a work tree."""
    return all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


def _parse(text: str, cwd: str) -> Origin:
    """Return an origin, whose ref and path can do no harm where it is a git repository."""
    _require_plain(text)
    origin = _parse_any(text, cwd)
    if not origin.is_git:
        return origin
    label = hide_secrets(text)
    return replace(origin, ref=check_ref(label, origin.ref), path=clean_path(label, origin.path))


def _parse_any(text: str, cwd: str) -> Origin:
    if text.startswith("-"):
        raise OriginNotFound(text, "it looks like an option", f"hint: a folder is ./{text}")
    if _HELPER.match(text):
        raise OriginNotFound(text, "remote helpers ('name::address') are not supported")
    if text.startswith(_MCP):
        raise _refuse_mcp(text)
    if text.startswith((REGISTRY, OURS)):
        return _parse_registry(text) if text.startswith(REGISTRY) else _parse_ours(text)
    if text.startswith("github:"):
        return _parse_short(text, text.removeprefix("github:"))
    if text.startswith("gitlab:"):
        return _parse_url(f"https://gitlab.com/{text.removeprefix('gitlab:')}")
    if "://" in text:
        return _parse_url(text)
    local = _find_local(text, cwd)
    if local is not None:
        return local
    if _SCP.fullmatch(text) and "@" in text.partition(":")[0]:
        address, ref = _split_ref(text, start=text.index(":"))
        return Origin("git", address, address, ref)
    return _parse_short(text, text)


def recall_origin(
    entry: Mapping[str, object], root: str, resolved: str = "", hosts: Iterable[str] = ()
) -> Origin:
    """Return the origin of an entry of a lock file, which is in the folder `root`.

    Hosts that may be asked besides its own are that of `resolved`, where the skill really came from, and
    `hosts`. Raises OriginNotFound for one that can't be asked.
    """
    origin = _recall(entry, root)
    if "@" in urlsplit(origin.secret_url).netloc:
        # A user in a lock file would choose which login of the reader is sent. That of an ssh address, such
        # as git, is part of the address, and chooses no key.
        origin = replace(origin, secret_url=urlunsplit(_without_user(urlsplit(origin.secret_url))))
    others = {*hosts, host_of(resolved)} - {"", host_of(origin.url)}
    return replace(origin, hosts=frozenset(others)) if "://" in origin.url else origin


def _recall(entry: Mapping[str, object], root: str) -> Origin:
    kind, source, url, ref, path = (
        str(entry.get(key) or "") for key in ("sourceType", "source", "sourceUrl", "ref", "skillPath")
    )
    folder = path.rpartition("/")[0]
    for text in filter(None, (source, url, ref)):
        _require_plain(text)
    if kind == "local":
        place = os.path.normpath(os.path.join(root, source))
        return Origin(kind, place, place, path=folder)
    if kind == "well-known":
        return replace(_parse_url(url), type=kind, source=source or url)
    if kind == "download" and source.startswith(_MCP):
        raise _refuse_mcp(source, "take the entry out of the lock, and ")
    if kind == "download" and source.startswith((OURS, REGISTRY)):
        versioned = f"{source}{f'@{ref}' if ref else ''}"
        origin = _parse_ours(versioned, url) if source.startswith(OURS) else _parse(versioned, root)
        return replace(origin, path=folder)
    origin = _parse(url or source, root)
    if kind in ("github", "gitlab", "git") and not origin.is_git:
        origin = replace(origin, type=kind, source=source or url)
    return replace(origin, ref=ref or origin.ref, path=folder)


def _require_plain(text: str) -> None:
    if not is_plain(text):
        reason = "it is empty, has control characters (also as %0A and the like) or is not UTF-8"
        raise OriginNotFound(hide_secrets(text), reason)


def _refuse_mcp(text: str, step: str = "") -> OriginNotFound:
    """Return the error for an MCP server, with what to do instead; `step` comes first."""
    label = hide_secrets(text)
    way = f"{step}add the server as a repository: skc repo add <name> {label.removeprefix(_MCP)} --type mcp"
    return OriginNotFound(label, f"MCP servers are not supported as origins any more; {way}")


def _parse_registry(text: str) -> Origin:
    """Parse `clawhub:slug[@version]` and `clawhub:https://registry/slug[@version]`."""
    _refuse_login(text, text.removeprefix(REGISTRY))
    rest, _, version = text.removeprefix(REGISTRY).partition("@")
    registry, slug = CLAWHUB, rest
    if "://" in rest:
        place = _parse_url(rest)
        registry, _, slug = place.url.rstrip("/").rpartition("/")
        if registry.endswith("/"):  # of https://
            raise OriginNotFound(text, "it names no skill", f"hint: {REGISTRY}{place.url}/<slug>")
    if not _SLUG.fullmatch(slug) or slug.startswith((".", "-")):
        raise OriginNotFound(text, "a skill of a registry is clawhub:<slug>[@version]")
    source = f"{REGISTRY}{slug}" if registry == CLAWHUB else f"{REGISTRY}{registry}/{slug}"
    return Origin("download", source, registry, version)


def _parse_ours(text: str, registry: str = "") -> Origin:
    """Parse `skillc:https://registry/id[@version]`; the registry's address may have a path of its own."""
    _refuse_login(text, text.removeprefix(OURS))
    address, _, ref = text.removeprefix(OURS).partition("@")
    parts = urlsplit(address)
    try:
        base = parse_registry(registry or f"{parts.scheme}://{parts.netloc}")
        if not address.startswith(f"{base}/"):
            raise OriginNotFound(text, f"it is not in the registry '{base}'")
        skill_id = SkillId(address[len(base) + 1 :])
    except (InvalidOption, InvalidSkillId) as error:
        raise OriginNotFound(text, error.message) from None
    return Origin("download", f"{OURS}{base}/{skill_id}", base, check_ref(text, ref))


def _refuse_login(text: str, address: str) -> None:
    """Raise OriginNotFound for a registry's address with a user, whose password a message would repeat."""
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise OriginNotFound(hide_secrets(text), "the address of a registry has no user; see 'skc login'")


def _find_local(text: str, cwd: str) -> Origin | None:
    """Return a folder or an archive on this machine; None for a text that is no path and nothing there."""
    path = os.path.normpath(os.path.join(cwd, os.path.expanduser(text)))
    is_path = text.startswith((".", "/", "~", "\\")) or bool(os.path.splitdrive(text)[0])
    if os.path.isdir(path):
        return Origin("git", FILE + path, FILE + path) if _is_bare(path) else Origin("local", path, path)
    if os.path.exists(path) and text.lower().endswith(ARCHIVES):
        return Origin("download", path, path)
    if os.path.exists(path):
        kinds = ", ".join(ARCHIVES)
        if is_path or "/" not in text:
            raise OriginNotFound(text, f"it is neither a folder nor an archive ({kinds})")
    folder, ref = _split_ref(path)
    if ref and os.path.isdir(folder):
        return Origin("git", FILE + folder, FILE + folder, ref)
    if is_path:
        raise OriginNotFound(text, "there is no such folder or file")
    return None


def _parse_short(text: str, short: str) -> Origin:
    """Parse `owner/repo[/path][@ref]`, a repository on GitHub."""
    hint = "hint: owner/repo, an address, an archive or a folder such as ./skills"
    error = OriginNotFound(text, "there is no such folder, and it is no address", hint)
    return _on_github(short, error)


def _on_github(short: str, error: OriginNotFound, ref: str = "", path: str = "", user: str = "") -> Origin:
    """Return a repository on GitHub; a `ref` and a `path` count more than those in `short`."""
    name, own_ref = _split_ref(short)
    match = _SHORT.fullmatch(name)
    if not match:
        raise error
    owner, repo, rest = match.groups()
    name = f"{owner}/{repo.removesuffix('.git')}"
    secret = f"https://{user}@github.com/{name}.git" if user else ""
    url = f"https://github.com/{name}.git"
    return Origin("github", name, url, ref or own_ref, path or rest or "", secret)


def _split_ref(text: str, start: int = 0) -> tuple[str, str]:
    """Split `address#ref` or `address@ref`; an @ before `start` belongs to the address."""
    address, mark, ref = text.partition("#")
    if mark:
        return address, unquote(ref)
    match = _REF.search(text, start)
    return (text[: match.start()], text[match.end() :]) if match else (text, "")


def _parse_url(text: str) -> Origin:
    label = hide_secrets(text)
    parts = _split_url(label, text.removeprefix("git+"))
    host = (parts.hostname or "").lower()
    if parts.scheme.lower() in ("ssh", "file"):
        return _parse_git_url(label, parts)
    words = parts.path.strip("/").split("/")
    is_file = host == "github.com" and len(words) > 3 and words[2] in _GITHUB_FILES
    if parts.path.lower().endswith(ARCHIVES) or is_file:
        return _parse_archive_url(parts)
    place, ref, path = _split_tree(parts)
    if host in ("github.com", "www.github.com"):
        error = OriginNotFound(label, "an address on GitHub is https://github.com/owner/repo")
        user, _, _ = place.netloc.rpartition("@")
        return _on_github(place.path.strip("/"), error, ref or unquote(place.fragment), path, user)
    is_lab = host == "gitlab.com" or "/-/" in parts.path
    is_git = re.search(r"\.git(@|$)", parts.path) or guess_type(urlunsplit(place)) == "git"
    if text.startswith("git+") or is_lab or ref or is_git:
        origin = _parse_git_url(label, place, suffix=".git" if is_lab else "")
        return replace(origin, type="gitlab" if is_lab else "git", ref=ref or origin.ref, path=path)
    if parts.path.lower().endswith(MAIN_FILE):
        return _parse_archive_url(parts)
    return _at_site(parts)


def _split_url(label: str, url: str) -> SplitResult:
    """Return the parts of an address that may be asked; raises OriginNotFound for any other."""
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise OriginNotFound(label, "it is not a valid URL") from None
    scheme = parts.scheme.lower()
    if scheme not in ("https", "http", "ssh", "file"):
        raise OriginNotFound(label, "addresses are https://, ssh:// or file://, git@host:path or a path")
    if not host and scheme != "file":
        raise OriginNotFound(label, "the address has no host")
    if scheme == "file" and host not in ("", "localhost"):
        is_root = os.path.exists(os.path.join(os.sep, host))  # a slash was left out
        path = f"/{host}{parts.path}" if is_root else os.path.abspath(host + parts.path)
        hint = f"hint: a path on this machine starts at its root: {FILE}{path}"
        raise OriginNotFound(label, f"'{parts.netloc}' is where another machine would be named", hint)
    if scheme == "http" and host not in LOOPBACK:
        raise OriginNotFound(label, "http is for this machine alone; use https")
    return parts


def _at_site(parts: SplitResult) -> Origin:
    """Return an address that may be anything; its query is used, and not kept."""
    site = urlunsplit(_without_user(parts)._replace(query="", fragment=""))
    name = f"wellknown/{(parts.hostname or '').lower()}"
    return Origin("well-known", name, site, unquote(parts.fragment), secret_url=_secret(parts))


def _parse_git_url(label: str, parts: SplitResult, suffix: str = "") -> Origin:
    """Return a git repository; the ref follows as `#ref` or, after the last slash, as `@ref`.

    A path without `suffix` gets it.
    """
    path, ref = parts.path, unquote(parts.fragment)
    if not ref:
        head, slash, last = path.rpartition("/")
        match = re.search(r"\.git@(.+)$", path)
        if match:
            path, ref = path[: match.start() + 4], match[1]
        elif "@" in last[1:] and not last.endswith(".git"):  # our plugins are skill@version.git
            last, _, ref = last.partition("@")
            path = f"{head}{slash}{last}"
    if parts.query:
        raise OriginNotFound(label, "the address of a git repository has no query")
    address = parts._replace(path=(path.rstrip("/").removesuffix(suffix) + suffix) or "/", fragment="")
    # The user of an ssh address is part of it.
    plain = address if parts.scheme == "ssh" else _without_user(address)
    if parts.scheme == "ssh" and parts.password:
        raise OriginNotFound(label, "a password can't be given to ssh; use a key")
    url = urlunsplit(plain)
    if parts.scheme == "file":
        url = f"file://{unquote(address.path)}"
    secret = urlunsplit(address) if plain != address else ""
    return Origin("git", url, url, ref, secret_url=secret)


def _parse_archive_url(parts: SplitResult) -> Origin:
    plain = _without_user(parts)._replace(fragment="")
    url = urlunsplit(plain)
    if hide_secrets(url) != url:
        url = urlunsplit(plain._replace(query=""))
    return Origin("download", url, url, secret_url=_secret(parts))


def _split_tree(parts: SplitResult) -> tuple[SplitResult, str, str]:
    """Split a browser's address of a folder or file: the repository's address, the ref and the folder.

    A ref with slashes can't be told from a path here; the download compares it with the refs there are.
    """
    words = unquote(parts.path).strip("/").split("/")
    for index in range(2, len(words) - 1):
        for marks in _TREES:
            end = index + len(marks)
            if tuple(words[index:end]) == marks and end < len(words):
                ref, folder = words[end], words[end + 1 :]
                is_file = "blob" in marks or (folder and folder[-1].lower() == "skill.md")
                path = _MARKETPLACE.sub("", "/".join(folder[:-1] if is_file else folder))
                return parts._replace(path="/" + "/".join(words[:index])), ref, path
    return parts, "", ""


def _without_user(parts: SplitResult) -> SplitResult:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2])


def _secret(parts: SplitResult) -> str:
    """Return an address as it was given, if it holds a user or a query; empty if it has nothing to hide."""
    return urlunsplit(parts._replace(fragment="")) if "@" in parts.netloc or parts.query else ""
