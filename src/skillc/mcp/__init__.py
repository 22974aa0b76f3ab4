"""Surface for agents, over MCP: tools, resources, prompts, and Skills over MCP for the whole library.

`create_server` returns the SDK's server, `serve_stdio` and `serve_http` run it. `create_registry_endpoint`
returns an application over a registry, for a server to mount. They load the SDK, which takes long;
`serve_stdio` answers a client's first requests before that.
Reading the skills of other MCP servers is the job of `library.sources`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.startup import front_door

if TYPE_CHECKING:
    from skillc.mcp.registry import create_registry_endpoint as create_registry_endpoint
    from skillc.mcp.rehearsal import rehearse as rehearse
    from skillc.mcp.server import create_server as create_server, serve_http as serve_http
    from skillc.mcp.stdio import serve_stdio as serve_stdio
else:
    __getattr__, __all__ = front_door(__name__)
