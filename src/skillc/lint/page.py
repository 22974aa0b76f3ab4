"""The folder as lint reads it: its files, and its Markdown files as pages.

What can't be read is a problem to report, never an exception: a skill is linted because something
may be wrong with it.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from skillc.errors import SkillcError, os_text
from skillc.lint.anchors import anchors
from skillc.lint.positions import Block, find
from skillc.lint.report import Problem
from skillc.paths import is_inside
from skillc.skills import SourceFile, find_links, list_files, main_file, parse
from skillc.skills.files import MAX_FILES
from skillc.skills.markdown import body_text, newlines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.skills import Heading, Link

MAX_PAGE = 1024 * 1024  # bytes; clients refuse a larger SKILL.md [D25], and a larger reference is not linted
MAX_PAGES = 64 * 1024 * 1024  # bytes of all pages together; those beyond are not linted


class Page:
    """A Markdown file: its path below the root, its bytes as they stand, and what is in them."""

    def __init__(self, name: str, path: str, raw: bytes) -> None:
        self.name = name
        self.path = path
        self.real = os.path.realpath(path)
        self.raw = raw
        self.document = parse(raw)

    # Cached, because several rules ask and each answer takes a pass over the text.

    @cached_property
    def headings(self) -> list[Heading]:
        return self.document.headings()

    @cached_property
    def links(self) -> list[Link]:
        return find_links(self.document.data, self.document.body)

    @cached_property
    def html(self) -> list[tuple[str, int]]:
        """The raw HTML outside of code, in pieces, each with the line it starts on."""
        return list(_html(self.document.data, self.document.body))

    @cached_property
    def anchors(self) -> frozenset[str]:
        return anchors([heading.text for heading in self.headings], [text for text, _ in self.html])

    @cached_property
    def text(self) -> str:
        return self.document.data.decode()

    @cached_property
    def block(self) -> Block | None:
        """Where the frontmatter stands."""
        front = self.document.frontmatter
        return find(self.text, front.raw) if front else None

    def line_at(self, position: int) -> int:
        """The line of a character of `text`."""
        return 1 + newlines(self.text[:position].encode(), 0, len(self.document.data))


class Folder:
    """A skill's files, its pages by name, and what could not be read."""

    __slots__ = ("files", "main", "names", "pages", "problems", "root", "unread")

    def __init__(
        self, root: str, files: list[SourceFile], main: str, pages: list[Page], problems: list[Problem]
    ) -> None:
        self.root = root
        self.files = files
        self.names = frozenset(file.name for file in files)
        self.pages = {page.name: page for page in pages}
        self.main = self.pages.get(main)
        self.problems = problems
        self.unread = [file.name for file in files if is_page(file.name) and file.name not in self.pages]


def is_page(name: str) -> bool:
    return name.lower().endswith(".md")


def read(source: str) -> Folder:
    """The skill in a folder; raises InvalidSkill where it has no SKILL.md."""
    main = main_file(source)
    root = os.path.realpath(source)
    problems: list[Problem] = []
    try:
        files = list_files(root)
    except (SkillcError, OSError):
        files = list(_plain_files(root, problems))
    pages: list[Page] = []
    room = MAX_PAGES
    for file in sorted(files, key=lambda file: file.name != main):
        if is_page(file.name):
            page = _read_page(file, main, room, problems)
            if page is not None:
                pages.append(page)
                room -= len(page.raw)
    pages.sort(key=lambda page: (page.name != main, os.fsencode(page.name)))
    return Folder(root, files, main, pages, problems)


def _read_page(file: SourceFile, main: str, room: int, problems: list[Problem]) -> Page | None:
    try:
        with open(file.path, "rb") as opened:
            raw = opened.read(MAX_PAGE + 1)
    except OSError as error:
        problems.append(Problem("SKL004", f"can't be read: {error.strerror or error}", file.name))
        return None
    if len(raw) > MAX_PAGE and file.name == main:
        problems.append(Problem("SKL004", f"over {MAX_PAGE >> 20} MiB; clients refuse it", file.name))
        return None
    if len(raw) > min(MAX_PAGE, room):
        reason = f"over {MAX_PAGE >> 20} MiB" if len(raw) > MAX_PAGE else f"over {MAX_PAGES >> 20} MiB in all"
        problems.append(Problem("SKL005", f"{reason}; it was not linted", file.name))
        return None
    return Page(file.name, file.path, raw)


def _plain_files(root: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """What is plainly there, for a folder that the one list of D1 refuses: every reason is a problem."""

    def unreadable(error: OSError) -> None:
        name = os.path.relpath(os_text(error.filename), root).replace(os.sep, "/")
        problems.append(Problem("SKL004", f"can't be read: {error.strerror or error}", name))

    def below(path: str) -> str:
        return os.path.relpath(path, root).replace(os.sep, "/")

    count = 0
    for directory, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [os.path.join(directory, name) for name in sorted(names) if not name.startswith(".")]
        for path in [*(os.path.join(directory, name) for name in folders), *paths]:
            if os.path.islink(path):
                problems += _leaving(path, below(path), root)
        for path in filter(os.path.isfile, paths):
            if os.path.islink(path):
                continue
            count += 1
            if count > MAX_FILES:
                problems.append(Problem("SKL004", f"one of more than {MAX_FILES} files", below(path)))
                return
            yield SourceFile(below(path), path, os.stat(path))


def _leaving(path: str, below: str, root: str) -> list[Problem]:
    """The problem with a symbolic link, if it leads somewhere and out of the skill [D2]."""
    if not os.path.exists(path) or is_inside(os.path.realpath(path), root):
        return []
    return [Problem("SKL303", "is a symbolic link that leads out of the skill; build fails with E012", below)]


_MAY_BE_HTML = re.compile(rb"<[!/?a-zA-Z]")


def _html(data: bytes, body: int) -> Iterator[tuple[str, int]]:
    if not _MAY_BE_HTML.search(data, body):
        return
    from pyromark import events_with_range

    text = body_text(data, body)
    source = text.encode()
    line, counted = 1 + newlines(data, 0, body), 0
    for event, span in events_with_range(text):
        if isinstance(event, dict) and (event.get("Start") == "HtmlBlock" or "InlineHtml" in event):
            line += newlines(source, counted, span["start"])
            counted = span["start"]
            yield source[span["start"] : span["end"]].decode("utf-8", "replace"), line
