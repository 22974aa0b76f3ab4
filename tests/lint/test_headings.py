"""SKL201 to SKL207: headings, and what a skill costs."""

from __future__ import annotations

from skillc.library import at_path
from skillc.lint import lint_skill
from tests.conftest import World
from tests.lint.skills import FRONT, GOOD, findings, places, rules
from tests.support.cases import each


def test_sizes(world: World) -> None:
    """[RFC-0008] SKL201, SKL206 and SKL207: 500 lines, about 100 tokens of metadata, 5000 of body."""
    lines = FRONT.count("\n") + 1
    assert rules(world, FRONT + "# PDF\n" + "x\n" * (500 - lines)) == []
    found = findings(world, FRONT + "# PDF\n" + "x\n" * (501 - lines))
    assert places(found, "SKL201") == [("SKILL.md", 501)]
    assert found[0].severity == "warning"
    long = FRONT.replace("Fill forms.", "Fill the form, then read it. " * 15)
    found = findings(world, long + "# PDF\n" + "word " * 4900)
    assert [(f.rule.id, f.line, f.severity) for f in found] == [("SKL206", 3, "warning")]
    found = findings(world, FRONT + "# PDF\n" + "word " * 5100)
    assert [(f.rule.id, f.line, f.severity) for f in found] == [("SKL207", 5, "warning")]


@each(
    ("body", "expected"),
    [
        ("Text.\n", ["SKL202"]),
        ("## PDF\n", ["SKL202", "SKL204"]),
        ("# Forms\n", ["SKL203"]),
        ("## One\n\n# PDF\n", ["SKL204"]),
        ("# PDF\n\n### Deep\n", ["SKL205"]),
        ("# PDF\n\n## A\n\n#### Deep\n\n# Up\n\n## Down\n", ["SKL205"]),
        ("```\n# PDF\n```\n", ["SKL202"]),
        ("PDF\n===\n\nPart\n----\n\n### Deeper\n", []),
        ("> # PDF\n", []),
        ("# The `PDF` skill\n", []),
    ],
)
def test_headings(world: World, body: str, expected: list[str]) -> None:
    """[RFC-0008] [D6] SKL202 to SKL205: an H1 that names the skill, first, and no level skipped."""
    assert rules(world, FRONT + body) == expected


@each("heading", ["Release Notes", "release-notes", "How to write RELEASE  notes"])
def test_heading_matches_name(world: World, heading: str) -> None:
    """[RFC-0008] SKL203: hyphens are read as spaces, in any case."""
    text = f"---\nname: release-notes\ndescription: Use when x\n---\n# {heading}\n"
    assert lint_skill(at_path(str(world.skill("release-notes", text)))).findings == ()


def test_headings_of_each_file(world: World) -> None:
    """[RFC-0008] [D1] SKL204 and SKL205 are about every Markdown file, each by itself, but no dot-file."""
    found = findings(
        world,
        GOOD + "[a](a.md) [b](b.MD) [c](c.md)\n",
        {"a.md": "## A\n", "b.MD": "# B\n\ntext\n\n### C\n", "c.md": "no heading\n"},
    )
    assert places(found, "SKL204") == [("a.md", 1)]
    assert places(found, "SKL205") == [("b.MD", 5)]
    assert len(found) == 2
    files = {".notes.md": "## A\n", ".git/x.md": "## B\n", "a/.b/c.md": "## C\n"}
    assert rules(world, GOOD, files) == []
