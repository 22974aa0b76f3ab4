"""SKL501 to SKL507: tools as `skc tools` would take them, each by itself."""

from __future__ import annotations

import os

import pytest

from skillc.library import at_path
from skillc.lint import lint_skill
from tests.conftest import World
from tests.lint.skills import findings, put, rules
from tests.support.cases import each
from tests.support.tools import tool

HEAD = "---\nname: pdf\nversion: 1.0.0\ndescription: Fill forms. Use when there is a PDF.\n"
FRONT = HEAD + "{}---\n# PDF\n\n## Tools\n\n"
ROWS = "count | integer | no | How many (default: 3)"


def skill(*tools: str, fields: str = "") -> str:
    return FRONT.format(fields) + "".join(tools)


def told(world: World, text: str) -> list[tuple[str, str, int]]:
    found = findings(world, text)
    return [(finding.rule.id, finding.message, finding.line) for finding in found]


def test_nothing_to_say(world: World) -> None:
    """[TOOLS §9.2] [RFC-0008] [D34] sound tools, skills without any, and what the rules of the frontmatter
    say already.
    """
    assert rules(world, skill(tool("go", "echo {{count}}", ROWS), tool("come"))) == []
    assert rules(world, skill("### Usage\n\n```bash\nls | wc\n```\n")) == []
    bad = skill(tool()).replace("name: pdf", "name: Pdf--x")
    assert "SKL501" not in rules(world, bad)
    broken = skill(tool()).replace("version: 1.0.0", "version: [1.0")
    assert "SKL100" in rules(world, broken)
    assert "SKL501" not in rules(world, broken)


@pytest.mark.slow
@each(
    ("block", "part"),
    [
        (tool("Go There"), "tool 'Go There': a tool's name is 1 to 32 of a-z, 0-9 and _"),
        (tool("go", "echo {{missing}}"), "tool 'go': {{missing}} is no parameter; there are none"),
        (tool("go", "echo 'open"), "tool 'go': ' is not closed"),
        (tool("go", "{{count}}", ROWS), "tool 'go': the program can't be a parameter"),
        (tool("go", "echo", "count | float | no | x"), "tool 'go': parameter 'count': type must be"),
        (tool("go", "echo a\necho b"), "tool 'go': "),
        (tool("go") + "```\nls\n```\n", "tool 'go': more than one fenced block under Command"),
    ],
)
def test_what_is_refused(world: World, block: str, part: str) -> None:
    """[D34] [D35] [D36] SKL501, on the line of the tool; `skc tools` says the same as E060."""
    ((rule, message, line),) = told(world, skill(block))
    assert rule == "SKL501"
    assert message.startswith(part)
    assert line == 10
    refused = world.fails("E060", "tools", "pdf").stderr
    assert message.partition("': ")[2].partition(";")[0] in refused


def test_every_tool_by_itself(world: World) -> None:
    """[TOOLS §9.1] [D34] a fault of one hides none of another's; what was never meant to run is one
    warning.
    """
    text = skill(tool("A"), tool("go"), tool("go"), tool("b", "echo {{x}}"))
    found = told(world, text)
    assert [rule for rule, _, _ in found] == ["SKL501"] * 3
    assert "duplicate tool name" in found[1][1]
    assert len({line for _, _, line in found}) == 3
    text = skill(tool("List Files", "ls | wc"), tool("x y")).replace("version: 1.0.0\n", "")
    ((rule, message, line),) = told(world, text)
    assert (rule, line) == ("SKL502", 9)
    assert "'### List Files' reads as a tool" in message
    unfenced = "### Use\n\n#### Command\n\nNone.\n"
    assert rules(world, skill(unfenced).replace("version: 1.0.0\n", "")) == []
    assert rules(world, skill(unfenced)) == ["SKL503"]


@each("field", ["modes: [Sometimes]", "timeout: 999", "network: maybe"])
def test_frontmatter(world: World, field: str) -> None:
    """[D34] what the frontmatter says of all tools, on its line."""
    assert [(rule, line) for rule, _, line in told(world, skill(tool(), fields=f"{field}\n"))] == [
        ("SKL501", 5)
    ]


def test_warnings(world: World) -> None:
    """[TOOLS §9.2] [D36] [D37] what `skc tools` warns of has a rule; each on the line of its tool."""
    bare = "### bare\n\n#### Command\n\n```bash\necho\n```\n\n"
    wrong = tool("wrong", "echo {{count}}", "count | integer | no | (default: many)")
    text = skill(bare, wrong, tool("pipe", "ls | wc"), "### none\n\n#### Command\n\nSay it.\n")
    found = told(world, text)
    assert [rule for rule, _, _ in found] == ["SKL504", "SKL504", "SKL505", "SKL503"]
    codes = world.ok("tools", "pdf").stderr
    assert all(code in codes for code in ("W061", "W064", "W065", "W066"))
    long = skill(tool()).replace("Fill forms.", "Fill forms. " * 30).replace("1.0.0", "one")
    assert sorted(r for r in rules(world, long) if r.startswith("SKL5")) == ["SKL506", "SKL506"]


def test_programs_of_the_skill(world: World) -> None:
    """[D41] there, in the skill, and executable; those in PATH are not looked for."""
    text = skill(
        tool("a", "scripts/a.sh x"), tool("b", "./scripts/../scripts/b.sh"), tool("c", "nowhere-in-path")
    )
    folder = put(world, text, {"scripts/a.sh": "#!/bin/sh\n", "scripts/b.sh": "#!/bin/sh\n"})
    (folder / "scripts" / "b.sh").chmod(0o755)
    if os.name == "posix":
        (found,) = lint_skill(at_path(str(folder))).findings
        assert (found.rule.id, "chmod +x" in found.message) == ("SKL507", True)
    (folder / "scripts" / "a.sh").unlink()
    (found,) = lint_skill(at_path(str(folder))).findings
    assert found.message == "tool 'a': its program 'scripts/a.sh' is no file of the skill"
    outside = skill(tool("a", "../other/run.sh"))
    assert rules(world, outside) == ["SKL507"]


def test_silenced_and_set(world: World) -> None:
    """[RFC-0008] comments and settings work on these rules as on any."""
    comment = "<!-- skilllint-disable-next-line tool-shell -->\n"
    assert rules(world, skill(comment + tool("pipe", "ls | wc"))) == []
    put(world, skill(tool("Bad Name")), {".skilllint.toml": '[rules]\nSKL501 = "warning"\n'})
    result = world.json("lint", "pdf")
    assert (result["errors"], result["warnings"]) == (0, 1)
