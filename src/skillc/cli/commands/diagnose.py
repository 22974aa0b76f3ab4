"""`skc diagnose`: what was repaired, quarantined or shadowed in the repositories."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Arguments, Command

COMMAND = Command(
    "diagnose",
    "List what was repaired, quarantined or shadowed in the repositories.",
    options=(FORMAT,),
    examples=("skc diagnose", "skc diagnose --format json"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json
    from skillc.text import one_line

    source, _ = prompting.library()
    found = prompting.run(source.diagnostics())
    fields = ("source_name", "path", "code", "severity", "message")
    if arguments.text("format") == "json":
        print_json({"diagnostics": [{field: getattr(d, field) for field in fields} for d in found]})
        return 0
    for d in found:
        print(one_line(f"{d.severity}[{d.code}]: {d.source_name}: {d.path}: {d.message}"))
    if not found:
        print("Nothing to report.")
    return 0
