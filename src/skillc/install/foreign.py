"""Find skills in agents' directories that came from elsewhere, and say how to take them in.

What an import would do with each is for `import_plan` to say, which reads them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from skillc import paths
from skillc.compiler import existing_directories, is_link
from skillc.library import GLOBAL, PROJECT, is_compiled, is_skill
from skillc.text import count_of


@dataclass(frozen=True, slots=True)
class ForeignSkill:
    """A skill in an agent's directory that skc did not put there; `scope` says whose directory it is."""

    name: str
    path: str
    scope: str


def find_foreign(cwd: str) -> list[ForeignSkill]:
    """Return the skills in agents' directories that came from elsewhere, in the order of their paths.

    Links stay what they are. A project's plain `skills` may be anything.
    """
    project = next(paths.project_roots(cwd), "")
    skills = []
    for directory in sorted(existing_directories(cwd)):
        scope = PROJECT if project and paths.is_inside(directory, project) else GLOBAL
        is_store = f"{os.path.realpath(directory)}{os.sep}".endswith(paths.skills_store(os.sep) + os.sep)
        if is_store or directory == os.path.join(project, "skills"):
            continue
        try:
            names = sorted(name for name in os.listdir(directory) if name[0] != ".")
        except OSError:
            continue
        folders = [(name, os.path.join(directory, name)) for name in names]
        skills += [ForeignSkill(n, f, scope) for n, f in folders if not is_link(f) and _is_foreign(f)]
    return skills


def _is_foreign(folder: str) -> bool:
    return is_skill(folder) and not is_compiled(folder)


def advise_import(skills: Sequence[ForeignSkill]) -> list[str]:
    """Return what to do with skills that came from elsewhere, in a line for each scope."""
    lines = []
    for scope, command in ((GLOBAL, "skc import"), (PROJECT, "skc import --project")):
        folders = [each.path for each in skills if each.scope == scope]
        if folders:
            places = ", ".join(dict.fromkeys(paths.short_path(os.path.dirname(each)) for each in folders))
            what = f"{count_of(len(folders), 'skill')} in {places} came from elsewhere"
            lines.append(f"{what}; '{command}' takes {'it' if len(folders) == 1 else 'them'} over.")
    return lines


def advise_first_skill(cwd: str) -> str:
    """Return what to do where there is no skill: agents may have some."""
    lines = advise_import(find_foreign(cwd)) or ["'skc init <name>' makes one."]
    return " ".join(["No skills yet.", *lines])
