"""Any bytes end in findings: hostile documents, unreadable files, the real corpus."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from skillc.contract import encode
from skillc.library import at_path
from skillc.lint import Report, fix_skill, group_findings, lint_skill, render_sarif, render_workflow_command
from skillc.lint.page import MAX_PAGE
from skillc.skills.document import parse
from tests.conftest import World, save
from tests.lint.skills import FRONT, GOOD, Files, put, report
from tests.support.cases import each
from tests.support.examples import examples

pytestmark = pytest.mark.slow


def assert_sound(result: Report) -> None:
    """A report can be printed in every form, and every place in it is one."""
    json.dumps(encode(result))
    json.dumps(render_sarif([result], result.skill.source))
    for finding in result.findings:
        assert "\n" not in finding.line_text() + render_workflow_command(finding, finding.file)
        assert finding.line >= 1
        assert finding.severity in ("error", "warning")


PIECES = st.sampled_from(
    ["---\n", "name: pdf\n", "description: Use when x\n", "description: a: b\n", "---# T\n", "&a [*a]\n"]
    + ["# H\n", "### D\n", "===\n", "- ", "> ", "```\n", "[x]: y\n", "<div>\n", "    ", "\t", "[r](r.md)"]
    + ["[x](no.md)", "[x](../y)", "[x](#h)", "[x](/)", "[x](%00)", "[x](%ff)", "![](", "<a id=h>", "<!--"]
    + ["<!-- skilllint-disable -->", "<!-- skilllint-enable SKL301 -->", "<!-- skilllint-x -->", "-->"]
    + ["<!-- skilllint-disable-file SKL205 -->\n", "# skilllint-disable SKL100\n", "allowed-tools: a, b\n"]
    + ["metadata: {a: 1}\n", "\r\n", "\r", "\0", "\ufeff", "é", "日本", "\x85", "\u2028", "\ud800"]
)
DOCUMENTS = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(PIECES, max_size=30).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass")),
)


@given(main=DOCUMENTS, other=DOCUMENTS, name=st.sampled_from(["r.md", "R.MD", "a/r.md", "x.bin", "é.md"]))
@example(main=b"", other=b"", name="r.md")
@example(main=b"---", other=b"\xff\xfe", name="r.md")
@example(main=b"---\nname: [", other=b"---\n---\n", name="r.md")
@examples(200)
def test_any_bytes(world: World, main: bytes, other: bytes, name: str) -> None:
    """[RFC-0008] findings, never a traceback, for any SKILL.md and any other file."""
    folder = put(world, main, {name: other})
    try:
        assert_sound(lint_skill(at_path(str(folder))))
    finally:
        (folder / name).unlink()


@each(
    "text",
    [
        b"",
        b"\0" * 1000,
        b"\xff" * 10_000,
        b"x" * 100_000,
        b"# H\n" * 10_000,
        b"[" * 50_000,
        b"`" * 50_000,
        b"<a " * 20_000,
        b"<!-- skilllint-disable\n" * 5_000,
        b"<!-- skilllint-disable SKL205 -->\n" * 1_000,
        b"[x](y.md)\n" * 2_000,
        b"[x](" + b"../" * 10_000 + b")",
        b"> " * 2_000 + b"# deep",
        b"\r" * 10_000 + b"# H\r",
        b"\xff\xfe" + "---\nname: x\n---\n".encode("utf-16-le"),
        b"---\n" + b"k: v: w\n" * 5_000 + b"---\n",
        b"---\na: " + b"[" * 10_000 + b"\n---\n",
        b"---\na: &a [x]\n" + b"b: *a\n" * 5_000 + b"---\n",
    ],
)
def test_hard_documents(world: World, text: bytes) -> None:
    """[RFC-0008] empty, huge, deep and hostile: as SKILL.md, as its body, and as another file."""
    assert_sound(report(world, text))
    assert_sound(report(world, FRONT.encode() + b"# PDF\n" + text))
    assert_sound(report(world, GOOD + "[r](r.md)\n", {"r.md": text}))


def test_large_files(world: World) -> None:
    """[RFC-0008] [D25] SKL004 and SKL005: over 1 MiB a SKILL.md is refused, another file is not linted."""
    large = b"# A\n" + b"x" * MAX_PAGE
    result = report(world, large)
    assert [(f.rule.id, f.severity) for f in result.findings] == [("SKL004", "error")]
    files: Files = {"r.md": large, "orphan.md": "# O\n"}
    found = report(world, GOOD + "[r](r.md#no)\n", files).findings
    assert [(f.rule.id, f.file, f.severity) for f in found] == [("SKL005", "r.md", "warning")]


def test_unreadable(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0008] SKL004: a file or folder that can't be read is a finding, and the rest is linted."""
    folder = put(
        world, GOOD + "[s](s.md) [d](d/x.md)\n", {"s.md": "# S\n", "d/x.md": "# X\n", "e/y.md": "## Y\n"}
    )
    (folder / "s.md").chmod(0)
    (folder / "d").chmod(0)
    program = "import sys; from skillc.library import at_path; from skillc.lint import lint_skill\n"
    program += "for f in lint_skill(at_path(sys.argv[1])).findings: print(f.rule.id, f.file)"
    try:
        run = subprocess.run(
            [*unprivileged, sys.executable, "-c", program, str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (folder / "d").chmod(0o755)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "SKL301 SKILL.md",
        "SKL004 d",
        "SKL004 s.md",
    ]


def test_special_files_and_names(world: World) -> None:
    """[RFC-0008] [D1] pipes and loops are passed over; a name of any bytes is written out."""
    folder = put(world)
    os.mkfifo(folder / "pipe.md")
    (folder / "loop").symlink_to(".")
    (folder / "self.md").symlink_to("self.md")
    assert lint_skill(at_path(str(folder))).findings == ()
    save(Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")), "## A\n")
    result = lint_skill(at_path(str(folder)))
    assert [f.rule.id for f in result.findings] == ["SKL401"]
    assert_sound(result)
    assert "caf\\udce9.md" in group_findings(result, "/")[0][0]


def test_the_corpus(world: World, corpus: Path) -> None:
    """[RFC-0008] [D4] real frontmatter never raises, and whatever is not YAML is SKL100."""
    index = json.loads((corpus / "index.json").read_text())
    assert len(index) > 200
    for entry in index:
        folder = world.skill(entry["folder"], (corpus / entry["file"]).read_bytes())
        result = lint_skill(at_path(str(folder)))
        assert_sound(result)
        found = {finding.rule.id for finding in result.findings}
        kinds = set(entry["kinds"])
        if any(kind.startswith("yaml-") for kind in kinds) or kinds & {"unclosed", "no-frontmatter"}:
            assert "SKL100" in found, entry
        if kinds == {"plain"}:
            assert not found & {"SKL100", "SKL101", "SKL105", "SKL115", "SKL116", "SKL117"}, entry
        if "bom" in kinds:
            assert "SKL119" in found, entry
        if "not-utf8" in kinds:
            assert "SKL116" in found, entry


def test_the_corpus_fixed(world: World, corpus: Path) -> None:
    """[RFC-0008] [D4] most of it can be put right, once, without another reading."""
    broken = mended = 0
    for entry in json.loads((corpus / "index.json").read_text()):
        folder = world.skill(entry["folder"], (corpus / entry["file"]).read_bytes())
        before = parse((folder / "SKILL.md").read_bytes())
        skill = at_path(str(folder))
        broken += any(d.code == "W011" for d in before.diagnostics)
        result = fix_skill(skill)
        after = parse((folder / "SKILL.md").read_bytes())
        mended += any(d.code == "W011" for d in before.diagnostics) and not after.diagnostics
        assert before.data[before.body :] == after.data[after.body :]
        assert before.description == after.description
        assert fix_skill(skill).fixed == ()
        assert_sound(result)
    assert mended > broken * 0.9


def test_every_commonmark_example(world: World, commonmark_examples: list[str]) -> None:
    """[RFC-0008] every example of the CommonMark specification, as one skill's files."""
    folder = put(world)
    for number, text in enumerate(commonmark_examples):
        (folder / f"example-{number:03}.md").write_bytes(text.encode())
    result = lint_skill(at_path(str(folder)))
    assert_sound(result)
    assert "SKL401" in [f.rule.id for f in result.findings]
