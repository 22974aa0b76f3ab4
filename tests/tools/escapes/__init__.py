"""Attempts to get out of a run, by the words of docs/sandbox-attempts.md's table."""

from __future__ import annotations

from collections.abc import Callable

from tests.tools.conftest import Bench

Attempt = Callable[[Bench], bool]
ATTEMPTS: dict[str, Attempt] = {}


def attempt(words: str) -> Callable[[Attempt], Attempt]:
    """Names an attempt. It returns whether it got through, and skips where this machine stops it itself."""

    def named(function: Attempt) -> Attempt:
        assert words not in ATTEMPTS
        ATTEMPTS[words] = function
        return function

    return named
