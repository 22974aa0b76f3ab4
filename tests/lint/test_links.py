"""SKL301 to SKL303 and SKL401: where links lead, and what no link leads to."""

from __future__ import annotations

from pathlib import Path

from skillc.library import at_path
from skillc.lint import lint_skill
from skillc.lint.page import slug, slugs
from tests.conftest import World
from tests.lint.skills import ALL, GOOD, Files, findings, places, put, rules
from tests.support.cases import each

FILES: Files = {
    "references/forms.md": "# Forms\n\n## Fill in\n\n## Fill in\n",
    "references/my file.md": "# Mine\n",
    "assets/logo.png": b"\x89PNG\0",
    "scripts/run.py": "print()\n",
    ".hidden/x.md": "# X\n",
}
REACHED = "[f](references/forms.md) [m](<references/my file.md>)\n"


@each(
    "link",
    [
        *("[x](references/forms.md)", "[x](./references/forms.md)"),
        *("[x](references/../references/forms.md)", "[x](references/my%20file.md)"),
        *("[x](<references/my file.md>)", "![x](assets/logo.png)", "[x](scripts/run.py#L3)"),
        *("[x](references)", "[x](references/)", "[x](.)", "[x](references/forms.md#fill-in)"),
        *("[x](references/forms.md#fill-in-1)", "[x](references/forms.md?plain=1#L3-L5)", "[x](#forms)"),
        *("[x](#)", "[x](#top)", "[x]()", "[x][ref]\n\n[ref]: references/forms.md"),
        *("[x](https://example.com/no.md)", "[x](//example.com/no.md)", "[x](mailto:me@example.com)"),
        *("<me@example.com>", "<https://example.com>", "[x](tel:1)", "[x](data:text/plain,no)"),
        *("`[x](no.md)`", "    [x](no.md)", "```\n[x](no.md)\n```", "<!-- [x](no.md) -->"),
        *('<a id="here"></a> [x](#here)', "<a name=here></a> [x](#here)"),
        "<div id='here'></div>\n\n[x](#here)",
    ],
)
def test_links_that_lead_somewhere(world: World, link: str) -> None:
    """[RFC-0008] SKL301 to SKL303: files, folders, anchors, and what leads out to the network."""
    assert rules(world, f"{GOOD}{REACHED}\n{link}\n", FILES) == []


@each(
    ("link", "rule"),
    [
        ("[x](no.md)", "SKL301"),
        ("![x](no.png)", "SKL301"),
        ("[x](references/FORMS.md)", "SKL301"),
        ("[x](.hidden/x.md)", "SKL301"),
        ("[x](.env)", "SKL301"),
        ("[x](a%00b)", "SKL301"),
        (f"[x]({'a/' * 2100}b)", "SKL301"),
        (f"[x]({'a' * 5000})", "SKL301"),
        ("[x][ref]\n\n[ref]: no.md", "SKL301"),
        ("[x](no.md#forms)", "SKL301"),
        ("[x](references/forms.md#fill)", "SKL302"),
        ("[x](references/forms.md#fill-in-2)", "SKL302"),
        ("[x](#Forms)", "SKL302"),
        ("[x](#no)", "SKL302"),
        ("see <!-- <a id='here'> --> [x](#here)", "SKL302"),
        ("[x](../other/SKILL.md)", "SKL303"),
        ("[x](references/../../x.md)", "SKL303"),
        ("[x](%2e%2e/x.md)", "SKL303"),
        ("[x](/etc/hostname)", "SKL303"),
        ("[x](file:///etc/hostname)", "SKL303"),
    ],
)
def test_links_that_do_not(world: World, link: str, rule: str) -> None:
    """[RFC-0008] SKL301 to SKL303: what is not there, not part of the skill, or out of it."""
    found = findings(world, f"{GOOD}{REACHED}\n{link}\n", FILES)
    assert [(finding.rule.id, finding.line) for finding in found] == [(rule, GOOD.count("\n") + 3)]
    assert found[0].severity == ("warning" if rule == "SKL302" else "error")


def test_links_are_relative_to_their_file(world: World) -> None:
    """[RFC-0008] SKL301: and the message says how to write one that was meant from the root."""
    found = findings(
        world,
        GOOD + "[a](references/a.md)\n",
        {
            "references/a.md": "# A\n[b](b.md) [main](../SKILL.md#forms) [c](references/b.md)\n",
            "references/b.md": "# B\n",
        },
    )
    assert [(f.rule.id, f.file, f.line) for f in found] == [("SKL301", "references/a.md", 2)]
    assert found[0].message.endswith("from here it is 'b.md'")
    found = findings(world, GOOD + "[a](a.md) `references/`\n", {"references/a.md": "# A\n[c](gone.md)\n"})
    assert [f.message for f in found if f.file == "SKILL.md"] == [
        "'a.md' leads to no file of the skill; from here it is 'references/a.md'"
    ]


