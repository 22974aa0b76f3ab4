"""`--fix`: what is put right, what is left alone, and that nothing else changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from skillc.library import at_path
from skillc.lint import Settings, fix_skill, lint_skill
from skillc.lint.fix import quote
from skillc.skills.document import Document, parse, yaml
from tests.conftest import World, save
from tests.lint.skills import GOOD, fixed, front, put
from tests.support.cases import each
from tests.support.examples import examples

NAME = "name: pdf"
USE = "description: Use when x"


@each(
    ("before", "after"),
    [
        ("description: Use when: x", 'description: "Use when: x"'),
        ('description: Use when: "x"', "description: 'Use when: \"x\"'"),
        ('description: Use when: "x" isn\'t y', 'description: "Use when: \\"x\\" isn\'t y"'),
        ("description: | Use when x", 'description: "Use when x"'),
        ("description: >- Use when x", 'description: "Use when x"'),
        ("description: `x` use when", 'description: "`x` use when"'),
        ("description: *use when* x", 'description: "*use when* x"'),
        ("description: Use when: x\n# a comment\n", 'description: "Use when: x"\n# a comment\n'),
        ("description: Use when: x\n  and: y", "description: >-\n  Use when: x\n  and: y"),
        ("description: Use when: x\n\n  and y", "description: >-\n  Use when: x\n\n  and y"),
        ("description: | Use when x\n  and y", "description: |-\n  Use when x\n  and y"),
        ("description: Use when: x \x80", 'description: "Use when: x \\x80"'),
        ("'description' : Use when: x", "'description' : \"Use when: x\""),
        ("argument-hint: [a] [b]\n" + USE, 'argument-hint: "[a] [b]"\n' + USE),
    ],
)
def test_values_are_quoted(world: World, before: str, after: str) -> None:
    """[RFC-0008] [D4] SKL100: the strict reader gets what the lenient one got."""
    report, data = fixed(world, front(NAME, before))
    assert [(f.rule.id, f.file) for f in report.fixed] == [("SKL100", "SKILL.md")]
    assert data.decode() == front(NAME, after)
    assert "SKL100" not in [finding.rule.id for finding in report.findings]


@each(
    "text",
    [
        front(NAME, "metadata: {a: b", USE),  # a mapping with a bracket too few is no text
        front(NAME, "tags: [a, b", USE),
        front(NAME, USE, "<<<<<<< ours", "license: a: b", "======="),
        front("stray line", NAME, "description: Use when: x"),
        front(NAME, "description: Use when: x", "  # is this a comment?"),
        front(NAME, "description: Use when: x", "# or this?", "  y"),
        front(NAME, "description: Use when: x", "", "# or a heading?"),
        "# PDF\n",
        "---\nname: pdf\n\ndescription: x\n",  # it may well go on below the blank line
        front(NAME, USE, "license: a", "license: b"),
        front(NAME, "description: [a, b]"),
        front(NAME, USE, "allowed-tools: Some Tool, Read"),
        front(NAME, USE, "allowed-tools: Bash(git add:*), Read"),
        front(NAME, USE, "allowed-tools: [Read, 3]"),
        front(NAME, USE, "allowed-tools: [Read, # why", "  Write]"),
        front(NAME, USE, "allowed-tools: &tools [Read, Write]", "x: *tools"),
        front("name: other", USE),
        front("name: !!int 12", USE),  # a value whose tag says that it is no text
        b"---\nname: pdf\ndescription: Use when: \xff\n---\n# PDF\n",
        b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode(),
    ],
)
def test_left_alone(world: World, text: str | bytes) -> None:
    """[RFC-0008] what can't be fixed without guessing is reported, not touched, and not called fixable."""
    report, data = fixed(world, text)
    assert data == (text.encode() if isinstance(text, str) else text)
    assert report.fixed == ()
    assert report.findings
    assert report.fixable == 0


