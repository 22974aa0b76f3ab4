"""`skc trash` and `skc restore`: what skc replaced or removed, to list, bring back or delete [D52]."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.approval import attended_workspace
from skillc.cli.lines import Table
from skillc.cli.output import note_new_name
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action
from skillc.text import count_of, one_line

COMMANDS = {
    "trash": Command("""
skc trash list
skc trash empty
skc trash restore <item>

What skc replaces or removes and did not write itself goes to ~/.skillc/trash. 'skc restore' puts it back
where it was, unless something else is there now. 'empty' deletes everything for good.

[action] :list,empty  list or empty. Default: list.
[item] :restorable  With restore: a name, a path, or an ID.
--yes @empty  delete without asking.

$ skc trash list
$ skc trash empty
"""),
    "restore": Command("""
skc restore

A skill comes back with its entry in the lock, and to the agents that had it. 'skc trash list' shows what is
in the trash.

<item> :trash  What to bring back: a skill's name, a path, or an ID of 'skc trash list'.

$ skc restore pdf
"""),
}


def run(arguments: Arguments) -> int:
    if arguments.command.name == "restore":
        return _restore(arguments)
    action = check_action(arguments)
    if action == "restore":
        note_new_name("trash restore", "restore")
    return {"list": _list, "restore": _restore, "empty": _empty}[action](arguments)


def _restore(arguments: Arguments) -> int:
    result = workspace().restore(arguments.text("item"))
    show(arguments, result, map(one_line, result.lines()))
    return 0 if result.is_success else 1


def _list(arguments: Arguments) -> int:
    contents = workspace().trash()
    rows = [(item.id, item.when, f"{item.size:,}", item.origin) for item in contents.entries]
    lines = [Table(("ID", "WHEN", "BYTES", "FROM"), rows)] if rows else ["The trash is empty."]
    return show(arguments, contents, lines)


def _empty(arguments: Arguments) -> int:
    result = attended_workspace(arguments).empty_trash(yes=arguments.has("yes"))
    amount = f"{count_of(len(result.deleted), 'item')} ({result.size:,} bytes)"
    text = f"Deleted {amount}" if result.deleted else "The trash is empty."
    return show(arguments, result, [text])
