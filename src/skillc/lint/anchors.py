"""Anchors of a Markdown file, as GitHub makes them from headings, and those set by hand.

>>> sorted(anchors(["Fill `a` form", "Set-up", "Set-up"], ['<a id="here"></a>']))
['fill-a-form', 'here', 'set-up', 'set-up-1']
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<([a-zA-Z][\w-]{0,20})([^<>]{0,1000})>")  # bounded: a page may be all `<a`
_BY_HAND = re.compile(r"(?<![\w-])(id|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
# Fragments that lead somewhere without an anchor: the top, a line on GitHub, a passage of text.
_EVERYWHERE = re.compile(r"|top|L\d+(C\d+)?(-L\d+(C\d+)?)?|:~:.*", re.DOTALL)
_INVISIBLE = dict.fromkeys((0x200C, 0x200D, 0xFE0E, 0xFE0F))


def anchors(headings: Iterable[str], html: Iterable[str]) -> frozenset[str]:
    """Every anchor of a file with these headings and these pieces of HTML."""
    found = {_visible(name) for text in html for name in _set_by_hand(text)}
    return frozenset(found | {_visible(name) for name in slugs(headings)})


def slugs(headings: Iterable[str]) -> list[str]:
    """The anchor of each heading; those that are taken get -1, -2 and so on."""
    taken: dict[str, int] = {}
    found: list[str] = []
    for text in headings:
        plain = unique = slug(text)
        while unique in taken:
            taken[plain] += 1
            unique = f"{plain}-{taken[plain]}"
        taken[unique] = 0
        found.append(unique)
    return found


def slug(text: str) -> str:
    """A heading's anchor: lower case, letters, digits, hyphens and underscores, spaces as hyphens.

    >>> slug("What's new? 🚀 (v2)"), slug("安装 指南")
    ('whats-new--v2', '安装-指南')
    """
    return "".join(c for c in text.lower() if _stays(c)).replace(" ", "-")


def leads_somewhere(fragment: str, known: frozenset[str]) -> bool:
    """Whether a link's fragment is an anchor of a file, or needs none."""
    return _visible(fragment) in known or _EVERYWHERE.fullmatch(fragment) is not None


def _stays(c: str) -> bool:
    kind = category(c)
    return c in "- " or kind[0] in "LM" or kind in ("Nd", "Nl", "Pc")


def _visible(name: str) -> str:
    """Emoji leave marks behind that nobody sees, and that nobody should have to write."""
    return name.translate(_INVISIBLE)


def _set_by_hand(text: str) -> list[str]:
    found: list[str] = []
    for tag in _TAG.finditer(_COMMENT.sub("", text)):
        for attribute in _BY_HAND.finditer(tag[2]):
            if attribute[1].lower() == "id" or tag[1].lower() == "a":
                found.append(attribute[2] or attribute[3] or attribute[4] or "")
    return found
