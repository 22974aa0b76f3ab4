"""What every reading command does around its operation: find the skill, note the access, warn, write."""

from __future__ import annotations

import os
import sys

from skillc.library import locate_skill
from skillc.paths import config_files, current_directory
from skillc.usage import logged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.usage.log import Value

    Result = TypeVar("Result")


def access(
    command: str,
    name: str,
    noted: dict[str, Value],
    run: Callable[[Skill], Result],
    learned: Callable[[Result], dict[str, Value]] = lambda result: {},
) -> Result:
    """Run an operation on the skill called `name` and log it; `learned` adds what the result tells."""
    cwd = current_directory()
    skill = locate_skill(name, cwd)
    _warn(skill.diagnostics)
    if skill.repository and not skill.is_recent:  # only then is there something to import
        from skillc.compiler import keep_indexed

        keep_indexed(skill, cwd)
    result, diagnostics = logged(skill, command, noted, cwd, lambda: run(skill), learned)
    _warn(diagnostics)
    return result


def tokenizer() -> str:
    """The tokenizer in force here; what is wrong with the settings is told."""
    cwd = current_directory()
    if not os.environ.get("SKILLC_TOKENIZER") and not config_files(cwd):
        return "ascii"  # most often nobody has set anything
    from skillc.settings import load

    config = load(cwd)
    _warn(config.diagnostics)
    return config.tokenizer


def write_bytes(data: bytes) -> None:
    """Text of a skill as it stands, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _warn(diagnostics: Sequence[Diagnostic]) -> None:
    if diagnostics:
        from skillc.cli.output import warn  # most often there is nothing to tell

        warn(diagnostics)
