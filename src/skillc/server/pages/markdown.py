"""Turn a skill's Markdown into HTML that does nothing but show text, and that shows all of it.

The parser makes HTML, and nh3 cleans all of it, the skill's own HTML included. HTML with a tag
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

from skillc.server.pages.code_colours import colour_blocks, reveal_hidden
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
    "code": {"class"},
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
        html = _clean(_to_html(pieces[number - 1].decode("utf-8", "replace"), slugs), links)
        if len(html) <= MAX_HTML or size <= MIN_PART:
            break
        size //= 2
    if len(html) > MAX_HTML:  # made to grow: show it as it is written
        source = pieces[number - 1].decode("utf-8", "replace")
        html = f'<pre tabindex="0">{escape(source[: MAX_HTML // 6])}</pre>'
    html = _colour(html)
    visible = _choose(entries, number)
    return Text(html, visible, number, len(pieces), len(entries) - len(visible))


def _colour(html: str) -> str:
    """Return clean HTML with colours, and hidden characters shown, as far as the page has room."""
    plain = colour_blocks(html, plain=True)
    for made in (reveal_hidden(colour_blocks(html)), reveal_hidden(plain)):
        if len(made) <= MAX_HTML:
            return made
    return plain


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


def _to_html(text: str, anchors: Iterator[str]) -> str:
    """Return the HTML of a document, not yet clean."""
    html = "".join(_rewrite(text, pyromark.html(text, options=_OPTIONS), anchors))
    html = _STYLE.sub(r' align="\1"', html)  # the page's policy forbids styles
    return _ALERT.sub(lambda kind: f"<blockquote><p><strong>{kind[1].capitalize()}</strong></p>", html)


def _rewrite(text: str, html: str, anchors: Iterator[str]) -> Iterator[str]:
    """Yield HTML with anchors of headings, and the document's own HTML as text where it does more than show.

    The parser writes a document's own HTML as it is. So each piece of it, and each tag that is changed, is
    found in the order of the events.
    """
    position, cell = 0, "<th"
    images = 0  # that an event is within: what they are described by is no HTML
    block: list[str] = []  # the lines of a block of HTML
    events: Any = pyromark.events(text, options=_OPTIONS)
    for event in events:
        kind, tag, detail = _read(event)
        images += {"Start": 1, "End": -1}.get(kind, 0) if tag == "Image" else 0
        if kind == "Html":
            block.append(detail)
        elif tag == "HtmlBlock":
            detail, block = "".join(block), []
        change = None if images else _change(kind, tag, detail, anchors)
        start = html.find(change[0], position) if change else -1
        if change and start >= 0:
            yield from (html[position:start].replace("<th", cell), change[1])
            position = start + len(change[0])
        if tag == "TableHead":  # a cell of a head says that it is for a column
            cell = '<th scope="col"' if kind == "Start" else "<th"
    yield html[position:]


def _change(kind: str, tag: str, detail: Any, anchors: Iterator[str]) -> tuple[str, str] | None:
    """Return what an event's HTML is, and what it becomes; None where it stays."""
    if kind == "InlineHtml":
        return detail, detail if _TAG.fullmatch(detail) else f"<code>{escape(detail)}</code>"
    if tag == "HtmlBlock":
        return detail, _write_html_block(detail)
    if tag == "Heading":
        return _write_heading(kind, detail, anchors)
    return _TASKS[detail] if kind == "TaskListMarker" else _TABLES.get((kind, tag))


def _write_heading(kind: str, detail: Any, anchors: Iterator[str]) -> tuple[str, str]:
    """Return the tag of a heading as the parser writes it, and one a level below: the page has the first."""
    level = int((detail["level"] if kind == "Start" else detail)[1])
    if kind == "End":
        return f"</h{level}>", f"</h{min(level + 1, 6)}>"
    return f"<h{level}>", f'<h{min(level + 1, 6)} id="{escape(next(anchors, ""))}">'


def _write_html_block(html: str) -> str:
    """Return a block of HTML whose tags are all harmless, and any other as text."""
    if "<" not in _TAG.sub("", html):
        return html
    return f"<pre><code>{escape(html.rstrip())}</code></pre>\n" if html.strip() else ""


# Tables that can be scrolled.
_TABLES = {
    ("Start", "Table"): ("<table>", '<div class="wide" tabindex="0"><table>'),
    ("Start", "TableHead"): ("<thead>", "<thead>"),
    ("End", "TableHead"): ("</thead>", "</thead>"),
    ("End", "Table"): ("</table>", "</table></div>"),
}
# Tasks with a mark: inputs are no text.
_TASKS = {
    True: ('<input disabled="" type="checkbox" checked=""/>\n', '<span class="task">☑</span> '),
    False: ('<input disabled="" type="checkbox"/>\n', '<span class="task">☐</span> '),
}
_STYLE = re.compile(' style="text-align: (left|center|right)"')
_ALERT = re.compile(r'<blockquote class="markdown-alert-(\w+)">')


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
        if (element, attribute) == ("code", "class"):
            return value if value.startswith("language-") else None
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
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # so that keys can scroll it
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
