"""`skc list`: the skills of the stores, where they come from, and what there is to do about them."""

from __future__ import annotations

from collections.abc import Iterator

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.commands.info import describe
from skillc.cli.lines import WARNING, Mark, Table
from skillc.cli.syntax import Arguments, Command
from skillc.errors import warning
from skillc.library import records

COMMAND = Command("""
skc list

--long  Everything about each skill, as 'skc info' shows it.
--licenses  The licence of each skill, as its frontmatter or its LICENSE file says.
--scope project|global|all =all  Which stores to list.
--status normal|not-built|obsolete|all =all  List only skills with this status.
--limit <n>  Maximum number of skills.
--pattern <glob> :stored  List only names that match, such as 'pdf-*'.
--check-obsolete  Check whether files changed since the last build.

$ skc list
$ skc list --long --pattern 'pdf*'
$ skc list --format json
""")
SPARE = ("SCOPE", "FROM", "VERSION", "SOURCE")  # columns that go, in this order, where there is no room


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    skills = install.list_installed(
        here.cwd,
        scope=arguments.text("scope"),
        status=arguments.text("status"),
        pattern=arguments.optional("pattern"),
        limit=arguments.count("limit"),
        check_obsolete=arguments.has("check_obsolete"),
        licenses=arguments.has("licenses"),
    )
    here.tell((*skills.diagnostics, *records.check_deployments()))
    file = here.switched_off_by()
    if file:  # they are in the stores all the same
        here.tell((warning("W072", file),))
    if not skills.total:
        return show(arguments, skills, [" ".join(install.advise_foreign(here.cwd, is_first=True))])
    return show(arguments, skills, _describe(skills, arguments))


def _describe(skills: install.InstalledSkills, arguments: Arguments) -> Iterator[str]:
    if arguments.has("licenses"):
        rows = [[each.id, each.version, each.licence or "unknown"] for each in skills.skills]
        yield Table(["SKILL", "VERSION", "LICENCE"], rows, ())
        yield skills.total_line()
        return
    is_long = arguments.has("long")
    yield from _describe_all(skills) if is_long else _tabulate(skills, arguments.has("verbose"))
    yield skills.total_line()
    yield from skills.advice()


def _describe_all(skills: install.InstalledSkills) -> Iterator[str]:
    for skill in skills.skills:
        yield from describe(skill)
        yield ""


def _tabulate(skills: install.InstalledSkills, with_source: bool) -> Iterator[str]:
    header, rows = list(skills.HEADER), [list(skill.row()) for skill in skills.skills]
    for row, skill in zip(rows, skills.skills, strict=True):
        row[-1] = _mark(row[-1])
        row += [skill.source_path] if with_source else []
    if rows:
        yield Table([*header, *(["SOURCE"] if with_source else [])], rows, SPARE)


def _mark(status: str) -> str:
    """Return a status that asks for something so that it stands out."""
    is_fine = all(word in ("normal", "pinned") or word.startswith("disabled") for word in status.split(", "))
    return status if is_fine else Mark(status, WARNING)
