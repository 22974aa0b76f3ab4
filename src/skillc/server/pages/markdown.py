"""Turn a skill's Markdown into HTML that does nothing but show text, and that shows all of it.

Events of the parser become HTML, and nh3 cleans all of it, the skill's own HTML included. HTML with a tag
that is not on the lists below, and every comment, is shown as it is written: an agent reads it, so people
must see it. Every link and image goes through `Links`, which knows the skill's files.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

import nh3
import pyromark

from skillc.skills import parser_text

MAX_PART = 48_000  # bytes of Markdown on one page; longer documents have several
MAX_HTML = 90_000  # characters that a part may become
MIN_PART = 3_000
MAX_HEADINGS = 200  # of an outline
PREFIX = "s-"  # of the IDs of headings: a skill can't take those of the page

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_GFM
)
_SIMPLE = {
    "Paragraph": "p",
    "Item": "li",
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "del",
    "TableRow": "tr",
}
_BLOCKS = ("Paragraph", "Item", "TableRow")
_ENDS = {
    "BlockQuote": "</blockquote>\n",
    "CodeBlock": "</code></pre>\n",
    "Link": "</a>",
    "Table": "</tbody></table></div>\n",
}
_TEXT_TAGS = "a abbr b br code del em i img ins kbd mark q s samp small span strong sub sup u var"
_BLOCK_TAGS = "blockquote dd details div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre summary ul"
_TABLE_TAGS = "caption table tbody td tfoot th thead tr"
_TAGS = {*_TEXT_TAGS.split(), *_BLOCK_TAGS.split(), *_TABLE_TAGS.split()}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "pre": {"tabindex"},
    "div": {"tabindex"},
    "details": {"open"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(_TAGS))})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ID = re.compile(rf"{PREFIX}[\w-]+")
_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")
_EXTERNAL = ("http", "https", "mailto")


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading in the outline; `part` is the page of the document that it is on."""

    level: int
    text: str
    slug: str
    part: int = 1

    @property
    def anchor(self) -> str:
        return PREFIX + self.slug


@dataclass(frozen=True, slots=True)
class Links:
    """Where links and images of a file lead. `file` and `image` give the address of a file, or none."""

    path: str
    file: Callable[[str], str | None]
    image: Callable[[str], str | None]
    section: Callable[[str], str]

    def resolve(self, target: str) -> str | None:
        """Return the address of a link, None for one that leads nowhere."""
        try:
            parts = urlsplit(target.strip())
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            return target.strip() if parts.scheme.lower() in _EXTERNAL else None
        if not parts.path:
            return self.section(unquote(parts.fragment)) if parts.fragment else None
        address = self.file(self._inside(parts.path))
        return address and address + (
            f"#{PREFIX}{slugify(unquote(parts.fragment))}" if parts.fragment else ""
        )

    def resolve_image(self, target: str) -> str | None:
        """Return the address of an image of the skill; images of others are never loaded."""
        try:
            parts = urlsplit(target.strip())
        except ValueError:
            return None
        return None if parts.scheme or parts.netloc else self.image(self._inside(parts.path))

    def _inside(self, path: str) -> str:
        """Return a path from the skill's root; one that leads out is no file of it."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), unquote(path))).lstrip("/")


@dataclass(frozen=True, slots=True)
class Text:
    """A document for a page: one part of it as HTML, which of how many, and the outline of all."""

    html: str
    outline: tuple[Entry, ...]
    part: int
    parts: int
    more_headings: int = 0


def slugify(heading: str) -> str:
    """Return what links to a heading hold, as GitHub makes it.

    >>> slugify("Fill a form: step 1")
    'fill-a-form-step-1'
    """
    return _NOT_IN_SLUGS.sub("", heading.strip().lower()).replace(" ", "-")[:80]


def render_markdown(data: bytes, body: int, part: int, make_links: Callable[[list[Entry]], Links]) -> Text:
    """Return a part of a document as HTML; `body` is the byte where its frontmatter ends.

    Parts end at headings where they can. One that becomes too much HTML is split further.
    """
    text = parser_text(data, body).encode()
    headings = list(_find_headings(text))
    size = MAX_PART
    while True:
        ends = list(_split(text, size, [start for start, _, _ in headings]))
        pieces = [text[start:end] for start, end in pairwise([0, *ends])]
        number = min(max(part, 1), len(pieces))
        entries = _outline(headings, ends)
        links = make_links(entries)
        slugs = iter([entry.anchor for entry in entries if entry.part == number])
        html = _clean("".join(_to_html(pieces[number - 1].decode("utf-8", "replace"), slugs)), links)
        if len(html) <= MAX_HTML or size <= MIN_PART:
            break
        size //= 2
    if len(html) > MAX_HTML:  # made to grow: show it as it is written
        source = pieces[number - 1].decode("utf-8", "replace")
        html = f'<pre tabindex="0">{escape(source[: MAX_HTML // 6])}</pre>'
    visible = _choose(entries, number)
    return Text(html, visible, number, len(pieces), len(entries) - len(visible))


def _choose(entries: list[Entry], part: int) -> tuple[Entry, ...]:
    """Return the entries that fit into an outline: of this part and of the highest levels first."""
    for level in range(6, 0, -1):
        chosen = [entry for entry in entries if entry.part == part or entry.level <= level]
        if len(chosen) <= MAX_HEADINGS:
            return (*chosen,)
    return (*[entry for entry in entries if entry.part == part][:MAX_HEADINGS],)


def _find_headings(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield byte, level and text of each heading, as the parser sees them that makes the HTML."""
    words: list[str] | None = None
    events: Any = pyromark.events_with_range(text.decode("utf-8", "replace"), options=_OPTIONS)
    for event, span in events:
        kind, tag, detail = _read(event)
        if kind == "Start" and tag == "Heading":
            words = []
        elif kind == "End" and tag == "Heading":
            start = text.rfind(b"\n", 0, span["start"]) + 1
            yield start, int(detail[1]), "".join(words or ()).strip()
            words = None
        elif words is not None:
            words.append(_plain_text(kind, detail))


