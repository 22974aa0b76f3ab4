"""SKL100 to SKL119: frontmatter, each rule with what it accepts and what it does not."""

from __future__ import annotations

from skillc.errors import MissingField
from skillc.library import at_path
from skillc.lint import lint_skill
from skillc.skills.document import parse, read_metadata
from tests.conftest import World
from tests.lint.skills import GOOD, findings, front, places, rules
from tests.support.cases import each

NAME = "name: pdf"
USE = "description: Use when there is a PDF."


def test_known_unknown_and_duplicate_fields(world: World) -> None:
    """[RFC-0008] [D4] SKL109 and SKL115: fields of Agent Skills, of tools, of none, and twice in broken
    YAML.
    """
    of_the_format = ["license: MIT", "compatibility: Python 3.11", "metadata: {author: me, version: '1.0'}"]
    of_tools = ["version: 1.0.0", "author: me", "modes: [Dev]", "read_only: true", "always_ask: false"]
    others = ["allowed-tools: Bash(git:*) Read", "timeout: 10", "network: true", "requires_capabilities: [x]"]
    assert rules(world, front(NAME, USE, *of_the_format, *of_tools, *others)) == []
    found = findings(world, front(NAME, USE, "flavour: x", "allowed_tools: Read"))
    assert places(found, "SKL109") == [("SKILL.md", 4), ("SKILL.md", 5)]
    assert found[1].message == "unknown field 'allowed_tools'; did you mean 'allowed-tools'?"
    assert {finding.severity for finding in found} == {"warning"}
    found = findings(world, front(NAME, "description: Use when: x", "license: a", "license: b"))
    assert [finding.rule.id for finding in found] == ["SKL100", "SKL115"]
    assert places(found, "SKL115") == [("SKILL.md", 5)]


@each(
    ("text", "line", "says"),
    [
        ("# PDF\n", 1, "no frontmatter"),
        ("", 1, "empty"),
        ("---\ntext\n\n# PDF\n", 1, "not closed"),
        ("---\n- a\n- b\n---\n# PDF\n", 1, "not a YAML mapping"),
        (front(NAME, "description: Use when: x"), 3, "not valid YAML"),
        (front(NAME, "description: | Use when x"), 3, "not valid YAML"),
        (f"---\n{NAME}\n{USE}\n---# PDF\n", 4, "not closed by a line of its own"),
        (f"---\n{NAME}\n{USE}\n\n# PDF\n", 4, "not closed by a line of its own"),
        (f"\n\n---\n{NAME}\n{USE}\n---\n# PDF\n", 1, "does not start on the first line"),
        (front(NAME, USE, "x: " + "y" * 70_000), 1, "over 64 KiB"),
        (front("stray", NAME, USE), 2, "belongs to no key"),
    ],
)
def test_frontmatter_valid(world: World, text: str, line: int, says: str) -> None:
    """[RFC-0008] [D4] [D5] SKL100: the real YAML counts, not what the lenient reader makes of it."""
    found = [finding for finding in findings(world, text) if finding.rule.id == "SKL100"]
    assert (line, "error") in [(finding.line, finding.severity) for finding in found]
    assert any(says in finding.message for finding in found)


@each(
    ("lines", "expected"),
    [
        ([USE], ["SKL101"]),
        (["name:", USE], ["SKL101"]),
        (["name: ''", USE], ["SKL103"]),
        (["name: PDF", USE], ["SKL102", "SKL104"]),
        (["name: -pdf", USE], ["SKL102", "SKL104"]),
        (["name: pdf-", USE], ["SKL102", "SKL104"]),
        (["name: 'pdf '", USE], ["SKL102", "SKL104"]),
        (["name: pdf_x", USE], ["SKL102", "SKL104", "SKL203"]),
        (["name: " + "p" * 65, USE], ["SKL103", "SKL104", "SKL203"]),
        (["name: p--df", USE], ["SKL104", "SKL110", "SKL203"]),
        (["name: other", USE], ["SKL104", "SKL203"]),
        (["name: 2048", USE], ["SKL104", "SKL117", "SKL203"]),
        (["name: [a]", USE], ["SKL102", "SKL104", "SKL117", "SKL203"]),
    ],
)
def test_names(world: World, lines: list[str], expected: list[str]) -> None:
    """[RFC-0008] SKL101 to SKL104, SKL110 and SKL117: what a name is."""
    assert sorted(rules(world, front(*lines))) == expected
    name = "p" * 64
    folder = world.skill(name, f"---\nname: {name}\n{USE}\n---\n# {name}\n")
    assert lint_skill(at_path(str(folder))).findings == ()


@each(
    ("description", "expected"),
    [
        ("", ["SKL105"]),
        ("description:", ["SKL106"]),
        ("description: ''", ["SKL106"]),
        ("description: '  '", ["SKL106"]),
        ("description: " + "Use when x. " * 10 + "y" * 1024, ["SKL107", "SKL206"]),
        ("description: Use when " + "x" * (1024 - 9), ["SKL206"]),
        ("description: Fills forms", ["SKL108"]),
        ("description: 2024", ["SKL108", "SKL117"]),
    ],
)
def test_descriptions(world: World, description: str, expected: list[str]) -> None:
    """[RFC-0008] SKL105 to SKL108 and SKL117: what a description is."""
    assert rules(world, front(*filter(None, [NAME, description]))) == expected


