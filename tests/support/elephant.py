"""Elephant: a program with skills in a database of its own, which it offers over the Skills API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.http import Chunks, Request, Stub, entry, page


class Elephant(Stub):
    """A program with skills in a database of its own, and the Skills API under /api."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        self.collections: dict[str, str] = {}
        self.token = "my-token"
        self.answer = self._answer

    def put(self, skill_id: str, description: str, body: str) -> None:
        self.rows[skill_id] = entry(skill_id, description=description, metadata={}, body=body)

    def _answer(self, request: Request) -> Chunks:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return [page({"error": "who are you?"}, 401)]
        if request.path == "/api/skills":
            listed = [{k: v for k, v in row.items() if k != "body"} for row in self.rows.values()]
            return [page({"skills": listed})]
        if request.path == "/api/skill-collections":
            told = [
                {
                    "path": path,
                    "description": words,
                    "count": sum(i.startswith(f"{path}/") for i in self.rows),
                }
                for path, words in self.collections.items()
            ]
            return [page({"collections": told})]
        paths = {f"/api/skills/{skill_id.replace('/', '%2F')}": row for skill_id, row in self.rows.items()}
        row = paths.get(request.path)
        return [page(row) if row else page({"error": "no such skill"}, 404)]


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
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def elephant() -> Iterator[Elephant]:
    with running_elephant() as made:
        yield made
