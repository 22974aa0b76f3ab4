"""`skc update`: bring locked skills up to date, with your edits."""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import ACCEPT_BLOCKS, ALLOW_HOST, GLOBAL, LOCKED, MIN_AGE, NO_LOCK, allowed_hosts
from skillc.cli.syntax import Arguments, Command
from skillc.text import count_of, one_line, terminal_text

KINDS = ("hosts", "commands", "environment", "writes", "installs")
COMMAND = Command(f"""
skc update

Takes the latest version of each locked skill: of a branch its last commit. Your edits are merged; where both
changed the same lines, the file has both between marks (E082), and your version from before is in the trash.
Says which files change and what the skill asks for now that it did not before. Stops at findings of the audit
that block (E084). Pinned skills stay.

<skill>@<version> goes to that version, tag, branch or commit, up or down, and stays there until another is
asked for; a branch moves. '@HEAD' is git's default branch again, '@latest' the newest version of a registry.

{LOCKED}
--diff  Show what changes in the text.
{MIN_AGE}
{ACCEPT_BLOCKS}
--yes  Do not ask. What the audit blocks needs --accept-blocks.
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
        min_age=arguments.optional("min_age") or "",
        with_diff=arguments.has("diff"),
        dry_run=is_preview,
        accept_blocks=arguments.has("accept_blocks"),
        hosts=allowed_hosts(arguments),
    )
    lines = [line for update in result.skills for line in _describe(update, is_preview)]
    lines += [f"{count_of(len(result.unchanged), 'skill')} up to date"] if result.unchanged else []
    show(arguments, result, lines if lines or result.failures or result.diagnostics else [NO_LOCK])
    here.tell(result.diagnostics, result.failures)
    return 1 if result.failures else 0


def _describe(update: install.Update, is_preview: bool) -> list[str]:
    """Return what an update changes, in lines for people."""
    latest = update.latest
    verb = "Would update" if is_preview else "Updated"
    suffix = ", merged with your edits" if latest.is_edited else ""
    lines = [f"{verb} '{update.name}': {latest.move}{suffix}"]
    lines += [f"  {change}: {name}" for change, name in update.files]
    for sign, asks in (("now asks for", update.asks.added), ("no longer asks for", update.asks.removed)):
        values = {kind: getattr(asks, kind) for kind in KINDS}
        lines += [f"  {sign} {kind}: {', '.join(names)}" for kind, names in values.items() if names]
    lines += [f"  {f.level}: {f.rule.id} {f.file}:{f.line}: {f.message}" for f in update.asks.findings]
    lines += [f"  conflict: {name}" for name in update.conflicts]
    lines = [one_line(line) for line in lines]
    return lines + [terminal_text(line) for line in update.diff.split("\n") if update.diff]
