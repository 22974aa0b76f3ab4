"""`skc sources`: the files of a skill as a tree."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import DirectoryNotFound, PathEscapes
from skillc.gateway import list_sources
from skillc.gateway.sources import match_paths
from skillc.library import Skill
from skillc.skills import list_file_names, list_files
from tests.conftest import World
from tests.gateway.conftest import Run, code, made
from tests.support.examples import examples

FILES = [
    *("Z.md", "a.md", "references/api.md", "references/deep/er/x.md", "references/deep/y.txt"),
    *("references/z.py", "scripts/run.py"),
]


@pytest.fixture
def cuda(world: World) -> Skill:
    return made(world, "cuda", dict.fromkeys(FILES, "# H\n"), built=False)


# The tree


def test_the_whole_tree(run: Run, cuda: Skill) -> None:
    """[RFC-0002:C-SOURCES] [D19] the root is the skill's name; directories before files, each bytewise."""
    assert run("sources", "cuda").out == (
        "cuda/\n"
        "├── references/\n"
        "│   ├── deep/\n"
        "│   │   ├── er/\n"
        "│   │   │   └── x.md\n"
        "│   │   └── y.txt\n"
        "│   ├── api.md\n"
        "│   └── z.py\n"
        "├── scripts/\n"
        "│   └── run.py\n"
        "├── SKILL.md\n"
        "├── Z.md\n"
        "└── a.md\n"
    )


def test_depth(run: Run, cuda: Skill) -> None:
    """[RFC-0002:C-SOURCES] [D19] n levels; what is not opened shows how many files are below, also for 1."""
    assert run("sources", "cuda", "--depth", "1").out == (
        "cuda/\n├── references/ (4 files)\n├── scripts/ (1 files)\n├── SKILL.md\n├── Z.md\n└── a.md\n"
    )
    whole = run("sources", "cuda").out
    two = [line for line in whole.splitlines(keepends=True) if not line.startswith("│   │   ")]
    assert run("sources", "cuda", "--depth", "2").out == "".join(two).replace("deep/", "deep/ (2 files)")
    assert run("sources", "cuda", "--depth", "4").out == whole


def test_limit(world: World, run: Run, cuda: Skill) -> None:
    """[RFC-0002:C-SOURCES] [D19] the last line of a cut list says how many are left; 100 by default."""
    whole = run("sources", "cuda").out.splitlines(keepends=True)
    assert len(whole) == 13
    for limit in range(1, 12):
        cut = run("sources", "cuda", "--limit", str(limit)).out.splitlines(keepends=True)
        assert cut == [*whole[: limit + 1], f"... ({12 - limit} more)\n"]
    for limit in (12, 13, 100):
        assert run("sources", "cuda", "--limit", str(limit)).out == "".join(whole)
    made(world, "pdf", {f"f{number:03}": "" for number in range(119)}, built=False)
    out = run("sources", "pdf").out.splitlines()
    assert (len(out), out[-1]) == (102, "... (20 more)")


def test_dir(run: Run, cuda: Skill) -> None:
    """[RFC-0002:C-SOURCES] [D19] [D2] the subtree below a directory; --depth counts from there; a linked
    one is listed under its own path.
    """
    subtree = "references/deep/\n├── er/\n│   └── x.md\n└── y.txt\n"
    for path in (
        "references/deep",
        "references/deep/",
        "./references//deep",
        "references/../references/deep",
    ):
        assert run("sources", "cuda", "--dir", path).out == subtree
    assert run("sources", "cuda", "--dir", "references", "--depth", "1").out == (
        "references/\n├── deep/ (2 files)\n├── api.md\n└── z.py\n"
    )
    for root in (".", "", "references/.."):
        assert run("sources", "cuda", "--dir", root).out == run("sources", "cuda").out
    Path(cuda.source, "link").symlink_to("references/deep")
    assert run("sources", "cuda", "--dir", "link").out == "link/\n├── er/\n│   └── x.md\n└── y.txt\n"
    assert run("sources", "cuda", "--dir", "link/..", "--depth", "1").out.startswith("references/\n")


