"""`skc lock`: show skills-lock.json, or write its skills as a list of parts."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.commands import verify
from skillc.cli.lines import Table
from skillc.cli.options import GLOBAL, NO_LOCK
from skillc.cli.output import note_new_name, print_json
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action

COMMAND = Command(f"""
skc lock
skc lock export

Lists the skills of skills-lock.json with where they come from. 'export' prints them as parts, with package
URLs, digests, licences and signers, in JSON of CycloneDX 1.6.

[action] :export  export.
--check  The old name of 'skc verify'.
{GLOBAL}
--format text|json|cyclonedx =text  cyclonedx is what 'export' prints.

$ skc lock
$ skc lock --global
$ skc lock export --format cyclonedx > skills.cdx.json
""")


def run(arguments: Arguments) -> int:
    if arguments.has("check"):
        note_new_name("lock --check", "verify")
        return verify.verify(arguments)
    if check_action(arguments) == "export":
        print_json(workspace().export_parts(is_global=arguments.has("global")))
        return 0
    result = workspace().locked(is_global=arguments.has("global"))
    rows = [(e.id, e.source, e.ref or "", (e.commit or "")[:12], "pinned" * e.pinned) for e in result.skills]
    lines = [Table(("SKILL", "SOURCE", "REF", "COMMIT", ""), rows)] if rows else [NO_LOCK]
    return show(arguments, result, lines)
