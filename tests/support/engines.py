"""Engines over skills in memory."""

from __future__ import annotations

from skillc.engine import (
    DefaultSkillEngine,
    EngineOptions,
)
from skillc.library.sources.source import InMemorySkillSource, SkillDocument
from tests.support.skills import document

IDS = (
    *("extraction/email-extractor", "extraction/fiction-extractor", "extraction/medical/diagnosis"),
    *("extraction/medical/imaging/ct-scan", "formatting/markdown-output", "pdf-processing"),
)


def engine(*documents: SkillDocument, **options: object) -> DefaultSkillEngine:
    source = InMemorySkillSource(documents or [document(skill_id) for skill_id in IDS])
    return DefaultSkillEngine(source, EngineOptions(**options))  # type: ignore[arg-type]
