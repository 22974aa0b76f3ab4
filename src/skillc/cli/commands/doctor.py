"""`skc doctor`: what is wrong with this installation, and the command that puts it right."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillc.cli import show, workspace
from skillc.cli.commands.diagnose import FILTERS, show_findings
from skillc.cli.lines import BAD, CODE, GOOD, WARNING, WHOLE, WORDS, Line, Mark
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import see
from skillc.errors import InvalidOption, SkillcError
from skillc.text import count_of, one_line

if TYPE_CHECKING:
    from skillc.doctor import Examination

MAX_LINES = 20  # findings of one check, for people
STYLES = {"ok": GOOD, "warning": WARNING, "error": BAD}

COMMAND = Command(f"""
skc doctor

Checks whether agents find skc, what their directories and configurations hold, stores, builds and
deployments, configured repositories, permissions, damaged files, and space. Each finding has the command that
puts it right. No host is asked but those of configured repositories. The status is 1 if a check found an
error. docs/doctor.md lists the checks.

--library is about the skills of all repositories; --repository, --code and --errors go with it.

--fix  Repair what is safe: ghosts, our links that lead nowhere, stale builds, permissions, leftovers.
--library  List instead which skills were repaired, quarantined, shadowed or hidden.
{FILTERS}

$ skc doctor
$ skc doctor --fix
$ skc doctor --library
$ skc doctor --library --code W022
""")


def run(arguments: Arguments) -> int:
    if arguments.has("library"):
        return show_findings(arguments)
    surplus = next(filter(arguments.is_given, ("repository", "code", "errors")), "")
    if surplus:
        raise InvalidOption(f"--{surplus} goes with --library; {see(COMMAND)}")
    result = workspace().doctor(fix=arguments.has("fix"))
    show(arguments, result, _lines(result))
    if result.errors:
        failure = SkillcError(f"{count_of(result.errors, 'check')} failed; 'fix:' names what to do")
        sys.stdout.flush()
        print(failure.line(), file=sys.stderr)
        return 1
    return 0


def _lines(examination: Examination) -> Iterator[str]:
    repairs, failures = examination.fixed or (), examination.not_fixed or ()
    for text in repairs:
        yield one_line(f"Fixed: {text}")
    for text in failures:
        yield one_line(f"Not fixed: {text}")
    if repairs or failures:
        yield ""
    counts: Counter[str] = Counter()
    for check in examination.checks:
        counts[check.name] += 1
        if counts[check.name] > MAX_LINES:
            continue
        status = Mark(f"{check.status:<8}", STYLES[check.status])
        yield Line(status, one_line(f" {check.name:<14} {check.message}"), hang=24, breaks=WORDS)
        if check.fix:
            yield Line(f"{'':<23} fix: ", Mark(one_line(check.fix), CODE), breaks=WHOLE)
    for name, number in counts.items():
        if number > MAX_LINES:
            yield f"… and {number - MAX_LINES} more of '{name}'; --format json has them all"
    repairable = sum(check.repair is not None for check in examination.checks)
    hint = f"; 'skc doctor --fix' puts {repairable} of them right" if repairable else ""
    errors, warnings = count_of(examination.errors, "error"), count_of(examination.warnings, "warning")
    yield f"{errors}, {warnings}{hint}"
