"""Surface: programs in other languages, over HTTP. Reading and turns; it changes nothing.

`create_app` gives an ASGI application over any source or engine, `serve` runs it until a signal.
Needs the extra `server` (Starlette and uvicorn), which is imported when one of them is used.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.server.app import create_app as create_app
    from skillc.server.serve import run_app as run_app, serve_engine as serve_engine

__getattr__ = front_door(
    __name__,
    {
        "app": "create_app",
        "serve": "run_app serve_engine",
    },
)
