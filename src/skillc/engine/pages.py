"""Long lists, page by page, and what people see of one: a cursor names the entry before the next page.

A cursor has a short checksum of its list, so that one of another list, or one that was made up, is refused
instead of beginning anywhere. It stays valid when its entry is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillc.errors import InvalidOption
from skillc.quotes import shell_quote
from skillc.startup import sha256_hex
from skillc.text import one_line

CHECKSUM = 8  # characters


def make_cursor(listing: str, key: str) -> str:
    """Return the cursor for what follows `key` in a list.

    >>> find_key("skills", make_cursor("skills", "pdf"))
    'pdf'
    """
    return f"{_checksum(listing, key)}.{key}"


def find_key(listing: str, cursor: str) -> str:
    """Return the key in a cursor; raises InvalidOption for one that is not of this list."""
    checksum, _, key = cursor.partition(".")
    if checksum != _checksum(listing, key):
        raise InvalidOption("this cursor is not from the last answer; leave it out to begin again")
    return key


def _checksum(listing: str, key: str) -> str:
    return sha256_hex(f"{listing}\0{key}".encode("utf-8", "surrogatepass"))[:CHECKSUM]


def render_browse(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of `skc browse`, and the text of the `browse_skills` tool."""
    for collection in page.get("subcollections", []):
        count, description = collection["count"], collection["description"]
        # A collection without a description of its own has its count for one.
        text = "" if description == f"{count} skills" else f"  {description}"
        yield one_line(f"{collection['path']}/  ({count}){text}")
    for skill in page["skills"]:
        yield one_line(f"{skill['id']}  {skill['description']}")
    if not page["skills"] and not page.get("subcollections"):
        yield "No skills."
    if "more" in page:
        cursor = shell_quote(page["next_cursor"])
        yield f'{page["more"]} more: --cursor {cursor}, or search them with: skc find "<task>"'
