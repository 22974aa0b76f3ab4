"""Rules about links: SKL301 to SKL303, and SKL401, what no link leads to.

A link is relative to the folder of the file it stands in. Where it leads to is decided on real
paths, so that no symbolic link hides a way out [D2].
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillc.errors import PathEscapes
from skillc.lint.anchors import leads_somewhere, slug
from skillc.lint.report import Problem
from skillc.skills import local_target, resolve_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.lint.page import Folder, Page

MAX_PATH = 4096  # characters; no file system has a longer one

# Files that people and tools look for by name, in any case and folder.
_FOUND_BY_NAME = ("LICENSE", "CHANGELOG", "CONTRIBUTING", "README")


class Followed(NamedTuple):
    """A link and where it leads: a real path inside the skill, or the rule that it breaks and why."""

    target: str
    line: int
    path: str | None
    anchor: str = ""
    rule: str = ""
    reason: str = ""


def check(folder: Folder) -> Iterator[Problem]:
    """Every link of every page, and the pages that can't be reached by them."""
    pages = {page.real: page for page in folder.pages.values()}
    ways: dict[str, set[str]] = {}
    for page in folder.pages.values():
        for link in _follow_all(page, folder):
            if link.path is None:
                yield Problem(link.rule, f"'{link.target}' {link.reason}", page.name, link.line)
                continue
            ways.setdefault(page.real, set()).add(link.path)
            other = pages.get(link.path)
            if other is not None and not leads_somewhere(link.anchor, other.anchors):
                message = f"'{link.target}': {_no_anchor(link.anchor, other)}"
                yield Problem("SKL302", message, page.name, link.line)
    yield from _orphans(folder, ways)


def _follow_all(page: Page, folder: Folder) -> Iterator[Followed]:
    known: dict[str, tuple[str | None, str, str]] = {}  # pages link to the same files again and again
    for link in page.links:
        if link.target[:5].lower() == "file:":
            yield Followed(link.target, link.line, None, "", "SKL303", "leads out of the skill")
            continue
        local = local_target(link.target)
        if local is None or not any(local):  # neither: the page itself, whatever the query says
            continue
        path, anchor = local
        if path not in known:
            known[path] = _follow(path, page, folder)
        real, rule, reason = known[path]
        yield Followed(link.target, link.line, real, anchor, rule, reason)


def _follow(path: str, page: Page, folder: Folder) -> tuple[str | None, str, str]:
    """The real path that a path in a page leads to, or the rule that it breaks and why."""
    if not path:
        return page.real, "", ""
    if "\0" in path or len(path) > MAX_PATH:
        return None, "SKL301", "leads to no file of the skill"
    try:
        real = resolve_inside(folder.root, os.path.join(os.path.dirname(page.name), path))
    except PathEscapes:
        how = "is an absolute path and " if path.startswith("/") else ""
        return None, "SKL303", f"{how}leads out of the skill"
    missing = _missing(real, path, page, folder)
    return (None, "SKL301", missing) if missing else (real, "", "")


def _missing(real: str, path: str, page: Page, folder: Folder) -> str:
    """Why what stands at a real path is no file or folder of the skill; empty if it is one."""
    below = os.path.relpath(real, folder.root).replace(os.sep, "/")
    if below != "." and any(part.startswith(".") for part in below.split("/")):
        return "leads to a dot-file, which is not part of the skill"
    if os.path.isdir(real):
        return ""
    if os.path.isfile(real):
        # A file system that ignores case finds what another one will not.
        written = os.path.normpath(os.path.join(os.path.dirname(page.name), path)).replace(os.sep, "/")
        known = written in folder.names or below in folder.names
        return "" if known else "leads to no file of the skill; is it upper and lower case?"
    from_root = os.path.normpath(path).replace(os.sep, "/")
    if from_root in folder.names:
        relative = os.path.relpath(from_root, os.path.dirname(page.name) or ".").replace(os.sep, "/")
        return f"leads to no file of the skill; from here it is '{relative}'"
    return "leads to no file of the skill"


def _no_anchor(anchor: str, page: Page) -> str:
    likely = slug(anchor)
    guess = f"; did you mean '#{likely}'?" if likely in page.anchors else ""
    return f"there is no anchor '{anchor}' in {page.name}{guess}"


def _orphans(folder: Folder, ways: dict[str, set[str]]) -> Iterator[Problem]:
    if folder.main is None or folder.unread:
        return  # what could not be read may hold the links
    reached = _reachable(folder.main.real, ways, folder)
    for page in folder.pages.values():
        stem = os.path.basename(page.name).split(".")[0].upper()
        if page.real not in reached and stem not in _FOUND_BY_NAME:
            message = f"no link leads here from {folder.main.name}"
            yield Problem("SKL401", message, page.name)


def _reachable(start: str, ways: dict[str, set[str]], folder: Folder) -> set[str]:
    """Every real path that links lead to; one to a folder leads to the pages in it, too."""
    in_folder: dict[str, list[str]] = {}
    for page in folder.pages.values():
        in_folder.setdefault(os.path.dirname(page.real), []).append(page.real)
    reached: set[str] = set()
    pending = [start]
    while pending:
        path = pending.pop()
        if path not in reached:
            reached.add(path)
            pending += ways.get(path, ())
            if path != folder.root:  # a link to the skill itself shows nothing new
                pending += in_folder.get(path, ())
    return reached
