"""Define the tools of the MCP server, one module for each group."""
