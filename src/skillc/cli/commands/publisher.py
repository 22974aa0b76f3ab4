"""`skc publisher`: let workflows of CI publish without a stored token."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.registry import TO, pick, registry_api, show_rows
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.cli.usage_errors import check_action, see
from skillc.errors import InvalidOption

GITHUB = "https://token.actions.githubusercontent.com"
COLUMNS = ("id", "repository", "workflow", "prefix", "ref", "environment", "issuer")
ADD_OPTIONS = ("prefix", "issuer", "ref", "environment")
USAGES = {"add": "add <repository> <workflow> --prefix <path>", "list": "list", "remove": "remove <id>"}
COMMAND = Command(
    "publisher",
    arguments=(
        Argument("<action>", "add, list or remove.", "add list remove"),
        Argument("[repository]", "With add: such as acme/skills. With remove: the publisher's ID."),
        Argument("[workflow]", "With add: the workflow's file, such as release.yml."),
    ),
    options=(
        Option(
            "--prefix <path>", "With add: the skills below this path, or this skill. Required.", "collections"
        ),
        Option("--issuer <url>", f"With add: where ID tokens come from. Default: {GITHUB}."),
        Option("--ref <ref>", "With add: only on this ref; refs/tags/v* is all with this start."),
        Option("--environment <name>", "With add: only in this environment."),
        TO,
    ),
    description=(
        "A trusted publisher is a workflow of a repository. Its jobs get a token for 15 minutes that"
        " publishes below the path, in exchange for the ID token of GitHub Actions or GitLab CI."
        " docs/registry-ci.md has workflows to copy. Needs the role admin for the path."
    ),
    examples=(
        "skc publisher add acme/skills release.yml --prefix payments --ref 'refs/tags/v*'",
        "skc publisher add acme/skills .gitlab-ci.yml --prefix payments --issuer https://gitlab.com",
        "skc publisher list",
        "skc publisher remove 5f0c3a9e7b21d846",
    ),
)


def run(arguments: Arguments) -> int:
    action = check_action(COMMAND, arguments, USAGES, {"add": ADD_OPTIONS})
    if action == "add" and arguments.optional("prefix") is None:
        raise InvalidOption(f"--prefix is missing; usage: skc publisher {USAGES['add']}; {see(COMMAND)}")
    with registry_api(arguments) as api:
        if action == "list":
            rows = pick(COLUMNS, api.publishers())
            return show_rows(arguments, "publishers", COLUMNS, rows, "No trusted publishers.")
        repository = arguments.text("repository")
        if action == "remove":
            api.distrust(repository)  # its ID
            note = f"The trusted publisher {repository} is removed from {api.registry}, and its tokens ended"
            return show(arguments, {"id": repository, "removed": True, "registry": api.registry}, note)
        publisher = {"issuer": GITHUB, "repository": repository, "workflow": arguments.text("workflow")}
        publisher |= {name: text for name in ADD_OPTIONS if (text := arguments.optional(name)) is not None}
        made = api.trust(publisher)
    value = {name: made.get(name, "") for name in COLUMNS} | {"registry": api.registry}
    what = f"{publisher['workflow']} of {publisher['repository']}"
    return show(
        arguments, value, f"{what} may publish below {publisher['prefix'] or 'all'} now (ID {value['id']})"
    )
