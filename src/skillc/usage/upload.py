"""Tell a registry how often its skills were used on this machine: counts for each day, no texts of queries.

    <home>/.skillc/usage.json
        {"version": 1, "registries": {"https://…": {"machine": "<random>", "days": {"2026-11-16": "…"}}}}

A registry gets all of a day's counts up to now, and keeps the higher ones, so that what is
sent twice counts once. A day that did not change is not sent again. The name of the machine is random, and
another one for each registry.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration
from skillc.library import Skill
from skillc.startup import sha256_hex
from skillc.usage.counts import count_day

if TYPE_CHECKING:
    from skillc.remotes import RegistryApi  # loads httpx2

VERSION = 1
MAX_FILE = 1 << 20  # bytes of usage.json
MAX_DAYS = 20  # that a registry takes counts for
MAX_ROWS = 5000  # of a request, and of a day
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

    @property
    def size(self) -> int:
        return sum(map(len, self.days.values()))

    def as_json(self) -> dict[str, Any]:
        return {
            "registry": self.registry,
            "skills": list(self.skills),
            "days": sorted(self.days),
            "rows": self.rows or self.size,
            "ignored": self.ignored,
        }


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
    marks = _read()["registries"].get(registry, {}).get("days", {})
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


def send_usage(
    api: RegistryApi, upload: UsageUpload, tell_step: Callable[[str], None] = lambda _: None
) -> None:
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


def _change(registry: str, marks: dict[str, str] | None = None) -> dict[str, Any]:
    """Note days that were sent, and return the note on a registry, which has a random name from the start."""
    path = paths.usage_file(paths.require_home())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with atomic.Lock(f"{path}.lock"):
        content = _read()
        note = content["registries"].setdefault(registry, {"machine": secrets.token_hex(16), "days": {}})
        days = note["days"] | (marks or {})
        note["days"] = dict(sorted(days.items())[-2 * MAX_DAYS :])
        atomic.write(path, json.dumps(content, indent=1).encode(), durable=True, private=True)
    return dict(note)


def _read() -> dict[str, Any]:
    path = paths.usage_file(paths.require_home())
    try:
        content = json.loads(paths.read_regular(path, MAX_FILE))
        notes = content["registries"].values()
        is_valid = all(isinstance(n["machine"], str) and isinstance(n["days"], dict) for n in notes)
        if content["version"] != VERSION or not is_valid:
            raise ValueError(VERSION)
        return dict(content)
    except FileNotFoundError:
        return {"version": VERSION, "registries": {}}
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidConfiguration(path, "damaged; delete it, and recent days count once more") from None
