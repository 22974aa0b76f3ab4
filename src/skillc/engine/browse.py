"""Browse skills page by page, and what people see of a page: a cursor names the entry before the next one.

A cursor has a short checksum of its list, so that one of another list, or one that was made up, is refused
instead of beginning anywhere. It stays valid when its entry is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillc.engine.inventory import MORE_ENTRIES
from skillc.errors import InvalidOption
from skillc.library.sources import SkillCollection, SkillDescriptor
from skillc.quotes import shell_quote
from skillc.startup import sha256_hex
from skillc.text import cut, one_line

CHECKSUM = 8  # characters
MAX_ENTRIES = 50  # collections and skills of one page
MAX_WORDS = 200  # characters of a description there


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


def make_page(
    listing: dict[str, Any],
    collections: Sequence[SkillCollection] | None,
    skills: Sequence[SkillDescriptor],
    cursor: str | None,
    limit: int,
    place: str,
) -> dict[str, Any]:
    """Return one page of a listing: collections first, then skills, each by name [D60]."""
    name = "browse " + " ".join([*listing.values(), place] if place else listing.values())
    after = "" if cursor is None else find_key(name, cursor)
    entries = [(f"c{one.path}", one) for one in collections or ()] + [(f"s{one.id}", one) for one in skills]
    left = [entry for entry in entries if entry[0] > after]
    page, more = left[:limit], max(0, len(left) - limit)
    value = listing | ({} if collections is None else {"subcollections": []}) | {"skills": []}
    for _, entry in page:
        if isinstance(entry, SkillCollection):
            words = cut(entry.description, MAX_WORDS)
            value["subcollections"].append({"path": entry.path, "description": words, "count": entry.count})
        else:
            value["skills"].append(_brief(entry.as_json()))
    if more:
        value |= {"more": more, "next_cursor": make_cursor(name, page[-1][0])}
        value["note"] = MORE_ENTRIES.format(more)
    return value


def _brief(fields: dict[str, Any]) -> dict[str, Any]:
    """Cut the texts of a skill that may be long."""
    fields["description"] = cut(fields["description"], MAX_WORDS)
    fields["metadata"] = {key: cut(value, MAX_WORDS) for key, value in fields["metadata"].items()}
    return fields


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
