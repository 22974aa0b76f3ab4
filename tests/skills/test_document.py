"""A document from any bytes, and what SKILL.md says about the skill: lenient, and never silent about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidSkill, MissingField
from skillc.skills.document import Document, Metadata, main_file, parse, read_metadata
from tests.support.cases import each

BOM = b"\xef\xbb\xbf"
GOOD = b"---\nname: pdf\ndescription: Fill forms\n---\n# PDF\n"


def about(yaml: str) -> Metadata:
    return read_metadata(parse(f"---\n{yaml}\n---\n# Body\n".encode()), "folder")


def codes(found: Document | Metadata) -> list[str]:
    return [diagnostic.code for diagnostic in found.diagnostics]


# Bytes


@each("mark", [b"", BOM])
@each("eol", [b"\n", b"\r\n", b"\r"])
def test_encodings(mark: bytes, eol: bytes) -> None:
    """[D4] with or without BOM, whatever the line ends: the same skill, and nothing to say about it."""
    document = parse(mark + GOOD.replace(b"\n", eol))
    found = read_metadata(document, "folder")
    assert (found.name, found.description, codes(found)) == ("pdf", "Fill forms", [])
    assert [(heading.text, heading.line) for heading in document.headings()] == [("PDF", 5)]
    assert document.data[document.body :] == b"# PDF" + eol


def test_not_utf8() -> None:
    """[D4] bytes that are not UTF-8 are replaced, and it is said; a body is found by bytes."""
    document = parse(GOOD.replace(b"Fill", b"F\xfcll").replace(b"# PDF", b"# P\xff\xfeDF"))
    found = read_metadata(document, "folder")
    assert (found.description, codes(found)) == ("F\ufffdll forms", ["W010"])
    assert [(heading.text, heading.line) for heading in document.headings()] == [("P\ufffd\ufffdDF", 5)]
    wide = parse("---\nname: 漢字\ndescription: é\n---\n# Ü\n".encode())
    assert wide.data[wide.body :].decode() == "# Ü\n"
    assert [(heading.text, heading.line) for heading in wide.headings()] == [("Ü", 5)]


def test_dashes_and_descriptions() -> None:
    """[D4] [D6] headings stay behind a thematic break; any document may have a description."""
    for text in ("---\n# Title\n---\n", "---\n\n# Title\n\n---\n\nText\n", "---\nTitle\n---\n"):
        assert [heading.text for heading in parse(text.encode()).headings()] == ["Title"]
    document = parse(b"---\nname: a\ndescription: b\n---# Title\n## Next\n")
    assert [(h.level, h.text, h.line) for h in document.headings()] == [(1, "Title", 4), (2, "Next", 5)]
    assert parse(GOOD).description == "Fill forms"
    assert parse(b"---\ndescription: 42\n---\n").description == "42"
    assert parse(b"---\nname: x\n---\n").description is None
    assert parse(b"# Title\n").description is None


FRAGMENTS = [
    *(b"---", b"---", b"\n", b"\n", b"\r\n", b"\r", b"name", b"description", b": ", b"x", b" ", b"- ", b"# "),
    *(b"===", b"|", b">", b"[", b"{", b"&a ", b"*a", b"'", b'"', b"\xff", b"\xe6\xbc", b"\xc3\xa9", b"\x00"),
    *(BOM, b"```", b"\t", b"<<<<<<< ", b"<!--"),
]
any_bytes = st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=3), max_size=40).map(b"".join)


@given(any_bytes | any_bytes.map(lambda data: b"---\nname: a\ndescription: " + data))
def test_any_bytes(raw: bytes) -> None:
    """[D4] no bytes make parse raise, nor metadata anything but MissingField; what is read is sound."""
    document = parse(raw)
    document.data[document.body :].decode()  # neither cut in the middle of a character nor left unclean
    lines = document.data.splitlines(keepends=True)
    for heading in document.headings():
        section = b"".join(lines[heading.line - 1 : heading.end_line - 1])
        assert section == document.data[heading.start : heading.end]
    try:
        found = read_metadata(document, "folder")
    except MissingField:
        return
    assert found.name.strip()
    assert found.description.strip()
    json.dumps(found.fields)


# Name and description


@each(
    ("line", "name", "expected"),
    [
        ("name: pdf", "pdf", []),
        ("name: 漢字", "漢字", []),
        ("name: My Skill", "My Skill", []),
        ("name: 42", "42", ["W015"]),
        ("name: 42  # the answer", "42", ["W015"]),
        ("'name': 42", "42", ["W015"]),
        ("name: '42'", "42", []),
        ("name: 1.10", "1.10", ["W015"]),
        ("name: 007", "007", ["W015"]),
        ("name: 0x1F", "0x1F", ["W015"]),
        ("name: true", "true", ["W015"]),
        ("name: [a, b]", "[a, b]", ["W015"]),
        ("name:\n  - a\n  - b", "- a - b", ["W015"]),
        ("name: 2024-05-01", "2024-05-01", []),
        ("name: null", "folder", ["W014"]),
        ("name: ~", "folder", ["W014"]),
        ("name:", "folder", ["W014"]),
        ("name: ''", "folder", ["W014"]),
        ("name: '  '", "folder", ["W014"]),
        ("title: x", "folder", ["W014"]),
        ("Name: x", "folder", ["W014"]),
    ],
)
def test_name(line: str, name: str, expected: list[str]) -> None:
    """[D4] a skill without a usable name takes the directory's, and it is said."""
    found = about(f"{line}\ndescription: x")
    assert (found.name, codes(found)) == (name, expected)


