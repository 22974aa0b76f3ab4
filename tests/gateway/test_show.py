"""`skc show`: one section, by its heading."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.compiler.build import build_skill
from skillc.errors import MissingField, SectionNotFound
from skillc.gateway import read_outline, show_section
from skillc.library import Skill
from skillc.quotes import yaml_quote
from skillc.text import fold_line
from tests.conftest import World
from tests.gateway.conftest import API, SKILL, Run, code, made

# What it returns


def test_to_the_next_heading_of_its_level(skill: Skill, run: Run) -> None:
    """[RFC-0002:C-SHOW] [D15] [D71] subsections included, line ends as they are; without its index a built
    skill is E002.
    """
    assert (
        show_section(skill, "Fields").text
        == b"### Fields\n\nNames.\n\n#### Kinds\n##### Deeper\n###### Deepest\n\n"
    )
    assert show_section(skill, "api").text == b"# API\r\n\r\n## Forms\r\n\r\nOther file.\r\n"
    assert show_section(skill, "Deepest").text == b"###### Deepest\n\n"
    for runtime in skill.runtimes():
        for path in Path(runtime, ".skillc-meta").glob("search-*"):
            path.unlink()
    assert code(run("show", "pdf", "--section", "usage")) == "E002"
    assert run("outline", "pdf").status == 0


def test_lines_are_the_files_own_bytes(world: World, run: Run) -> None:
    """[D15] [RFC-0002:C-SHOW] [D4] line ends stay, space around a title does not count; a heading is found by
    its replaced text.
    """
    for eol in ("\n", "\r\n", "\r"):
        for last in ("", "\n"):
            text = f"# One\n\ntext\n\nTwo\n===\n\nlast{last}".replace("\n", eol)
            made(world, "pdf", {"a.md": text})
            first, second = text.split(f"Two{eol}")
            assert run("show", "pdf", "--section", " one\n").raw == first.encode()
            assert run("show", "pdf", "--section", "\u3000two\xa0").raw == f"Two{eol}{second}".encode()
    made(world, "pdf", {"a.md": b"\xef\xbb\xbf# caf\xe9 One\n\nna\xefve\n# Two\n"})
    assert run("show", "pdf", "--section", "caf\ufffd one").raw == b"\xef\xbb\xbf# caf\xe9 One\n\nna\xefve\n"
    content = json.loads(run("show", "pdf", "--section", "caf\ufffd one", "--format", "json").out)["content"]
    assert content == "\ufeff# caf\ufffd One\n\nna\ufffdve\n"


def test_json_and_max_lines(run: Run, skill: Skill) -> None:
    """[D14] [RFC-0002:C-SHOW] [D15] the JSON form; the first n lines and how many more there are; --section
    without a value is E100.
    """
    assert json.loads(run("show", "pdf", "--section", "api", "--format", "json").out) == {
        "file": "references/api.md",
        "heading": "API",
        "level": 1,
        "line": 1,
        "more_lines": 0,
        "content": "# API\r\n\r\n## Forms\r\n\r\nOther file.\r\n",
    }
    section = ("show", "pdf", "--section", "Fields", "--max-lines")
    assert run(*section, "2").out == "### Fields\n\n... (6 more lines)\n"
    assert run(*section, "7").out.endswith("###### Deepest\n... (1 more lines)\n")
    for enough in ("8", "9", "999999999"):
        assert run(*section, enough).raw == show_section(skill, "Fields").text
    assert run("show", "pdf", "--section", "api", "--max-lines", "1").raw == b"# API\r\n... (4 more lines)\n"
    cut = json.loads(run(*section, "2", "--format", "json").out)
    assert (cut["more_lines"], cut["content"]) == (6, "### Fields\n\n... (6 more lines)\n")
    for words in ([], ["--section"], ["Forms"]):
        assert code(run("show", "pdf", *words)) == "E100"
    assert run("show", "pdf", "--section", "").err.startswith("error[E020]")


# Which heading


def test_dashes(world: World) -> None:
    """[RFC-0002:C-SHOW] [D15] the exact heading first; then without a stub's description behind ` — `; a
    title of dashes costs little.
    """
    skill = made(world, "dashes", {"a.md": "# Setup\n# Setup — details\n# Big — Small\n# x—y\n"})
    assert show_section(skill, "Setup — how to start").heading == "Setup"
    assert show_section(skill, "setup — details").heading == "Setup — details"
    assert show_section(skill, "  big — small  ").heading == "Big — Small"
    assert show_section(skill, "Big — Small — what is between").heading == "Big — Small"
    assert show_section(skill, "Setup — details — of it — all").heading == "Setup — details"
    assert show_section(skill, "x—y").heading == "x—y"
    with pytest.raises(SectionNotFound) as caught:
        show_section(skill, "Big — Other")
    assert caught.value.message == "section not found: 'Big — Other'"
    assert "Big — Small (a.md)" in caught.value.details
    with pytest.raises(SectionNotFound):
        show_section(skill, "x" + " — x" * 20_000)
    assert show_section(skill, "Setup" + " — x" * 20_000).heading == "Setup"


def test_as_the_outline_prints_it(run: Run, skill: Skill) -> None:
    """[D61] [RFC-0002:C-SHOW] [D16] each line of the outline is found at its level; of several the first in
    its order, with a warning.
    """
    for line in run("outline", "pdf").out.splitlines():
        if line.startswith(" "):
            shown = run("show", "pdf", "--section", line)
            assert shown.out.casefold().startswith(line.strip().casefold()), shown.err
    assert show_section(skill, "### Forms").level == 2, "another level where there is none of that one"
    assert show_section(skill, "#### Kinds — which there are").heading == "Kinds"
    ran = run("show", "pdf", "--section", "FORMS")
    assert ran.status == 0
    assert ran.out.startswith("## Forms\n\nFill them.")
    assert ran.err == "warning[W001]: multiple matches for 'FORMS'; showing first\n"
    odd = run("show", "pdf", "--section", "forms\n")
    assert odd.err == "warning[W001]: multiple matches for 'forms\\n'; showing first\n"
    narrowed = run("show", "pdf", "--section", "forms", "--file", "references/api.md")
    assert narrowed.out == "## Forms\r\n\r\nOther file.\r\n"
    assert narrowed.err == ""


def test_odd_headings(world: World) -> None:
    """[D15] [D61] [D16] [D1] the exact heading first, then the level that hashes say; without text; in a file
    of any name.
    """
    skill = made(world, "pdf", {"a.md": "# Tags\n\n## #tags\n\n## \\# Tags\n\n## C#\n\n##\n"})
    for query, line in {"# Tags": 5, "#tags": 3, "## Tags": 1, "C#": 7, "## C#": 7, "##": 9, "#": 9}.items():
        assert show_section(skill, query).line == line, query
    skill = made(world, "pdf", {"a.md": "# Setup\n\n### Setup\n\n## Setup\n"})
    for level in (1, 2, 3):
        shown = show_section(skill, f"{'#' * level} Setup")
        assert (shown.level, shown.ambiguous) == (level, False)
    assert show_section(skill, "#### Setup").ambiguous
    skill = made(world, "pdf", {"a.md": "#\n\ntext\n\n# One\n"})
    assert show_section(skill, "").text == b"#\n\ntext\n\n"
    assert show_section(skill, " ", file="a.md").line == 1
    skill = made(world, "pdf", {os.fsdecode(b"\xff.md"): "# Odd\n\ntext\n"})
    shown = show_section(skill, "odd")
    assert (shown.file, shown.text) == ("\\udcff.md", b"# Odd\n\ntext\n")
    assert show_section(skill, "odd", file=shown.file).line == 1
    assert show_section(skill, "odd", file=os.fsdecode(b"\xff.md")).line == 1


def test_as_it_is_shown(run: Run, world: World) -> None:
    """[D61] [RFC-0001:C-STUB] [RFC-0001:C-SECTIONS] what stub and outline print finds its heading, or the
    file without a title.
    """
    for heading in ("a  b", "zero\u200bwidth", "soft\u00adhyphen", "right\u202eto left", "a\u3000b"):
        text = f"---\nname: odd\ndescription: d\n---\n# Odd\n\n## {heading}\n\ntext\n"
        made(world, "odd", {"SKILL.md": text})
        line = run("outline", "odd").out.splitlines()[-1]
        stub = (world.runtime / "odd" / "SKILL.md").read_text().splitlines()[-1]
        for shown in (line, line.strip("# "), stub.strip("- "), heading):
            assert run("show", "odd", "--section", shown).raw == f"## {heading}\n\ntext\n".encode(), shown
    files = {"a.md": "text\n\n## Two\n", "b/c.md": "#\n\nno text\n", "d.md": "# D\n"}
    made(world, "pdf", files)
    assert "  - a.md\n  - b/c.md\n  - D\n" in (world.runtime / "pdf" / "SKILL.md").read_text()
    for name in ("a.md", "b/c.md"):
        assert run("show", "pdf", "--section", name).out == files[name]
    shown = json.loads(run("show", "pdf", "--section", "a.md", "--max-lines", "1", "--format", "json").out)
    assert (shown["level"], shown["line"], shown["more_lines"]) == (0, 1, 2)
    assert code(run("show", "pdf", "--section", "d.md")) == "E020"


# A heading and how it is asked for, as Unicode folds case, whichever of the two has the letters.
CASES = {
    "Größe": "GRÖSSE", "STRASSE": "straße", "strasse": "STRASSE", "ΌΣΟΣ": "όσος", "ПРИВЕТ": "привет",
    "\u212a": "k", "ſee": "SEE", "ﬁle": "FILE", "İ": "i̇", "漢字": "漢字", "ǅ": "ǆ",
}  # fmt: skip


def test_case(world: World, run: Run) -> None:
    """[D17] [D16] headings are found and suggested whatever their case; ASCII hides none before it."""
    for heading, query in CASES.items():
        skill = made(world, "pdf", {"a.md": f"# {heading}\n# Große Maße\n"})
        assert show_section(skill, query).heading == heading
    assert "  - Große Maße (a.md)" in run("show", "pdf", "--section", "GROSSE").err
    made(world, "pdf", {"a.md": "# Straße\n# Strasse\n"})
    ran = run("show", "pdf", "--section", "strasse")
    assert ran.out == "# Straße\n"
    assert ran.err == "warning[W001]: multiple matches for 'strasse'; showing first\n"


LETTERS = ["a", "A", "ß", "SS", "ſ", "s", "k", "\u212a", "é", "É", "σ", "ς", "Σ", "漢", "ﬁ", "FI"]


@pytest.fixture
def alphabet(world: World) -> Skill:
    """Headings that differ in case only, and others."""
    headings = [*LETTERS, *(first + second for first in LETTERS for second in LETTERS)]
    return made(world, "any", {"a.md": "".join(f"# {heading}\n" for heading in headings)})


@pytest.mark.slow
@given(st.lists(st.sampled_from([*LETTERS, "b"]), min_size=1, max_size=3).map("".join))
def test_any_case(alphabet: Skill, query: str) -> None:
    """[D17] exactly the headings whose folded text is the folded query."""
    alike = [
        e for e in read_outline(alphabet) if e.file == "a.md" and e.heading.casefold() == query.casefold()
    ]
    try:
        shown = show_section(alphabet, query, file="a.md")
    except SectionNotFound:
        assert not alike
    else:
        assert (shown.line, shown.ambiguous) == (alike[0].line, len(alike) > 1)


def test_file(skill: Skill, run: Run, folder: Path) -> None:
    """[RFC-0002:C-SHOW] [D61] [RFC-0002:C-ERRORS] --file: only that file, however its path is written;
    E021 with the nearest, or E020.
    """
    for path in ("references/api.md", "./references/api.md", "references//api.md"):
        assert show_section(skill, "forms", file=path).file == "references/api.md"
    assert show_section(skill, "forms", file="references/../SKILL.md").file == "SKILL.md"
    for path in ("", "nowhere.md", "references", "../pdf/SKILL.md", "/etc/passwd", "a\0"):
        assert code(run("show", "pdf", "--section", "forms", "--file", path)) == "E021"
    for path in ("api.md", "reference/api.md", "references/API.md", "references/apis.md"):
        ran = run("show", "pdf", "--section", "forms", "--file", path)
        assert ran.err.splitlines()[1:] == ["hint: did you mean 'references/api.md'?"], path
    assert run("show", "pdf", "--section", "forms", "--file", "zebra").err.count("\n") == 1
    (folder / "run.sh").write_text("# forms\n")
    for path in ("B.md", "run.sh"):
        assert code(run("show", "pdf", "--section", "forms", "--file", path)) == "E020"


# Whatever a stub lists

PIECES = st.sampled_from(
    [
        *("Setup", "setup", "*stress*", "**very**", "[label](a.md)", "![image](x.png)", "<b>", "&amp;"),
        *("\\#", "C#", "—", "漢字", "한국어", "'", '"', "$HOME", "\\*", "_", "1.", "-", "...", "#", "##"),
        *("|", "\\n", "é\u0301", "\u200b", "\xad", "\u202e", "😀\u200d🔥", "`code --x`", " — ", " - "),
        *("\t", "  "),
        *("\xa0", "(2 more)", "x" * 300),
    ]
)
TITLES = st.lists(PIECES, max_size=6).map("".join) | st.lists(PIECES, max_size=4).map(" ".join)
FRONTMATTER = "---\nname: any\ndescription: d\n---\n"


def stub_titles(skill: Skill) -> list[str]:
    """What the stub lists, line by line, as an agent would copy it."""
    listing = Path(skill.runtime(), "SKILL.md").read_text().split("## Top Sections\n\n")[1].split("\n")[:-1]
    texts = [line.strip().removeprefix("-").strip() for line in listing if line.strip().startswith("-")]
    labels = ("References (query by title only)", "... (")
    return [text for text in texts if not text.startswith(labels)]


def check_titles(skill: Skill) -> None:
    """Show each title; what is shown begins with a line of the outline that the stub writes like that."""
    outline = {(entry.file, entry.line): entry for entry in read_outline(skill)}
    for title in stub_titles(skill):
        shown = show_section(skill, title)
        entry = outline.get((shown.file, shown.line)) if shown.level else None
        heading = fold_line(entry.heading if entry else shown.file).casefold()
        assert title.casefold() == heading or title.casefold().startswith(f"{heading} — "), title
        whole = Path(skill.source, shown.file).read_bytes().splitlines(keepends=True)
        lines = shown.text.splitlines(keepends=True)
        assert lines == whole[shown.line - 1 :][: len(lines)]


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 3), TITLES), max_size=8), st.lists(TITLES, max_size=3), TITLES)
def test_every_title_of_a_stub(
    world: World, headings: list[tuple[int, str]], references: list[str], description: str
) -> None:
    """[RFC-0001:C-SECTIONS] [D15] [D61] duplicates, markup, dashes, CJK, empty and very long ones."""
    files = {
        "SKILL.md": FRONTMATTER + "".join(f"{'#' * level} {text}\n\ntext\n\n" for level, text in headings)
    }
    about = yaml_quote(f"What {description} is")
    for number in range(3):
        title = f"# {references[number]}\n" if number < len(references) else ""
        files[f"references/{number}.md"] = f"---\ndescription: {about}\n---\n{title}text\n"
    check_titles(made(world, "any", files))


@pytest.mark.slow
def test_every_title_of_real_skills(world: World, corpus: Path) -> None:
    """[RFC-0001:C-SECTIONS] [D15] the same for the beginnings of real skills, each beside the last."""
    last = ""
    for path in sorted(corpus.glob("*.md")):
        text = path.read_bytes()
        try:
            skill = made(world, "real", {"SKILL.md": text, "last.md": last})
        except MissingField:
            continue
        check_titles(skill)
        last = text.decode(errors="replace")


# No match


def test_suggestions(world: World, run: Run) -> None:
    """[RFC-0002:C-SHOW] prefix first, then substring, each in outline order, at most five; E020."""
    made(
        world,
        "pdf",
        {
            "a.md": "# The form\n# Form\n# Formats\n# Form\n",
            "b.md": "# FORMS\n# reform\n# Formal\n# Inform\n",
        },
    )
    ran = run("show", "pdf", "--section", "for")
    assert code(ran) == "E020"
    assert ran.err == (
        "error[E020]: section not found: 'for'\n\nDid you mean one of these?\n"
        "  - Form (a.md)\n  - Formats (a.md)\n  - FORMS (b.md)\n  - Formal (b.md)\n  - The form (a.md)\n"
    )
    only = run("show", "pdf", "--section", "for", "--file", "b.md").err
    assert only.splitlines()[3:] == [
        "  - FORMS (b.md)",
        "  - Formal (b.md)",
        "  - reform (b.md)",
        "  - Inform (b.md)",
    ]
    assert run("show", "pdf", "--section", "zebra").err == "error[E020]: section not found: 'zebra'\n"


def test_suggestions_share_words(world: World, run: Run) -> None:
    """[RFC-0002:C-SHOW] [D61] headings with words of the query, most of them first, in any form."""
    world.skill(
        "pdf", "---\nname: pdf\ndescription: d\n---\n## Merge PDFs\n## Step 3: Fill the Form\n## Fillable\n"
    )
    for query, lines in {
        "Fill Forms": ["  - Step 3: Fill the Form (SKILL.md)", "  - Fillable (SKILL.md)"],
        "Merging": ["  - Merge PDFs (SKILL.md)"],
        "the": ["  - Step 3: Fill the Form (SKILL.md)"],
        "xyz": [],
    }.items():
        assert run("show", "pdf", "--section", query).err.splitlines()[3:] == lines, query


def test_suggestions_are_spelt_like_it(world: World, run: Run) -> None:
    """[D61] then the nearest headings, the first of several that are equal; at most five."""
    files = {"b.md": "# Performance\n# Perform\n"}
    made(world, "pdf", {"a.md": "# Instalation\n# CI/CD\n# Performance\n", **files})
    for query, lines in {
        "Installation": ["  - Instalation (a.md)"],
        "## Instalation — of it all": [],
        "ci cd": ["  - CI/CD (a.md)"],
        "Perfomance": ["  - Performance (a.md)", "  - Perform (b.md)"],
        "perform a": ["  - Perform (b.md)", "  - Performance (a.md)"],
    }.items():
        assert run("show", "pdf", "--section", query).err.splitlines()[3:] == lines, query


@given(st.text())
def test_any_section(skill: Skill, section: str) -> None:
    """[RFC-0002:C-SHOW] no text whatever fails other than by E020."""
    try:
        show_section(skill, section)
    except SectionNotFound:
        pass


# The index


def test_without_a_build(world: World, run: Run) -> None:
    """[RFC-0002:C-SHOW] a skill that was never built is read, with the same answers as after a build."""
    files = {"SKILL.md": SKILL, "references/api.md": API}
    skill = made(world, "fresh", files, built=False)
    words = [("Fields",), ("forms",), ("## größe — maße",), ("zebra",), ("form",), ("b", "--file", "x.md")]
    calls = [("show", "fresh", "--section", *given) for given in words]
    fresh = [run(*call) for call in calls]
    build_skill(skill)
    after = [run(*call) for call in calls]
    assert [(ran.status, ran.raw, ran.err) for ran in fresh] == [(r.status, r.raw, r.err) for r in after]
    assert fresh[0].out.startswith("### Fields")


def test_a_link_that_leaves(world: World, run: Run, folder: Path) -> None:
    """[RFC-0002:C-ERRORS] a file that became a link to outside is not read: E012 where it is asked for."""
    secret = world.root / "secret.md"
    secret.write_text("# B\n\nsecret\n")
    (folder / "B.md").unlink()
    (folder / "B.md").symlink_to(secret)
    for expected, *words in (("E020", "B"), ("E012", "B", "--file", "B.md")):
        ran = run("show", "pdf", "--section", *words)
        assert code(ran) == expected
        assert "secret" not in ran.err
    assert run("show", "pdf", "--section", "fields").out.startswith("#")
