"""`skc run`: a tool of a skill, approved, in a sandbox; the envelope is JSON on stdout."""

from __future__ import annotations

import sys
import threading

from skillc import tools
from skillc.cli import workspace
from skillc.cli.approval import Interrupts, ask_to_run
from skillc.cli.output import print_json
from skillc.cli.syntax import SKILL, Arguments, Command
from skillc.cli.terminal import has_person
from skillc.errors import SkillcError

COMMAND = Command(f"""
skc run

Prints the result as JSON, also if the command could not be started. Exits with status 0 if the command
succeeded, otherwise with 1. docs/tools.md explains approval, trust and the sandbox.

{SKILL}
<tool> :tools  A tool from 'skc tools <skill>'.
--param <k=v>... :parameters  A parameter. Repeat for more parameters, and for each item of a list.
--json <object>  Parameters as a JSON object.
--mode Global|Dev|Meeting =Global  The mode to run in.
--dry-run  Print what would run, and run nothing.
--yes  Approve this run only. Does not override a denial.
--format json|text =json  json: the result with its details. text: the output only.

$ skc run git log --param count=5
$ skc run files find --json '{{"name": "*.md"}}' --dry-run
""")


def run(arguments: Arguments) -> int:
    yes, dry_run = arguments.has("yes"), arguments.has("dry_run")
    values = tools.read_values(arguments.optional("json"), arguments.texts("param"))
    cancel = threading.Event()
    interrupts = None if dry_run else Interrupts(cancel)

    def approve(request: tools.ApprovalRequest) -> tools.Answer:
        if interrupts is None or (yes and not request.damaged):
            return tools.Answer.ONCE
        if not has_person():
            return tools.Answer.NO
        with interrupts:
            return ask_to_run(request)

    try:
        result = workspace().run(
            arguments.text("skill"),
            arguments.text("tool"),
            values,
            mode=arguments.text("mode"),
            approve=approve if yes or has_person() else None,
            dry_run=dry_run,
            cancel=cancel,
        )
    except SkillcError as error:
        if arguments.as_json and (failure := tools.Envelope.of_error(error)):
            print_json(failure.as_json())
        raise
    envelope = result.envelope
    if envelope is None:
        print_json(result.run.describe())
        return 0
    if arguments.as_json:
        print_json(envelope.as_json())
    else:
        print(envelope.output, end="")
    sys.stdout.flush()
    if envelope.interruption is not None:
        print(envelope.interruption.text(), file=sys.stderr)
    return 0 if envelope.success else 1