def test_dir_not_found(run: Run, cuda: Skill) -> None:
    """[RFC-0002:C-SOURCES] [RFC-0002:C-ERRORS] no directory there: E022; one outside of the root: E012."""
    Path(cuda.source, "link").symlink_to("/etc")
    for path in ("nowhere", "references/nowhere", "SKILL.md", "scripts/run.py/x", "x" * 40_000):
        assert code(run("sources", "cuda", "--dir", path)) == "E022"
    outside = ("..", "../other", "/", "/etc", "references/../..", "a\0", "link", "link/x", str(cuda.source))
    for path in outside:
        assert code(run("sources", "cuda", "--dir", path)) == "E012"


def test_which_files(world: World, run: Run) -> None:
    """[D1] [D2] [RFC-0002:C-SOURCES] no dot-files, no empty directories, no broken links, no loops, no
    link that leaves.
    """
    skill = made(world, "pdf", {"a/b": "", ".env": "", ".git/x": "", "c/.d": ""}, built=False)
    Path(skill.source, "empty", "er").mkdir(parents=True)
    Path(skill.source, "broken").symlink_to("nowhere")
    Path(skill.source, "loop").symlink_to("loop")
    Path(skill.source, "up").symlink_to(".")
    Path(skill.source, "link").symlink_to("a")
    os.mkfifo(Path(skill.source, "pipe"))
    assert run("sources", "pdf").out == "pdf/\n├── a/\n│   └── b\n├── link/\n│   └── b\n└── SKILL.md\n"
    assert run("sources", "pdf", "--dir", "empty").out == "empty/\n"
    assert run("sources", "pdf", "--dir", ".git").out == ".git/\n"
    skill = made(world, "other", {}, built=False)
    (world.root / "secret").write_text("")
    Path(skill.source, "out").symlink_to(world.root)
    Path(skill.source, "out.md").symlink_to(world.root / "secret")
    assert run("sources", "other").out == "other/\n└── SKILL.md\n"
    assert code(run("sources", "other", "--dir", "out")) == "E012"
    for name in ("pdf", "other"):  # the files of all commands
        source = str(world.store / name)
        assert sorted(list_file_names(source)) == sorted(file.name for file in list_files(source))


def test_names_stay_on_their_line(world: World, run: Run) -> None:
    """[D19] whatever a name holds."""
    odd = os.fsdecode(b"\xff")
    made(world, "pdf", {"new\nline/es\x1b[31mc": "", odd: ""}, built=False)
    assert run("sources", "pdf").out == (
        "pdf/\n├── new\\nline/\n│   └── es\\x1b[31mc\n├── SKILL.md\n└── \\udcff\n"
    )
    assert run("sources", "pdf", "--dir", "new\nline").out == "new\\nline/\n└── es\\x1b[31mc\n"


def test_deep_directories(monkeypatch: pytest.MonkeyPatch, cuda: Skill) -> None:
    """[D19] deeper than Python calls functions."""
    monkeypatch.setattr("skillc.gateway.sources.list_file_names", lambda root: ["d/" * 1500 + "x"])
    tree = list_sources(cuda, limit=10_000)
    assert len(tree.entries) == 1501
    assert len(list(tree.lines())) == 1502
    assert list_sources(cuda, depth=70).entries[69].files == 1


# --pattern


def names(skill: Skill, pattern: str, **options: int) -> list[str]:
    return [node.path for node in list_sources(skill, pattern=pattern, **options).entries]  # type: ignore[arg-type]


def test_patterns(cuda: Skill, run: Run) -> None:
    """[RFC-0002:C-SOURCES] [D19] files by name at any depth, with a `/` by the path; what matches is counted,
    cut and scoped.
    """
    assert names(cuda, "*.py") == ["references", "references/z.py", "scripts", "scripts/run.py"]
    assert names(cuda, "?.md")[-2:] == ["Z.md", "a.md"]
    assert names(cuda, "[a-y].*") == ["references", "references/deep", "references/deep/er"] + [
        "references/deep/er/x.md",
        "references/deep/y.txt",
        "a.md",
    ]
    assert names(cuda, "references") == []
    assert run("sources", "cuda", "--pattern", "nothing").out == "cuda/\n"
    assert names(cuda, "references/*.md") == ["references", "references/api.md"]
    assert names(cuda, "*/*.py") == names(cuda, "*.py")
    assert names(cuda, "**/*.txt")[-1] == "references/deep/y.txt"
    assert names(cuda, "**/a.md") == ["a.md"]
    assert names(cuda, "./a.md") == ["a.md"]
    assert names(cuda, "references/**/x.md")[-1] == "references/deep/er/x.md"
    assert names(cuda, "references/deep/") == names(cuda, "references/deep/**")
    assert names(cuda, "references/deep/")[-2:] == ["references/deep/er/x.md", "references/deep/y.txt"]
    assert names(cuda, "/a.md") == ["a.md"]
    assert [node.files for node in list_sources(cuda, pattern="*.md", depth=1).entries] == [2, 0, 0, 0]
    tree = list_sources(cuda, pattern="*.md", directory="references", limit=1)
    assert ([node.path for node in tree.entries], tree.more) == (["references/deep"], 3)


