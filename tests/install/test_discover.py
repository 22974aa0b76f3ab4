"""Which skills are found among the files of a place, and in which order they count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from skillc.errors import Diagnostic, OriginNotFound
from skillc.install.discover import discover
from skillc.install.origin import Origin
from tests.support.cases import each
from tests.support.growth import grows_too_fast


def skill(name: str) -> str:
    return f"---\nname: {name}\ndescription: About {name}\n---\n"


def find(
    files: Mapping[str, str], *wanted: str, path: str = "", report: list[Diagnostic] | None = None
) -> list[tuple[str, str]]:
    """The names and paths of the skills that are found in files."""

    def read(names: Sequence[str], folders: Sequence[str]) -> dict[str, bytes]:
        return {name: files[name].encode() for name in names if name in files}

    origin = Origin("git", "x", "x", path=path)
    found = discover(origin, files, read, wanted, (report if report is not None else []).append)
    return [(each.name, each.path) for each in found]


def test_order() -> None:
    """[SURFACES: Getting skills] skills/, agents' folders, plugins, anywhere; the root alone; by name and
    path.
    """
    places = [
        "skills/a", ".claude/skills/b", ".agents/skills/c", "plugins/one/skills/d", "extra/e", "z/f", "x/y/g",
    ]  # fmt: skip
    files = {f"{place}/SKILL.md": skill(place[-1]) for place in reversed(places)}
    plugins = [{"name": "one", "source": "./plugins/one"}, {"name": "two", "skills": ["./extra/e"]}]
    files[".claude-plugin/marketplace.json"] = json.dumps({"plugins": plugins})
    assert [path for _, path in find(files)] == [f"{place}/SKILL.md" for place in places]
    files = {"SKILL.md": skill("whole"), "skills/part/SKILL.md": skill("part")}
    assert find(files) == [("whole", "SKILL.md")]
    assert find(files, "part") == [("part", "skills/part/SKILL.md")]
    files = {"skills/pdf/SKILL.md": skill("pdf"), "old/pdf/SKILL.md": skill("pdf")}
    assert find(files) == [("pdf", "skills/pdf/SKILL.md")]
    assert find(files, "pdf") == [("pdf", "skills/pdf/SKILL.md")]
    assert find(files, "old/pdf") == [("pdf", "old/pdf/SKILL.md")]
    files = {"x/skills/a/SKILL.md": skill("a"), "x/b/SKILL.md": skill("b"), "xy/SKILL.md": skill("xy")}
    assert find(files, path="x") == [("a", "x/skills/a/SKILL.md"), ("b", "x/b/SKILL.md")]
    assert find(files, path="x/b") == [("b", "x/b/SKILL.md")]
    with pytest.raises(OriginNotFound, match="no skill in 'y'"):
        find(files, path="y")


@each(
    ("file", "manifest"),
    [
        ("plugin.json", {"name": "x", "skills": "./deep/a/b/c/d/e/f/g/h"}),
        (".claude-plugin/plugin.json", {"name": "x", "skills": ["./deep/a/b/c/d/e/f/g/h/pdf"]}),
        (
            ".claude-plugin/marketplace.json",
            {"metadata": {"pluginRoot": "./deep"}, "plugins": [{"source": "a/b/c/d/e/f/g", "skills": ["h"]}]},
        ),
        (".agents/plugins/marketplace.json", {"plugins": [{"source": "./deep/a/b/c/d/e/f/g/h/pdf/.."}]}),
        (".cursor-plugin/plugin.json", {"skills": ["deep/a/b/c/d/e/f/g/h"]}),
    ],
)
def test_manifests(file: str, manifest: object) -> None:
    """[SURFACES: Getting skills] Files of plugins and marketplaces lead to skills of any depth."""
    place = "deep/a/b/c/d/e/f/g/h"
    if "agents" in file:
        place = "deep/a/b/c/d/e/f/g/h/skills"
    files = {f"{place}/pdf/SKILL.md": skill("pdf"), "top/SKILL.md": skill("top")}
    assert [name for name, _ in find(files)] == ["top"]
    assert ("pdf", f"{place}/pdf/SKILL.md") in find(files | {file: json.dumps(manifest)})


@each(
    "text",
    ["", "[]", "{", "[" * 100_000, '{"plugins": 5}', '{"plugins": [5, null]}', '{"skills": {"a": 1}}',
     '{"plugins": [{"source": {"github": "other/repo"}}]}', '{"plugins": [{"source": "../../../etc"}]}',
     '{"plugins": [{"source": "/etc", "skills": ["/etc", "..", 7]}]}'],
)  # fmt: skip
def test_hostile_manifests(text: str) -> None:
    """[SURFACES: Getting skills] A file of a plugin that is damaged or leads elsewhere changes nothing."""
    files = {".claude-plugin/marketplace.json": text, "a/SKILL.md": skill("a")}
    assert find(files) == [("a", "a/SKILL.md")]


def test_what_is_no_skill() -> None:
    """[SURFACES: Getting skills] packages and compiled skills are left out; names are made; no description
    is W080.
    """
    files = {
        "node_modules/x/SKILL.md": skill("x"),
        "a/b/c/d/e/f/g/h/i/j/SKILL.md": skill("j"),
        ".claude/skills/stub/SKILL.md": skill("stub"),
        ".claude/skills/stub/.skillc/manifest.json": "{}",
        ".skillc/runtime/stub/SKILL.md": skill("stub"),
        "good/skill.md": skill("good"),
    }
    assert find(files) == [("good", "good/skill.md")]
    report: list[Diagnostic] = []
    files = {"a/SKILL.md": "# nothing\n", "b/SKILL.md": skill("b"), "c/SKILL.md": "---\nname: c\n---\n"}
    assert find(files, report=report) == [("b", "b/SKILL.md")]
    assert [(each.code, each.message.split("'")[1]) for each in report] == [
        ("W080", "a/SKILL.md"),
        ("W080", "c/SKILL.md"),
    ]
    files = {
        "a/SKILL.md": "---\nname: My Skill!\ndescription: x\n---\n",
        "B_c/SKILL.md": "---\ndescription: x\n---\n",
        "evil/SKILL.md": "---\nname: ../../x\ndescription: x\n---\n",
    }
    assert [name for name, _ in find(files)] == ["b-c", "my-skill", "x"]


@pytest.mark.slow
def test_many_names() -> None:
    """[SURFACES: Getting skills] As many names as there are skills take time in proportion to them."""

    def run(files: Mapping[str, str]) -> None:
        assert len(find(files, *files)) == len(find(files, *(path.split("/")[0] for path in files)))

    def make(size: int) -> dict[str, str]:
        return {f"s{number}/SKILL.md": skill(f"s{number}") for number in range(size // 64)}

    assert not grows_too_fast(run, make, 1 << 18)
