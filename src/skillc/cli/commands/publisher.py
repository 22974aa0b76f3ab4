"""`skc publisher`: let workflows of CI publish without a stored token."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.options import TO, pick, registry_api, show_rows
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action

GITHUB = "https://token.actions.githubusercontent.com"
COLUMNS = ("id", "repository", "workflow", "prefix", "ref", "environment", "issuer")
ADD_OPTIONS = ("prefix", "issuer", "ref", "environment")
COMMAND = Command(f"""
skc publisher list
skc publisher add <repository> <workflow> --prefix <path>
skc publisher remove <id>

A trusted publisher is a workflow of a repository. Its jobs get a token for 15 minutes that publishes below
the path, in exchange for the ID token of GitHub Actions or GitLab CI. docs/registry-ci.md has workflows to
copy. Needs the role admin for the path.

[action]  add, list or remove. Default: list.
[repository]  With add: such as acme/skills. With remove: the publisher's ID.
[workflow]  With add: the workflow's file, such as release.yml.
--prefix <path> :collections @add  the skills below this path, or this skill. It is required.
--issuer <url> @add  where ID tokens come from. Default:
    https://token.actions.githubusercontent.com.
--ref <ref> @add  only on this ref; refs/tags/v* stands for all that start so.
--environment <name> @add  only in this environment.
{TO}

$ skc publisher add acme/skills release.yml --prefix payments --ref 'refs/tags/v*'
$ skc publisher add acme/skills .gitlab-ci.yml --prefix payments --issuer https://gitlab.com
$ skc publisher list
$ skc publisher remove 5f0c3a9e7b21d846
""")


def run(arguments: Arguments) -> int:
    action = check_action(arguments)
    if action == "add" and arguments.optional("prefix") is None:
        raise arguments.error(f"--prefix is missing; usage: skc publisher {COMMAND.usages['add']}")
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
