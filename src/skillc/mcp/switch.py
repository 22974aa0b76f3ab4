"""Answer for a server whose skills are switched off: with nothing [D56].

The configuration is followed, as everywhere: when `enabled` changes, so do the answers.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from skillc.workspace import Workspace

LISTS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": []},
    "prompts/list": {"prompts": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "skills/list": {"skills": []},
}
CACHING = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
REFUSED = {"tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete"}
REFUSED |= {"skills/get", "resources/directory/read"}


class Switch:
    """Middleware that lists nothing and refuses every use while skills are switched off."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in LISTS and ctx.method not in REFUSED:
            return await call_next(ctx)
        file = self._workspace.switched_off_by()
        if not file:
            return await call_next(ctx)
        if ctx.method in LISTS:
            return LISTS[ctx.method] | CACHING
        raise MCPError(types.INVALID_PARAMS, f"skills are switched off in {file}")
