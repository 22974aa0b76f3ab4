"""Comments that silence rules."""

from __future__ import annotations

from skillc.library import at_path
from skillc.lint import Settings, lint_skill
from tests.conftest import World
from tests.lint.skills import FRONT, Files, findings, front, put, rules
from tests.support.cases import each

DEEP = FRONT + "# PDF\n\n{}\n\n### Deep\n\n{}\n\n## Two\n\n#### Deeper\n"


def told(world: World, text: str, files: Files | None = None) -> list[str]:
    return [f"{f.rule.id} {f.file}:{f.line}" for f in findings(world, text, files)]


@each("names", ["SKL205", "heading-hierarchy", "skl205", "", "SKL205 -- a form has no H2"])
def test_disable_until_enable(world: World, names: str) -> None:
    """[RFC-0008] by number or name, in any case, or all; with a reason."""
    assert told(world, DEEP.format("", "")) == ["SKL205 SKILL.md:9", "SKL205 SKILL.md:15"]
    off, on = f"<!-- skilllint-disable {names} -->", f"<!-- skilllint-enable {names} -->"
    assert told(world, DEEP.format(off, on)) == ["SKL205 SKILL.md:15"]
    assert told(world, DEEP.format(off, "")) == []
    assert told(world, DEEP.format("", off)) == ["SKL205 SKILL.md:9"]


def test_next_line_file_and_several(world: World) -> None:
    """[RFC-0008] the line after the comment, the whole file, and of several rules those that it names."""
    text = FRONT + "# PDF\n\n[a](a.md)\n<!-- skilllint-disable-next-line SKL301 -->\n[b](b.md)\n[c](c.md)\n"
    assert told(world, text) == ["SKL301 SKILL.md:7", "SKL301 SKILL.md:10"]
    text = FRONT + "# PDF\n\n<!-- skilllint-disable-next-line\n  SKL301\n-->\n[b](b.md)\n[c](c.md)\n"
    assert told(world, text) == ["SKL301 SKILL.md:11"]
    text = FRONT + "# PDF\n[a](a.md) [b](b.md)\n"
    comment = "\n\n<!-- skilllint-disable-file SKL204, SKL205 -->\n"
    files = {"a.md": f"## A\n\n#### B\n{comment}", "b.md": "## A\n\n#### B\n"}
    assert told(world, text, files) == ["SKL204 b.md:1", "SKL205 b.md:3"]
    for names in ("SKL205 SKL301 ", ""):
        off = f"<!-- skilllint-disable {names}-->\n[a](a.md)"
        text = DEEP.format(off, "<!-- skilllint-enable SKL301 -->\n[b](b.md)")
        assert told(world, text) == ["SKL301 SKILL.md:13"]
    assert rules(world, FRONT + "# PDF\n", {"a.md": "# A\n\n<!-- skilllint-disable-file SKL401 -->\n"}) == []


def test_in_the_frontmatter(world: World) -> None:
    """[RFC-0008] a YAML comment is about the frontmatter, broken too, and the file; a block scalar has
    none.
    """
    lines = ["name: Pdf", "description: Fills forms", "flavour: x"]
    assert rules(world, front(*lines)) == ["SKL102", "SKL104", "SKL108", "SKL109"]
    assert rules(world, front("# skilllint-disable SKL108", *lines)) == ["SKL102", "SKL104", "SKL109"]
    behind = front(*lines[:2], "flavour: x # skilllint-disable SKL108 SKL109")
    assert rules(world, behind) == ["SKL102", "SKL104"]
    assert rules(world, front("# skilllint-disable-next-line", *lines)) == ["SKL108", "SKL109"]
    assert rules(world, front("# skilllint-disable", *lines)) == []
    without_body = front("# skilllint-disable SKL202", "name: pdf", "description: Use when x")[:-7]
    assert rules(world, without_body) == []
    assert rules(world, front("name: pdf # skilllint-disable SKL100", "description: Use when: x")) == []
    text = front("name: pdf", "description: |", "  Fills forms", "  # skilllint-disable SKL108")
    assert rules(world, text) == ["SKL108"]


@each(
    "text",
    [
        *("```\n<!-- skilllint-disable SKL205 -->\n```", "    <!-- skilllint-disable SKL205 -->"),
        *("`<!-- skilllint-disable SKL205 -->`", r"\<!-- skilllint-disable SKL205 -->"),
        *("<!-- skilllint-disable SKL205", "<!-- see skilllint-disable SKL205 -->"),
    ],
)
def test_in_code_it_is_text(world: World, text: str) -> None:
    """[RFC-0008] comments in code, or that are none, do not count, and are not called unused."""
    text = FRONT + f"# PDF\n\n### Deep\n\n{text}\n\n## Two\n\n#### Deeper\n"
    assert {finding.rule.id for finding in findings(world, text)} <= {"SKL205"}
    assert findings(world, text)


@each(
    ("comment", "expected"),
    [
        ("<!-- skilllint-disable SKL301 -->", "SKL002"),
        ("<!-- skilllint-disable -->", "SKL002"),
        ("<!-- skilllint-disable-next-line -->", "SKL002"),
        ("<!-- skilllint-disable-file SKL301 -->", "SKL002"),
        ("<!-- skilllint-enable SKL301 -->", "SKL002"),
        ("<!-- skilllint-disable SKL999 -->", "SKL003"),
        ("<!-- skilllint-disabel SKL301 -->", "SKL003"),
    ],
)
def test_useless_comments(world: World, comment: str, expected: str) -> None:
    """[RFC-0008] SKL002 and SKL003: what silences nothing, or names no rule, is a warning of its own."""
    found = findings(world, FRONT + f"# PDF\n\n{comment}\n\nText.\n")
    assert [(f.rule.id, f.line, f.severity) for f in found] == [(expected, 7, "warning")]


def test_partly_used(world: World) -> None:
    """[RFC-0008] SKL002: each rule of a comment must be worth it, but for rules that are off."""
    found = findings(world, DEEP.format("<!-- skilllint-disable SKL205, SKL301, heading-hierarch -->", ""))
    assert [(f.rule.id, f.line) for f in found] == [("SKL002", 7), ("SKL003", 7)]
    assert "SKL301" in found[0].message
    assert "did you mean SKL205 heading-hierarchy?" in found[1].message
    skill = at_path(str(put(world, DEEP.format("<!-- skilllint-disable SKL205 -->", ""))))
    assert lint_skill(skill, settings=Settings(severities={"SKL205": "off"})).findings == ()
