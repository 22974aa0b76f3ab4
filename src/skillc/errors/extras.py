"""What is not in the core: an import that fails for want of an extra says what to install.

with extras.needed("git"):
    import dulwich
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skillc.errors import MissingExtra

# Who needs what; the extra of that name in pyproject.toml brings it.
NEEDS = {
    "git": "git repositories need dulwich",
    "http": "http repositories need httpx2",
    "mcp": "MCP needs its SDK",
    "server": "'skc serve' needs Starlette and uvicorn",
}


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Imports of what an extra brings; raises MissingExtra where it is not installed."""
    try:
        yield
    except ImportError as error:
        if error.name is not None and error.name.startswith("skillc"):
            raise  # ours, and a bug
        raise MissingExtra(NEEDS[extra], extra) from None
