"""`skc disable`: take a skill away from agents, and keep it."""

from __future__ import annotations

from skillc import install, library
from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.quotes import shell_quote
from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.workspace import Workspace

SKILL = Argument("skill", "A skill's name, or the path of its folder.", completes="stored")
TARGET = Option(
    "--target",
    "Agents or paths, separated by commas; without it, all.",
    value="<a,b>",
    completes="agents",
)

COMMAND = Command(
    "disable",
    arguments=(SKILL,),
    options=(TARGET, Option("--dry-run", "Say what would be taken away, and do nothing."), FORMAT),
    description=(
        "The skill stays in its store, and people can read it; builds do not deploy it until"
        " 'skc enable' gives it back. 'skc list' shows it as disabled."
    ),
    examples=("skc disable pdf", "skc disable pdf --target codex"),
)


def run(arguments: Arguments) -> int:
    here = workspace()
    skill = find_in_store(here, arguments.text("skill"))
    result = install.disable_skill(
        skill, arguments.optional("target") or "", here.cwd, dry_run=arguments.has("dry_run")
    )
    here.tell(result.diagnostics)
    verb = "Would disable" if arguments.has("dry_run") else "Disabled"
    is_same = result.was_off and not result.deployments
    start = f"'{skill.name}' was already disabled" if is_same else f"{verb} '{skill.name}'"
    lines = [f"{start}; 'skc enable {shell_quote(skill.reference)}' gives it back"]
    lines += [f"  {path}" for path in result.deployments]
    return show(arguments, result.as_json, lambda: map(one_line, lines), "paint_report")


def find_in_store(here: Workspace, name: str) -> library.Skill:
    """Return a skill of a store; only those are deployed."""
    skill = here.locate(name, index=False)
    if not skill.is_stored:
        raise InvalidOption(f"'{name}' is in no store; 'skc import' brings it into one")
    return skill