@each(
    ("before", "after"),
    [
        (f"---\n{NAME}\n{USE}\n---# PDF\n", f"---\n{NAME}\n{USE}\n---\n# PDF\n"),
        (f"---\r\n{NAME}\r\n{USE}\r\n---# PDF\r\n", f"---\r\n{NAME}\r\n{USE}\r\n---\r\n# PDF\r\n"),
        (f"---\n{NAME}\n{USE}\n\n# PDF\n", f"---\n{NAME}\n{USE}\n---\n\n# PDF\n"),
        (f"---\n{NAME}\n{USE}", f"---\n{NAME}\n{USE}\n---\n"),
        (f"\n \n---\n{NAME}\n{USE}\n---\n# PDF\n", f"---\n{NAME}\n{USE}\n---\n# PDF\n"),
        (f"---\n{USE}\n---\n# PDF\n", f"---\n{NAME}\n{USE}\n---\n# PDF\n"),
        (f"---\nname:\n{USE}\n---\n# PDF\n", f"---\n{NAME}\n{USE}\n---\n# PDF\n"),
        (f"---\nname: # what?\n{USE}\n---\n# PDF\n", f"---\n{NAME} # what?\n{USE}\n---\n# PDF\n"),
        (
            f"---\n{NAME}\n{USE}\nallowed-tools: Read, Write # why\n---\n# PDF\n",
            f"---\n{NAME}\n{USE}\nallowed-tools: Read Write # why\n---\n# PDF\n",
        ),
        (
            f"---\r\n{NAME}\r\n{USE}\r\nallowed-tools:\r\n- Read\r\n- Bash(git:*)\r\n\r\n---\r\n# PDF\r\n",
            f"---\r\n{NAME}\r\n{USE}\r\nallowed-tools: Read Bash(git:*)\r\n\r\n---\r\n# PDF\r\n",
        ),
        (
            f"---\n{NAME}\n{USE}\nallowed-tools: ['Read', \"Write\"]\n---\n# PDF\n",
            f"---\n{NAME}\n{USE}\nallowed-tools: Read Write\n---\n# PDF\n",
        ),
        ("\ufeff" + front(NAME, USE), front(NAME, USE)),
        (
            "\ufeff\r\n---\r\ndescription: Use when: x\r\nallowed-tools: A,B\r\n---# PDF\r\n",
            '---\r\nname: pdf\r\ndescription: "Use when: x"\r\nallowed-tools: A B\r\n---\r\n# PDF\r\n',
        ),
    ],
)
def test_fences_names_tools_and_marks(world: World, before: str, after: str) -> None:
    """[RFC-0008] SKL100, SKL101, SKL114, SKL119: one by one and together; CRLF stays CRLF."""
    report, data = fixed(world, before)
    assert data.decode() == after
    assert report.fixed
    assert report.errors == 0
    again, data = fixed(world, data)
    assert (again.fixed, data.decode()) == ((), after)


def test_names_and_marks(world: World) -> None:
    """[RFC-0008] SKL117, SKL101, SKL119: numbers in quotes, valid names alone, marks in every file."""
    folder = world.skill("2048", f"---\nname: 2048\n{USE}\n---\n# 2048\n")
    assert [str(f.rule) for f in fix_skill(at_path(str(folder))).fixed] == ["SKL117 field-text"]
    assert (folder / "SKILL.md").read_text() == f'---\nname: "2048"\n{USE}\n---\n# 2048\n'
    folder = world.skill("My Skill", f"---\n{USE}\n---\n# My Skill\n")
    assert fix_skill(at_path(str(folder))).fixed == ()
    report, _ = fixed(world, GOOD + "[r](r.md)\n", {"r.md": "\ufeff---\ntitle: a: b\n---\n# R\n"})
    assert [(f.rule.id, f.file) for f in report.fixed] == [("SKL119", "r.md")]
    assert (world.store / "pdf" / "r.md").read_text() == "---\ntitle: a: b\n---\n# R\n"
    assert [f.rule.id for f in report.findings] == ["SKL118"]


def test_what_stays(world: World) -> None:
    """[RFC-0008] [D7] what is off, suppressed or compiled is not fixed; files keep their mode."""
    text = front(NAME, USE, "allowed-tools: Read, Write # skilllint-disable SKL114")
    assert fixed(world, text)[1].decode() == text
    text = front(NAME, USE, "allowed-tools: Read, Write")
    folder = put(world, text)
    report = fix_skill(at_path(str(folder)), settings=Settings(severities={"SKL114": "off"}))
    assert (report.fixed, (folder / "SKILL.md").read_text()) == ((), text)
    folder = put(world, front(NAME, "description: Use when: x"))
    (folder / "SKILL.md").chmod(0o600)
    assert fix_skill(at_path(str(folder))).fixed
    assert (folder / "SKILL.md").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["SKILL.md"]
    folder = put(world, front(NAME, "description: Use when: x"), {".skillc/manifest.json": "{}"})
    compiled = fix_skill(at_path(str(folder)), force=True)
    assert (compiled.fixed, compiled.fixable) == ((), 0)
    assert "SKL100" in [finding.rule.id for finding in compiled.findings]


