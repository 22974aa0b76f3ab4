"""`skc grant`: say which subjects may do what in a registry."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.options import TO, pick, registry_api, show_rows
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action

COLUMNS = ("subject", "role", "prefix")
COMMAND = Command(f"""
skc grant list
skc grant add <subject> <role>
skc grant remove <subject>

A grant gives a subject a role below a path: a reader reads, a publisher also publishes and sets tags, a
maintainer also yanks and deletes, an admin also grants. 'add' replaces the role that the subject has for the
same path. Needs the role admin for it.

[action]  add, list or remove. Default: list.
[subject]  With add and remove: a person or program, by its name.
[role] reader|publisher|maintainer|admin  With add: reader, publisher, maintainer, admin.
--prefix <path> :collections @add,remove  only for the skills below this path. Default: the whole registry.
{TO}

$ skc grant add ada publisher --prefix payments
$ skc grant list
$ skc grant remove ada --prefix payments
""")


def run(arguments: Arguments) -> int:
    action = check_action(arguments)
    subject, role, prefix = (arguments.text(name) for name in COLUMNS)
    where = prefix or "all"
    with registry_api(arguments) as api:
        if action == "list":
            return show_rows(arguments, "grants", COLUMNS, pick(COLUMNS, api.grants()), "No grants.")
        if action == "add":
            api.set_grant(subject, role, prefix)
            value = {"subject": subject, "role": role, "prefix": prefix, "registry": api.registry}
            return show(arguments, value, f"{subject} is {role} of {where} in {api.registry} now")
        api.remove_grant(subject, prefix)
        removal = {"subject": subject, "prefix": prefix, "removed": True, "registry": api.registry}
        text = f"{subject} has no role of its own for {where} in {api.registry} any more"
        return show(arguments, removal, text)
