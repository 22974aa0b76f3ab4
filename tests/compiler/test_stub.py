"""The stub: its listing, its limits, and a frontmatter that reads back equal."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from skillc.compiler.stub import MAX_LINES, render_stub
from skillc.quotes import shell_quote, yaml_quote
from skillc.skills.document import parse
from tests.conftest import World, save
from tests.support.cases import each

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def listing(stub: str) -> list[str]:
    return stub.split("## Top Sections\n\n", 1)[1].rstrip("\n").split("\n")


def stub(
    main: list[tuple[int, str]] | None = None,
    references: list[tuple[str, str | None]] | None = None,
    count: int | None = None,
) -> str:
    references = references or []
    return render_stub("n", "d", "n", main or [], references, len(references) if count is None else count)


def test_listing_is_the_rfcs_example() -> None:
    """[RFC-0001:C-SECTIONS] the example of the RFC, to the letter."""
    main = [
        (1, "Rust CLI"),
        (2, "Default Flow"),
        (3, "too deep"),
        (2, "Decision Tree"),
        (1, "Advanced Topics"),
        (2, "Performance"),
    ]
    references = [
        ("Clap Patterns", "Advanced argument parsing examples"),
        ("Error Handling", "anyhow vs thiserror patterns"),
        ("TUI Guide", None),
    ]
    assert listing(stub(main, references)) == [
        *("- Rust CLI", "  - Default Flow", "  - Decision Tree", "- Advanced Topics", "  - Performance"),
        *("- References (query by title only)", "  - Clap Patterns — Advanced argument parsing examples"),
        *("  - Error Handling — anyhow vs thiserror patterns", "  - TUI Guide"),
    ]


def test_limits_of_the_listing() -> None:
    """[RFC-0001:C-SECTIONS] [D8] [RFC-0001:C-CONSTRAINTS] fifteen entries, twelve H1, fifteen references;
    H1, H2 and references left out are counted.
    """
    main = [(1, "Top"), *((2, f"S{n}") for n in range(20)), (3, "deep"), (1, "Last")]
    lines = listing(stub(main))
    assert len(lines) == 16
    assert lines[-1] == "- ... (7 more)"
    tops = [*((1, f"H{n}") for n in range(13)), (2, "below the one left out")]
    lines = listing(stub(tops))
    assert lines[:12] == [f"- H{n}" for n in range(12)]
    assert lines[12:] == ["- ... (2 more)"]
    exact = [(1, "Top"), *((2, f"S{n}") for n in range(14))]
    assert "more)" not in stub(exact)
    lines = listing(stub(references=[(f"R{n}", None) for n in range(15)], count=40))
    assert lines[0] == "- References (query by title only)"
    assert lines[-1] == "  - ... (25 more)"
    assert len(lines) == 17


@each(("length", "cut"), [(119, False), (120, False), (121, True), (5000, True)])
def test_descriptions_are_cut_at_120(length: int, cut: bool) -> None:
    """[RFC-0001:C-SECTIONS] a description has at most 120 characters, the ellipsis among them."""
    line = listing(stub(references=[("R", "x" * length)]))[1]
    shown = line.removeprefix("  - R — ")
    assert len(shown) == (120 if cut else length)
    assert shown.endswith("…") is cut


def test_it_says_how_to_read_the_skill() -> None:
    """[RFC-0001:C-STUB] [D9] notice, MCP tools, then the commands, by the name that resolves; no absolute
    path.
    """
    text = stub()
    assert "do not read the source files directly" in text
    for tool in ("skc_outline", "skc_show", "skc_search"):
        assert tool in text
    for command in ("skc outline n", 'skc show n --section "', "skc open n", "skc sources n"):
        assert command in text
    assert "edit its source, not this file: `skc info n` says where it is" in text
    assert "skc info" not in render_stub("n", "d", "n", [], [], 0, "team")  # its people edit that
    assert text.index("skc_outline") < text.index("skc outline")
    assert not re.search(r"(?<![\w<])/[a-z]", text)
    text = render_stub("Name In Source", "d", "folder", [], [], 0)
    assert "skc outline folder\n" in text
    assert yaml.safe_load(text.split("---")[1])["name"] == "Name In Source"


@given(name=TEXT, description=TEXT)
def test_frontmatter_reads_back_equal(name: str, description: str) -> None:
    """[D8] [RFC-0001:C-STUB] for any string, by another YAML reader and by ours."""
    text = render_stub(name, description, "x", [], [], 0)
    lines = text.split("\n")
    assert lines[0] == lines[3] == "---"
    fields = yaml.safe_load("\n".join(lines[1:3]))
    assert fields == {"name": name, "description": description}
    front = parse(text.encode()).frontmatter
    assert front is not None
    assert front.fields == fields
    assert front.diagnostics == ()


@pytest.mark.slow
@given(
    name=TEXT,
    description=TEXT,
    directory=st.text(min_size=1),
    main=st.lists(st.tuples(st.integers(1, 6), TEXT), max_size=40),
    references=st.lists(st.tuples(TEXT, st.none() | TEXT), max_size=15),
    extra=st.integers(0, 10**9),
)
def test_never_over_its_limits(
    name: str,
    description: str,
    directory: str,
    main: list[tuple[int, str]],
    references: list[tuple[str, str | None]],
    extra: int,
) -> None:
    """[RFC-0001:C-CONSTRAINTS] [D8] at most 100 lines, however lines are counted."""
    text = render_stub(name, description, directory, main, references, len(references) + extra)
    assert len(text.splitlines()) <= MAX_LINES == 100
    assert len(text.split("\n")) <= MAX_LINES


@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_shell_words_are_one_line_and_one_word(text: str) -> None:
    """[D9] what the stub tells an agent to type names this skill and nothing else."""
    word = shell_quote(text)
    assert len(word.splitlines()) == 1
    if not word.startswith("$'"):
        assert shlex.split(word) == [text]


@each("text", ["a\nb", "it's\t\\x", "bell\a", "\u202eevil", "$(x)`y`;z", "tail\n"])
def test_bash_reads_shell_words_back(text: str) -> None:
    """[D9] in a real shell."""
    script = f"printf '%s' {shell_quote(text)}"
    read = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert read.stdout.decode() == text


def test_yaml_strings_are_one_line() -> None:
    """[D8] whatever a line break is called."""
    breaks = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    assert len(yaml_quote(breaks).splitlines()) == 1
    assert yaml.safe_load(yaml_quote(breaks)) == breaks


FIELDS = """\
name: pdf
description: Fill forms
disable-model-invocation: true
allowed-tools:
  - Bash(git:*)
  - Read