@given(st.text(alphabet=st.sampled_from("*?[]!-^\\/.azAZ09é{}()|+$\n\0\ud800"), max_size=12) | st.text())
def test_any_pattern(pattern: str) -> None:
    """[RFC-0002:C-SOURCES] no pattern whatever fails."""
    assert set(match_paths(FILES, pattern)) <= set(FILES)


def test_patterns_take_no_time() -> None:
    """[RFC-0002:C-SOURCES] nor does one take longer than it should."""
    path = "/".join(["a" * 50] * 50)
    assert match_paths([path], "/".join(["**", "*a*a*a*a*a*a*b"] * 20)) == []
    assert match_paths([path], "**/" * 50 + "*a*") == [path]


# JSON, options, errors


def test_json(run: Run, cuda: Skill) -> None:
    """[D14] the JSON form."""
    assert json.loads(run("sources", "cuda", "--depth=1", "--limit=3", "--format=json").out) == {
        "root": "cuda",
        "entries": [
            {"path": "references", "type": "directory", "files": 4},
            {"path": "scripts", "type": "directory", "files": 1},
            {"path": "SKILL.md", "type": "file"},
        ],
        "more": 2,
    }
    scoped = json.loads(run("sources", "cuda", "--dir=references/deep", "--format=json").out)
    assert scoped["root"] == "references/deep"
    assert [entry["path"] for entry in scoped["entries"]] == [
        "references/deep/er",
        "references/deep/er/x.md",
        "references/deep/y.txt",
    ]


# Any tree


def drawn(root: Path, prefix: str, depth: int | None, level: int = 1) -> list[tuple[str, int, int, bool]]:
    """The entries of a tree, as one would write them down: path, depth, files if not opened, last or not."""
    inside = [entry for entry in root.iterdir() if any(p.is_file() for p in [entry, *entry.rglob("*")])]
    ordered = sorted(inside, key=lambda entry: (entry.is_file(), os.fsencode(entry.name)))
    found = []
    for number, entry in enumerate(ordered):
        path, last = f"{prefix}{entry.name}", number == len(ordered) - 1
        count = sum(p.is_file() for p in entry.rglob("*")) if level == depth else 0
        found.append((path, level, count, last))
        if entry.is_dir() and level != depth:
            found += drawn(entry, f"{path}/", depth, level + 1)
    return found


parts = st.sampled_from(["a", "a-b", "a.b", "B", "é", "z", "~"])
trees = st.sets(st.lists(parts, min_size=1, max_size=4).map("/".join), max_size=8)


@pytest.mark.slow
@examples(100)
@given(trees, st.none() | st.integers(1, 4))
def test_any_tree(tmp_path_factory: pytest.TempPathFactory, tree: set[str], depth: int | None) -> None:
    """[RFC-0002:C-SOURCES] [D19] every file and directory, in order, each once."""
    root = tmp_path_factory.mktemp("tree")
    for name in tree:
        path = root / f"{name}x"  # a name is a directory or a file, never both
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    skill = Skill("any", str(root), "project", str(root), is_stored=True)
    found = list_sources(skill, depth=depth, limit=10_000)
    assert [(n.path, n.depth, n.files, n.last) for n in found.entries] == drawn(root, "", depth)


@given(st.text(max_size=12))
def test_any_dir(cuda: Skill, path: str) -> None:
    """[RFC-0002:C-SOURCES] no path whatever fails other than by E012 or E022."""
    try:
        list_sources(cuda, directory=path)
    except (PathEscapes, DirectoryNotFound):
        pass
