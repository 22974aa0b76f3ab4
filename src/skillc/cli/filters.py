"""Say which filter of `find` and `browse` names something that is not there, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterator

from skillc import library
from skillc.index import skills as index  # lazy
from skillc.spelling import did_you_mean, suggest, unknown_repository
from skillc.text import one_line
from skillc.workspace import Workspace


def explain_filters(here: Workspace, task: str, scope: index.Scope) -> None:
    """Report each filter of a search that no skill of the library meets."""
    for text in _find_misses(here, task, scope):
        here.report(one_line(f"note: {text}"))


def _find_misses(here: Workspace, task: str, scope: index.Scope) -> Iterator[str]:
    skills = here.wait(here.library().list(), warnings=False)
    if scope.collection:
        yield from explain_collection(scope.collection, {c.path for c in library.derive_collections(skills)})
    if scope.capability:
        needs = {need for skill in skills for need in skill.requires_capabilities}
        if scope.capability not in needs:
            yield _join(f"no skill needs the capability '{scope.capability}'", scope.capability, needs)
        elif not here.capabilities.issuperset({scope.capability}):
            where = "'capabilities' in skills.toml shows them"
            yield f"skills that need '{scope.capability}' are hidden; {where}"
    if scope.tag:
        tags = index.skill_index().database.read(index.read_all_tags)
        if scope.tag not in map(str.casefold, tags):
            here_too = [tag for tag in suggest(scope.tag, tags) if here.find(task, 1, index.Scope(tag=tag))]
            yield _join(f"no skill has the tag '{scope.tag}'", scope.tag, here_too)


def explain_collection(path: str, paths: set[str]) -> Iterator[str]:
    """Yield what is wrong with a collection that is none of those there are."""
    if path not in paths:
        yield _join(f"there is no collection '{path}'", path, paths)


def check_repository(here: Workspace, name: str) -> None:
    """Raise InvalidOption for a name that no repository has."""
    names = list(dict.fromkeys(source.name for source in here.library().sources))
    if name and name not in names:
        raise unknown_repository(name, names)


def _join(problem: str, word: str, names: set[str] | list[str]) -> str:
    question = did_you_mean(word, names)
    return f"{problem}; {question}" if question else problem