def test_links_are_followed_inside_only(world: World, tmp_path: Path) -> None:
    """[RFC-0008] [D2] a link that stays stays a link; one that leaves is never written through."""
    text = front(NAME, "description: Use when: x")
    folder = put(world, text, {"real/main.txt": text})
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to("real/main.txt")
    assert fix_skill(at_path(str(folder))).fixed
    assert os.readlink(folder / "SKILL.md") == "real/main.txt"
    assert '"Use when: x"' in (folder / "real/main.txt").read_text()
    outside = tmp_path / "outside.md"
    outside.write_text("\ufeff" + text)
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(outside)
    (folder / "r.md").symlink_to(outside)
    assert fix_skill(at_path(str(folder))).fixed == ()
    assert outside.read_text() == "\ufeff" + text


@given(st.text(st.characters(codec="utf-8")))
@example("\u2028\x85\ufeff")
@example("'\"\\")
def test_quoted_text_reads_back(value: str) -> None:
    """[RFC-0008] [D4] any text in quotes is that text in YAML."""
    assert yaml.load_yaml(f"x: {quote(value)}\n").value == {"x": value}


# Whatever the source

LINES = st.sampled_from(
    ["name: pdf", "name:", "name: 12", "name: PDF", "description: Use when: x", "description: | x y"]
    + ["description: x", "  more: text", "", "  ", "# comment", "  # comment", "- item", "stray"]
    + ["allowed-tools: A, B", "allowed-tools:", "  - A", "allowed-tools: [A, B]", "allowed-tools: [A"]
    + ["metadata: {a: b", "metadata:", "  a: b: c", "x: 'y", 'x: "y', "x: *y", "x: &y z", "x: !t y"]
    + ["license: `a`", "license: @a", "license: %a", "license: a #b", "x: >- y", "? z", "x: é日\u2028\x85"]
    + ["---", "---# T", "---x", "...", "<<<<<<< a", "=======", "# PDF", "## Sub", "\t", "x:\ty"]
)
SOURCES = st.builds(
    lambda mark, lead, lines, newline, last: mark + newline.join([*lead, "---", *lines]) + last,
    st.sampled_from(["", "", "\ufeff", "\ufeff\ufeff"]),
    st.lists(st.sampled_from(["", " "]), max_size=2),
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
    st.sampled_from(["", "\n", "\n---\n# PDF\n", "\n---# PDF", "\n\n# PDF\n"]),
)


def reading(document: Document) -> tuple[object, ...]:
    """What the lenient reader makes of a file, but for what a fix may change."""
    found = document.frontmatter
    fields = dict(found.fields) if found else None
    name = (found.text("name") or "").strip() or "pdf" if found else ""
    description = found.text("description") if found else None
    for field in ("name", "description", "allowed-tools"):
        (fields or {}).pop(field, None)
    return fields, name, description, document.data[document.body :]


@pytest.mark.slow
@given(SOURCES)
@example("---\nname: pdf\ndescription: Use when: x\n---# PDF\n")
@example("\ufeff\n---\ndescription: x: y\nallowed-tools: A, B\n\n# PDF\n")
@examples(300)
def test_fixing_any_source(world: World, source: str) -> None:
    """[RFC-0008] [D4] the reading stays, strict and lenient agree where it was fixed, twice is once."""
    folder = world.store / "pdf"
    folder.mkdir(exist_ok=True)
    save(folder / "SKILL.md", source)
    before = parse(source.encode())
    skill = at_path(str(folder))
    promised = lint_skill(skill).fixable
    report = fix_skill(skill)
    data = (folder / "SKILL.md").read_bytes()
    after = parse(data)
    assert reading(after) == reading(before)
    assert bool(report.fixed) == bool(promised) == (data != source.encode())
    assert report.fixable == 0
    if "SKL100" in {f.rule.id for f in report.fixed} and "SKL100" not in {f.rule.id for f in report.findings}:
        assert after.frontmatter is not None
        assert yaml.load_yaml(after.frontmatter.raw).value == after.frontmatter.fields
    assert fix_skill(skill).fixed == ()
    assert (folder / "SKILL.md").read_bytes() == data
