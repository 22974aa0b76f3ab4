"""Addresses of repositories: guess the type of one, and write it down without secrets.

>>> guess_type("https://github.com/company/skills"), guess_type("https://skills.example.com/api")
('git', 'http')
"""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from skillc.errors import DirectoryNotFound, InvalidOption

FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht")
_VARIABLES = re.compile(r"(\$\{[A-Za-z_][A-Za-z0-9_]*\})+")
_USER = re.compile(r"(?<=://)[^/?#@\s'\"<>]+(?=@)")
_QUERY = re.compile(
    r"([?&;][\w.-]{0,40}(?:token|secret|passw|pwd|sig|credential|auth|key|jwt)[\w.-]{0,40}=)[^&;#\s'\"<>]+",
    re.IGNORECASE,
)
HIDDEN = "***"
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:(?!//).+")  # git@host:path


def guess_type(place: str) -> str:
    """Return `git`, `http` or, for anything that is no URL, `filesystem`."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        return "git" if _SCP.fullmatch(place) or place.rstrip("/").endswith(".git") else "filesystem"
    if scheme.lower() not in ("http", "https"):
        return "git"
    host = rest.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    forge = host in FORGES or host.startswith(("git.", "gitlab.", "github."))
    return "git" if forge or rest.rstrip("/").endswith(".git") else "http"


def without_secrets(text: str) -> str:
    """`text` with what may be a secret in the URLs in it hidden: users, and values in queries by name.

    >>> without_secrets("no answer from https://me:x@example.com/mcp?page=2&access_token=y#z")
    'no answer from https://***@example.com/mcp?page=2&access_token=***#z'
    """
    return _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(HIDDEN, text))


def stored_url(url: str, kind: str, cwd: str) -> str:
    """Return an address as it is written down: with no secret in it [D24]; the errors don't repeat it."""
    if not _is_plain(url):
        raise InvalidOption("the address has control characters or is not UTF-8")
    if "${" in url and "://" not in url:
        return url
    if kind in ("http", "mcp") and not re.match("https?://.", url, re.IGNORECASE):
        instead = '; a command is for the home\'s skills.toml: command = ["..."]' if kind == "mcp" else ""
        raise InvalidOption(
            f"the address of a repository of type {kind} starts with http:// or https://{instead}"
        )
    if "://" not in url:
        return url if _SCP.fullmatch(url) else _local(url, cwd)
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


def stored_path(place: str, cwd: str, base: str) -> str:
    """Return a folder as it is written down: relative to `base` if it is below it or was given relative.

    Raises DirectoryNotFound if there is no such folder.
    """
    path = _local(place, cwd)
    real_base = os.path.realpath(base)
    same_drive = os.path.splitdrive(path)[0].lower() == os.path.splitdrive(real_base)[0].lower()
    below = os.path.relpath(path, real_base) if same_drive else path
    outside = below.split(os.sep)[0] in (os.pardir, "") or os.path.isabs(below)
    if outside and (os.path.isabs(os.path.expanduser(place)) or real_base != base):
        return path
    return below.replace(os.sep, "/")


def _local(place: str, cwd: str) -> str:
    """Return the absolute path of a folder; raises DirectoryNotFound."""
    path = os.path.normpath(os.path.join(os.path.realpath(cwd), os.path.expanduser(place)))
    if not _is_plain(path):
        raise InvalidOption("the path has control characters or is not UTF-8")
    if not os.path.isdir(path):
        missing = DirectoryNotFound(place)
        if re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9_.-]+", place):
            missing.details = f"hint: a repository on GitHub is https://github.com/{place}"
        raise missing
    return path


def _is_plain(text: str) -> bool:
    return bool(text) and not any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text)
