"""Executable skills as SKILL.md declares them: the format of the tools document, its errors and warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidSkill, InvalidTool
from skillc.skills.tools import ParameterDefinition, SkillDefinition, read_definition
from skillc.skills.tools.definition import parse_definition
from skillc.skills.tools.parameters import find_default
from tests.support.cases import each

FRONT = "---\nname: demo\nversion: 1.0.0\ndescription: A demonstration\n---\n"


def tool(
    name: str = "go", command: str = "echo hello", parameters: str = "None.", words: str = "Goes."
) -> str:
    below = f"#### Parameters\n\n{parameters}\n\n" if parameters else ""
    return f"### {name}\n\n{words}\n\n{below}#### Command\n\n```bash\n{command}\n```\n\n"


TABLE = "| Name | Type | Required | Description |\n|------|------|----------|-------------|\n"


def define(text: str) -> SkillDefinition:
    return parse_definition(text.encode(), "demo")


def codes(skill: SkillDefinition) -> list[str]:
    return [diagnostic.code for diagnostic in skill.diagnostics]


def refused(text: str) -> str:
    with pytest.raises(InvalidTool) as caught:
        define(text)
    assert caught.value.code == "E060"
    assert caught.value.message.startswith("invalid tool definition in 'demo': ")
    return caught.value.message


def test_the_documents_git_skill() -> None:
    """[TOOLS §8.1] [TOOLS §3.1] three tools, their parameters and commands."""
    fields = "author: gibb.eri.sh\nmodes: [Dev, Global]\nversion"
    words = "Show the current git status with short format."
    count = f"{TABLE}| count | integer | no | Number of commits (default: 10) |"
    staged = f"{TABLE}| staged | boolean | no | Show only staged changes |"
    text = FRONT.replace("name: demo", "name: git").replace("version", fields)
    text += tool("git_status", "git status --short --branch", words=words)
    text += tool("git_log", "git log --oneline -n {{count}}", count)
    text += tool("git_diff", "git diff {{staged:--staged}}", staged)
    skill = parse_definition(text.encode(), "git")
    assert (skill.name, skill.version, skill.author, skill.modes) == (
        "git",
        "1.0.0",
        "gibb.eri.sh",
        ("Dev", "Global"),
    )
    assert skill.diagnostics == ()
    status, log, diff = skill.tools
    assert (status.name, status.description, status.parameters) == (
        "git_status",
        words,
        (),
    )
    assert status.command == "git status --short --branch\n"
    assert log.parameters == (
        ParameterDefinition("count", "integer", False, "Number of commits (default: 10)", 10),
    )
    assert diff.parameters == (ParameterDefinition("staged", "boolean", False, "Show only staged changes"),)


def test_fields_of_the_frontmatter() -> None:
    """[TOOLS §8.3] [TOOLS §2.2] [TOOLS §9.2] every field, the defaults, and the Agent Skills format's own."""
    fields = "modes: [Dev]\nread_only: false\nalways_ask: true\nnetwork: true\ntimeout: 120\nversion"
    skill = define(FRONT.replace("version", fields) + tool())
    flags = (skill.read_only, skill.always_ask, skill.network)
    assert (flags, skill.timeout, skill.modes) == ((False, True, True), 120, ("Dev",))
    plain = define(FRONT + tool())
    assert (plain.author, plain.modes, plain.read_only, plain.always_ask) == (None, ("Global",), False, False)
    assert (plain.timeout, plain.network) == (30, False)
    fields = "license: MIT\nallowed-tools: Bash\nmetadata:\n  a: b\ncompatibility: any\nversion"
    assert codes(define(FRONT.replace("version", fields) + tool())) == []


