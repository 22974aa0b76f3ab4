"""`skc serve`: a registry over HTTP, or the configured repositories."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.cli import workspace
from skillc.cli.options import read_port
from skillc.cli.output import announce, announce_url, print_json
from skillc.cli.syntax import Arguments, Command
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.server import Launch, Service

COMMAND = Command("""
skc serve

Serves a registry: versions, tags, roles, tokens. It needs the extra: pip install 'skillc[registry]'. The
first start prints an admin's token, once. Requests need a token, unless --public-read lets all read.
--check tries what a registry needs; the status is 1 if something does not work. docs/registry-api.md has its
HTTP API.

With --read-only it serves the configured repositories: GET /skills, /skills/{id}, /skill-collections, /search
and /healthz, and POST /turns. Requests need the token in SKILLC_SERVE_TOKEN, which may be left unset only
where no other machine can reach the address.

Both check the Host and Origin headers, and print their URL when they are ready. Stop them with Ctrl+C or
SIGTERM.

--store <url>  The registry's store: a SQLite file or postgresql://…. Default: SKILLC_STORE, else the home.
--blobs <url>  Its files: a folder, s3://bucket/prefix, gs://… or az://…. Default: SKILLC_BLOBS, else beside
    the SQLite file.
--host <address> =127.0.0.1  The address to listen on.
--port <port> =8080  The port to listen on; 0 picks a free one.
--workers <n> =1 ..64  How many processes answer.
--public-read  Let everyone read, without a token.
--allow-host <name>...  Accept requests for this host name, too. Can be repeated.
--url <url>  The address that clients use, such as https://skills.example.com.
--config <file>  A registry.toml: how people sign in, which CI may publish, policies, reviews, mirrors.
--admin-token-file <file>  Write the admin's token of the first start to this file, instead of printing it.
--review <prefix>... :collections  Let a maintainer review what publishers publish below this path. Can be
    repeated.
--review-findings note|review|block  Let a maintainer review versions in which the audit finds something
    of this level or worse.
--rate-limit <n> =6000 ..1000000  Requests that a token, or an address without one, may send in a minute to
    each process.
--no-rate-limit  Answer any number of requests.
--trusted-proxy <address>...  Take the client's address from X-Forwarded-For of this address or network. Can
    be repeated.
--no-request-log  Do not write a line of JSON to stderr for each request.
--check  Try store, blobs, sign-in and port, say what a start would do, and serve nothing.
--read-only  Serve the configured repositories instead of a registry.

$ skc serve
$ skc serve --store postgresql://skills@db/skills --blobs s3://skills --workers 4
$ skc serve --check
$ skc serve --read-only --port 0
""")

TOKEN = "SKILLC_SERVE_TOKEN"  # noqa: S105 -- the variable that holds it
REGISTRY_OPTIONS = (
    *("store", "blobs", "workers", "public_read", "url", "config", "admin_token_file", "review"),
    *("review_findings", "rate_limit", "no_rate_limit", "trusted_proxy", "check"),
)


def run(arguments: Arguments) -> int:
    port = read_port(arguments)
    import logging  # help needs none of what is imported in functions here

    logging.getLogger("skillc.server").addHandler(logging.StreamHandler())  # to stderr
    if not arguments.has("read_only") and not arguments.has("no_request_log"):
        logging.getLogger("skillc.server.requests").setLevel(logging.INFO)
    if arguments.has("read_only"):
        return _serve_repositories(arguments, port)
    return _serve_registry(arguments, port)


def _serve_repositories(arguments: Arguments, port: int) -> int:
    from skillc import server

    if option := arguments.first_given(*REGISTRY_OPTIONS):
        raise arguments.error(
            f"{option} is for a registry; --read-only takes --host, --port and --allow-host"
        )
    host = arguments.text("host")
    token = server.read_token(TOKEN, host, "--host")
    names = arguments.texts("allow_host")
    engine = workspace(progress=True).engine()
    server.serve_engine(
        engine, host, port, lambda url: announce_url(arguments, url), names=names, token=token
    )
    return 0


def _serve_registry(arguments: Arguments, port: int) -> int:
    from urllib.parse import urlsplit

    from skillc import server

    options = server.ServeOptions(
        host=arguments.text("host"),
        port=port,
        workers=arguments.count("workers") or 1,
        rate_limit=0 if arguments.has("no_rate_limit") else arguments.count("rate_limit") or 0,
        store=arguments.text("store"),
        blobs=arguments.text("blobs"),
        url=arguments.text("url"),
        config=arguments.text("config"),
        token_file=arguments.text("admin_token_file"),
        public_read=arguments.has("public_read"),
        names=tuple(arguments.texts("allow_host")),
        trusted_proxies=tuple(arguments.texts("trusted_proxy")),
        reviews=tuple(arguments.texts("review")),
        review_findings=arguments.text("review_findings"),
    )
    launch = server.make_launch(options, _mount_mcp)
    if urlsplit(options.store).password:
        advice = "use SKILLC_STORE or PGPASSWORD"
        print(f"warning: other users can see the password in --store; {advice}", file=sys.stderr)

    if arguments.has("check"):
        return _check(arguments, launch)

    def show_token(secret: str) -> None:
        announce(arguments, f"The admin's token, shown this once: {secret}", token=secret)

    server.serve_registry(launch, lambda url: announce_url(arguments, url), show_token)
    return 0


def _check(arguments: Arguments, launch: Launch) -> int:
    """Show what was tried, each as soon as it has ended; the status is 1 if something does not work."""
    from skillc import server

    trials = []
    for trial in server.check_registry(launch):
        trials.append(trial)
        if not arguments.as_json:
            print(one_line(f"{trial.status:<6} {trial.name:<8} {trial.message}"), flush=True)
    is_ok = all(trial.status == "ok" for trial in trials)
    if arguments.as_json:
        print_json({"ok": is_ok, "checks": trials})
    return 0 if is_ok else 1


def _mount_mcp(service: Service) -> Mapping[str, Any]:
    """Return the applications of other surfaces: MCP."""
    from skillc.mcp import create_registry_endpoint  # the SDK is slow to import

    return {"/mcp": create_registry_endpoint(service)}
