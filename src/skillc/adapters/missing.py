"""What to say when a framework is not there."""

from __future__ import annotations

from skillc.errors import SkillcError


def cannot_import(error: ImportError, framework: str, extra: str) -> SkillcError:
    """The error for a framework that is not installed, too old, or hidden by a module of the same name."""
    how = f"run: pip install 'skillc[{extra}]'"
    if isinstance(error, ModuleNotFoundError):
        return SkillcError(f"{framework} is not installed; {how}")
    return SkillcError(f"{framework} can't be used ({error}); {how}")
