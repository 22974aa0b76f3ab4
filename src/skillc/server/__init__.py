"""Surface for programs and browsers, over HTTP: repositories for reading, or a registry.

`create_app` returns an ASGI application over any source or engine, `serve_engine` runs it until a signal.
`create_registry_app` returns one over a registry: its API, the protocols of others, sign-in and pages;
`serve_registry` runs it, in one process or several; `check_registry` tries what it needs. `serve_ui` shows
the pages of one's own skills. `Guard` and `run_app` are for other applications: they check requests and bound
connections.
"""

from __future__ import annotations

from skillc.server.access import Guard, read_token
from skillc.server.app import create_app
from skillc.server.caches import Cache
from skillc.server.check import Trial, check_registry
from skillc.server.host import Launch, ServeOptions, make_launch, serve_registry
from skillc.server.registry import CallerGuard, caller_of, create_registry_app
from skillc.server.serve import run_app, serve_engine
from skillc.server.service import Service
from skillc.server.settings import OidcSettings, PublishingSettings, ServerSettings, SignInSettings
from skillc.server.ui import serve_ui
