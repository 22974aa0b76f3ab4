"""Elephant: a program with skills in a database of its own, which it offers over the Skills API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Elephant(ThreadingHTTPServer):
    """A program with skills in a database of its own, and the Skills API under /api."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rows: dict[str, dict[str, Any]] = {}
        self.collections: dict[str, str] = {}
        self.token = "my-token"
        self.paths: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}/api"

    def put(self, skill_id: str, description: str, body: str) -> None:
        name = skill_id.rpartition("/")[2]
        row = {"id": skill_id, "name": name, "description": description, "scope": "project", "metadata": {}}
        self.rows[skill_id] = row | {"body": body}


class _Handler(BaseHTTPRequestHandler):
    server: Elephant

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            return self._send(401, {"error": "who are you?"})
        rows = self.server.rows
        if self.path == "/api/skills":
            listed = [{k: v for k, v in row.items() if k != "body"} for row in rows.values()]
            return self._send(200, {"skills": listed})
        if self.path == "/api/skill-collections":
            told = [
                {"path": path, "description": words, "count": sum(i.startswith(f"{path}/") for i in rows)}
                for path, words in self.server.collections.items()
            ]
            return self._send(200, {"collections": told})
        wanted = self.path.removeprefix("/api/skills/")
        found = [row for skill_id, row in rows.items() if skill_id.replace("/", "%2F") == wanted]
        return self._send(200, found[0]) if found else self._send(404, {"error": "no such skill"})

    def _send(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_elephant() -> Iterator[Elephant]:
    """Elephant with the skills of the document's examples."""
    made = Elephant()
    made.put(
        "extraction/email-extractor",
        "Extract entities from emails",
        "# Email Entity Extractor\n\nExtract the following...",
    )
    made.put("extraction/fiction-extractor", "Extract characters from fiction", "Characters.")
    made.put("formatting/markdown-output", "Write Markdown", "Use headings.")
    made.collections = {"extraction": "Entity and relationship extraction"}
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


@pytest.fixture
def elephant() -> Iterator[Elephant]:
    with running_elephant() as made:
        yield made
