"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

from skillc import compiler, install, library
from skillc.cli import show, workspace
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see
from skillc.cli.watch import watch
from skillc.errors import InvalidOption, unexpected
from skillc.text import count_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.workspace import Workspace

COMMAND = Command(
    "build",
    arguments=(
        Argument(
            "skill",
            "A skill's name, its ID in a repository, or a folder to import.",
            required=False,
            completes="skills",
        ),
    ),
    options=(
        Option("--all", "Build every skill in the project's stores and the global store."),
        Option(
            "--target",
            "Agents or paths to deploy to, separated by commas.",
            value="<a,b>",
            default="claude",
            completes="agents",
        ),
        Option(
            "--deploy",
            "Deploy to the agents' user or project directories.",
            choices=("user", "project"),
            default="user",
        ),
        Option("--global", "Write the compiled skill to ~/.skillc/runtime."),
        Option("--copy", "Deploy a copy instead of a link."),
        Option("--force", "Rebuild everything, and replace an existing skill or deploy target."),
        Option("--watch", "Rebuild whenever a file changes, until interrupted."),
        FORMAT,
    ),
    description=(
        "A folder outside of all stores is first copied into the project's store, or into ~/.skillc/skills if"
        " there is no project. Building it again copies its changes, unless the copy was edited too.\n"
        "A rebuild reads only what changed."
    ),
    examples=(
        "skc build pdf",
        "skc build ./my-skill --target claude,cursor",
        "skc build --all",
        "skc build pdf --target ./agent/skills --copy",
    ),
)


def run(arguments: Arguments) -> int:
    name = arguments.optional("skill")
    if (name is None) != arguments.has("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    here = workspace()
    options = compiler.PublishOptions(
        compiler.find_targets(arguments.text("target"), arguments.text("deploy"), here.cwd),
        to_global=arguments.has("global"),
        copy=arguments.has("copy"),
        force=arguments.has("force"),
    )
    if arguments.has("watch"):
        return watch(
            lambda: (
                list(library.stored_skills(here.cwd)) if name is None else [here.locate(name, index=False)]
            ),
            lambda skill: _show(arguments, here.build(skill, options)),
        )
    if name is None:
        return _build_all(here, options, arguments)
    return _show(arguments, here.build(here.locate(name, index=False), options))


def _show(arguments: Arguments, publication: compiler.Publication) -> int:
    show(arguments, publication.as_json, lambda: [publication.report()], "paint_report")
    return 1 if publication.failures else 0


def _build_all(here: Workspace, options: compiler.PublishOptions, arguments: Arguments) -> int:
    """Build every skill of the stores; one that fails is reported and the others are built."""
    skills, settings = list(library.stored_skills(here.cwd)), here.settings()
    results: list[compiler.Publication] = []
    errors: list[dict[str, str]] = []
    names: set[str] = set()  # of two skills with one name, agents get the one that the name means
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                deploy = skill.name not in names
                result = compiler.publish_skill(
                    skill, options, settings, here.cwd, deploy=deploy, record=False
                )
            except Exception as error:
                failure = unexpected(error)
                name = skill.name  # `skill` goes with the next release
                errors.append({"id": name, "skill": name, "code": failure.code, "message": failure.message})
                progress.say(one_line(f"{failure.line()} ({skill.source})"))
                continue
            names.add(skill.name)
            results.append(result)
            progress.clear()
            here.tell_publication(result)
    here.tell(library.record_deployments(record for result in results for record in result.records()))
    here.tell(library.check_deployments())
    failures = len(errors) + sum(bool(result.failures) for result in results)
    same = sum(result.build.status == "unchanged" for result in results)
    value = {"built": [result.as_json() for result in results], "failed": errors}
    built = f"{len(results)} of {count_of(len(skills), 'skill')} built ({same} unchanged), {failures} failed"
    show(
        arguments, lambda: value, lambda: [built if skills else install.advise_first_skill()], "paint_report"
    )
    return 1 if failures else 0
