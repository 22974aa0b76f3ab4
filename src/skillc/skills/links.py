"""Links and images of a Markdown document, with the line each stands on.

>>> [(link.target, link.line) for link in find_links(b"See [forms](forms.md#fill)\\nand ![](a%20b.png).")]
[('forms.md#fill', 1), ('a%20b.png', 2)]
>>> local_target("a%20b.md#part")
('a b.md', 'part')
>>> local_target("https://example.com/") is None
True
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from skillc.skills.markdown import body_text, newlines


class Link:
    """Where a link leads, as it is written, and the line it stands on."""

    __slots__ = ("image", "line", "target")

    def __init__(self, target: str, line: int, image: bool) -> None:
        self.target = target
        self.line = line
        self.image = image

    def __repr__(self) -> str:
        return f"<Link {self.target!r} line {self.line}>"


def find_links(data: bytes, body: int = 0) -> list[Link]:
    """The links and images of a document in order; `body` is the byte where its frontmatter ends."""
    from pyromark import events_with_range

    found: list[Link] = []
    line, counted = 1, 0
    for event, span in events_with_range(body_text(data, body)):
        tag = event.get("Start") if isinstance(event, dict) else None
        for kind in ("Link", "Image"):
            if isinstance(tag, dict) and kind in tag:
                position = body + span["start"]
                line += newlines(data, counted, position)
                counted = position
                mail = "mailto:" if tag[kind]["link_type"] == "Email" else ""
                found.append(Link(mail + tag[kind]["dest_url"], line, kind == "Image"))
    return found


def local_target(target: str) -> tuple[str, str] | None:
    """The path and the anchor a link leads to, or None where it leads out to the network."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    return unquote(parts.path), unquote(parts.fragment)
