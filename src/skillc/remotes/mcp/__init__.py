"""Ask other servers for their skills over MCP (SEP-2640)."""
