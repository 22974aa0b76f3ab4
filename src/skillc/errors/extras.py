"""Say what to install when an import fails because an extra is missing.

with require_extra("git"):
    import dulwich
"""

from __future__ import annotations

from skillc.errors import MissingExtra

# By extra of pyproject.toml.
NEEDS = {
    "audit": "audits read shell scripts by their syntax with tree-sitter and tree-sitter-bash",
    "git": "git repositories need dulwich",
    "http": "http repositories need httpx2, and so do commands for a registry",
    "mcp": "MCP needs its SDK",
    "postgres": "a registry on PostgreSQL needs psycopg and its pool",
    "registry": "the files of a registry need obstore",
    "server": "serving needs Starlette, uvicorn and what makes pages",
    "sso": "sign-in by OpenID Connect and publishing from CI need joserfc and httpx2",
}


class require_extra:  # noqa: N801 -- a class, because contextlib takes long to load
    """Raise MissingExtra where an import in the block fails because `extra` is not installed."""

    def __init__(self, extra: str) -> None:
        self._extra = extra

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ImportError):
            return
        if error.name is not None and error.name.startswith("skillc"):
            return  # a bug of ours
        why = "" if isinstance(error, ModuleNotFoundError) else f", which can't be used ({error})"
        raise MissingExtra(f"{NEEDS[self._extra]}{why}", self._extra) from None


def import_error(error: ImportError, framework: str, extra: str) -> MissingExtra:
    """Return the error for a framework that is not installed, too old, or hidden by a module of its name."""
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra(f"{framework} is not installed", extra)
    return MissingExtra(f"{framework} can't be used ({error})", extra)
