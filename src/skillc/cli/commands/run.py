"""`skc run`: a tool of a skill, approved, in a sandbox; the envelope is JSON on stdout."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from skillc import tools
from skillc.cli import workspace
from skillc.cli.approval import ask_to_run
from skillc.cli.output import print_json
from skillc.cli.syntax import SKILL, Arguments, Command
from skillc.cli.terminal import has_person
from skillc.errors import InvalidOption, SkillcError

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
    values = _values(arguments)
    cancel = threading.Event()
    interrupts = None if dry_run else _Interrupts(cancel)

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


class _Interrupts:
    """SIGINT and SIGTERM cancel the run; while a question is open they end the command instead."""

    def __init__(self, cancel: threading.Event) -> None:
        self._cancel = cancel
        self._question = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self)

    def __call__(self, number: int, frame: object) -> None:
        if self._question:
            raise KeyboardInterrupt
        self._cancel.set()

    def __enter__(self) -> None:
        self._question = True

    def __exit__(self, *_: object) -> None:
        self._question = False


def _values(arguments: Arguments) -> Callable[[tools.Tool], dict[str, Any]]:
    """Return the parameters of the command line, as a function of the tool, which has their types."""
    given = arguments.optional("json")
    try:
        values = {} if given is None else json.loads(given)
    except (ValueError, RecursionError) as error:
        if "int_max_str_digits" in str(error):
            from skillc.skills.tools import MAX_DIGITS  # help needs no tools

            raise InvalidOption(f"--json has an integer of more than {MAX_DIGITS} digits") from None
        raise InvalidOption(f"--json is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidOption("--json takes an object, such as '{\"count\": 5}'")
    pairs: list[tuple[str, str]] = []
    for text in arguments.texts("param"):
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f"--param takes <name>=<value>, not '{text}'")
        if name in values:
            raise InvalidOption(f"'{name}' is given by --param and by --json")
        pairs.append((name, value))
    return lambda tool: values | tools.parse_values(tool.parameters, pairs)