@each(
    "words",
    [
        *("Use when x", "when to USE it", "use for x", "Triggers on x", "triggers: x", "Activate\n  when x"),
        *("Use this skill whenever x", "Use it any time", "Do it when the user asks", "TRIGGER when: x"),
        *("You MUST use this before x", "Use immediately after x", "Perfect for x", "当用户要求时使用"),
        *("最適化が必要な時に使用。", "Formulare ausfüllen, wenn jemand fragt", "Lorsque x", "Когда просят"),
    ],
)
def test_description_triggers(world: World, words: str) -> None:
    """[RFC-0008] SKL108: the six phrases, and the words of public skills, in any case and over line ends."""
    assert rules(world, front(NAME, f"description: >\n  {words}")) == []


@each(
    ("line", "rule"),
    [
        ("license: [MIT]", "SKL111"),
        ("license:", "SKL111"),
        ("compatibility: 3", "SKL112"),
        ("compatibility: ''", "SKL112"),
        ("compatibility: " + "x" * 501, "SKL112"),
        ("metadata: text", "SKL113"),
        ("metadata: {version: 1.0}", "SKL113"),
        ("metadata: {a: {b: c}}", "SKL113"),
        ("allowed-tools: Read, Write", "SKL114"),
        ("allowed-tools: [Read, Write]", "SKL114"),
        ("allowed-tools: 3", "SKL114"),
        ("allowed-tools: Read,", "SKL114"),
        ("license: MIT\nlicense: GPL", "SKL115"),
        ("metadata: {a: b, a: c}", "SKL115"),
    ],
)
def test_agent_skills_fields(world: World, line: str, rule: str) -> None:
    """[RFC-0008] SKL111 to SKL115: the Agent Skills format's rules for the other fields."""
    assert rules(world, front(NAME, USE, line)) == [rule]


@each(
    "line",
    ["compatibility: " + "x" * 500, "metadata: {}", "allowed-tools: Bash(a,b) Read", "allowed-tools: ''"],
)
def test_agent_skills_fields_that_are_right(world: World, line: str) -> None:
    """[RFC-0008] SKL112 to SKL114: at the limits, and commas that are a tool's own."""
    assert rules(world, front(NAME, USE, line)) == []


def test_encoding(world: World) -> None:
    """[RFC-0008] [D4] SKL116 and SKL119: bytes that are not UTF-8, and marks, in SKILL.md and elsewhere."""
    text = GOOD.encode() + b"caf\xe9 [r](r.md)\n"
    found = findings(world, text, {"r.md": b"# R\xff\n"})
    assert places(found, "SKL116") == [("SKILL.md", 1 + GOOD.count("\n")), ("r.md", 1)]
    assert found[0].message == "is not UTF-8: the first byte that is not is 0xe9"
    assert rules(world, GOOD + "café [r](r.md)\n", {"r.md": "# R é\n"}) == []
    marked = b"\xef\xbb\xbf" + GOOD.encode() + b"[r](r.md)\n"
    assert rules(world, marked, {"r.md": "\ufeff# R\n"}) == ["SKL119", "SKL119"]


def test_references_have_frontmatter_too(world: World) -> None:
    """[RFC-0008] [D4] SKL118: of other files, as a warning; a thematic break is none."""
    found = findings(
        world,
        GOOD + "[a](a.md) [b](b.md) [c](c.md)\n",
        {
            "a.md": "---\ntitle: x: y\n---\n# A\n",
            "b.md": "---\ntitle: x\nmodel: y\n---\n# B\n",
            "c.md": "---\n\nText.\n\n---\n\n# C\n",
        },
    )
    assert [(f.rule.id, f.file, f.line, f.severity) for f in found] == [("SKL118", "a.md", 2, "warning")]


BROKEN = [
    *("description: a: b", "description: | text", "name: [a\ndescription: x"),
    *("description: x\ndescription: y", "name: 1\ndescription: 2", "description: x"),
    *("{name: 1, description: x}", "stray\nname: pdf\ndescription: x: y", "name: ''\ndescription: x"),
    *("name: '  '\ndescription: x", "name: pdf\ndescription: \x80 x"),
]


@each("fence", ["---\n", "\n---\n", "---\n\n"])
@each("yaml", BROKEN)
@each("closing", ["\n---\n# PDF\n", "\n---# PDF\n", "\n\n# PDF\n"])
def test_no_repair_is_silent(world: World, fence: str, yaml: str, closing: str) -> None:
    """[RFC-0008] [D4] whatever the lenient reader repaired is a finding of some rule."""
    text = fence + yaml + closing
    causes = {finding.cause for finding in findings(world, text)}
    document = parse(text.encode())
    try:
        noticed = read_metadata(document, "pdf").diagnostics
    except MissingField as error:
        noticed = error.diagnostics
    codes = {diagnostic.code for diagnostic in noticed}
    if "W014" in codes and "W014" not in causes:  # a name that is there, and empty
        assert {"SKL102", "SKL103"} & set(rules(world, text))
        codes.remove("W014")
    if document.frontmatter is None:
        assert "SKL100" in rules(world, text)
        codes.discard("W017")
    assert codes <= causes
