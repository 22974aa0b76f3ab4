"""Which accesses count, and how a stretch of time falls into whole days or weeks (RFC-0003)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc.errors import InvalidFilter
from skillc.text import utf8_text

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY, WEEK = 86_400, 604_800  # seconds
EVER = 1 << 40  # more days than a date can count

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # that a date can have
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:)(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d))?", re.ASCII)


@dataclass(frozen=True)
class Filters:
    """Which accesses count: from `since` to `until`, both inclusive, in any of `projects` or below.

    >>> Filters.parse("2026-03-01", "2026-03-02T12:00:00+02:00", [], "/").as_json()
    {'since': '2026-03-01T00:00:00Z', 'until': '2026-03-02T10:00:00Z', 'projects': []}
    """

    since: str | None = None
    until: str | None = None
    projects: tuple[str, ...] = ()

    @classmethod
    def parse(cls, since: str | None, until: str | None, projects: Sequence[str], cwd: str) -> Filters:
        """Filters as they are given; raises InvalidFilter."""
        return cls(
            None if since is None else timestamp(_second(since, up=True)),
            None if until is None else timestamp(_second(until, up=False)),
            tuple(_directory(project, cwd) for project in projects),
        )

    def as_json(self) -> dict[str, Any]:
        return {"since": self.since, "until": self.until, "projects": list(self.projects)}

    def split(self, unit: int) -> Split:
        """The time between `since` and `until` in whole units of so many seconds, and what is left.

        >>> filters = Filters("2026-03-01T00:00:00Z", "2026-03-03T09:59:59Z")
        >>> split = filters.split(DAY)
        >>> split.last - split.first, split.rest
        (1, (('2026-03-03T00:00:00Z', '2026-03-03T09:59:59Z'),))
        """
        since = None if self.since is None else second(self.since)
        until = None if self.until is None else second(self.until)
        first = -EVER if since is None else -(-since // unit)
        last = EVER if until is None else (until + 1) // unit - 1
        if first > last:
            return Split(0, -1, ((self.since, self.until),))
        before = since is not None and since % unit != 0
        after = until is not None and (until + 1) % unit != 0
        rest = (
            *([(self.since, timestamp(first * unit - 1))] if before else []),
            *([(timestamp((last + 1) * unit), self.until)] if after else []),
        )
        return Split(first, last, rest)


@dataclass(frozen=True)
class Split:
    """Whole units from `first` to `last`, numbered from 1970-01-01, none if `last` is before `first`;
    and the `rest`, from one second to another, in the order of time."""

    first: int
    last: int
    rest: tuple[tuple[str | None, str | None], ...]


def second(moment: str) -> int:
    """The second that a timestamp of the log names, counted from 1970-01-01."""
    return int((datetime.fromisoformat(moment) - _EPOCH).total_seconds())


def timestamp(seconds: int) -> str:
    """A second as the log writes it; one that no date has is the first or the last that one has."""
    moment = _EPOCH + timedelta(seconds=min(max(seconds, _FIRST_SECOND), _LAST_SECOND))
    return moment.isoformat().replace("+00:00", "Z")


def _second(text: str, *, up: bool) -> int:
    """The second that RFC 3339 or a date names; a part of one is rounded into the period."""
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        day, minute, seconds, fraction, zone = match.groups()
        leap = seconds == "60"  # which clocks do not have: the next one
        time = f"{minute or '00:00:'}{'59' if leap else seconds or '00'}{(zone or 'Z').upper()}"
        moment = int((datetime.fromisoformat(f"{day}T{time}") - _EPOCH).total_seconds()) + leap
        moment += up and bool((fraction or "").strip("0"))
        if not _FIRST_SECOND <= moment <= _LAST_SECOND:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidFilter(
            f"{text} is neither a date (2026-03-02) nor a time with its zone (2026-03-02T10:00:00Z)"
        ) from None
    return moment


def _directory(project: str, cwd: str) -> str:
    """A project's directory as the log writes it; it need not be there any more."""
    if not project or "\0" in project:
        raise InvalidFilter("a project is a directory, not nothing")
    return utf8_text(os.path.realpath(os.path.join(cwd, project)))
