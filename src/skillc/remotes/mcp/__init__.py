"""Ask other servers for their skills over MCP (SEP-2640)."""

from __future__ import annotations

from skillc.remotes.mcp.entries import McpRefusal, McpServer
from skillc.remotes.mcp.remote import McpRemote
