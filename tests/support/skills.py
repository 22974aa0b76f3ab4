"""Skills for tests: in folders and in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillc.library.sources.source import SkillDescriptor, SkillDocument
from skillc.skills import SkillId

Answer = TypeVar("Answer")


def run(question: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(question)


def skill(root: Path, path: str, text: str | None = None) -> Path:
    folder = root / path
    folder.mkdir(parents=True)
    name = path.rpartition("/")[2]
    (folder / "SKILL.md").write_text(
        text or f"---\nname: {name}\ndescription: About {name}\n---\n# {name}\n\nBody.\n"
    )
    return folder


def document(skill_id: str, body: str = "Do it.", description: str = "", *needs: str) -> SkillDocument:
    about = description or f"About {skill_id}"
    return SkillDocument(
        SkillDescriptor(SkillId(skill_id), description=about, requires_capabilities=needs), body
    )


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """The document's example of skill IDs."""
    for path in (
        *("extraction/email-extractor", "extraction/fiction-extractor", "extraction/medical/diagnosis"),
        *("extraction/medical/imaging/ct-scan", "formatting/markdown-output", "pdf-processing"),
    ):
        skill(tmp_path, path)
    (tmp_path / "extraction" / "COLLECTION.md").write_text("\n  Entity and relationship extraction \nmore\n")
    return tmp_path
