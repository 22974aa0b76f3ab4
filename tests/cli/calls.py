"""Call the command line in this process, in the world that the fixture `world` made."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import SkcRun, check_failure, check_success, run_here


def call(*words: str) -> SkcRun:
    """Return the status and the output of a command."""
    return run_here(words)


def ok(*words: str) -> SkcRun:
    """Call a command that must succeed."""
    return check_success(run_here(words))


def as_json(*words: str) -> Any:
    """Call a command that must succeed, and return what it says as JSON."""
    return json.loads(ok(*words, "--format", "json").stdout)


def fails(code: str, *words: str) -> SkcRun:
    """Call a command that must end with status 1 and one coded line."""
    return check_failure(run_here(words), code)
