"""Check the headings of each file, SKL202 to SKL205, and find the anchors of a file [D6].

>>> sorted(find_anchors(["Fill `a` form", "Set-up", "Set-up"], ['<a id="here"></a>']))
['fill-a-form', 'here', 'set-up', 'set-up-1']
"""

from __future__ import annotations

import re

from skillc.lint.report import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillc.lint.page import Page

_COMMENT = re.compile(r"(?s)<!--.*?(?:-->|\Z)")
_TAG = re.compile(r"<([a-zA-Z][\w-]{0,20})([^<>]{0,1000})>")  # bounded: a page may be all `<a`
_ID = re.compile(r"(?i)(?<![\w-])(id|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
# Fragments that need no anchor: the top, a line on GitHub, a passage of text.
_EVERYWHERE = re.compile(r"(?s)top|L\d+(C\d+)?(-L\d+(C\d+)?)?|:~:.*")
_INVISIBLE = dict.fromkeys((0x200C, 0x200D, 0xFE0E, 0xFE0F))  # joiners and selectors that emoji leave behind


def check_main(page: Page, name: str) -> Iterator[Problem]:
    """Check that SKILL.md has an H1, and that the first one names the skill."""
    first = next((heading for heading in page.headings if heading.level == 1), None)
    if first is None:
        yield Problem("SKL202", "there is no H1", page.name)
    elif name and _fold(name) not in _fold(first.text):
        message = f"the first H1, '{first.text}', does not contain the name '{name}'"
        yield Problem("SKL203", message, page.name, first.line)


def check(page: Page) -> Iterator[Problem]:
    """Check that the first heading is an H1, and that none skips a level."""
    before = 0
    for heading in page.headings:
        if not before and heading.level > 1:
            message = f"the first heading, '{heading.text}', is an H{heading.level}, not an H1"
            yield Problem("SKL204", message, page.name, heading.line)
        elif before and heading.level > before + 1:
            message = f"'{heading.text}' is an H{heading.level} below an H{before}"
            yield Problem("SKL205", message, page.name, heading.line)
        before = heading.level


def _fold(text: str) -> str:
    """Return a text in lower case, with hyphens as spaces."""
    return " ".join(text.replace("-", " ").casefold().split())


def find_anchors(headings: Iterable[str], html: Iterable[str]) -> frozenset[str]:
    """Return every anchor of a file: GitHub's for the headings, and the IDs in the pieces of HTML."""
    anchors = set(slugs(headings))
    for tag in (tag for text in html for tag in _TAG.finditer(_COMMENT.sub("", text))):
        for attribute in _ID.finditer(tag[2]):
            if attribute[1].lower() == "id" or tag[1].lower() == "a":
                anchors.add(attribute[2] or attribute[3] or attribute[4] or "")
    return frozenset(anchor.translate(_INVISIBLE) for anchor in anchors)


def has_anchor(page: Page, fragment: str) -> bool:
    """Return whether a link's fragment is one of a page's anchors, or needs none."""
    if not fragment or fragment.translate(_INVISIBLE) in page.anchors:
        return True
    return _EVERYWHERE.fullmatch(fragment) is not None


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
    from unicodedata import category  # few links have an anchor

    kinds = ((c, category(c)) for c in text.lower())
    letters = (c for c, kind in kinds if c in "- " or kind[0] in "LM" or kind in ("Nd", "Nl", "Pc"))
    return "".join(letters).replace(" ", "-")
