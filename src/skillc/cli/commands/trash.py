"""`skc trash`: what skc replaced or removed: listed, brought back, deleted for good [D52]."""

from __future__ import annotations

from skillc import install, trash
from skillc.cli import show
from skillc.cli.approval import confirm, terminal
from skillc.cli.output import table
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see, unknown_choice
from skillc.errors import InvalidOption
from skillc.text import count_of, one_line

ACTIONS = ("list", "restore", "empty")

COMMAND = Command(
    "trash",
    arguments=(
        Argument("action", "list, restore or empty.", completes=" ".join(ACTIONS)),
        Argument(
            "item", "With restore: an ID, a path, or its last part.", required=False, completes="restorable"
        ),
    ),
    options=(Option("--yes", "With empty: delete without asking."), FORMAT),
    description=(
        "What skc replaces or removes and did not write itself goes to ~/.skillc/trash. 'restore' puts it"
        " back where it was, unless something else is there now. 'empty' deletes everything for good."
    ),
    examples=("skc trash list", "skc trash restore pdf", "skc trash empty"),
)


def run(arguments: Arguments) -> int:
    action, name = arguments.text("action"), arguments.optional("item")
    if action not in ACTIONS:
        raise unknown_choice("<action>", action, ACTIONS)
    if (name is None) == (action == "restore"):
        problem = (
            "restore needs an <item>; 'skc trash list' shows them"
            if name is None
            else f"{action} takes no <item>"
        )
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    if action == "restore":
        return restore(arguments, name or "")
    return _list(arguments) if action == "list" else _empty(arguments)


def restore(arguments: Arguments, name: str) -> int:
    """Put an item back and say where."""
    item = install.restore_item(name)
    return show(
        arguments,
        lambda: {"restored": item.as_json()},
        lambda: [one_line(f"Restored {item.origin}")],
        "paint_report",
    )


def _list(arguments: Arguments) -> int:
    entries = [{**item.as_json(), "size": install.measure_size(item.path)} for item in trash.items()]
    rows = [(e["id"], e["when"], f"{e['size']:,}", e["from"]) for e in entries]
    lines = table(("ID", "WHEN", "BYTES", "FROM"), [tuple(map(str, row)) for row in rows])
    return show(
        arguments, lambda: {"entries": entries}, lambda: lines if entries else ["The trash is empty."]
    )


def _empty(arguments: Arguments) -> int:
    items = trash.items()
    size = sum(install.measure_size(item.path) for item in items)
    if items and not arguments.has("yes"):
        text = f"{count_of(len(items), 'item')}, {size:,} bytes. Deleted items can't be brought back."
        if not (terminal() and confirm(text, "Delete it?" if len(items) == 1 else "Delete them all?")):
            raise InvalidOption("nothing deleted; 'skc trash empty --yes' deletes without asking")
    for item in items:
        trash.delete(item)
    text = f"Deleted {count_of(len(items), 'item')} ({size:,} bytes)" if items else "The trash is empty."
    return show(
        arguments, lambda: {"deleted": [item.as_json() for item in items]}, lambda: [text], "paint_report"
    )
