"""Check links, SKL301 to SKL303, and find the pages that no link leads to, SKL401.

A link is relative to the folder of its file. Targets are compared as real paths, so that
no symbolic link hides a way out [D2].
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from skillc import errors
from skillc.lint.page import Folder, Link, Page, slug
from skillc.lint.report import Problem
from skillc.paths import CASES_FOLDER
from skillc.skills import resolve_inside

MAX_PATH = 4096  # characters; no file system has a longer one

_WORD = re.compile(r"[\w./-]+")  # that may be a file's name in a text
_SIGNS = frozenset(":%?")  # with a meaning in an address
# The other characters of ASCII as spaces: `split` is many times as fast.
_SPACES = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_./-")}

# What agents put the skill's folder in place of: OpenClaw and Claude Code.
_ROOT_VARIABLES = ("{baseDir}/", "${CLAUDE_SKILL_DIR}/")

# Files that need no link: people and tools look for them by name, in any case and folder.
_WELL_KNOWN = ("LICENSE", "CHANGELOG", "CONTRIBUTING", "README")


def split_target(target: str) -> tuple[str, str] | None:
    """Return the path and the anchor that a link leads to, or None where it leads out to the network.

    >>> split_target("a%20b.md#part"), split_target("https://example.com/")
    (('a b.md', 'part'), None)
    """
    if target.startswith(("https://", "http://")):
        return None
    if _is_plain(target):
        path, _, fragment = target.partition("#")
        return path, fragment
    from urllib.parse import unquote, urlsplit  # few targets need it, and it takes long to load

    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else (unquote(parts.path), unquote(parts.fragment))


def _is_plain(target: str) -> bool:
    """Return whether a target has no scheme, host, query or escape."""
    return target.isprintable() and not target.startswith((" ", "//")) and not _SIGNS.intersection(target)


class Target(NamedTuple):
    """The target of a link: a real path inside the skill, or the rule that it breaks and why."""

    path: str | None
    rule: str = ""
    reason: str = ""


def check(folder: Folder) -> Iterator[Problem]:
    """Check every link of every page, and that links lead to every page."""
    pages = {page.real: page for page in folder.pages.values()}
    # The real paths that each page links to; a name that a page mentions leads to all pages of that name.
    edges: dict[str, set[str]] = {}
    for page in pages.values():
        edges.setdefault(_name_node(page.name), set()).add(page.real)
    folders = {os.path.dirname(name) for name in folder.pages if "/" in name}
    for page in folder.pages.values():
        edges[page.real] = set(_find_names(page, folder, folders))
        for link, target, anchor in _follow_links(page, folder):
            if target.path is None:
                yield Problem(target.rule, f"'{link.target}' {target.reason}", page.name, link.line)
                continue
            edges[page.real].add(target.path)
            other = pages.get(target.path)
            if other is not None and not other.has_anchor(anchor):
                likely = slug(anchor)
                hint = f"; did you mean '#{likely}'?" if likely in other.anchors else ""
                message = f"'{link.target}': there is no anchor '{anchor}' in {other.name}{hint}"
                yield Problem("SKL302", message, page.name, link.line)
    yield from _find_orphans(folder, edges)


def _follow_links(page: Page, folder: Folder) -> Iterator[tuple[Link, Target, str]]:
    """Yield each link of a page that is not to the network, with its target and its anchor."""
    cache: dict[str, Target] = {}  # pages link to the same files again and again
    for link in page.links:
        if link.target[:5].lower() == "file:":
            yield link, Target(None, "SKL303", "leads out of the skill"), ""
            continue
        local = split_target(link.target)
        if local is None or not any(local):  # neither path nor anchor: the page itself
            continue
        path, anchor = local
        if path not in cache:
            cache[path] = _follow(path, page, folder)
        yield link, cache[path], anchor


def _find_paths(page: Page) -> Iterator[str]:
    """Yield the words of a page that are paths, or end as Markdown files do."""
    for words in page.text.translate(_SPACES).split():
        if "/" in words or "." in words:
            for word in (words,) if words.isascii() else _WORD.findall(words):
                if len(word) <= MAX_PATH and ("/" in word or word.rstrip(".").lower().endswith(".md")):
                    yield word


def _name_node(path: str) -> str:
    """Return the node of a file's name in the graph of links; no path is like it."""
    return f"\0{posixpath.basename(path)}"