def _read(event: Any) -> tuple[str, str, Any]:
    """Return what an event is (Start, End, Text, …), of which tag, and its detail.

    >>> _read({"Start": {"List": 1}}), _read({"Text": "a"}), _read("SoftBreak")
    (('Start', 'List', 1), ('Text', '', 'a'), ('SoftBreak', '', None))
    """
    if isinstance(event, str):
        return event, "", None
    ((kind, value),) = event.items()
    if kind not in ("Start", "End"):
        return kind, "", value
    if isinstance(value, str):
        return kind, value, None
    ((tag, detail),) = value.items()
    return kind, tag, detail


def _plain_text(kind: str, detail: Any) -> str:
    if kind in ("SoftBreak", "HardBreak"):
        return " "
    return str(detail) if kind in ("Text", "Code") else ""


def _split(text: bytes, size: int, starts: list[int]) -> Iterator[int]:
    """Yield where parts of at most `size` bytes end: at a heading, else an empty line, else any line."""
    position = 0
    while len(text) - position > size:
        limit = position + size
        start = bisect_right(starts, limit) - 1
        end = starts[start] if start >= 0 and starts[start] > position + size // 4 else 0
        end = end or text.rfind(b"\n\n", position + 1, limit) + 2
        if end <= position + 2:
            end = text.rfind(b"\n", position + 1, limit) + 1
        if end <= position:
            end = limit
        yield end
        position = end
    yield len(text)


def _outline(headings: Iterable[tuple[int, int, str]], ends: list[int]) -> list[Entry]:
    entries: list[Entry] = []
    counts: dict[str, int] = {}
    for start, level, text in headings:
        slug = slugify(text) or "section"
        count = counts[slug] = counts.get(slug, -1) + 1
        part = bisect_right(ends, start) + 1
        entries.append(Entry(level, text, f"{slug}-{count}" if count else slug, part))
    return entries


def _to_html(text: str, anchors: Iterator[str]) -> Iterator[str]:
    """Yield the HTML of a document, not yet clean."""
    writer = _Writer(anchors)
    block: list[str] = []  # the lines of a block of HTML
    events: Any = pyromark.events(text, options=_OPTIONS)
    for event in events:
        kind, tag, detail = _read(event)
        if kind == "Html":
            block.append(detail)
        elif tag == "HtmlBlock":
            yield _write_html_block("".join(block))
            block.clear()
        elif writer.image is not None:
            yield writer.describe_image(kind, tag, detail)
        elif kind == "Start":
            yield writer.open(tag, detail)
        elif kind == "End":
            yield writer.close(tag, detail)
        else:
            yield _write_inline(kind, detail)


def _write_inline(kind: str, detail: Any) -> str:
    if kind == "InlineHtml":
        return detail if _TAG.fullmatch(detail) else f"<code>{escape(detail)}</code>"
    if kind == "Code":
        return f"<code>{escape(detail)}</code>"
    if kind == "TaskListMarker":
        return f'<span class="task">{"☑" if detail else "☐"}</span> '
    if kind == "Text":
        return escape(detail)
    return {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}.get(kind, "")