@each(
    ("line", "description", "expected"),
    [
        ("description: Fill forms", "Fill forms", []),
        ("description: |\n  Fill\n  forms\n", "Fill\nforms\n", []),
        ("description: >-\n  Fill\n  forms\n", "Fill forms", []),
        ("description: Fill\n  forms", "Fill forms", []),
        ("description: 'Fill: forms'", "Fill: forms", []),
        ("description: 2024-05-01", "2024-05-01", []),
        ("description: 0", "0", ["W015"]),
        ("description: false", "false", ["W015"]),
        ("description: [a, b]", "[a, b]", ["W015"]),
        ("description: Fill: forms", "Fill: forms", ["W011"]),
        ("description: a\ndescription: b", "b", ["W013"]),
    ],
)
def test_description(line: str, description: str, expected: list[str]) -> None:
    """[D4] a description that can be understood is; what was repaired is said."""
    found = about(f"name: pdf\n{line}")
    assert (found.description, codes(found)) == (description, expected)


@each(
    "text",
    [
        *("", "# Title\n", "---\n---\n", "---\nname: pdf\n---\n", "---\nname: pdf\ndescription:\n---\n"),
        *("---\nname: pdf\ndescription: null\n---\n", "---\nname: pdf\ndescription: ~\n---\n"),
        *("---\nname: pdf\ndescription: ''\n---\n", "---\nname: pdf\ndescription: ' \t '\n---\n"),
        *("---\nname: pdf\ndescription: |\n---\n", "---\nname: pdf\ndescription: # nothing\n---\n"),
        *("---\nname: pdf\nDescription: in upper case\n---\n", "---\nname: pdf\nother: a: b\n---\n"),
        *("---\n- a\n---\n", "---\nJust text\n---\n", "---\ndescription\n---\n"),
    ],
)
def test_not_loadable(text: str) -> None:
    """[D4] without a description, or with an empty or null one, a skill is not loadable: E011."""
    with pytest.raises(MissingField) as caught:
        read_metadata(parse(text.encode()), "folder")
    assert caught.value.line() == "error[E011]: missing frontmatter field 'description' in SKILL.md"


# The file


def test_main_file(tmp_path: Path) -> None:
    """[D25] a directory with SKILL.md is a skill; lower case is accepted, a directory of that name is not."""
    with pytest.raises(InvalidSkill):
        main_file(str(tmp_path))
    (tmp_path / "SKILL.md").mkdir()
    with pytest.raises(InvalidSkill):
        main_file(str(tmp_path))
    (tmp_path / "skill.md").write_bytes(GOOD)
    assert main_file(str(tmp_path)) == "skill.md"
    (tmp_path / "SKILL.md").rmdir()
    (tmp_path / "SKILL.md").write_bytes(GOOD)
    assert main_file(str(tmp_path)) == "SKILL.md"


# Real skills

UNUSABLE = {"no-frontmatter", "no-description", "not-a-mapping"}
NO_KEYS = {"119.md"}  # looks like frontmatter, has not one key


def real_skills(corpus: Path) -> list[tuple[str, str, set[str], Document]]:
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    return [
        (e["file"], e["folder"], set(e["kinds"]), parse((corpus / e["file"]).read_bytes())) for e in index
    ]


def test_corpus(corpus: Path) -> None:
    """[D4] of 206 real beginnings, all load but those without a description; what was repaired is said.

    Plain skills have nothing to be told. The name is the folder's only where the frontmatter has none.
    """
    skills = real_skills(corpus)
    assert len(skills) == 206
    for file, folder, kinds, document in skills:
        if kinds & UNUSABLE or file in NO_KEYS:
            with pytest.raises(MissingField):
                read_metadata(document, folder)
            continue
        metadata = read_metadata(document, folder)
        assert metadata.description.strip(), file
        assert json.loads(json.dumps(metadata.fields)) == metadata.fields, file
        found = set(codes(metadata))
        if "W014" in found:
            assert document.frontmatter is not None
            assert document.frontmatter.fields.get("name") in (None, ""), file
        if any(kind.startswith("yaml-") for kind in kinds):
            assert found & {"W011", "W012"}, file
        elif "unclosed" in kinds:
            assert "W012" in found, file
        else:  # plain, and what is odd but read as it is: dates, lists, nested metadata, BOM, CRLF
            expected = {"no-name": {"W014"}, "name-type": {"W015"}}
            assert found == set().union(*(expected.get(kind, set()) for kind in kinds)), file
