"""`skc add`: get skills from repositories, sites, registries, archives and folders."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import ACCEPT_BLOCKS, ACCEPT_SIGNER, ALLOW_HOST, allowed_hosts, read_scope
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc add

Shows where a skill comes from, its files, its size and what it asks for, before anything is written. Then it
is put into the store, noted in skills-lock.json, built and deployed. Its tools stay untrusted. Skills that it
needs are brought along if you agree. A broken signature is refused (E085). Without
--global or --project it goes into the project's store if there is a project, else into ~/.skillc/skills.

A source with several skills needs --skill or --all; on a terminal there is a list to choose from.

<source>... :origins  owner/repo[/path][@ref], an address (also of a SKILL.md or a marketplace.json), an
    archive, a folder, or <registry>/<id>[@version].
--skill <name>...  A skill to add, by its name or path, or a plugin. Can be repeated.
--all  Add every skill that the source has.
--target <a,b> :agents  Agents or paths to deploy to, separated by commas. Default: the agents that are
    installed.
--global  Add to ~/.skillc/skills, also in a project.
--project  Add to the project's store, .skillc/skills.
--copy  Deploy copies instead of links.
{ALLOW_HOST}
--dry-run  Say what would be added, and write nothing.
--yes  Do not ask. What the audit blocks needs --accept-blocks.
{ACCEPT_BLOCKS}
{ACCEPT_SIGNER}

$ skc add anthropics/skills --skill pdf
$ skc add https://github.com/anthropics/skills/tree/main/skills/pdf
$ skc add git@example.com:team/skills.git@v1.2 --all --global
$ skc add https://skills.example.com --dry-run
$ skc add ./pdf.zip --target claude,cursor
$ skc add clawhub:pdf@1.0.0 --yes
""")


def run(arguments: Arguments) -> int:
    scope = read_scope(arguments)
    if arguments.has("all") and arguments.texts("skill"):
        raise arguments.error("--all and --skill exclude each other")
    result = attended_workspace(arguments).add(
        *arguments.texts("source"),
        skills=arguments.texts("skill"),
        everything=arguments.has("all"),
        targets=arguments.optional("target"),
        scope=scope,
        copy=arguments.has("copy"),
        dry_run=arguments.has("dry_run"),
        yes=arguments.has("yes"),
        accept_blocks=arguments.has("accept_blocks"),
        accept_signer=arguments.has("accept_signer"),
        hosts=allowed_hosts(arguments),
    )
    show(arguments, result, result.lines())
    return 0 if result.is_success else 1
