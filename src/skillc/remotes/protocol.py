"""What the modules of this room share: failures, and checks of arguments."""

from __future__ import annotations

from datetime import timedelta


class Failure(Exception):
    """A request without a usable response; the message says why, and holds nothing of the request."""


def to_seconds(value: float | timedelta, name: str) -> float:
    """Return an interval in seconds; raise TypeError or ValueError, with its name, for one that is none.

    >>> to_seconds(timedelta(minutes=5), "refresh_interval")
    300.0
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds or a timedelta, not {type(value).__name__}")
    if not value >= 0:
        raise ValueError(f"{name} must not be negative")
    return float(value)


def require_text(value: object, name: str) -> None:
    """Raise TypeError where an argument is not text; its value may be a secret and is not repeated."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
