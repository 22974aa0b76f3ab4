"""2. CLI — Interactive skill discovery.

$ rkat run "help me process this PDF"
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillc import AgentFactory, FilesystemSkillSource, SkillEvent, SkillsResolved
from tests.support.skills import run, skill

INVENTORY = """\
<available_skills mode="collections">
  <collection path="code" count="9">Code analysis and generation</collection>
  <collection path="document" count="4">Document processing</collection>

  Use the browse_skills tool to list skills in a collection or search.
  Use the load_skill tool or /collection/skill-name to activate a skill.
</available_skills>"""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Two collections, with more skills than are listed one by one."""
    root = tmp_path / "shelf"
    for name in ("pdf-processing", "word-export", "slides", "spreadsheets"):
        skill(root, f"document/{name}")
    for number in range(9):
        skill(root, f"code/skill-{number}")
    (root / "document" / "COLLECTION.md").write_text("Document processing\n")
    (root / "code" / "COLLECTION.md").write_text("Code analysis and generation\n")
    return root


def test_an_agent_finds_what_it_needs(shelf: Path) -> None:
    """[LIB: 2. CLI — Interactive skill discovery] prompt, browse_skills, load_skill, event."""
    seen: list[SkillEvent] = []

    async def conversation() -> None:
        agent = (
            await AgentFactory(observer=seen.append).skill_source(FilesystemSkillSource(shelf)).build_agent()
        )
        turn = await agent.prepare_turn("help me process this PDF")
        assert turn.message == "help me process this PDF"

        # System prompt contains:
        assert agent.system_prompt == INVENTORY

        # Agent calls: browse_skills(path: "document")
        listing = json.loads((await agent.call_tool("browse_skills", {"path": "document"})).text)
        assert (listing["type"], listing["path"], listing["subcollections"]) == ("listing", "document", [])
        assert [(s["id"], s["name"]) for s in listing["skills"]][:1] == [
            ("document/pdf-processing", "pdf-processing")
        ]
        assert [s["id"] for s in listing["skills"]] == [
            "document/pdf-processing",
            "document/slides",
            "document/spreadsheets",
            "document/word-export",
        ]

        # Agent calls: load_skill(id: "document/pdf-processing")
        loaded = await agent.call_tool("load_skill", {"id": "document/pdf-processing"})
        assert loaded.text == '<skill id="document/pdf-processing">\n# pdf-processing\n\nBody.\n</skill>'
        assert seen == [SkillsResolved(("document/pdf-processing",), len(loaded.text))]

    run(conversation())
