"""Merging three versions: no line of yours is lost, and what one side changed is taken."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.install.merge import Merge, merge_text, merge_trees, read_tree, split_lines

LINES = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n", b"x\r\n", b"<<<<<<< \n"]), max_size=12
)
TEXT = st.builds(lambda lines, end: b"".join(lines) + end, LINES, st.sampled_from([b"", b"end"]))


@given(TEXT, TEXT, TEXT)
def test_merge_of_texts(base: bytes, yours: bytes, new: bytes) -> None:
    """[SURFACES: Getting skills] one side's changes are taken; no line of yours is ever lost."""
    assert merge_text(base, base, new) == (new, False)
    assert merge_text(base, yours, base) == (yours, False)
    assert merge_text(base, yours, yours) == (yours, False)
    result, has_conflict = merge_text(base, yours, new)
    assert has_conflict == merge_text(base, new, yours)[1]
    for line in split_lines(yours):
        if line not in split_lines(base):  # a line that you wrote
            assert line.rstrip(b"\r\n") in result
    if not has_conflict:
        for line in split_lines(new):
            if line not in split_lines(base):
                assert line.rstrip(b"\r\n") in result


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.data())
def test_edits_apart(sides: list[int], data: st.DataObject) -> None:
    """[SURFACES: Getting skills] edits with an untouched line between them are merged without a conflict."""
    base, yours, new, expected = [], [], [], []
    for number, side in enumerate(sides):
        line, other = f"line {number}\n".encode(), data.draw(st.sampled_from([b"", b"new %d\n" % number]))
        fixed = f"fixed {number}\n".encode()
        base += [line, fixed]
        yours += [other if side == 1 else line, fixed]
        new += [other if side == 2 else line, fixed]
        expected += [other if side else line, fixed]
    assert merge_text(b"".join(base), b"".join(yours), b"".join(new)) == (b"".join(expected), False)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@given(TEXT, TEXT, TEXT)
