"""`skc import`: bring the skills of agents and of folders into a store, all at once."""
# ruff: noqa: N999 -- a command's module has its name

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.listings import show_imported
from skillc.cli.options import ACCEPT_BLOCKS, ALLOW_HOST, allowed_hosts, read_scope
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc import

Skills in agents' directories are moved into the store and built; a link to the compiled skill takes the
folder's place, so that the agent has it all the time. Skills in other folders are copied; 'skc build --all'
deploys them. Without a folder and --from, all agents are imported.

Links, what skc deployed, broken skills and names that are taken are skipped, with the reason.

With --lock, <folder> is a lock file: skills-lock.json, .skill-lock.json or .clawhub/lock.json; without one,
those of the project and of the home. Skills are downloaded at the versions that the lock states, and noted in
skills-lock.json.

[folder]...  A skill, or a folder with skills in it.
--from <a,b> :agents  Agents whose directories to import, separated by commas, or all.
--lock  Read lock files of other tools, and bring in the skills they name.
{ALLOW_HOST}
--global  Import copies into ~/.skillc/skills, also in a project.
--project  Import the project's directories of agents, and into the project's store.
{ACCEPT_BLOCKS}
--dry-run  Say what would be done, and do nothing.
--yes  Move agents' folders without asking; needed where there is no terminal.

$ skc import --dry-run
$ skc import --from claude,codex
$ skc import ~/work/my-skills
$ skc import --project --from claude
$ skc import --lock .clawhub/lock.json
""")


def run(arguments: Arguments) -> int:
    scope, is_preview = read_scope(arguments), arguments.has("dry_run")
    folders = arguments.texts("folder")
    if arguments.has("lock") and arguments.optional("from"):
        raise arguments.error("--lock takes no --from")
    result = attended_workspace(arguments).import_skills(
        *folders,
        agents=arguments.text("from"),
        scope=scope,
        from_locks=arguments.has("lock"),
        dry_run=is_preview,
        yes=arguments.has("yes"),
        accept_blocks=arguments.has("accept_blocks"),
        hosts=allowed_hosts(arguments),
    )
    is_bare = not folders and not arguments.has("lock")
    hint = " 'skc import <folder>' brings in the skills of a folder." if is_bare else ""
    is_empty = not result.imported and not result.skipped
    lines = [f"Nothing to import.{hint}"] if is_empty else show_imported(result, is_preview=is_preview)
    show(arguments, result, lines)
    return 0 if result.is_success else 1
