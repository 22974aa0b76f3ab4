"""`skc update`: bring locked skills up to date, with your edits."""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.commands.install import ACCEPT_BLOCKS, GLOBAL, NO_LOCK
from skillc.cli.hosts import ALLOW_HOST, allowed_hosts
from skillc.cli.output import report_all
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.errors import SkillNotFound
from skillc.paths import current_directory
from skillc.spelling import suggest
from skillc.text import count_of, one_line, terminal_text

MIN_AGE = Option(
    "--min-age", "Ignore versions that are younger than this, such as 12h, 3d or 2w.", value="<age>"
)
NAMES = Argument(
    "skill", "Skills of the lock. Default: all.", required=False, repeat=True, completes="locked"
)
KINDS = ("hosts", "commands", "environment", "writes", "installs")

COMMAND = Command(
    "update",
    arguments=(NAMES,),
    options=(
        Option("--diff", "Show what changes in the text."),
        MIN_AGE,
        ACCEPT_BLOCKS,
        Option("--yes", "Do not ask. What the audit blocks needs --accept-blocks."),
        Option("--dry-run", "Say what would change, and do nothing."),
        GLOBAL,
        ALLOW_HOST,
        FORMAT,
    ),
    description=(
        "Takes the latest version of each locked skill: of a branch its last commit. Your edits are merged;"
        " where both changed the same lines, the file has both between marks (E082), and your version from"
        " before is in the trash. Says which files change and what the skill asks for now that it did not"
        " before. Stops at findings of the audit that block (E084). Pinned skills stay."
    ),
    examples=("skc update", "skc update pdf --diff --dry-run", "skc update --min-age 3d"),
)


def run(arguments: Arguments) -> int:
    root = install.find_root(current_directory(), is_global=arguments.has("global"))
    age = arguments.optional("min_age")
    is_preview = arguments.has("dry_run")
    entries = find_entries(root, arguments.texts("skill"))
    with Progress(len(entries), "skills") as progress:
        result = install.update_locked(
            root,
            entries,
            min_age=install.parse_age(age) if age else 0,
            with_diff=arguments.has("diff"),
            dry_run=is_preview,
            accept=arguments.has("accept_blocks"),
            hosts=allowed_hosts(arguments),
            tell_step=progress.step,
        )
    show(arguments, result.as_json, lambda: _lines(result, is_preview), "paint_report")
    report_all(result.diagnostics, result.failures)
    return 1 if result.failures else 0


def find_entries(root: str, names: list[str]) -> list[install.LockEntry]:
    """Return the entries of a lock with these names, or all; raises SkillNotFound."""
    entries = install.read_lock(root)
    for name in names:
        if name not in entries:
            error = SkillNotFound(name, "it is not in the lock", suggest(name, entries))
            error.details = error.details or "hint: skills that 'skc add' brought are; 'skc lock' lists them"
            raise error
    return [entries[name] for name in dict.fromkeys(names or sorted(entries))]


def _lines(result: install.Updates, is_preview: bool) -> list[str]:
    lines = [line for update in result.skills for line in _describe(update, is_preview)]
    if result.unchanged:
        lines.append(f"{count_of(len(result.unchanged), 'skill')} up to date")
    return lines if lines or result.failures or result.diagnostics else [NO_LOCK]


def _describe(update: install.Update, is_preview: bool) -> list[str]:
    """Return what an update changes, in lines for people."""
    latest = update.latest
    verb = "Would update" if is_preview else "Updated"
    suffix = ", merged with your edits" if latest.is_edited else ""
    lines = [f"{verb} '{update.name}': {latest.current_name} -> {latest.latest_name}{suffix}"]
    lines += [f"  {change}: {name}" for change, name in update.files]
    for sign, asks in (("now asks for", update.asks.added), ("no longer asks for", update.asks.removed)):
        for kind in KINDS:
            values = getattr(asks, kind)
            lines += [f"  {sign} {kind}: {', '.join(values)}"] if values else []
    lines += [f"  {f.level}: {f.rule.id} {f.file}:{f.line}: {f.message}" for f in update.asks.findings]
    lines += [f"  conflict: {name}" for name in update.conflicts]
    lines = [one_line(line) for line in lines]
    return lines + [terminal_text(line) for line in update.diff.split("\n") if update.diff]
