"""`skc run`: a tool of a skill, approved, in a sandbox; the envelope is JSON on stdout."""

from __future__ import annotations

import sys

from skillc.cli.syntax import Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Any

    from skillc.tools import Answer, ApprovalRequest, Envelope, Run, Tool
    from skillc.usage.log import Value

COMMAND = Command(
    "run",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
        Argument("tool", "A tool from 'skc tools <skill>'."),
    ),
    options=(
        Option(
            "--param",
            "A parameter. Repeat for more parameters, and for each item of a list.",
            value="<k=v>",
            repeat=True,
        ),
        Option("--json", "Parameters as a JSON object.", value="<object>"),
        Option("--mode", "The mode to run in.", choices=("Global", "Dev", "Meeting"), default="Global"),
        Option("--dry-run", "Print what would run, and run nothing."),
        Option("--yes", "Approve this run only. Does not override a denial."),
        Option(
            "--format",
            "json: the result with its details. text: the output only.",
            choices=("json", "text"),
            default="json",
        ),
    ),
    description=(
        "Prints the result as JSON. Exits with status 0 if the command succeeded, otherwise with 1."
        " docs/tools.md explains approval, trust and the sandbox."
    ),
    examples=(
        "skc run git log --param count=5",
        'skc run files find --json \'{"name": "*.md"}\' --dry-run',
    ),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.output import print_json, warn
    from skillc.paths import current_directory
    from skillc.tools import find_skill, prepare
    from skillc.usage import logged

    given = _values(arguments)
    cwd = current_directory()
    found = find_skill(arguments.text("skill"), cwd)
    warn(found.diagnostics)
    tool, mode = arguments.text("tool"), arguments.text("mode")
    noted: dict[str, Value] = {"tool": tool, "mode": mode, "dry_run": arguments.given("dry_run")}

    def operation() -> tuple[Run, Envelope | None]:
        prepared = prepare(found, tool, given, mode=mode, cwd=cwd)
        warn(prepared.diagnostics)
        return prepared, None if arguments.given("dry_run") else _run(prepared, arguments.given("yes"))

    (prepared, envelope), noticed = logged(
        found.stored(), "run", noted, cwd, operation, lambda done: {"success": _succeeded(done[1])}
    )
    warn(noticed)
    if envelope is None:
        print_json(prepared.as_json())
        return 0
    if arguments.text("format") == "json":
        print_json(envelope.as_json())
    else:
        print(envelope.output, end="")
    sys.stdout.flush()
    if envelope.stopped is not None:
        print(envelope.stopped.text(), file=sys.stderr)
    return 0 if envelope.success else 1


def _succeeded(envelope: Envelope | None) -> bool | None:
    return None if envelope is None else envelope.success


def _run(prepared: Run, yes: bool) -> Envelope:
    """Run it; an interrupt stops the command, and its envelope is printed all the same."""
    import threading

    from skillc.cli.approval import ask_to_run, terminal
    from skillc.tools import Answer, run_tool

    cancel = threading.Event()
    asking = _Interrupts(cancel)

    def approve(request: ApprovalRequest) -> Answer:
        if yes:
            return Answer.ONCE
        with asking:
            return ask_to_run(request)

    return run_tool(prepared, approve if yes or terminal() else None, cancel=cancel)


class _Interrupts:
    """SIGINT and SIGTERM cancel the run; while a question is open they end the command instead."""

    def __init__(self, cancel: threading.Event) -> None:
        import signal

        self._cancel = cancel
        self._asking = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._met)

    def _met(self, number: int, frame: object) -> None:
        if self._asking:
            raise KeyboardInterrupt
        self._cancel.set()

    def __enter__(self) -> None:
        self._asking = True

    def __exit__(self, *_: object) -> None:
        self._asking = False


def _values(arguments: Arguments) -> Callable[[Tool], dict[str, Any]]:
    """The parameters that were given, once the tool's types are known."""
    from skillc.errors import InvalidOption

    whole = _object(arguments.optional("json"))
    pairs: list[tuple[str, str]] = []
    for text in arguments.texts("param"):
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f'--param takes <name>=<value>, not "{text}"')
        if name in whole:
            raise InvalidOption(f"'{name}' is given by --param and by --json")
        pairs.append((name, value))

    def values(tool: Tool) -> dict[str, Any]:
        from skillc.tools import values_from_text

        return whole | values_from_text(tool.parameters, pairs)

    return values


def _object(text: str | None) -> dict[str, Any]:
    import json

    from skillc.errors import InvalidOption

    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidOption(f"--json is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidOption("--json takes an object, such as '{\"count\": 5}'")
    return value