@each("variable", ["{baseDir}", "${CLAUDE_SKILL_DIR}"])
def test_links_from_the_root(world: World, variable: str) -> None:
    """[RFC-0008] SKL301: what agents replace by the skill's folder is that folder."""
    files = {
        "references/a.md": f"# A\n[b]({variable}/references/b.md#b) [c]({variable}/gone.md)\n",
        "references/b.md": f"# B\n[out]({variable}/../x.md) [anchor]({variable}/SKILL.md#none)\n",
    }
    found = findings(world, GOOD + f"[a]({variable}/references/a.md)\n", files)
    assert [(f.rule.id, f.file) for f in found] == [
        ("SKL301", "references/a.md"),
        ("SKL302", "references/b.md"),
        ("SKL303", "references/b.md"),
    ]


@each(
    ("heading", "anchor"),
    [
        ("Hello World", "hello-world"),
        ("What's new?", "whats-new"),
        ("a  b", "a--b"),
        ("snake_case & more", "snake_case--more"),
        ("🚀 Launch", "-launch"),
        ("安装指南", "安装指南"),
        ("Ünïcode", "ünïcode"),
        ("हिन्दी", "हिन्दी"),
        ("v1.2.3", "v123"),
        ("C++/CLI", "ccli"),
    ],
)
def test_slugs(heading: str, anchor: str) -> None:
    """[RFC-0008] SKL302: anchors are GitHub's."""
    assert slug(heading) == anchor


def test_anchors(world: World) -> None:
    """[RFC-0008] SKL302: duplicates get a free number; the rest of an emoji need not be written."""
    assert slugs(["A", "A", "A"]) == ["a", "a-1", "a-2"]
    assert slugs(["A", "A-1", "A"]) == ["a", "a-1", "a-2"]
    assert rules(world, GOOD + "## ⚠️ Trap\n\n[x](#-trap) [y](#️-trap)\n") == []
    assert "did you mean '#forms'?" in findings(world, GOOD + "[x](#Forms)\n")[0].message


def test_orphans(world: World) -> None:
    """[RFC-0008] SKL401: reached by links from SKILL.md, over other files, in circles, through folders."""
    found = findings(
        world,
        GOOD + "[a](a.md) [more](more/)\n",
        {
            "a.md": "# A\n[b](deep/b.md)\n",
            "deep/b.md": "# B\n[a](../a.md)\n",
            "deep/lonely.md": "# L\n[friend](friend.md)\n",
            "deep/friend.md": "# F\n",
            "more/c.md": "# C\n",
            "more/deeper/d.md": "# D\n",
        },
    )
    assert {finding.rule.id for finding in found} == {"SKL401"}
    assert [finding.file for finding in found] == ["deep/friend.md", "deep/lonely.md", "more/deeper/d.md"]
    assert {finding.severity for finding in found} == {"warning"}


def test_files_by_name(world: World) -> None:
    """[RFC-0008] SKL401: what is named in text or code counts as linked; so do LICENSE and the like."""
    files = {"references/a.md": "# A\n"}
    assert rules(world, GOOD, files) == ["SKL401"]
    for text in ("See `references/a.md`.", "a.md first", "```\ncat references/a.md\n```", "see references/"):
        assert rules(world, GOOD + text, files) == []
    for text in ("See `references/A.md`.", "A.md first"):
        (finding,) = findings(world, GOOD + text, files)
        assert "upper and lower case" in finding.message
    names = ["LICENSE.md", "changelog.md", "docs/Contributing.md", "README.MD", "a/b/readme.zh-CN.md"]
    assert rules(world, GOOD, dict.fromkeys(names, "# X\n")) == []


def test_symlinks(world: World) -> None:
    """[RFC-0008] [D2] SKL303: links inside are files, one that leaves is told; real paths decide."""
    folder = put(world, GOOD + "[a](alias.md) [d](dir/b.md)\n", {"a.md": "# A\n", "real/b.md": "## B\n"})
    (folder / "alias.md").symlink_to("a.md")
    (folder / "dir").symlink_to("real")
    found = lint_skill(at_path(str(folder)), choice=ALL).findings
    assert {(f.rule.id, f.file) for f in found} == {("SKL204", "dir/b.md"), ("SKL204", "real/b.md")}
    (folder / "out.md").symlink_to("/etc/hostname")
    (folder / "etc").symlink_to("/etc")
    (folder / "gone").symlink_to("nowhere")
    found = lint_skill(at_path(str(folder)), choice=ALL).findings
    assert places(found, "SKL303") == [("etc", 1), ("out.md", 1)]
    assert places(found, "SKL204") == [("real/b.md", 1)]
    assert not places(found, "SKL301")
    other = put(world, GOOD + "[x](etc/hostname)\n")
    (other / "etc").symlink_to("/etc")
    assert ("SKILL.md", GOOD.count("\n") + 1) in places(lint_skill(at_path(str(other))).findings, "SKL303")


def test_skill_md_that_leads_out(world: World, tmp_path: Path) -> None:
    """[RFC-0008] [D2] SKL303: its content is nobody's business."""
    outside = tmp_path / "outside.md"
    outside.write_text("# secret\n")
    folder = put(world)
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(outside)
    report = lint_skill(at_path(str(folder)))
    assert [(f.rule.id, f.file) for f in report.findings] == [("SKL303", "SKILL.md")]
    assert report.tokens is None
