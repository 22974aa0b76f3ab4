"""`skc publisher`: let workflows of CI publish without a stored token."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.output import table
from skillc.cli.registry import TO, connect, find_registry
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see, unknown_choice, wrong_count
from skillc.errors import InvalidOption
from skillc.text import one_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillc.remotes import RegistryApi  # loads httpx2

GITHUB = "https://token.actions.githubusercontent.com"
COLUMNS = ("id", "repository", "workflow", "prefix", "ref", "environment", "issuer")
ADD_OPTIONS = ("prefix", "issuer", "ref", "environment")

COMMAND = Command(
    "publisher",
    arguments=(
        Argument("action", "add, list or remove.", completes="add list remove"),
        Argument(
            "repository", "With add: such as acme/skills. With remove: the publisher's ID.", required=False
        ),
        Argument("workflow", "With add: the workflow's file, such as release.yml.", required=False),
    ),
    options=(
        Option(
            "--prefix",
            "With add: the skills below this path, or this skill. Required.",
            value="<path>",
            completes="collections",
        ),
        Option("--issuer", f"With add: where ID tokens come from. Default: {GITHUB}.", value="<url>"),
        Option("--ref", "With add: only on this ref; refs/tags/v* is all with this start.", value="<ref>"),
        Option("--environment", "With add: only in this environment.", value="<name>"),
        TO,
        FORMAT,
    ),
    description=(
        "A trusted publisher is a workflow of a repository. Its jobs get a token for 15 minutes that"
        " publishes below the path, in exchange for the ID token of GitHub Actions or GitLab CI."
        " docs/registry.md has workflows to copy. Needs the role admin for the path."
    ),
    examples=(
        "skc publisher add acme/skills release.yml --prefix payments --ref 'refs/tags/v*'",
        "skc publisher add acme/skills .gitlab-ci.yml --prefix payments --issuer https://gitlab.com",
        "skc publisher list",
        "skc publisher remove 5f0c3a9e7b21d846",
    ),
)


def run(arguments: Arguments) -> int:
    actions: dict[str, tuple[Callable[[Arguments, RegistryApi], int], int, str]] = {
        "add": (_add, 2, "add <repository> <workflow> --prefix <path>"),
        "list": (_list, 0, "list"),
        "remove": (_remove, 1, "remove <id>"),
    }
    action = arguments.text("action")
    if action not in actions:
        raise unknown_choice("<action>", action, actions)
    function, count, usage = actions[action]
    given = sum(arguments.optional(name) is not None for name in ("repository", "workflow"))
    if given != count:
        raise wrong_count(usage, given, COMMAND)
    if action == "add" and arguments.optional("prefix") is None:
        raise InvalidOption(f"--prefix is missing; usage: skc publisher {usage}; {see(COMMAND)}")
    if action != "add" and any(arguments.optional(name) is not None for name in ADD_OPTIONS):
        raise InvalidOption(f"--{', --'.join(ADD_OPTIONS)} go with 'skc publisher add' alone")
    with connect(find_registry(arguments.optional("to"))) as api:
        return function(arguments, api)


def _add(arguments: Arguments, api: RegistryApi) -> int:
    publisher = {"issuer": GITHUB, "repository": arguments.text("repository")}
    publisher["workflow"] = arguments.text("workflow")
    publisher |= {name: text for name in ADD_OPTIONS if (text := arguments.optional(name)) is not None}
    made = api.trust(publisher)
    value = {name: made.get(name, "") for name in COLUMNS} | {"registry": api.registry}
    prefix = publisher["prefix"] or "all"
    line = f"{publisher['workflow']} of {publisher['repository']} may publish below {prefix} now"
    return show(arguments, lambda: value, lambda: [one_line(f"{line} (ID {value['id']})")])


def _list(arguments: Arguments, api: RegistryApi) -> int:
    publishers = [{name: str(each.get(name) or "") for name in COLUMNS} for each in api.publishers()]
    rows = [tuple(each.values()) for each in publishers]
    header = tuple(map(str.upper, COLUMNS))
    return show(
        arguments,
        lambda: {"publishers": publishers},
        lambda: table(header, rows) if rows else ["No trusted publishers."],
    )


def _remove(arguments: Arguments, api: RegistryApi) -> int:
    publisher_id = arguments.text("repository")
    api.distrust(publisher_id)
    value = {"id": publisher_id, "removed": True, "registry": api.registry}
    line = f"The trusted publisher {publisher_id} is removed from {api.registry}, and its tokens ended"
    return show(arguments, lambda: value, lambda: [one_line(line)])
