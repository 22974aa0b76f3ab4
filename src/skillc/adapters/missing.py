"""What to say when a framework is not there."""

from __future__ import annotations

from skillc.errors import MissingExtra


def cannot_import(error: ImportError, framework: str, extra: str) -> MissingExtra:
    """The error for a framework that is not installed, too old, or hidden by a module of the same name."""
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra(f"{framework} is not installed", extra)
    return MissingExtra(f"{framework} can't be used ({error})", extra)
