"""The block at the top of a document: where it starts and ends, and what is repaired in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from skillc.skills.document.frontmatter import MAX_FRONTMATTER, Frontmatter, find_frontmatter
from tests.support.cases import each
from tests.support.deadline import ends
from tests.support.examples import sample
from tests.support.yaml import NASTY, billion_laughs, json_values, yaml_like

GOOD = "name: pdf\ndescription: Fill forms\n"


def read(yaml: str) -> Frontmatter:
    """The frontmatter of a document whose fences are right."""
    found = find_frontmatter(f"---\n{yaml}\n---\n# Body\n")
    assert found is not None
    return found


def codes(found: Frontmatter) -> list[str]:
    return [diagnostic.code for diagnostic in found.diagnostics]


def said(found: Frontmatter) -> str:
    return "\n".join(diagnostic.message for diagnostic in found.diagnostics)


# Where it is


@each(
    "text",
    [
        *("", "# Title\n", "name: pdf\ndescription: no fence\n", "----\nname: pdf\n----\n"),
        *(" ---\nname: pdf\n---\n", "Text\n---\nname: pdf\n---\n", "---\n", "---"),
        "---\nText between thematic breaks\n---\n# Title\n",
        "---\n\n# Title\n\n---\nText\n",  # YAML sees a comment here
        "---\n- a\n- list\n---\n",
        "---\n42\n---\n",
        "---\nNote: this is text\n\nMore\n",  # not closed, and no name or description
    ],
)
def test_none(text: str) -> None:
    """[D4] what is not fenced, or is no mapping, is no frontmatter; a thematic break opens none."""
    assert find_frontmatter(text) is None


@each("eol", ["\n", "\r\n", "\r"])
@each("fence", ["---", "--- ", "---\t"])
@each("body", ["", "# Title\n", "---\nmore\n---\n"])
def test_fences(eol: str, fence: str, body: str) -> None:
    """[D4] every line end, and spaces after a fence; the body starts after the closing line."""
    head = f"{fence}\n{GOOD}{fence}\n".replace("\n", eol)
    found = find_frontmatter(head + body)
    assert found is not None
    assert (found.fields, found.end, codes(found)) == (
        {"name": "pdf", "description": "Fill forms"},
        len(head),
        [],
    )
    at_the_end = find_frontmatter(head.rstrip("\r\n"))
    assert at_the_end is not None
    assert (at_the_end.end, codes(at_the_end)) == (len(head.rstrip("\r\n")), [])


@each("blank", ["\n", "\r\n", "\r", " \t\n", "\n\n \n"])
def test_blank_lines_first(blank: str) -> None:
    """[D4] blank lines before the opening fence are passed over, and it is said."""
    found = find_frontmatter(f"{blank}---\n{GOOD}---\n")
    assert found is not None
    assert (found.fields["name"], codes(found)) == ("pdf", ["W018"])


@each("rest", ["# Title", " # Title", "Text"])
def test_text_on_the_closing_fence(rest: str) -> None:
    """[D4] `---# Title`: the block ends there, and what follows is the body's."""
    text = f"---\n{GOOD}---{rest}\nMore\n"
    found = find_frontmatter(text)
    assert found is not None
    assert (text[found.end :], codes(found)) == (f"{rest}\nMore\n", ["W012"])
    assert found.fields["name"] == "pdf"


@each(
    ("text", "body"),
    [
        (f"---\n{GOOD}\n# Title\nText\n", "\n# Title\nText\n"),
        (f"---\n{GOOD}", ""),
        (f"---\n{GOOD.rstrip()}", ""),
        (f"---\n{GOOD}\n# Title\n\nText.\n\n---\n\nMore\n", "\n# Title\n\nText.\n\n---\n\nMore\n"),
    ],
)
def test_unclosed(text: str, body: str) -> None:
    """[D4] an unclosed block ends at the first blank line; a thematic break far below does not close it."""
    found = find_frontmatter(text)
    assert found is not None
    assert found.fields == {"name": "pdf", "description": "Fill forms"}
    assert (text[found.end :], codes(found)) == (body, ["W012"])


# What it holds


