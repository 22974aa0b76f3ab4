"""Read a skill's folder for lint: its files, and its Markdown files as pages.

A file that can't be read is a problem to report, never an exception.

>>> [(link.target, link.line) for link in find_links(b"See [forms](forms.md#fill)\\nand ![](a%20b.png).")]
[('forms.md#fill', 1), ('a%20b.png', 2)]
>>> sorted(find_anchors(["Fill `a` form", "Set-up", "Set-up"], ['<a id="here"></a>']))
['fill-a-form', 'here', 'set-up', 'set-up-1']
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from unicodedata import category

from skillc.errors import PathEscapes, os_text
from skillc.lint.positions import Block, find_block
from skillc.lint.report import Problem
from skillc.paths import is_inside
from skillc.skills import MAX_FILES, Heading, SourceFile, list_files, newlines, walk
from skillc.skills.document import main_file, parse

MAX_PAGE = 1024 * 1024  # bytes; clients refuse a larger SKILL.md [D25], and a larger reference is not linted
MAX_PAGES = 64 * 1024 * 1024  # bytes of all pages together; further pages are not linted
_HTML = re.compile(rb"<[!/?a-zA-Z]")
_COMMENT = re.compile(r"(?s)<!--.*?(?:-->|\Z)")
_TAG = re.compile(r"<([a-zA-Z][\w-]{0,20})([^<>]{0,1000})>")  # bounded: a page may be all `<a`
_ID = re.compile(r"(?i)(?<![\w-])(id|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
# Fragments that need no anchor: the top, a line on GitHub, a passage of text.
_EVERYWHERE = re.compile(r"(?s)top|L\d+(C\d+)?(-L\d+(C\d+)?)?|:~:.*")
_INVISIBLE = dict.fromkeys((0x200C, 0x200D, 0xFE0E, 0xFE0F))  # joiners and selectors that emoji leave behind


class Link(NamedTuple):
    """A link or an image: its target in the source, and the line it starts on."""

    target: str
    line: int
    image: bool


def find_links(data: bytes, body: int = 0) -> list[Link]:
    """Return the links and images of a document in order [D6]; `body` is the byte where the body starts."""
    links: list[Link] = []
    for element in walk(data, body, ("Link", "Image")):
        mail = "mailto:" if element.detail["link_type"] == "Email" else ""
        links.append(Link(mail + element.detail["dest_url"], element.line, element.kind == "Image"))
    return links


class Page:
    """A Markdown file: its path below the root, its bytes, and its elements."""

    def __init__(self, name: str, path: str, raw: bytes) -> None:
        self.name = name
        self.real = os.path.realpath(path)
        self.raw = raw
        self.document = parse(raw)

    # Cached, because several rules use them and each takes a pass over the text.

    @cached_property
    def headings(self) -> list[Heading]:
        return self.document.headings()

    @cached_property
    def links(self) -> list[Link]:
        return find_links(self.document.data, self.document.body)

    @cached_property
    def html(self) -> list[tuple[str, int]]:
        """Return the pieces of raw HTML outside of code, each with the line it starts on; lines end in LF."""
        data, body = self.document.data, self.document.body
        if data.find(b"<", body) < 0 or not _HTML.search(data, body):
            return []
        elements = walk(data, body, ("HtmlBlock", "InlineHtml"))
        pieces = ((data[element.start : element.end].decode(), element.line) for element in elements)
        return [(text.replace("\r\n", "\n").replace("\r", "\n"), line) for text, line in pieces]

    @cached_property
    def anchors(self) -> frozenset[str]:
        return find_anchors([heading.text for heading in self.headings], [text for text, _ in self.html])

    def has_anchor(self, fragment: str) -> bool:
        """Return whether a link's fragment is one of the anchors, or needs none."""
        if not fragment or fragment.translate(_INVISIBLE) in self.anchors:
            return True
        return _EVERYWHERE.fullmatch(fragment) is not None

    @cached_property
    def text(self) -> str:
        return self.document.data.decode()

    @cached_property
    def block(self) -> Block | None:
        """Return the YAML of the frontmatter, and its place."""
        front = self.document.frontmatter
        return find_block(self.text, front.raw) if front else None

    def line_of(self, field: str) -> int:
        """Return the line of a field of the frontmatter; 1 if it is missing."""
        return self.block.line_of(field) if self.block else 1

    def field_problem(self, rule: str, message: str, field: str = "", cause: str = "") -> Problem:
        return Problem(rule, message, self.name, self.line_of(field), cause)

    def line_at(self, position: int) -> int:
        """Return the line of a character of `text`."""
        return 1 + newlines(self.text[:position].encode(), 0, len(self.document.data))


