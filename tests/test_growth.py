"""Four times the input takes about four times as long, whatever the input is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import pytest

from skillc.compiler.build import build_skill
from skillc.compiler.formats import documents
from skillc.engine.inventory import flat_inventory, render_skill
from skillc.errors import SkillcError
from skillc.gateway import search_sections, show_section
from skillc.gateway.sources import match_paths
from skillc.index.skills.tokens import Stemmer, split_words
from skillc.library import Skill, at_path, resolve
from skillc.library.sources import InMemorySkillSource, SkillDescriptor, SkillDocument
from skillc.lint import fix_skill, lint_skill
from skillc.remotes.skills_api import read_listing
from skillc.settings import MAX_KEY, parse_toml
from skillc.skills import SkillId, walk
from skillc.skills.document import NotYaml, load_yaml, parse
from skillc.skills.tools import ParameterDefinition, fill_arguments, find_blocks, parse_template
from skillc.skills.tools.definition import parse_definition
from skillc.spelling import suggest
from skillc.text import one_line
from skillc.tools.arguments import check_values, parse_values
from tests.conftest import World
from tests.support.cases import each
from tests.support.growth import grows_too_fast

HEAD = "---\nname: pdf\ndescription: Use when x\nversion: 1.0.0\n---\n# pdf\n\n"
ELEMENTS = ("Heading", "Paragraph", "CodeBlock", "Link", "Image", "HtmlBlock", "InlineHtml")


def repeat(*fragments: str) -> Callable[[int], str]:
    """Return texts of fragments one after the other, each for its share; `{}` in one is a number."""

    def make(size: int) -> str:
        share = size // len(fragments)
        return "".join(
            "".join(fragment.format(n) for n in range(share // len(fragment)))
            if "{}" in fragment
            else fragment * (share // len(fragment))
            for fragment in fragments
        )

    return make


MARKDOWN = [
    *(("- ", "a\n"), (">", "a\n"), ("> - ", "> a\n"), ("1. ", "    a\n"), ("*\t", " a\n")),
    *(("[",), ("[", "]"), ("![", "](a)"), ("*a ",), ("*a_ ",), ("`", " `` "), ("<a ",), ("<!--",), ("<!A ",)),
    *(("# a\n",), ("# a\r\n",), ("a\r=\r",), ("- a\n",), ("|a", "|-"), ("| a | b |\n",), ("&", ";"), ("\\",)),
    *(("[a{}]: b\n", "[a{}] "), ("```\n",), ("> a\n- b\n",), ("\r\n",), ("<div>\n",), ("#### Command\n",)),
]


@pytest.mark.slow
@each("fragments", MARKDOWN)
def test_markdown(fragments: tuple[str, ...]) -> None:
    """[D6] headings, links, tables, lists and quotes, however deep and many."""

    def read(text: str) -> None:
        data = text.encode()
        parse(data).headings()
        list(walk(data, 0, ELEMENTS))
        find_blocks(data)

    assert not grows_too_fast(read, repeat(*fragments), 1 << 19)


def test_deep_nesting_keeps_places() -> None:
    """[D6] what is nested deeper than 50 levels is text; all other elements stay where they are."""
    data = f"{'> ' * 200}# Deep\n\n{'- ' * 200}\n\n{'- ' * 20}# Low\n\n# Last\n".encode()
    assert [(h.text, h.line, data[h.start : h.start + 1]) for h in parse(data).headings()] == [
        ("Low", 5, b"-"),
        ("Last", 7, b"#"),
    ]


FRONTMATTER = [
    *("k{}: v\n", "k{}: [\n", "name: a\n", "a: b: c\n", "# skilllint-disable SKL108\r\n", "stray\n"),
    *("[", "{a: "),
    *("# skilllint-disable nothing{}\n", "a: x # skilllint-disable SKL1\n", "a: |\n  b\n", "\r\n", "- - "),
]
BODIES = [
    *("#### a{}\n", "<!-- skilllint-disable nothing{} -->\n", "[a](x{}.md)\n", "[a](#x{})\r\n", "查"),
    "(default: ",
    "<!-- skilllint-disable SKL205 -->\n\n#### a\n\n<!-- skilllint-enable SKL205 -->\n\n# b\n",
    *('<a id="x{}"></a>\n', "### t{}\n\n#### Command\n\n```\nls | a\n```\n\n", "<a id=", "x{} ", "1", "\t"),
]


@pytest.mark.slow
@pytest.mark.parametrize("fragment", FRONTMATTER, ids=map(repr, FRONTMATTER))
def test_lint_frontmatter(tmp_path: Path, fragment: str) -> None:
    """[D5] many keys, comments and lines of a frontmatter, read or over the limit."""
    make = repeat(fragment)
    check = lint_text(tmp_path)
    assert not grows_too_fast(check, lambda size: f"---\nname: pdf\n{make(size)}---\n# pdf\n", 1 << 19)


@pytest.mark.slow
@pytest.mark.parametrize("fragment", BODIES, ids=map(repr, BODIES))
def test_lint_body(tmp_path: Path, fragment: str) -> None:
    """[RFC-0008] many headings, comments, links and tools of a page."""
    make = repeat(fragment)
    assert not grows_too_fast(lint_text(tmp_path), lambda size: HEAD + make(size), 1 << 18)


def lint_text(root: Path) -> Callable[[str], object]:
    folder = root / "pdf"
    folder.mkdir()

    def lint(text: str) -> None:
        (folder / "SKILL.md").write_bytes(text.encode())
        lint_skill(at_path(str(folder)))

    return lint


@pytest.mark.slow
@pytest.mark.parametrize("name", ["p{}.md", "p{}/README.md"])
def test_lint_pages(tmp_path: Path, name: str) -> None:
    """[RFC-0008] many pages that name each other, also by a name that all of them have."""

    @cache
    def make(count: int) -> Skill:
        folder = tmp_path / str(count) / "pdf"
        pages = {name.format(n): f"# P{n}\n\nSee `{name.format(n + 1)}`.\n" for n in range(count // 16)}
        for path, text in {"SKILL.md": HEAD, **pages}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return at_path(str(folder))

    assert not grows_too_fast(lint_skill, make, 1 << 16, 1 << 14)


@pytest.mark.slow
def test_lint_fix(tmp_path: Path) -> None:
    """[RFC-0008] fixes of a long list of tools."""
    folder = tmp_path / "pdf"
    folder.mkdir()

    def fix(text: str) -> None:
        (folder / "SKILL.md").write_text(text)
        fix_skill(at_path(str(folder)))

    head = "---\nname: pdf\ndescription: Use when x\nallowed-tools: "
    assert not grows_too_fast(fix, lambda size: f"{head}{'a, ' * (size // 3)}\n---\n# pdf\n", 1 << 16)


COMMANDS = [
    *(
        ("ls http://a/", "b{{x}}"),
        ("ls ", "{{x}}"),
        ("ls ", "'a' "),
        ("ls ", "a\\\n"),
        ("ls ", "\\a"),
        ("ls '", "a"),
    ),
    *(
        ("ls ", '"" '),
        ("ls ", "{{x:a}} "),
        ("ls ", "$a "),
        ("ls --a ", "{{x}} --a "),
        ("ls https://a/?", "{{x}}&"),
    ),
]


@pytest.mark.slow
@each(("start", "fragment"), COMMANDS)
def test_tool_command(start: str, fragment: str) -> None:
    """[D36] a long template is split and filled in linear time."""
    parameter = ParameterDefinition("x", "string")

    def run(text: str) -> None:
        with suppress(ValueError):
            fill_arguments(parse_template(text, [parameter]), {"x": "a b"})

    assert not grows_too_fast(run, lambda size: start + fragment * (size // len(fragment)))


@pytest.mark.slow
def test_tool_parameters() -> None:
    """[D35, D40] many parameters in a table, and many values."""
    block = "### a\n\n#### Command\n\n```\nls\n```\n\n#### Parameters\n\n|Name|Type|Description|\n|-|-|-|\n"
    row = repeat("|p{}|string|(default: ((|\n")

    def read(text: str) -> None:
        parameters = parse_definition(text.encode(), "pdf").tools[0].parameters
        check_values(parameters, {parameter.name: "a" for parameter in parameters})
        parse_values(parameters, [(parameter.name, "a") for parameter in parameters])

    assert not grows_too_fast(read, lambda size: HEAD + block + row(size), 1 << 18)


TOML = [
    *("a.", "a . ", '"a".', "'a' .", "[a.", "a = 1\n[", "a{} = 1\n", "[a{}]\n", "[[a]]\n", "a = [", '"'),
    "#\n",
]


@pytest.mark.slow
@each("fragment", TOML)
def test_toml(fragment: str) -> None:
    """[D23a] dotted keys of any length, many keys, tables and lists."""
    make = repeat(fragment)

    def read(text: str) -> None:
        with suppress(ValueError, RecursionError):
            parse_toml(text)

    assert not grows_too_fast(read, lambda size: f"{make(size)}a = 1\n", 1 << 19)


def test_toml_keys() -> None:
    """[D23a] a key of more than 100 parts is refused; texts with as many dots are not."""
    with pytest.raises(ValueError, match="more than 100 parts"):
        parse_toml(f"{'a.' * MAX_KEY}a = 1\n")
    key = "a." * (MAX_KEY - 1)
    assert parse_toml(f"{key}a = 'x. {'. ' * 500}'\nb = '{'word. and ' * 500}'\n").keys() == {"a", "b"}


YAML = ["a: b\n", "a{}: b\n", "- a\n", "[", "{a: ", "&a a{}: *a\n", "? a\n", "'"]


@pytest.mark.slow
@each("fragment", YAML)
def test_yaml(fragment: str) -> None:
    """[D5] YAML of any size, whether it is read or refused."""

    def read(text: str) -> None:
        with suppress(NotYaml):
            load_yaml(text)

    assert not grows_too_fast(read, repeat(fragment), 1 << 19)


@each(
    ("name", "text"),
    [
        ("json", f'{{"{"k" * 50_000}": [{"1," * 20_000}1]}}'),
        ("csv", f"{'k' * 50_000}\n" + "1\n" * 20_000),
        ("toml", f"{'k' * 50_000} = [{'1,' * 20_000}]"),
    ],
)
def test_formats(name: str, text: str) -> None:
    """[RFC-0004:C-FORMATS] a long name is not repeated in full before each value below it."""
    assert sum(len(content) for _, content in documents(name, text)) < 200 * len(text)


def build(world: World, text: str) -> Skill:
    """Return a built skill; each text makes another one, which stays as it is."""
    name = f"lib-{len(text)}"
    world.skill(name, text)
    skill = resolve(name, str(world.project))
    build_skill(skill)
    return skill


SECTIONS = ["word ", "word. ", "word, other; ", "word\n", "x word\r\n", "word,"]


@pytest.mark.slow
@pytest.mark.parametrize("fragment", SECTIONS)
def test_search(world: World, fragment: str) -> None:
    """[RFC-0004:C-SEARCH] snippets of one long section."""

    def make(size: int) -> Skill:
        return build(world, HEAD + fragment * (size // len(fragment)))

    # Below 32 KiB a snippet is SQLite's, whose cost is bounded by that, but grows faster.
    assert not grows_too_fast(
        lambda skill: search_sections(skill, "word other", mode="any"), make, 1 << 19, 1 << 15
    )


@pytest.mark.slow
def test_show(world: World) -> None:
    """[RFC-0002:C-SHOW] a heading among many, and a suggestion for one that is missing."""

    def make(size: int) -> Skill:
        return build(world, HEAD + repeat("## Part {}\r\n")(size))

    def show(skill: Skill) -> None:
        show_section(skill, "Part 1")
        with suppress(SkillcError):
            show_section(skill, "Par")

    assert not grows_too_fast(show, make, 1 << 18)


@pytest.mark.slow
def test_prompts() -> None:
    """[D30] what goes into a prompt: closing tags, descriptions, many skills."""
    skill = SkillDescriptor(SkillId("a/b"), description="d")

    def render(text: str) -> None:
        render_skill(SkillDocument(skill, text))
        one_line(text)

    def inventory(ids: list[str]) -> None:
        flat_inventory([SkillDescriptor(SkillId(i), description="d" * 99) for i in ids], ids, 1000)

    for fragment in ("</skill ", "</skill>", "<", "\x1b", "é"):
        assert not grows_too_fast(render, repeat(fragment))
    assert not grows_too_fast(inventory, lambda size: [f"s{n}" for n in range(size // 8)], 1 << 16)


@pytest.mark.slow
def test_collections() -> None:
    """[D26] the collections of many skills, at any depth."""

    def derive(ids: list[str]) -> None:
        skills = [SkillDescriptor(SkillId(skill_id), description="d") for skill_id in ids]
        asyncio.run(InMemorySkillSource([SkillDocument(skill, "") for skill in skills]).collections())

    assert not grows_too_fast(derive, lambda size: [f"{'a/' * 30}s{n}" for n in range(size // 64)], 1 << 19)


@pytest.mark.slow
def test_names_and_queries() -> None:
    """[D19, D22] patterns, mistyped names, tasks, and the list of a server."""
    assert not grows_too_fast(partial(suggest, "skill"), lambda size: [f"skil{n}" for n in range(size)])
    assert not grows_too_fast(lambda text: match_paths(["a" * 200], text), repeat("*a"), 1 << 14)
    assert not grows_too_fast(lambda text: match_paths(["a/" * 100], text), repeat("**/*/"), 1 << 14)
    for fragment in ("word ", "a", "查", "é", "w{} "):
        assert not grows_too_fast(lambda text: Stemmer().stem(split_words(text)), repeat(fragment))

    def listing(size: int) -> object:
        return {"skills": [{"id": f"a/s{n}", "description": "d", "name": 1} for n in range(size // 32)]}

    assert not grows_too_fast(read_listing, listing)