def test_conflicts_are_gits(
    tmp_path_factory: pytest.TempPathFactory, base: bytes, yours: bytes, new: bytes
) -> None:
    """[SURFACES: Getting skills] where git merges without a conflict to one text, so do we, or we mark it."""
    folder = tmp_path_factory.mktemp("merge")
    for name, text in (("yours", yours), ("base", base), ("new", new)):
        (folder / name).write_bytes(text)
    done = subprocess.run(
        ["git", "merge-file", "-p", "--diff3", "yours", "base", "new"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    result, has_conflict = merge_text(base, yours, new)
    if done.returncode == 0 and not has_conflict:
        assert sorted(split_lines(result + b"\n")) == sorted(split_lines(done.stdout + b"\n"))


NAMES = st.sampled_from(["SKILL.md", "a.md", "b.md", "scripts/run.sh", "data.bin", "x", "x/y", ".env"])
TREES = st.dictionaries(
    NAMES, st.tuples(TEXT | st.just(b"\0binary") | st.just(b"\0other"), st.booleans()), max_size=6
)
Files = dict[str, tuple[bytes, bool]]


def write(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True)
    for name, (data, executable) in files.items():
        if any(other.startswith(f"{name}/") for other in files):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o755 if executable else 0o644)
    return folder


def apply(folder: Path, merge: Merge) -> Files:
    """Return what a folder holds after a merge."""
    files = {name: (each.read(), each.is_executable) for name, each in read_tree(str(folder)).items()}
    for name, change in merge.changes.items():
        if change is None:
            del files[name]
        else:
            files[name] = change.data, change.is_executable
    return files


def merged(root: Path, base: Files, yours: Files, new: Files) -> tuple[Files, Merge]:
    folders = [write(root / name, files) for name, files in (("base", base), ("yours", yours), ("new", new))]
    merge = merge_trees(*(read_tree(str(folder)) for folder in folders))
    return apply(folders[1], merge), merge


@pytest.mark.slow
@given(TREES, TREES, TREES)
def test_merge_of_trees(
    tmp_path_factory: pytest.TempPathFactory, base: Files, yours: Files, new: Files
) -> None:
    """[SURFACES: Getting skills] every line you wrote is in the result; no file stands where a folder is."""
    root = tmp_path_factory.mktemp("trees")
    result, _ = merged(root, base, yours, new)
    for name in result:  # no file at the place of a folder
        assert not any(other.startswith(f"{name}/") for other in result)
    everything = b"".join(data for data, _ in result.values())
    mine = {name: (each.read(), each.is_executable) for name, each in read_tree(str(root / "yours")).items()}
    olds = [data for data, _ in base.values()]
    for data, _ in mine.values():
        if data in olds:
            continue
        old_lines = {line for old in olds for line in split_lines(old)}
        for line in split_lines(data):
            if line not in old_lines:
                assert line.rstrip(b"\r\n") in everything
    same, _ = merged(root / "same", base, base, new)
    assert same == {n: (f.read(), f.is_executable) for n, f in read_tree(str(root / "new")).items()}
    kept, unchanged = merged(root / "kept", base, yours, base)
    assert (kept, unchanged.changes, unchanged.conflicts) == (mine, {}, ())


def test_cases(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] conflicts are marked, binaries kept; modes and moves are followed."""
    text = b"one\ntwo\nthree\nfour\nfive\nsix\n"
    base: Files = {
        "conflict.md": (b"a\n", False),
        "data.bin": (b"\0base", False),
        "edited-and-removed.md": (b"x\n", False),
        "removed-and-edited.md": (b"y\n", False),
        "untouched-and-removed.md": (b"z\n", False),
        "mode.sh": (b"run\n", False),
        "old.md": (text, False),
        "other.md": (text.upper(), False),
    }
    yours = {
        **base,
        "conflict.md": (b"mine\r\n", False),
        "data.bin": (b"\0mine", False),
        "edited-and-removed.md": (b"x mine\n", False),
        "mode.sh": (b"run\n", True),
        "old.md": (text + b"my line\n", False),
        "moved-by-me.md": base["other.md"],
        "added.md": (b"mine\n", False),
    }
    del yours["removed-and-edited.md"], yours["other.md"]
    new = {
        **base,
        "conflict.md": (b"theirs", False),
        "data.bin": (b"\0theirs", True),
        "removed-and-edited.md": (b"y theirs\n", False),
        "mode.sh": (b"run faster\n", False),
        "renamed.md": (b"their line\n" + text, False),
        "other.md": (b"NEW\n" + text.upper(), False),
    }
    del new["edited-and-removed.md"], new["untouched-and-removed.md"], new["old.md"]
    result, merge = merged(tmp_path, base, yours, new)
    assert merge.conflicts == ("conflict.md", "data.bin", "edited-and-removed.md", "removed-and-edited.md")
    assert result == {
        "conflict.md": (b"<<<<<<< yours\r\nmine\r\n=======\r\ntheirs\r\n>>>>>>> update\r\n", False),
        "data.bin": (b"\0mine", False),
        "data.bin.update": (b"\0theirs", True),
        "edited-and-removed.md": (b"x mine\n", False),
        "removed-and-edited.md": (b"y theirs\n", False),
        "mode.sh": (b"run faster\n", True),
        "renamed.md": (b"their line\n" + text + b"my line\n", False),
        "moved-by-me.md": (b"NEW\n" + text.upper(), False),
        "added.md": (b"mine\n", False),
    }


def test_large_and_repetitive_texts_take_no_time() -> None:
    """[SURFACES: Getting skills] thousands of equal lines are merged; what is too large is no text."""
    base = b"\n" * 20_000 + b"end\n"
    assert merge_text(base, b"start\n" + base, base + b"more\n") == (b"start\n" + base + b"more\n", False)