def test_keys() -> None:
    """[D4] other keys are kept; of two the last counts, and a diagnostic names the line."""
    found = read(f"{GOOD}allowed-tools: [Read, Bash]\nmetadata:\n  version: 1.10\n  on: 2024-05-01\nX y: ~\n")
    assert found.fields == {
        "name": "pdf",
        "description": "Fill forms",
        "allowed-tools": ["Read", "Bash"],
        "metadata": {"version": 1.1, "on": "2024-05-01"},
        "X y": None,
    }
    assert codes(found) == []
    twice = read("name: a\nname: b\ndescription: x")
    assert (twice.fields["name"], codes(twice)) == ("b", ["W013"])
    assert "'name'" in said(twice)
    assert read("{name: 42}").text("name") == "42"
    assert "(line 3: " in said(read("name: a\ndescription: b: c"))
    late = find_frontmatter("\n\n---\nname: a\ndescription: b: c\n---\n")
    assert late is not None
    assert "(line 5: " in said(late)


words = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)


@pytest.mark.slow
@given(st.dictionaries(words, json_values, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]))
def test_good_input(fields: dict[str, object], eol: str) -> None:
    """[D4] what is YAML is read as it is, without a diagnostic."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    text = eol.join(["---", *lines, "---", ""])
    found = find_frontmatter(text)
    assert found is not None
    assert (found.fields, found.end, codes(found)) == (fields, len(text), [])


# What is repaired


@each(
    ("value", "text"),
    [
        # unquoted colons
        ("Use when: filling forms", "Use when: filling forms"),
        ("Do this: then that: and more", "Do this: then that: and more"),
        ("Use when: filling\n  forms: all of them", "Use when: filling forms: all of them"),
        ("PDF (see: docs) 'n more", "PDF (see: docs) 'n more"),
        # block scalars with text on the first line
        ("| Fill forms", "Fill forms"),
        ("|- Fill: forms", "Fill: forms"),
        ("> Fill\n  forms\n  in PDFs", "Fill forms in PDFs"),
        (">2 Fill\n  forms\n\n  More", "Fill forms\nMore"),
        ("| Fill\n  forms", "Fill\nforms"),
        # other things that mean something else in YAML
        ("**Fill** forms", "**Fill** forms"),
        ("*fill* forms", "*fill* forms"),
        ("@mention and more", "@mention and more"),
        ("`code` first", "`code` first"),
        ("%d forms", "%d forms"),
        ("[PDF] forms", "[PDF] forms"),
        ("{PDF} forms", "{PDF} forms"),
        ('"PDF" forms', '"PDF" forms'),
        ('"PDF" or "DOC"', '"PDF" or "DOC"'),
        ('"Say "hi" to them"', 'Say "hi" to them'),
        ("'It's: fine'", "It's: fine"),
        ('"No end', '"No end'),
        ("- a: b: c", "- a: b: c"),
        ("bell \x07 rings", "bell \x07 rings"),
    ],
)
@each("eol", ["\n", "\r\n", "\r"])
def test_repair(value: str, text: str, eol: str) -> None:
    """[D4] a value that is no YAML is read as plain text; its neighbours stay what they are; it is said."""
    yaml = f"name: pdf\nversion: 1.5\ndescription: {value}\ntags: [a, b]"
    found = find_frontmatter(f"---\n{yaml}\n---\n".replace("\n", eol))
    assert found is not None
    assert found.fields == {"name": "pdf", "version": 1.5, "description": text, "tags": ["a", "b"]}
    assert codes(found) == ["W011"]
    assert said(found).endswith("read as plain text: description")


plain_words = st.lists(
    st.from_regex(r"[A-Za-z][a-z0-9,.()-]{0,6}:?", fullmatch=True), min_size=1, max_size=12
)


@pytest.mark.slow
@given(plain_words)
def test_any_sentence_with_colons(sentence: list[str]) -> None:
    """[D4] whatever its colons do to YAML, a sentence is read as it was written, repaired or not."""
    text = "x " + " ".join(sentence) + " y"
    found = read(f"name: pdf\ndescription: {text}\nversion: 1")
    assert found.fields == {"name": "pdf", "description": text, "version": 1}
    assert codes(found) == (["W011"] if ": " in text else [])


@each(
    ("yaml", "fields", "expected"),
    [
        ("name: a\nname: b\ndescription: c: d", {"name": "b", "description": "c: d"}, ["W011", "W013"]),
        ("x: y\nallowed tools: Read\nz: c: d", {"x": "y", "allowed tools": "Read", "z": "c: d"}, ["W011"]),
        ("x: c: d\n# who wrote it\nauthor: me", {"x": "c: d", "author": "me"}, ["W011"]),
        (
            "metadata:\n  name: inner\n  list:\n  - a\nx: c: d\nname: pdf",
            {"metadata": {"name": "inner", "list": ["a"]}, "x": "c: d", "name": "pdf"},
            ["W011"],
        ),
        (
            "name: pdf\n<<<<<<< HEAD\nx: ours\n=======\nx: theirs\n>>>>>>> main",
            {"name": "pdf", "x": "theirs"},
            ["W011", "W013", "W019", "W019", "W019"],
        ),
        ("Some prose first\nname: pdf\nx: y", {"name": "pdf", "x": "y"}, ["W011", "W019"]),
    ],
)
def test_repaired_blocks(yaml: str, fields: dict[str, object], expected: list[str]) -> None:
    """[D4] keys set twice, keys of more words, comments, nested lines, failed merges, stray lines."""
    found = read(yaml)
    assert (found.fields, sorted(codes(found))) == (fields, expected)
    strays = [number for number, line in enumerate(yaml.splitlines(), 2) if line[0] in "<=>S"]
    assert all(f"line {number} " in said(found) for number in strays)


# Limits


def padded(size: int, pad: str = "x") -> str:
    """A block of YAML of that many bytes."""
    room = size - len(GOOD.encode()) - len("pad: \n")
    return f"{GOOD}pad: {pad * (room // len(pad.encode()))}{'x' * (room % len(pad.encode()))}\n"


@each("pad", ["x", "é", "漢", "x y "])
def test_size(pad: str) -> None:
    """[D5] 64 KiB is read, a byte more is refused as a whole, and it is said."""
    exact = find_frontmatter(f"---\n{padded(MAX_FRONTMATTER, pad)}---\n# T\n")
    assert exact is not None
    assert (exact.fields["name"], codes(exact)) == ("pdf", [])
    text = f"---\n{padded(MAX_FRONTMATTER + 1, pad)}---\n# T\n"
    over = find_frontmatter(text)
    assert over is not None
    assert (over.fields, text[over.end :], codes(over)) == ({}, "# T\n", ["W016"])


@pytest.mark.slow
@each("unit", sample(NASTY, 2))
@each("close", ["\n---\n", ""])
def test_nasty_blocks(unit: str, close: str) -> None:
    """[D5] 64 KiB of anything between fences costs no time, and what is read is JSON."""
    text = unit * (60_000 // len(unit.encode()))
    for start in ("", "name: ", f"{GOOD}x: ", "a: b: c\nx: "):
        with ends():
            found = find_frontmatter(f"---\n{start}{text}{close}")
            json.dumps(found.fields if found else None)


@each("eol", ["\n", "\r", "\r\n", " \n", "\t\r\n"])
@each("after", ["x", "---x", "---\n"])
def test_many_blank_lines(eol: str, after: str) -> None:
    """[D5] a document that begins with blank lines, however many, costs no time."""
    with ends():
        assert find_frontmatter(eol * 100_000 + after) is None


@each("line", ["x" * 1_000_000, " " * 1_000_000, "a: " * 333_000, "-" * 1_000_000])
def test_long_lines(line: str) -> None:
    """[D5] a line of a megabyte, anywhere, costs no time."""
    for text in (
        line,
        f"---\n{line}\n---\n",
        f"---{line}",
        f"\n{line}",
        f"---\n{GOOD}---{line}",
        f"{line}\n---",
    ):
        with ends():
            find_frontmatter(text)


def small_bombs() -> str:
    """Many keys, each with as many values as one may have."""
    levels = ["&a [x,x,x,x,x,x,x,x,x,x]", f"&b [{'*a,' * 10}]", f"&c [{'*b,' * 10}]", f"[{'*c,' * 7}]"]
    return "\n".join(f"k{number}: [{','.join(levels)}]" for number in range(450))


@each("bomb", [billion_laughs(), small_bombs()])
@each("broken", ["", "broken: a: b\n"])
def test_alias_bombs(broken: str, bomb: str) -> None:
    """[D5] aliases make no more than a megabyte of it, also where the block is repaired key by key."""
    with ends():
        size = len(json.dumps(read(broken + bomb).fields))
    assert size < 16 * MAX_FRONTMATTER


@given(yaml_like | st.text(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_block(yaml: str, eol: str) -> None:
    """[D4] any text between fences gives fields that are JSON, or none, and never an exception."""
    text = f"---{eol}{yaml}{eol}---{eol}"
    found = find_frontmatter(text)
    if found is not None:
        json.dumps(found.fields)
        assert 0 < found.end <= len(text)
        assert found.text("name") is None or isinstance(found.text("name"), str)
