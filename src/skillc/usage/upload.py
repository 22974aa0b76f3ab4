"""Tell a registry how often its skills were used on this machine: counts for each day, no texts of queries.

    <home>/.skillc/usage.json
        {"version": 2, "registries": {"https://…": {"machine": "<random>", "days": {"2026-11-16": "…"}}}}

A registry gets all of a day's counts up to now, and keeps the higher ones, so that what is
sent twice counts once. A day that did not change is not sent again. The name of the machine is random, and
another one for each registry.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc.library import Skill
from skillc.records import Record
from skillc.startup import sha256_hex
from skillc.usage.query import Filters, Logs
from skillc.usage.stats import Access, list_accesses

if TYPE_CHECKING:
    from skillc.remotes import RegistryApi  # loads httpx2

# Version 1 had no digest.
RECORD = Record(
    "usage.json", 2, "registries", "damaged; delete it, and recent days count once more", unsealed=1
)
MAX_DAYS = 20  # that a registry takes counts for
MAX_ROWS = 5000  # of a request, and of a day
MAX_NAME, MAX_SECTION, MAX_QUERY = 1024, 300, 500  # characters; longer names are not sent
SEARCH = "search"
TEXTS, NUMBERS = "texts", "numbers"  # how a day was sent first: with the texts of queries, or without

Row = dict[str, Any]


@dataclass(slots=True)
class UsageUpload:
    """The counts that a registry lacks, by day, and what became of them."""

    registry: str
    skills: tuple[str, ...]
    days: dict[str, list[Row]]
    marks: dict[str, str] = field(default_factory=dict)  # of all days, as they are noted
    rows: int = 0
    ignored: int = 0
    is_preview: bool = False  # then nothing is sent, and the JSON has the counts

    @property
    def size(self) -> int:
        return sum(map(len, self.days.values()))

    def as_json(self) -> dict[str, Any]:
        value = {
            "registry": self.registry,
            "skills": list(self.skills),
            "days": sorted(self.days),
            "rows": self.rows or self.size,
            "ignored": self.ignored,
            "dry_run": self.is_preview,
        }
        if self.is_preview:
            value["counts"] = [row for day in sorted(self.days) for row in self.days[day]]
        return value


def count_usage(
    registry: str,
    folders: Mapping[str, list[Skill]],
    *,
    with_queries: bool = False,
    today: date | None = None,
) -> UsageUpload:
    """Return what was counted of a registry's skills and not sent yet, of the last days.

    `folders` are those of these skills on this machine, by ID.
    """
    marks = _read().get(registry, {}).get("days", {})
    today = today or datetime.now(UTC).date()
    upload = UsageUpload(registry, tuple(sorted(folders)), {})
    for day in (today - timedelta(days=number) for number in range(MAX_DAYS)):
        name = day.isoformat()
        way, _, last = str(marks.get(name, "")).partition(" ")
        texts = with_queries and way != NUMBERS  # else the same searches would count twice
        rows = _list_rows(folders, day, texts)
        mark = sha256_hex(json.dumps(rows).encode())
        if rows:
            upload.marks[name] = f"{TEXTS if texts else NUMBERS} {mark}"
        if rows and mark != last:
            upload.days[name] = rows
    return upload


def _list_rows(folders: Mapping[str, list[Skill]], day: date, texts: bool) -> list[Row]:
    """Return the rows of a day; of too many, those with the highest counts."""
    rows: list[Row] = []
    for skill_id, skills in sorted(folders.items()):
        counts = count_day(skills, day)
        for (command, file, section), count in sorted(counts.reads.items()):
            names = {"command": command, "file": file, "section": section}
            rows.append(_row(day, skill_id, count, **names))
        misses = counts.misses if texts else {"": sum(counts.misses.values())}
        rows += [_row(day, skill_id, n, query=query) for query, n in sorted(misses.items()) if n]
    return sorted(rows, key=lambda row: -row["count"])[:MAX_ROWS]


def _row(day: date, skill: str, count: int, **names: str) -> Row:
    texts = {key: text for key, text in names.items() if text}
    return {"day": day.isoformat(), "skill": skill, "count": count, **texts}


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What was used on one day: (command, file, section) and how often; searches without results by query."""

    reads: dict[tuple[str, str, str], int]
    misses: dict[str, int]


def count_day(skills: Sequence[Skill], day: date) -> DayCounts:
    """Count what commands did with these folders of one skill on a day (UTC); failures are left out."""
    filters = Filters(f"{day.isoformat()}T00:00:00Z", f"{day.isoformat()}T23:59:59Z")
    reads: dict[tuple[str, str, str], int] = {}
    misses: dict[str, int] = {}
    with Logs(skills, filters) as logs:
        for access in list_accesses(logs, *sorted(logs.totals("command"))):
            key = access.command, *_place(access)
            reads[key] = reads.get(key, 0) + access.count
            if access.command == SEARCH and access.arguments.get("result_count") == 0:
                query = _short(access.text("query"), MAX_QUERY)
                misses[query] = misses.get(query, 0) + access.count
    return DayCounts(reads, misses)


def _place(access: Access) -> tuple[str, str]:
    """Return the file and the section that a command read."""
    file = access.text("file") or (access.text("path") if access.command == "open" else "")
    section = access.text("section") if access.command == "show" else ""
    return _short(file, MAX_NAME), _short(section, MAX_SECTION)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit and text.isprintable() else ""


def send_usage(api: RegistryApi, upload: UsageUpload, tell_step: Callable[[str], None]) -> None:
    """Send the days that changed, oldest first; each is noted when the registry has it."""
    for day in sorted(upload.days):
        tell_step(day)
        rows = upload.days[day]
        counts = [row for row in rows if "command" in row]
        misses = [row for row in rows if "command" not in row]
        receipt = api.send_usage({"machine": _machine(upload.registry), "counts": counts, "misses": misses})
        upload.rows += receipt.get("rows", 0)
        upload.ignored += receipt.get("ignored", 0)
        _note(upload, day)


def _machine(registry: str) -> str:
    return str(_change(registry)["machine"])


def _note(upload: UsageUpload, day: str) -> None:
    _change(upload.registry, {day: upload.marks[day]})


def _change(registry: str, marks: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Note days that were sent, and return the note on a registry, which has a random name from the start."""
    with RECORD.lock():
        notes = _read()
        note = notes.setdefault(registry, {"machine": secrets.token_hex(16), "days": {}})
        days = note["days"] | (marks or {})
        note["days"] = dict(sorted(days.items())[-2 * MAX_DAYS :])
        RECORD.write(notes)
    return note


def _read() -> dict[str, dict[str, Any]]:
    """Return the notes on registries; raises InvalidConfiguration."""
    return RECORD.read(_parse, {})


def _parse(notes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    for note in notes.values():
        if not (isinstance(note["machine"], str) and isinstance(note["days"], dict)):
            raise ValueError(note)
    return dict(notes)