def _find_names(page: Page, folder: Folder, folders: set[str]) -> Iterator[str]:
    """Yield the nodes of pages, and of folders with pages, that a page names in its text or code.

    Agents open a file that they read the name of as well as one that is linked.
    """
    here = os.path.dirname(page.name)
    for word in set(_find_paths(page)):
        path = posixpath.normpath(word.rstrip(".")).lstrip("/")
        for name in (posixpath.normpath(posixpath.join(here, path)), path):
            if name in folder.pages:
                yield folder.pages[name].real
            elif name in folders and "/" in word:
                yield os.path.join(folder.root, name)
        yield _name_node(path)


def _follow(path: str, page: Page, folder: Folder) -> Target:
    if not path:
        return Target(page.real)
    if "\0" in path or len(path) > MAX_PATH:
        return Target(None, "SKL301", "leads to no file of the skill")
    variable = next(filter(path.startswith, _ROOT_VARIABLES), "")
    base = "" if variable else os.path.dirname(page.name)
    path = path.removeprefix(variable)
    try:
        real = resolve_inside(folder.root, os.path.join(base, path))
    except errors.PathEscapes:
        how = "is an absolute path and " if path.startswith("/") else ""
        return Target(None, "SKL303", f"{how}leads out of the skill")
    reason = _explain_missing(real, path, base, folder)
    return Target(None, "SKL301", reason) if reason else Target(real)


def _explain_missing(real: str, path: str, base: str, folder: Folder) -> str:
    """Say why a real path is no file or folder of the skill; empty if it is one.

    `path` is that of the link, from the folder `base`.
    """
    below = os.path.relpath(real, folder.root).replace(os.sep, "/")
    if below != "." and any(part.startswith(".") for part in below.split("/")):
        return "leads to a dot-file, which is not part of the skill"
    if os.path.isdir(real):
        return ""
    if os.path.isfile(real):
        # A file system that ignores case finds files that another one will not.
        name = os.path.normpath(os.path.join(base, path)).replace(os.sep, "/")
        if name in folder.names or below in folder.names:
            return ""
        return "leads to no file of the skill; is it upper and lower case?"
    from_root = os.path.normpath(path).replace(os.sep, "/")
    others = (
        [from_root] if from_root in folder.names else folder.by_base.get(posixpath.basename(from_root), [])
    )
    if len(others) == 1:
        relative = os.path.relpath(others[0], base or ".").replace(os.sep, "/")
        return f"leads to no file of the skill; from here it is '{relative}'"
    return "leads to no file of the skill"


def _find_orphans(folder: Folder, edges: dict[str, set[str]]) -> Iterator[Problem]:
    if folder.main is None or not folder.is_complete:
        return  # the pages that could not be read may hold the links
    reachable = _find_reachable(folder.main.real, edges, folder)
    words = {posixpath.basename(word).casefold(): word for word in _find_paths(folder.main)}
    for page in folder.pages.values():
        stem = os.path.basename(page.name).split(".")[0].upper()
        is_case = page.name.startswith(f"{CASES_FOLDER}/")  # read by 'skc eval', not by agents
        if page.real not in reachable and stem not in _WELL_KNOWN and not is_case:
            message = f"no link and no name in {folder.main.name} leads to this file"
            if other := words.get(posixpath.basename(page.name).casefold()):
                message += f"; '{other}' there differs from its name in upper and lower case"
            yield Problem("SKL401", message, page.name)


def _find_reachable(start: str, edges: dict[str, set[str]], folder: Folder) -> set[str]:
    """Return every real path that links lead to; a link to a folder also leads to the pages in it."""
    in_folder: dict[str, list[str]] = {}
    for page in folder.pages.values():
        in_folder.setdefault(os.path.dirname(page.real), []).append(page.real)
    reachable: set[str] = set()
    stack = [start]
    while stack:
        path = stack.pop()
        if path not in reachable:
            reachable.add(path)
            stack += edges.get(path, ())
            if path != folder.root:  # a link to the skill itself shows nothing new
                stack += in_folder.get(path, ())
    return reachable