model: "opus"   # the larger one
argument-hint: [file]
metadata:
  version: 1.2
  owner: {team: docs}
notes: |
  Two
  lines
"""


def stub_of(world: World, frontmatter: str) -> str:
    world.skill("pdf", f"---\n{frontmatter}---\n# PDF\n\nText.\n")
    world.ok("build", "pdf")
    return (world.runtime / "pdf" / "SKILL.md").read_text()


def test_other_fields_stand_as_they_are(world: World) -> None:
    """[D50] all fields besides name and description, in their order and their own spelling."""
    text = stub_of(world, FIELDS)
    assert text.startswith(
        '---\nname: "pdf"\ndescription: "Fill forms"\n' + FIELDS.split("Fill forms\n")[1] + "---\n"
    )
    front = parse(text.encode()).frontmatter
    assert front is not None
    assert front.fields == yaml.safe_load(FIELDS)


@each(
    ("field", "expected"),
    [
        ('"quoted key": 1', {"quoted key": 1}),
        ("tags: &t [a]\nothers: *t", {"tags": ["a"], "others": ["a"]}),
        ("hint: use: this", {"hint": "use: this"}),  # not YAML, and repaired
        ("when: 2026-11-16", {"when": "2026-11-16"}),
        ("empty:", {"empty": None}),
        ("été: oui", {"été": "oui"}),
        ("model: a\nmodel: b", {"model": "b"}),
    ],
)
def test_fields_that_cannot_stand_alone(world: World, field: str, expected: dict[str, object]) -> None:
    """[D50] the stub's frontmatter is valid YAML with the values that were read."""
    text = stub_of(world, f"name: pdf\ndescription: d\n{field}\n")
    loaded = yaml.load(text.split("---\n")[1], yaml.BaseLoader if "when" in field else yaml.SafeLoader)
    assert {key: loaded[key] for key in expected} == expected


def test_fields_that_do_not_fit(world: World) -> None:
    """[D50] [D8] the longest are left out, each with a warning; the stub has at most 100 lines."""
    long, longer = (f"{key}:\n" + "  - x\n" * lines for key, lines in (("long", 40), ("longer", 60)))
    front = f"name: pdf\ndescription: d\n{longer}model: opus\n{long}hint: h\n"
    world.skill("pdf", f"---\n{front}---\n# PDF\n" + "".join(f"## Part {n}\n" for n in range(20)))
    ran = world.ok("build", "pdf")
    text = (world.runtime / "pdf" / "SKILL.md").read_text()
    assert text.count("\n") <= MAX_LINES
    assert "model: opus\nlong:\n" in text
    assert "longer" not in text
    (line,) = (line for line in ran.stderr.splitlines() if "W008" in line)
    assert line.endswith("the stub has no room for the frontmatter's field 'longer'; agents do not see it")
    save(world.store / "pdf" / "other.md", "# Other\n")
    assert world.ok("build", "pdf").stderr.count("W008") == 1
    assert "long:" in (world.runtime / "pdf" / "SKILL.md").read_text()


def test_an_edited_stub_is_kept(world: World) -> None:
    """[D52] a stub that a person took for the skill and edited is in the trash; builds' own stubs are not."""
    world.skill("pdf")
    world.ok("build", "pdf")
    stub = world.home / ".claude/skills/pdf/SKILL.md"
    for number in range(3):  # of the skill's own changes nothing is kept
        world.skill("pdf", f"---\nname: pdf\ndescription: version {number}\n---\n# Title {number}\n")
        assert world.ok("build", "pdf", *(["--force"] if number else [])).stderr == ""
    text = stub.read_text()
    for words in ((), ("--force",)):
        stub.write_text(f"my edit {words}")
        assert "warning[W007]" in world.ok("build", "pdf", *words).stderr
        assert stub.read_text() == text
    entries = world.json("trash", "list")["entries"]
    assert [Path(entry["path"]).read_text() for entry in entries] == ["my edit ('--force',)", "my edit ()"]
    assert {entry["from"] for entry in entries} == {str(world.runtime / "pdf/SKILL.md")}
