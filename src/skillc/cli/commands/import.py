"""`skc import`: bring the skills of agents and of folders into a store, all at once."""
# ruff: noqa: N999 -- a command's module has its name

from __future__ import annotations

import os

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import ACCEPT_BLOCKS, ALLOW_HOST, allowed_hosts, read_scope
from skillc.cli.output import table
from skillc.cli.syntax import Arguments, Command
from skillc.paths import short_path

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
    scope, folders, is_preview = (
        read_scope(arguments),
        arguments.texts("folder"),
        arguments.has("dry_run"),
    )
    if arguments.has("lock") and arguments.optional("from"):
        raise arguments.error("--lock takes no --from")
    result = attended_workspace(arguments).import_skills(
        *folders,
        agents=arguments.optional("from") or "",
        scope=scope,
        from_locks=arguments.has("lock"),
        dry_run=is_preview,
        yes=arguments.has("yes"),
        accept_blocks=arguments.has("accept_blocks"),
        hosts=allowed_hosts(arguments),
    )
    imported, skipped = result.imported, result.skipped
    lines: list[str] = []
    if imported:
        rows = [
            (each.name, each.how, *(_place(path, each.name) for path in (each.source, each.destination)))
            for each in imported
        ]
        lines += table(("SKILL", "HOW", "FROM", "TO"), rows)
    if skipped:
        lines += table(("SKIPPED", "REASON"), [(short_path(each.path), each.reason) for each in skipped])
    if lines:
        moved, copied = (sum(each.how == how for each in imported) for how in ("moved", "copied"))
        verb = "would be imported" if is_preview else "imported"
        lines.append(f"{moved + copied} {verb} ({moved} moved, {copied} copied), {len(skipped)} skipped")
        if copied and not is_preview:
            lines.append("'skc build --all' builds the copies and deploys them.")
    else:
        is_bare = not folders and not arguments.has("lock")
        hint = " 'skc import <folder>' brings in the skills of a folder." if is_bare else ""
        lines = [f"Nothing to import.{hint}"]
    show(arguments, result, lines)
    return 0 if result.is_success else 1


def _place(path: str, name: str) -> str:
    """Return where a skill is, for people: of a folder of its name, the one around it."""
    folder, last = os.path.split(path)
    return f"{short_path(folder)}{os.sep}" if os.path.isabs(folder) and last == name else short_path(path)
