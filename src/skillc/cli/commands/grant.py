"""`skc grant`: say which subjects may do what in a registry."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.output import table
from skillc.cli.registry import TO, connect, find_registry
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import unknown_choice, wrong_count
from skillc.errors import InvalidOption
from skillc.text import one_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillc.remotes import RegistryApi  # loads httpx2

ROLES = ("reader", "publisher", "maintainer", "admin")
COLUMNS = ("subject", "role", "prefix")

COMMAND = Command(
    "grant",
    arguments=(
        Argument("action", "add, list or remove.", completes="add list remove"),
        Argument("subject", "With add and remove: a person or program, by its name.", required=False),
        Argument("role", f"With add: {', '.join(ROLES)}.", required=False, completes=" ".join(ROLES)),
    ),
    options=(
        Option(
            "--prefix",
            "Only for the skills below this path. Default: the whole registry.",
            value="<path>",
            completes="collections",
        ),
        TO,
        FORMAT,
    ),
    description=(
        "A grant gives a subject a role below a path: a reader reads, a publisher also publishes and sets"
        " tags, a maintainer also yanks and deletes, an admin also grants. 'add' replaces the role that the"
        " subject has for the same path. Needs the role admin for it."
    ),
    examples=(
        "skc grant add ada publisher --prefix payments",
        "skc grant list",
        "skc grant remove ada --prefix payments",
    ),
)


def run(arguments: Arguments) -> int:
    actions: dict[str, tuple[Callable[[Arguments, RegistryApi], int], int, str]] = {
        "add": (_add, 2, "add <subject> <role>"),
        "list": (_list, 0, "list"),
        "remove": (_remove, 1, "remove <subject>"),
    }
    action = arguments.text("action")
    if action not in actions:
        raise unknown_choice("<action>", action, actions)
    function, count, usage = actions[action]
    given = sum(arguments.optional(name) is not None for name in ("subject", "role"))
    if given != count:
        raise wrong_count(usage, given, COMMAND)
    if arguments.optional("prefix") is not None and action == "list":
        raise InvalidOption("--prefix goes with 'skc grant add' and 'skc grant remove' alone")
    role = arguments.optional("role")
    if role is not None and role not in ROLES:
        raise unknown_choice("<role>", role, ROLES)
    with connect(find_registry(arguments.optional("to"))) as api:
        return function(arguments, api)


def _add(arguments: Arguments, api: RegistryApi) -> int:
    subject, role = arguments.text("subject"), arguments.text("role")
    prefix = arguments.optional("prefix") or ""
    api.set_grant(subject, role, prefix)
    value = {"subject": subject, "role": role, "prefix": prefix, "registry": api.registry}
    line = f"{subject} is {role} of {prefix or 'all'} in {api.registry} now"
    return show(arguments, lambda: value, lambda: [one_line(line)])


def _list(arguments: Arguments, api: RegistryApi) -> int:
    grants = [{name: str(grant.get(name) or "") for name in COLUMNS} for grant in api.grants()]
    rows = [tuple(grant.values()) for grant in grants]
    header = tuple(map(str.upper, COLUMNS))
    return show(
        arguments, lambda: {"grants": grants}, lambda: table(header, rows) if rows else ["No grants."]
    )


def _remove(arguments: Arguments, api: RegistryApi) -> int:
    subject, prefix = arguments.text("subject"), arguments.optional("prefix") or ""
    api.remove_grant(subject, prefix)
    value = {"subject": subject, "prefix": prefix, "removed": True, "registry": api.registry}
    line = f"{subject} has no role of its own for {prefix or 'all'} in {api.registry} any more"
    return show(arguments, lambda: value, lambda: [one_line(line)])
