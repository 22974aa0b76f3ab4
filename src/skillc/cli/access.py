"""What every reading command does around its operation: find the skill, note the access, warn."""

from __future__ import annotations

from skillc.cli.printing import warn
from skillc.library import locate
from skillc.places import current_directory
from skillc.usage import logged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

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
    skill = locate(name, cwd)
    warn(skill.noticed)
    if skill.repository and not skill.recent:  # only then is there something to import
        from skillc.compiler import keep_indexed

        keep_indexed(skill, cwd)
    result, diagnostics = logged(skill, command, noted, cwd, lambda: run(skill), learned)
    warn(diagnostics)
    return result


def tokenizer() -> str:
    """The tokenizer in force here; what is wrong with the settings is told."""
    from skillc.config import load

    config = load(current_directory())
    warn(config.diagnostics)
    return config.tokenizer
