"""The address of a repository, as a user gives it: guess its type, and prepare it for skills.toml.

>>> guess_type("https://github.com/company/skills"), guess_type("https://skills.example.com/api")
('git', 'http')
>>> guess_type("https://skills.example.com/payments/.claude-plugin/marketplace.json")
'well-known'
>>> guess_type("https://skills.example.com/.well-known/clawhub.json"), guess_type("https://clawhub.ai")
('clawhub', 'clawhub')
"""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from skillc.errors import DirectoryNotFound, InvalidOption

LOOPBACK = ("localhost", "127.0.0.1", "::1")  # hosts that http reaches without leaving this machine
FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht")
HUBS = ("clawhub.ai",)
_VARIABLES = re.compile(r"(\$\{[A-Za-z_][A-Za-z0-9_]*\})+")
# The file of an index, or of a marketplace that has an index beside it.
_INDEX = re.compile(
    r"/(\.well-known/(agent-)?skills(/.*)?|\.(claude-plugin|agents/plugins)/marketplace\.json)$"
)
_HUB = re.compile(r"/\.well-known/clawd?hub\.json$")
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:(?!//).+")  # git@host:path
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
MAX_QUOTED = 8  # times that an address may be quoted


def is_plain(address: str) -> bool:
    """Return whether an address is UTF-8 and has no control character, however often it is unquoted.

    What reads a part of it unquoted (a login, a path, a ref) must not find a second line there.

    >>> is_plain("https://host/a%20b"), is_plain("https://x%0Aurl=y@host/"), is_plain("https://host/a%250Ab")
    (True, False, False)
    """
    for _ in range(MAX_QUOTED):
        if not address or _CONTROLS.search(address):
            return False
        last, address = address, unquote(address)
        if address == last:
            return True
    return False


def guess_type(address: str) -> str:
    """Return `git`, `http`, `mcp`, `well-known`, `clawhub` or, for anything but a URL, `filesystem`."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return "git" if _SCP.fullmatch(address) or address.rstrip("/").endswith(".git") else "filesystem"
    if scheme.lower() not in ("http", "https"):
        return "git"
    host = rest.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    forge = host in FORGES or host.startswith(("git.", "gitlab.", "github."))
    if forge or rest.rstrip("/").endswith(".git"):
        return "git"
    if rest.rstrip("/").endswith("/mcp"):
        return "mcp"
    if host in HUBS or _HUB.search(rest.rstrip("/")):
        return "clawhub"
    return "well-known" if _INDEX.search(rest) else "http"


def resolve_address(address: str, kind: str, cwd: str, base: str) -> str:
    """Return the address of a repository for skills.toml: a URL, or a folder that may be relative to `base`.

    Raises InvalidOption, and DirectoryNotFound where there is no folder.
    """
    return resolve_path(address, cwd, base) if kind == "filesystem" else resolve_url(address, kind, cwd)


def resolve_url(url: str, kind: str, cwd: str) -> str:
    """Return a URL for skills.toml; refuse one with a secret in it, without repeating it [D24]."""
    if not is_plain(url):
        raise InvalidOption("the address has control characters or is not UTF-8")
    if "${" in url and "://" not in url:
        return url
    if kind in ("clawhub", "http", "mcp", "well-known") and not re.match("https?://.", url, re.IGNORECASE):
        instead = '; a command is for the home\'s skills.toml: command = ["..."]' if kind == "mcp" else ""
        raise InvalidOption(
            f"the address of a repository of type {kind} starts with http:// or https://{instead}"
        )
    if "://" not in url:
        return url if _SCP.fullmatch(url) else _find_folder(url, cwd)
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidOption("the address is not a valid URL") from None
    user, at, _ = parts.netloc.rpartition("@")
    name, colon, password = user.partition(":")
    secret = password if colon else name if parts.scheme in ("http", "https") else ""
    if (at and secret and not _VARIABLES.fullmatch(secret)) or parts.query or parts.fragment:
        raise InvalidOption(
            "the address holds credentials or a query, and they would be on disk; leave them out, and put "
            'a token into a variable: --auth-token-env NAME, or auth_token = "${NAME}" in skills.toml'
        )
    return url


def resolve_path(path: str, cwd: str, base: str) -> str:
    """Return a folder for skills.toml: relative to `base` where it is below it or was given relative.

    Raises DirectoryNotFound where there is no folder.
    """
    folder = _find_folder(path, cwd)
    top = os.path.realpath(base)
    same_drive = os.path.splitdrive(folder)[0].lower() == os.path.splitdrive(top)[0].lower()
    relative = os.path.relpath(folder, top) if same_drive else folder
    outside = relative.split(os.sep)[0] in (os.pardir, "") or os.path.isabs(relative)
    if outside and (os.path.isabs(os.path.expanduser(path)) or top != base):
        return folder
    return relative.replace(os.sep, "/")


def _find_folder(path: str, cwd: str) -> str:
    """Return the absolute path of a folder that exists."""
    folder = os.path.normpath(os.path.join(os.path.realpath(cwd), os.path.expanduser(path)))
    if _CONTROLS.search(folder):
        raise InvalidOption("the path has control characters or is not UTF-8")
    if not os.path.isdir(folder):
        error = DirectoryNotFound(path)
        if re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9_.-]+", path):
            error.details = f"hint: a repository on GitHub is https://github.com/{path}"
        raise error
    return folder
