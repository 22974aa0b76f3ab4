"""`skc outline`: every heading, from the sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.compiler import read_files
from skillc.compiler.build import build_skill
from skillc.gateway import freshness, read_outline
from skillc.library import Skill, resolve
from tests.conftest import World
from tests.gateway.conftest import Run, made
from tests.support.examples import examples
from tests.support.markdown import LINES

EXAMPLE = """\
SKILL.md
  # Skill Name
  ## Getting Started
  ## API Reference
    ### Authentication
    ### Endpoints
references/advanced.md
  # Advanced Topics
  ## Performance
"""


def rows(skill: Skill, level: int | None = None) -> list[tuple[str, int, str, int]]:
    return [(entry.file, entry.level, entry.heading, entry.line) for entry in read_outline(skill, level)]


def test_the_example(world: World, run: Run) -> None:
    """[RFC-0002:C-OUTLINE] the RFC's example, letter by letter, also with --level 2."""
    text = "# Skill Name\n## Getting Started\n## API Reference\n### Authentication\n### Endpoints\n"
    made(
        world,
        "example",
        {
            "SKILL.md": f"---\nname: example\ndescription: d\n---\n{text}",
            "references/advanced.md": "# Advanced Topics\n\n## Performance\n",
        },
    )
    assert run("outline", "example").out == EXAMPLE
    two = "".join(line for line in EXAMPLE.splitlines(keepends=True) if "###" not in line)
    assert run("outline", "example", "--level", "2").out == two


def test_text_json_and_levels(run: Run, skill: Skill) -> None:
    """[D14] [RFC-0002:C-OUTLINE] two spaces more for each level from 3 on, no blank lines; JSON with lines;
    levels up to n, or all.
    """
    assert run("outline", "pdf").out == (
        "B.md\n  # B\n"
        "SKILL.md\n  # PDF\n  ## Forms\n    ### Fields\n      #### Kinds\n        ##### Deeper\n"
        "          ###### Deepest\n  ## Größe — Maße\n  ## forms\n"
        "references/api.md\n  # API\n  ## Forms\n"
    )
    entries = json.loads(run("outline", "pdf", "--level", "1", "--format", "json").out)
    assert entries == [
        {"file": "B.md", "level": 1, "heading": "B", "line": 1},
        {"file": "SKILL.md", "level": 1, "heading": "PDF", "line": 5},
        {"file": "references/api.md", "level": 1, "heading": "API", "line": 1},
    ]
    every = rows(skill)
    assert max(row[1] for row in every) == 6
    for level in range(1, 7):
        assert rows(skill, level) == [row for row in every if row[1] <= level]
        text = run("outline", "pdf", "--level", str(level)).out
        assert max(line.count("#") for line in text.splitlines()) == level


def test_lines(world: World, run: Run) -> None:
    """[D14] a path stands above the headings that it has to show; what a heading holds stays on its line."""
    made(world, "pdf", {"deep.md": "### Deep\n", "none.md": "words\n", "empty.md": ""})
    assert "deep.md" not in run("outline", "pdf", "--level", "2").out
    assert "deep.md\n    ### Deep\n" in run("outline", "pdf").out
    assert "none.md" not in run("outline", "pdf").out
    made(world, "pdf", {"new\nline.md": "# a&#10;b &#27;[31m\n\nOver\nlines\n===\n\n#\n"})
    lines = run("outline", "pdf").out.split("\n")
    assert lines[-5:] == ["new\\nline.md", "  # a\\nb \\x1b[31m", "  # Over lines", "  #", ""]


def test_order_and_headings(world: World) -> None:
    """[RFC-0002:C-OUTLINE] [D6] files bytewise by path, headings as they stand; none in code, HTML and
    frontmatter, but in lists.
    """
    names = ["B.md", "SKILL.md", "a-b.md", "a.md", "a/b.md", "ab.md", "z.md", "é.md", "漢.md"]
    text = "## b\n# a\n"
    skill = made(world, "pdf", {name: text for name in reversed(names) if name != "SKILL.md"})
    found = rows(skill)
    assert list(dict.fromkeys(row[0] for row in found)) == sorted(names, key=str.encode) == names
    assert [row[2] for row in found if row[0] == "a.md"] == ["b", "a"]
    text = "---\nname: x\n# no\n---\n```\n# no\n```\n<div>\n# no\n</div>\n\n> # quoted\n\n- ## listed\n"
    skill = made(world, "pdf", {"a.md": text})
    assert [row[1:] for row in rows(skill) if row[0] == "a.md"] == [(1, "quoted", 12), (2, "listed", 14)]


def test_which_files(world: World, run: Run) -> None:
    """[RFC-0002:C-OUTLINE] [D1] [D2] [RFC-0002:C-ERRORS] all .md files, linked ones too; no others, none
    with a dot, nothing outside.
    """
    files = ["deep/er/x.md", "UPPER.MD", "no.markdown", "no.txt", "md", ".hidden.md", ".dir/x.md"]
    skill = made(world, "pdf", dict.fromkeys(files, "# H\n"))
    Path(skill.source, "link.md").symlink_to("deep/er/x.md")
    Path(skill.source, "linked").symlink_to("deep")
    Path(skill.source, "broken.md").symlink_to("nowhere")
    found = [row[0] for row in rows(skill) if row[2] == "H"]
    assert found == ["UPPER.MD", "deep/er/x.md", "link.md", "linked/er/x.md"]
    skill = made(world, "pdf", {"a.md": "# A\n"})
    secret = world.root / "secret.md"
    secret.write_text("# Secret\n")
    Path(skill.source, "leaves.md").symlink_to(secret)
    ran = run("outline", "pdf")
    assert "# A" in ran.out
    assert "Secret" not in ran.out


def test_needs_no_build(world: World, run: Run) -> None:
    """[RFC-0002:C-OUTLINE] it reads the sources, and an index that can't be read is no reason to fail."""
    world.skill("fresh")
    unbuilt = resolve("fresh", str(world.project))
    expected = [("SKILL.md", 1, "fresh", 5), ("SKILL.md", 2, "Usage", 7)]
    assert rows(unbuilt) == expected
    index = Path(build_skill(unbuilt).runtime, ".skillc-meta")
    [database] = index.glob("search-*.db")
    assert rows(unbuilt) == expected
    for damage in (b"", b"not a database", database.read_bytes()[:3000]):
        database.write_bytes(damage)
        assert rows(unbuilt) == expected


def test_too_large_a_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0002:C-OUTLINE] the compiler's limit is the gateway's, before and after a build."""
    assert freshness.MAX_TEXT == read_files.MAX_TEXT
    monkeypatch.setattr(freshness, "MAX_TEXT", 5000)
    monkeypatch.setattr(read_files, "MAX_TEXT", 5000)
    skill = made(world, "pdf", {"large.md": "# Large\n" + "x" * 5000}, built=False)
    before = rows(skill)
    assert "Large" not in [row[2] for row in before]
    build_skill(skill)
    assert rows(skill) == before


documents = st.lists(st.sampled_from(LINES), max_size=12).map("\n".join)


@pytest.mark.slow
@examples(60)
@given(st.dictionaries(st.sampled_from(["a.md", "b.md", "c/d.md"]), documents))
def test_the_same_with_and_without_an_index(world: World, files: dict[str, str]) -> None:
    """[RFC-0002:C-OUTLINE] what the index knows is what the sources say."""
    folder = world.skill("any")
    for path in folder.rglob("*.md"):
        path.unlink()
    skill = made(world, "any", dict(files), built=False)
    before = rows(skill)
    build_skill(skill)
    assert rows(skill) == before
