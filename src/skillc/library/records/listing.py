"""The record of listings: what a person chose, and what the last fit left, in `~/.skillc/listing.json` [D75].

    {"version": 1, "sha256": "3f…", "choices": {"/home/me/.claude/skills": {"pdf": "always"}},
     "whole": {"claude": ["pdf"]}, "budgets": {"opencode": 4000}, "settings": {…}}

`choices` are those that are not `auto`, by agent folder and skill. `whole` has the skills whose description
each agent was last seen to show whole, which hooks need not repeat. `budgets` are tokens that 'skc listing
fit' was given, and `settings` what stood in agents' own files before it. Whether a skill is listed or on
demand in a folder is on record with its deployment. The file is in the home, so that a project sets nothing
of it [D76]; a damaged one counts as empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from skillc import records
from skillc.errors import InvalidConfiguration
from skillc.records import Record
from skillc.text import utf8_text

RECORD = Record("listing.json", 1, limit=16 << 20)
ALWAYS, AUTO, DEMAND = CHOICES = ("always", "auto", "demand")

Tables = dict[str, dict[str, Any]]


class ListingRecord:
    """What the file says; `tables` are its parts by name."""

    __slots__ = ("tables",)

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def table(self, name: str) -> dict[str, Any]:
        """Return a part; changes of it count."""
        return self.tables.setdefault(name, {})

    def choice(self, path: str) -> str:
        """Return what a person chose for a skill at a path in an agent's folder."""
        folder, name = os.path.split(utf8_text(path))
        choice = self.tables.get("choices", {}).get(folder, {}).get(name)
        return choice if choice in CHOICES else AUTO

    def choose(self, path: str, choice: str) -> None:
        folder, name = os.path.split(utf8_text(path))
        choices = self.table("choices")
        names = {each: value for each, value in choices.get(folder, {}).items() if each != name}
        choices[folder] = names if choice == AUTO else {**names, name: choice}
        if not choices[folder]:
            del choices[folder]


def read_listing_record() -> ListingRecord:
    """Return the record; an empty one where there is none, or it is damaged."""
    content: dict[str, Any] = {}
    with suppress(InvalidConfiguration):
        content = RECORD.read(dict, content)
    return ListingRecord({name: dict(table) for name, table in content.items() if isinstance(table, dict)})


def change_listing_record(change: Callable[[ListingRecord], object]) -> ListingRecord:
    """Change the record under a lock, and return it."""
    with RECORD.lock():
        record = read_listing_record()
        before = records.digest(record.tables)
        change(record)
        record.tables = {name: table for name, table in record.tables.items() if table}
        if records.digest(record.tables) != before:
            RECORD.write(record.tables)
    return record
