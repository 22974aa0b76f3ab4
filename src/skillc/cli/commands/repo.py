"""`skc repo`: the repositories that skills come from."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command

COMMAND = Command(
    "repo",
    "List the repositories that skills come from, in order of precedence.",
    arguments=(Argument("action", "list", completes="list"),),
    options=(FORMAT,),
    description="They are configured in .skillc/skills.toml of the project and of the home directory.",
    examples=("skc repo list",),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.printing import print_json, print_table
    from skillc.errors import InvalidOption

    if arguments.text("action") != "list":
        raise InvalidOption(f'<action> takes list, not "{arguments.text("action")}"')
    source, _ = prompting.library()
    states = prompting.run(source.states())
    if arguments.text("format") == "json":
        fields = ("name", "type", "status", "skills", "quarantined", "shadowed", "error")
        print_json({"repositories": [{field: getattr(state, field) for field in fields} for state in states]})
        return 0
    rows = [
        (s.name, s.type, s.status, str(s.skills), str(s.quarantined), str(s.shadowed), s.error or "")
        for s in states
    ]
    print_table(("REPOSITORY", "TYPE", "STATUS", "SKILLS", "QUARANTINED", "SHADOWED", "ERROR"), rows)
    return 0
