"""`skc list`: the skills of the stores, where they come from, and what there is to do about them."""

from __future__ import annotations

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.listings import show_installed
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
    return show(arguments, skills, show_installed(skills, arguments))
