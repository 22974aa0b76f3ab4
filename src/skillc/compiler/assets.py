"""Put a skill's scripts and assets beside its stub, so that the paths in its text work [D49].

An asset is an entry at the top of a skill that holds a file other than Markdown; `evals/` is none, because
agents are judged by it. Beside the stub an asset is a relative link to the source, or a copy where the file
system has no links.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from skillc import atomic
from skillc.errors import Diagnostic, warning
from skillc.paths import CASES_FOLDER, is_inside


def find_assets(names: Iterable[str]) -> list[str]:
    """Return the assets among the files of a skill, in order.

    >>> find_assets(["SKILL.md", "docs/a.md", "scripts/fill.py", "LICENSE.txt", "evals/evals.json"])
    ['LICENSE.txt', 'scripts']
    """
    tops = {name.partition("/")[0] for name in names if name[-3:].lower() != ".md"}
    return sorted(tops - {CASES_FOLDER})


def attach_assets(source: str, directory: str, assets: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Link the assets of a skill into a directory with its stub, and remove the links to those that are gone.

    What else stands there under the name of an asset goes to the trash, unless it is the same.
    """
    directory = os.path.realpath(directory)  # a relative link starts from there
    names = set(assets)
    _remove_links(source, directory, names)
    diagnostics: list[Diagnostic] = []
    for name in sorted(names):
        original, path = os.path.join(source, name), os.path.join(directory, name)
        target = os.path.relpath(original, directory)
        if os.path.islink(path) and os.readlink(path) == target:
            continue
        try:
            if not os.path.lexists(path) or os.path.islink(path):
                atomic.symlink(target, path)
                continue
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            diagnostics.append(warning("W030", path, f"links can't be made there ({reason})"))
        _refresh_copy(original, path)
    return tuple(diagnostics)


def copy_assets(source: str, directory: str, assets: Iterable[str]) -> None:
    """Copy the assets of a skill into a directory that has none of them."""
    for name in assets:
        _copy(os.path.join(source, name), os.path.join(directory, name))


def _remove_links(source: str, directory: str, names: set[str]) -> None:
    """Remove links into the source that are not among the names."""
    with os.scandir(directory) as entries:
        links = [entry for entry in entries if entry.is_symlink() and entry.name not in names]
    for link in links:
        if is_inside(os.path.normpath(os.path.join(directory, os.readlink(link.path))), source):
            os.unlink(link.path)


def _refresh_copy(original: str, path: str) -> None:
    from skillc import trash  # only where there are no links

    if os.path.lexists(path):
        if _is_same(original, path):
            return
        trash.put(path, "replaced by the skill's own version in a build")
    temporary = atomic.temporary_path(path)
    try:
        _copy(original, temporary)
        os.rename(temporary, path)
    finally:
        atomic.discard(temporary)


def _copy(original: str, path: str) -> None:
    """Copy a file, or a folder without its hidden files; links become what they point to [D1]."""
    import shutil

    if os.path.isdir(original):
        shutil.copytree(original, path, ignore=shutil.ignore_patterns(".*"), ignore_dangling_symlinks=True)
    else:
        shutil.copy2(original, path)


def _is_same(original: str, path: str) -> bool:
    """Return whether a copy has the same files with the same bytes."""
    import filecmp

    if os.path.isdir(original) != os.path.isdir(path):
        return False
    if not os.path.isdir(original):
        return filecmp.cmp(original, path, shallow=False)
    comparison = filecmp.dircmp(original, path, ignore=[], hide=[])
    names = [*comparison.left_only, *comparison.right_only, *comparison.common_funny]
    if any(name[0] != "." for name in names):
        return False
    return all(
        _is_same(os.path.join(original, name), os.path.join(path, name))
        for name in (*comparison.common_files, *comparison.common_dirs)
        if name[0] != "."
    )
