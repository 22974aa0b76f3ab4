"""Skills of other servers over MCP (SEP-2640), verified and cached."""

from skillc.library.mcp.source import McpSkillSource

__all__ = ["McpSkillSource"]