def test_read_definition(tmp_path: Path) -> None:
    """[D34] [D25] without an H3 that has a Command there are no tools; one over 1 MiB is not read."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\ndescription: Just: words\n---\n# Plain\n\n### Usage\n\n```\nls\n```\n"
    )
    skill = read_definition(str(folder))
    assert (skill.tools, skill.diagnostics) == ((), ())
    (folder / "SKILL.md").write_bytes((FRONT + tool()).encode() + b"x" * (1 << 20))
    with pytest.raises(InvalidSkill, match="over 1 MiB"):
        read_definition(str(folder))


def test_blocks_and_headings() -> None:
    """[D34] [D35] [D6] a tool needs a fenced block; its headings are what CommonMark has."""
    skill = define(FRONT + "### one\n\n#### Command\n\n    indented\n\n" + tool("two"))
    assert [found.name for found in skill.tools] == ["two"]
    assert codes(skill) == ["W065"]
    assert define("### one\n\n#### Command\n\nNothing\n").tools == ()
    text = FRONT + "### `go` ###\n\nGoes.\n\n#### command\n\n~~~~sh\nls\n~~~~\n"
    for variant in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        (found,) = define(variant).tools
        assert (found.name, found.description, found.command.strip()) == ("go", "Goes.", "ls")


@each(
    "text",
    [
        f"{FRONT}```markdown\n{tool('fenced').replace('```', '~~~')}```\n",
        f"{FRONT}<!--\n{tool('hidden')}-->\n",
        FRONT + "".join(f"    {line}\n" for line in tool("indented").splitlines()),
        f"{FRONT}## go\n\n#### Command\n\n```\nls\n```\n",
        f"{FRONT}### go\n\n##### Command\n\n```\nls\n```\n",
        f"{FRONT}### go\n\n## Other\n\n#### Command\n\n```\nls\n```\n",
    ],
)
def test_what_is_no_tool(text: str) -> None:
    """[D35] headings inside fences, comments and code, and of other levels, make none."""
    assert define(text).tools == ()


@each(
    ("text", "words"),
    [
        (FRONT.replace("name: demo\n", "") + tool(), "missing frontmatter field 'name'"),
        (FRONT.replace("version: 1.0.0\n", "") + tool(), "missing frontmatter field 'version'"),
        (
            FRONT.replace("description: A demonstration\n", "") + tool(),
            "missing frontmatter field 'description'",
        ),
        (FRONT.replace("A demonstration", "''") + tool(), "missing frontmatter field 'description'"),
        (FRONT.replace("A demonstration", "[a, b]") + tool(), "description is not text"),
        (tool(), "missing frontmatter field 'name'"),
        (FRONT.replace("A demonstration", "Use: when") + tool(), "invalid YAML"),
        ("---\n- a\n- b\n---\n" + tool(), "missing frontmatter field 'name'"),
        (FRONT.replace("---\n", "---\nname: demo\n", 1) + tool(), "'name' more than once"),
        (FRONT.replace("demo", "De_mo") + tool(), "name 'De_mo' is not"),
        (FRONT + tool("a") + tool("a"), "duplicate tool name"),
        (FRONT + tool("git-status"), "a tool's name is 1 to 32"),
        (FRONT + tool("GitStatus"), "a tool's name is 1 to 32"),
        (FRONT + tool("x" * 33), "a tool's name is 1 to 32"),
        (FRONT + tool() + "```\nls\n```\n", "more than one fenced block"),
        (FRONT + tool() + "#### Command\n\n```\nls\n```\n", "more than one fenced block"),
        (FRONT.replace("---\n#", "") + tool(parameters="| Name |\n|--|\n| x |"), "column 'Type'"),
        (FRONT + tool(parameters="| Name | Type |\n|--|--|\n| x | text |"), "type must be string, integer"),
        (FRONT + tool(parameters="| Name | Type |\n|--|--|\n| a b | string |"), "a name is 1 to 64"),
        (
            FRONT + tool(parameters="| Name | Type |\n|--|--|\n| a | string |\n| a | string |"),
            "duplicate param",
        ),
        (
            FRONT + tool(parameters="| Name | Type | Required |\n|--|--|--|\n| a | string | maybe |"),
            "yes or no",
        ),
    ],
)
def test_fatal_errors(text: str, words: str) -> None:
    """[TOOLS §9.1] [D34] [TOOLS §3.2] [TOOLS §1.2] each is E060 and says what is wrong."""
    assert words in refused(text)


@each(
    ("field", "words"),
    [
        ("timeout: 0", "from 1 to 300"),
        ("timeout: 301", "from 1 to 300"),
        ("timeout: 1.5", "from 1 to 300"),
        ("timeout: true", "from 1 to 300"),
        ("read_only: maybe", "read_only must be true or false"),
        ("read_only: 'true'", "read_only must be true or false"),
        ("always_ask: 1", "always_ask must be true or false"),
        ("network: [x]", "network must be true or false"),
        ("modes: Dev", "modes must be a list of Global, Dev, Meeting"),
        ("modes: [Work]", "modes must be a list of Global, Dev, Meeting"),
        ("modes: []", "modes must be a list of Global, Dev, Meeting"),
    ],
)
def test_fields_out_of_range(field: str, words: str) -> None:
    """[TOOLS §2.2] what decides how something runs is never guessed at."""
    assert words in refused(FRONT.replace("version", f"{field}\nversion") + tool())


def test_warnings() -> None:
    """[TOOLS §9.2] unknown field, no parameters section, a description that is cut; and the tool is there."""
    text = FRONT.replace("A demonstration", "x" * 300).replace("version", "colour: red\nversion")
    skill = define(text + tool(parameters=""))
    assert codes(skill) == ["W060", "W062", "W061"]
    assert skill.description == "x" * 256
    assert [diagnostic.path for diagnostic in skill.diagnostics] == ["SKILL.md"] * 3
    assert "unknown frontmatter field 'colour'" in skill.diagnostics[0].message
    odd = FRONT.replace("1.0.0", "1.0").replace("name: demo", "name: other")
    assert codes(define(odd + tool())) == ["W021", "W063"]
    assert define(odd + tool()).version == "1.0"


def test_parameter_tables() -> None:
    r"""[TOOLS §3.3] [D35] `\|`, alignment, missing cells, columns in any order, code and emphasis."""
    table = (
        "| Required | Description | Type | Name |\n|:--|:-:|--:|--|\n"
        "| yes | a \\| b, or `c \\| d` | String | `query` |\n| no | | array | my-list |\n"
        "| NO | *how* many | number | some_number_here |\n"
    )
    (found,) = define(FRONT + tool(parameters=table)).tools
    assert found.parameters == (
        ParameterDefinition("query", "string", True, "a | b, or c | d"),
        ParameterDefinition("my-list", "array"),
        ParameterDefinition("some_number_here", "number", False, "how many"),
    )
    short = "| Name | Type | Required |\n|--|--|--|\n| x | boolean |\n"
    assert define(FRONT + tool(parameters=short)).tools[0].parameters == (
        ParameterDefinition("x", "boolean"),
    )


@each(
    ("kind", "description", "default"),
    [
        ("integer", "Max results (default: 10).", 10),
        ("integer", "(Default: -3)", -3),
        ("integer", "(default: ten)", None),
        ("integer", "(default: 1.5)", None),
        ("number", "(default: 1.5)", 1.5),
        ("number", "(default: nan)", None),
        ("boolean", "(default: true)", True),
        ("boolean", "(default: on)", None),
        ("string", "(default: main)", "main"),
        ("string", "(default: `f(x)`) and more", "f(x)"),
        ("string", '(default: "")', ""),
        ("string", "default: none", None),
        ("string", "(default: never closed", None),
        ("array", '(default: ["a", "b"])', ("a", "b")),
        ("array", "(default: all)", None),
        ("array", "(default: [1])", None),
    ],
)
def test_defaults_in_descriptions(kind: str, description: str, default: object) -> None:
    """[D37] `(default: X)` counts when it parses as the type; what does not is told."""
    skill = define(
        FRONT + tool(parameters=f"| Name | Type | Description |\n|-|-|-|\n| x | {kind} | {description} |")
    )
    parameter = skill.tools[0].parameters[0]
    assert (parameter.default, type(parameter.default)) == (default, type(default))
    stated = find_default(description.replace("`", "")) is not None
    assert codes(skill) == (["W064"] if stated and default is None else [])


@given(st.text(st.sampled_from(list("#`~|-{}\n \\abc>*:<"))), st.binary(max_size=60))
def test_nothing_else_is_raised(text: str, raw: bytes) -> None:
    """[TOOLS §9.1] whatever stands in a SKILL.md, reading it ends in a definition or in E060."""
    for data in ((FRONT + "### a\n#### Command\n" + text).encode(), FRONT.encode() + raw, raw):
        try:
            parse_definition(data, "demo")
        except InvalidTool:
            continue
