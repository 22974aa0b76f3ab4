"""`skc diagnose`: what was repaired, quarantined or shadowed in the repositories."""

from __future__ import annotations

from skillc.cli import workspace
from skillc.cli.output import print_json
from skillc.cli.syntax import FORMAT, Arguments, Command
from skillc.text import one_line

COMMAND = Command(
    "diagnose",
    options=(FORMAT,),
    examples=("skc diagnose", "skc diagnose --format json"),
)


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    diagnostics = here.wait(here.library().source.diagnostics(), warnings=False)
    fields = ("source_name", "path", "code", "severity", "message")
    if arguments.text("format") == "json":
        rows = [{field: getattr(diagnostic, field) for field in fields} for diagnostic in diagnostics]
        print_json({"diagnostics": rows})
        return 0
    for d in diagnostics:
        print(one_line(f"{d.severity}[{d.code}]: {d.source_name}: {d.path}: {d.message}"))
    if not diagnostics:
        print("Nothing to report.")
    return 0