def _write_html_block(html: str) -> str:
    """Return a block of HTML whose tags are all harmless, and any other as text."""
    if "<" not in _TAG.sub("", html):
        return html
    return f'<pre tabindex="0"><code>{escape(html.rstrip())}</code></pre>\n' if html.strip() else ""


class _Writer:
    """Writes tags; knows the table and the image that it is in."""

    def __init__(self, anchors: Iterator[str]) -> None:
        self.image: str | None = None  # the target of the image whose description is read
        self._depth = 0  # of images in its description
        self._words: list[str] = []
        self._anchors = anchors
        self._alignments: tuple[str, ...] = ()
        self._column = 0
        self._cell = "td"

    def open(self, tag: str, detail: Any) -> str:
        if tag in _SIMPLE:
            self._column = 0
            return f"<{_SIMPLE[tag]}>"
        if tag == "Heading":
            return f'<h{_level(detail["level"])} id="{escape(next(self._anchors, ""))}">'
        if tag == "Link":
            title = f' title="{escape(detail["title"])}"' if detail["title"] else ""
            return f'<a href="{escape(detail["dest_url"])}"{title}>'
        if tag == "Image":
            self.image, self._words, self._depth = detail["dest_url"], [], 0
            return ""
        return self._open_block(tag, detail)

    def _open_block(self, tag: str, detail: Any) -> str:
        if tag == "BlockQuote":
            return f"<blockquote>{f'<p><strong>{escape(detail)}</strong></p>' if detail else ''}"
        if tag == "CodeBlock":
            return '<pre tabindex="0"><code>'
        if tag == "List":
            return "<ul>" if detail is None else f'<ol start="{int(detail)}">'
        if tag == "Table":
            self._alignments = detail
            return '<div class="wide" tabindex="0"><table>'
        if tag == "TableHead":
            self._cell, self._column = "th", 0
            return "<thead><tr>"
        return self._open_cell() if tag == "TableCell" else ""

    def _open_cell(self) -> str:
        name = self._alignments[self._column] if self._column < len(self._alignments) else "None"
        self._column += 1
        align = "" if name == "None" else f' align="{name.lower()}"'
        return f'<th scope="col"{align}>' if self._cell == "th" else f"<td{align}>"

    def close(self, tag: str, detail: Any) -> str:
        if tag in _SIMPLE:
            return f"</{_SIMPLE[tag]}>" + ("\n" if tag in _BLOCKS else "")
        if tag == "Heading":
            return f"</h{_level(detail)}>\n"
        if tag == "List":
            return "</ol>\n" if detail else "</ul>\n"
        if tag == "TableHead":
            self._cell = "td"
            return "</tr></thead><tbody>"
        if tag == "TableCell":
            return f"</{self._cell}>"
        return _ENDS.get(tag, "")

    def describe_image(self, kind: str, tag: str, detail: Any) -> str:
        """Collect the words of an image; return the image when it ends."""
        if tag == "Image":
            self._depth += 1 if kind == "Start" else -1
            if self._depth < 0:
                html = f'<img src="{escape(self.image or "")}" alt="{escape("".join(self._words))}">'
                self.image = None
                return html
        self._words.append(_plain_text(kind, detail))
        return ""


def _level(name: str) -> int:
    """Return one level below the parser's: the page itself has the first."""
    return min(int(name[1]) + 1, 6)


def _clean(html: str, links: Links) -> str:
    def check(element: str, attribute: str, value: str) -> str | None:
        if attribute == "href":
            return links.resolve(value)
        if attribute == "src":
            return links.resolve_image(value)
        if attribute == "id":
            return value if _ID.fullmatch(value) else None
        if attribute == "tabindex":
            return "0"
        if attribute == "align":
            return value if value in ("left", "center", "right") else None
        return value

    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=check,
        allowed_classes={"div": {"wide"}, "span": {"task"}},
        link_rel="nofollow noopener noreferrer",
        url_schemes={*_EXTERNAL},
        strip_comments=True,
    )
    return _name_lost_images(cleaned)


_IMAGE = re.compile(r'<img((?:\s[a-z]+="[^"]*")*)>')
_ALT = re.compile(r'\salt="([^"]*)"')


def _name_lost_images(html: str) -> str:
    """Put words in the place of images that are not loaded. nh3 wrote the tags, so their form is known."""

    def replace(match: re.Match[str]) -> str:
        alt = _ALT.search(match[1])
        words = alt[1].strip() if alt else ""
        if ' src="' in match[1]:  # a quote within a value is written as &quot;
            return match[0] if alt else f'<img alt=""{match[1]}>'
        return f"<em>[image{f': {words}' if words else ''}]</em>"

    return _IMAGE.sub(replace, html)
