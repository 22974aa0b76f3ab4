"""`skc import`: bring the skills of agents and of folders into a store, all at once."""
# ruff: noqa: N999 -- a command's module has its name

from __future__ import annotations

import os

from skillc import install  # lazy: what downloads is loaded for --lock alone
from skillc.cli import show, workspace
from skillc.cli.approval import confirm, terminal
from skillc.cli.commands.install import ACCEPT_BLOCKS
from skillc.cli.hosts import ALLOW_HOST, allowed_hosts
from skillc.cli.output import table
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see
from skillc.errors import InvalidOption
from skillc.paths import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.workspace import Workspace

NOTHING = "Nothing to import."
COMMAND = Command(
    "import",
    arguments=(Argument("folder", "A skill, or a folder with skills in it.", required=False, repeat=True),),
    options=(
        Option(
            "--from",
            "Agents whose directories to import, separated by commas, or all.",
            value="<a,b>",
            completes="agents",
        ),
        Option("--lock", "Read lock files of other tools, and bring in the skills they name."),
        ALLOW_HOST,
        Option("--global", "Import copies into ~/.skillc/skills, also in a project."),
        Option("--project", "Import the project's directories of agents, and into the project's store."),
        ACCEPT_BLOCKS,
        Option("--dry-run", "Say what would be done, and do nothing."),
        Option("--yes", "Do not ask first. Without a terminal, nothing is asked."),
        FORMAT,
    ),
    description=(
        "Skills in agents' directories are moved into the store and built; a link to the compiled skill takes"
        " the folder's place, so that the agent has it all the time. Skills in other folders are copied;"
        " 'skc build --all' deploys them. Without a folder and --from, all agents are imported.\n"
        "Links, what skc deployed, broken skills and names that are taken are skipped, with the reason.\n"
        "With --lock, <folder> is a lock file: skills-lock.json, .skill-lock.json or .clawhub/lock.json;"
        " without one, those of the project and of the home. Skills are downloaded at the versions that the"
        " lock states, and noted in skills-lock.json."
    ),
    examples=(
        "skc import --dry-run",
        "skc import --from claude,codex",
        "skc import ~/work/my-skills",
        "skc import --project --from claude",
        "skc import --lock .clawhub/lock.json",
    ),
)


def run(arguments: Arguments) -> int:
    if arguments.has("global") and arguments.has("project"):
        raise InvalidOption(f"--global and --project exclude each other; {see(COMMAND)}")
    here = workspace()
    scope = "project" if arguments.has("project") else "global" if arguments.has("global") else ""
    if arguments.has("lock"):
        return _import_locks(here, arguments, scope)
    plan = install.plan_import(arguments.texts("folder"), arguments.optional("from") or "", here.cwd, scope)
    if arguments.has("dry_run"):
        return _show(arguments, install.preview(plan), "would be ")
    if not arguments.has("yes") and terminal() and not _agree(plan):
        raise InvalidOption("nothing imported; 'skc import --yes' imports without asking")
    with Progress(len(plan.steps), "skills") as progress:
        intake = install.bring_in(plan, here.settings(), here.cwd, progress.step)
    here.tell(intake.diagnostics)
    for step, error in intake.failures:
        here.report(f"{error.line()} ({step.source})")
    for line in intake.build_failures:
        here.report(line)
    _show(arguments, intake, "")
    return 0 if intake.is_success else 1


def _import_locks(here: Workspace, arguments: Arguments, scope: str) -> int:
    """Bring in what lock files name; the home's file goes into the home's store."""
    if arguments.optional("from"):
        raise InvalidOption(f"--lock takes no --from; {see(COMMAND)}")
    folders = [os.path.join(here.cwd, os.path.expanduser(name)) for name in arguments.texts("folder")]
    files = folders or install.find_locks(here.cwd, scope)
    if not files:
        raise InvalidOption("there is no lock file here; 'skc import --lock <file>' names one")
    pins = [pin for file in files for pin in install.read_pins(file)]
    intake = install.Intake()
    for is_global in (False, True):
        root = install.find_root(here.cwd, is_global=is_global or scope == "global")
        store = install.Store("global" if root == home() else "project", root)
        some = [pin for pin in pins if install.is_of_home(pin) == is_global]
        if arguments.has("dry_run"):
            intake.add(install.preview_pins(some, store))
            continue
        with Progress(len(some), "skills") as progress:
            result, diagnostics = install.bring_in_pins(
                some,
                store,
                accept=arguments.has("accept_blocks"),
                hosts=allowed_hosts(arguments),
                tell_step=progress.step,
            )
        here.tell(diagnostics)
        intake.add(result)
    return _show(arguments, intake, "would be " if arguments.has("dry_run") else "")


def _agree(plan: install.Plan) -> bool:
    """Show what is about to move out of agents' directories, and ask; copies need no answer."""
    moves = [step for step in plan.steps if step.target]
    if not moves:
        return True
    lines = [f"{step.source} -> {step.destination}" for step in moves]
    text = "\n".join([*lines, f"{len(moves)} folders of agents go into the store; links take their places."])
    return confirm(text, "Move them?")


def _show(arguments: Arguments, intake: install.Intake, verb: str) -> int:
    lines = _lines(intake, verb)
    if lines == [NOTHING] and not arguments.texts("folder") and not arguments.has("lock"):
        lines = [f"{NOTHING} 'skc import <folder>' brings in the skills of a folder."]
    return show(arguments, intake.as_json, lambda: lines)


def _lines(intake: install.Intake, verb: str) -> list[str]:
    value = intake.as_json()
    lines: list[str] = []
    if value["imported"]:
        rows = [(e["id"], e["how"], e["from"], e["to"]) for e in value["imported"]]
        lines += table(("SKILL", "HOW", "FROM", "TO"), rows)
    if value["skipped"]:
        lines += table(("SKIPPED", "REASON"), [(e["path"], e["reason"]) for e in value["skipped"]])
    if not lines:
        return [NOTHING]
    count = [sum(entry["how"] == how for entry in value["imported"]) for how in ("moved", "copied")]
    lines.append(
        f"{sum(count)} {verb}imported ({count[0]} moved, {count[1]} copied), {len(value['skipped'])} skipped"
    )
    if count[1] and not verb:
        lines.append("'skc build --all' builds the copies and deploys them.")
    return lines
