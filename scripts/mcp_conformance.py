"""Runs the public conformance suite against `skc mcp --http`, and writes its result as a table.

    scripts/mcp-conformance [--check]

Two releases of the suite: the stable one for 2025-11-25, and the next one for 2026-07-28 and for Skills
over MCP. Scenarios that need tools, prompts or resources of the suite's own (`test_simple_text`, ...)
can't be run against a server that has others; they are listed with that reason. With --check nothing is
written, and the status is 1 if anything failed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = ROOT / ".cache" / "mcp-tools" / "node_modules"
PAGE = ROOT / "docs" / "mcp-conformance.md"

# What `skc mcp --http` serves, without its token: the suite can't send one.
SERVER = """
from mcp.server.transport_security import TransportSecuritySettings
from skillc.mcp import create_server
from skillc.server import Guard, run_app
from skillc.workspace import Workspace

security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # Guard has it
app = create_server(Workspace()).streamable_http_app(host="127.0.0.1", transport_security=security)
announce = lambda url: print(f"Serving on {url}/mcp", flush=True)
run_app(Guard(app, "127.0.0.1"), "127.0.0.1", 0, announce, lifespan="on")
"""

STABLE, NEXT = "stable", "next"
# Which release, for which revision of the protocol (or the extension), the scenarios to run.
RUNS = [
    (
        STABLE,
        "2025-11-25",
        "server-initialize ping completion-complete tools-list resources-list resources-subscribe"
        " resources-unsubscribe prompts-list server-sse-multiple-streams dns-rebinding-protection",
    ),
    (NEXT, "2025-11-25", "server-session-lifecycle"),
    (
        NEXT,
        "2026-07-28",
        "server-stateless completion-complete tools-list resources-list sep-2164-resource-not-found"
        " prompts-list caching http-header-validation server-sse-multiple-streams dns-rebinding-protection",
    ),
    (NEXT, "", "sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory"),
]
NOT_RUN = [
    ("tools-call-*, json-schema-2020-12, elicitation-*", "call tools of the suite's own"),
    ("resources-read-*, resources-templates-read", "read resources of the suite's own"),
    ("prompts-get-*", "get prompts of the suite's own"),
    ("http-custom-header-server-validation", "needs a tool with x-mcp-header parameters; none of ours has"),
    ("input-required-result-*", "needs tools that ask back; `run_tool` will be the first"),
    ("logging-set-level, server-sse-polling, tasks-*", "capabilities that are not declared"),
]
UNTESTABLE = "Not testable"


def main() -> int:
    rows: list[str] = []
    problems: list[str] = []
    with _serving() as url:
        for release, revision, names in RUNS:
            for name in names.split():
                checks = _checks(release, revision, name, url)
                row, bad = _row(release, revision, name, checks)
                rows.append(row)
                problems += bad
    for problem in problems:
        print(problem, file=sys.stderr)
    if "--check" not in sys.argv:
        PAGE.write_text(_page(rows), encoding="utf-8")
    print("\n".join(rows))
    return 1 if problems else 0


@contextmanager
def _serving() -> Iterator[str]:
    """A server over the example skill, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="skillc-mcp-") as folder:
        project = Path(folder) / "project"
        store = project / ".skillc" / "skills"
        shutil.copytree(ROOT / "examples", store)
        home = Path(folder) / "home"
        home.mkdir()
        command = [sys.executable, "-c", SERVER]
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        server = subprocess.Popen(
            command, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().removeprefix("Serving on ").strip()
            if not url:
                raise SystemExit("the server did not start; run the lines of SERVER to see why")
            yield url
        finally:
            server.terminate()
            server.wait()


def _checks(release: str, revision: str, scenario: str, url: str) -> list[dict[str, str]]:
    """What one scenario says."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(TOOLS / ".bin" / "node"), str(TOOLS / release / "dist" / "index.js"), "server"]
        words += ["--url", url, "--scenario", scenario, "-o", folder]
        words += ["--spec-version", revision] if revision else []
        ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        found = list(Path(folder).rglob("checks.json"))
        if not found:
            return [{"id": scenario, "status": "FAILURE", "errorMessage": ran.stderr[-300:]}]
        checks: list[dict[str, str]] = json.loads(found[0].read_text(encoding="utf-8"))
        return checks


def _row(release: str, revision: str, name: str, checks: list[dict[str, str]]) -> tuple[str, list[str]]:
    failed = [check for check in checks if check["status"] == "FAILURE"]
    untestable = [check for check in failed if UNTESTABLE in (check.get("errorMessage") or "")]
    bad = [check for check in failed if check not in untestable]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    remarks = []
    if untestable:
        remarks.append(f"{len(untestable)} need tools of the suite's own")
    remarks += [f"warning: `{check['id']}`" for check in checks if check["status"] == "WARNING"]
    result = f"{passed} passed, {len(bad)} failed"
    row = f"| {revision or 'SEP-2640'} | {name} | {release} | {result} | {'; '.join(remarks)} |"
    return row, [f"{name}: {check['id']}: {check.get('errorMessage')}" for check in bad]


def _page(rows: list[str]) -> str:
    lines = [
        "# MCP conformance",
        "",
        "Written by `scripts/mcp-conformance` from a run of `@modelcontextprotocol/conformance` (stable:"
        " 0.1.16, next: 0.2.0-alpha.12) against `skc mcp --http`; do not edit.",
        "",
        "| revision | scenario | suite | checks | remarks |",
        "| --- | --- | --- | --- | --- |",
        *rows,
        "",
        "Not run, because they ask for something that this server does not declare:",
        "",
        "| scenarios | why |",
        "| --- | --- |",
        *(f"| {names} | {why} |" for names, why in NOT_RUN),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
