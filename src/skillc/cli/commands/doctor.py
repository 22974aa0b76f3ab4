"""`skc doctor`: what is wrong with this installation, and the command that puts it right."""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.findings import show_examination, show_library_findings
from skillc.cli.output import note_new_name
from skillc.cli.syntax import Arguments, Command
from skillc.errors import SkillcError
from skillc.text import count_of

FILTERS = """\
--repository <name> :repositories  Only of this repository.
--code <code>... :codes  Only with this code, such as W011. Can be repeated.
--errors  Only errors, which are skills that can't be used."""
COMMANDS = {
    "diagnose": Command(f"""
skc diagnose

{FILTERS}

$ skc diagnose --repository team --errors
"""),
    "doctor": Command(f"""
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
"""),
}


def run(arguments: Arguments) -> int:
    if arguments.command.name == "diagnose":
        note_new_name("diagnose", "doctor --library")
        return _show_library(arguments)
    if arguments.has("library"):
        if arguments.has("fix"):
            raise arguments.error("--library and --fix exclude each other")
        return _show_library(arguments)
    if option := arguments.first_given("repository", "code", "errors"):
        raise arguments.error(f"{option} goes with --library")
    result = workspace().doctor(fix=arguments.has("fix"))
    show(arguments, result, show_examination(result))
    if result.errors:
        failure = SkillcError(f"{count_of(result.errors, 'check')} failed; 'fix:' names what to do")
        sys.stdout.flush()
        print(failure.line(), file=sys.stderr)
        return 1
    return 0


def _show_library(arguments: Arguments) -> int:
    """Print what was found in the library, how many there are of each code, and what to do."""
    result = workspace(progress=True).diagnose(
        repository=arguments.optional("repository"),
        codes=arguments.texts("code"),
        errors=arguments.has("errors"),
    )
    return show(arguments, result, show_library_findings(result))
