"""`skc update`: bring locked skills up to date, with your edits."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import (
    ACCEPT_BLOCKS,
    ACCEPT_SIGNER,
    ALLOW_HOST,
    GLOBAL,
    LOCKED,
    MIN_AGE,
    NO_LOCK,
    allowed_hosts,
)
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc update

Takes the latest version of each locked skill: of a branch its last commit. Your edits are merged; where both
changed the same lines, the file has both between marks (E082), and your version from before is in the trash.
Says which files change and what the skill asks for now that it did not before. Stops at findings of the audit
that block (E084), and asks about another signer than before (E086). Pinned skills stay.

<skill>@<version> goes to that version, tag, branch or commit, up or down, and stays there until another is
asked for; a branch moves. '@HEAD' is git's default branch again, '@latest' the newest version of a registry.

{LOCKED}
--diff  Show what changes in the text.
{MIN_AGE}
{ACCEPT_BLOCKS}
{ACCEPT_SIGNER}
--yes  For scripts: changes nothing, because nothing is asked but whether to accept a signer.
--dry-run  Say what would change, and do nothing.
{GLOBAL}
{ALLOW_HOST}

$ skc update
$ skc update pdf@v1.2
$ skc update pdf --diff --dry-run
$ skc update --min-age 3d
""")


def run(arguments: Arguments) -> int:
    is_preview = arguments.has("dry_run")
    here = attended_workspace(arguments)
    result = here.update(
        *arguments.texts("skill"),
        is_global=arguments.has("global"),
        min_age=arguments.text("min_age"),
        with_diff=arguments.has("diff"),
        dry_run=is_preview,
        accept_blocks=arguments.has("accept_blocks"),
        accept_signer=arguments.has("accept_signer"),
        hosts=allowed_hosts(arguments),
    )
    lines = [line for update in result.changes for line in update.lines(is_preview)]
    lines += result.same()
    show(arguments, result, lines if lines or result.failures or result.diagnostics else [NO_LOCK])
    here.tell(result.diagnostics, result.failures)
    return 1 if result.failures else 0