@dataclass(frozen=True)
class Folder:
    """A skill's files, its pages by name, SKILL.md among them, and the problems of reading them."""

    root: str
    files: list[SourceFile]
    main: Page | None
    pages: dict[str, Page]
    problems: list[Problem]
    names: frozenset[str]

    @cached_property
    def by_base(self) -> dict[str, list[str]]:
        """The names of the files by what is behind their last slash."""
        names: dict[str, list[str]] = {}
        for name in self.names:
            names.setdefault(name.rpartition("/")[2], []).append(name)
        return names

    @property
    def is_complete(self) -> bool:
        """Whether every Markdown file could be read."""
        return all(name in self.pages for name in self.names if name.lower().endswith(".md"))


def read_folder(source: str) -> Folder:
    """Read the skill in a folder; raises InvalidSkill where it has no SKILL.md."""
    main = main_file(source)
    root = os.path.realpath(source)
    problems: list[Problem] = []
    try:
        files = list_files(root, strict=True)
    except (PathEscapes, OSError):
        files = list(_walk_files(root, problems))
    pages: dict[str, Page] = {}
    room = MAX_PAGES
    for file in sorted(files, key=lambda file: (file.name != main, os.fsencode(file.name))):
        page = _read_page(file, main, room, problems) if file.name.lower().endswith(".md") else None
        if page is not None:
            pages[page.name] = page
            room -= len(page.raw)
    return Folder(root, files, pages.get(main), pages, problems, frozenset(file.name for file in files))


def _read_page(file: SourceFile, main: str, room: int, problems: list[Problem]) -> Page | None:
    try:
        with open(file.path, "rb") as stream:
            raw = stream.read(MAX_PAGE + 1)
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


def _walk_files(root: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the regular files of a folder that `list_files` refuses, and add every reason to `problems`."""

    def below(path: str) -> str:
        return os.path.relpath(path, root).replace(os.sep, "/")

    def unreadable(error: OSError) -> None:
        name = below(os_text(error.filename))
        problems.append(Problem("SKL004", f"can't be read: {error.strerror or error}", name))

    count = 0
    for directory, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [os.path.join(directory, name) for name in sorted(names) if not name.startswith(".")]
        for path in [*(os.path.join(directory, name) for name in folders), *paths]:
            # A link that leads somewhere, and out of the skill [D2]
            if os.path.islink(path) and os.path.exists(path) and not is_inside(os.path.realpath(path), root):
                message = "is a symbolic link that leads out of the skill; build fails with E012"
                problems.append(Problem("SKL303", message, below(path)))
        for path in (path for path in paths if os.path.isfile(path) and not os.path.islink(path)):
            count += 1
            if count > MAX_FILES:
                problems.append(Problem("SKL004", f"one of more than {MAX_FILES} files", below(path)))
                return
            yield SourceFile(below(path), path, os.stat(path))


def find_anchors(headings: Iterable[str], html: Iterable[str]) -> frozenset[str]:
    """Return every anchor of a file: GitHub's for the headings, and the IDs in the pieces of HTML."""
    anchors = set(slugs(headings))
    for tag in (tag for text in html for tag in _TAG.finditer(_COMMENT.sub("", text))):
        for attribute in _ID.finditer(tag[2]):
            if attribute[1].lower() == "id" or tag[1].lower() == "a":
                anchors.add(attribute[2] or attribute[3] or attribute[4] or "")
    return frozenset(anchor.translate(_INVISIBLE) for anchor in anchors)


def slugs(headings: Iterable[str]) -> list[str]:
    """Return the anchor of each heading; repeated ones get -1, -2 and so on."""
    counts: dict[str, int] = {}  # in order: each anchor is a key once
    for text in headings:
        plain = unique = slug(text)
        while unique in counts:
            counts[plain] += 1
            unique = f"{plain}-{counts[plain]}"
        counts[unique] = 0
    return list(counts)


def slug(text: str) -> str:
    """Return a heading's anchor: letters, digits, hyphens and underscores in lower case, spaces as hyphens.

    >>> slug("What's new? 🚀 (v2)"), slug("安装 指南")
    ('whats-new--v2', '安装-指南')
    """
    kinds = ((c, category(c)) for c in text.lower())
    letters = (c for c, kind in kinds if c in "- " or kind[0] in "LM" or kind in ("Nd", "Nl", "Pc"))
    return "".join(letters).replace(" ", "-")
