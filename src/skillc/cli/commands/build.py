"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

from skillc.cli import workspace
from skillc.cli.output import print_json
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option, see
from skillc.cli.watch import watch
from skillc.compiler import Published, Publisher, targets
from skillc.errors import InvalidOption, unexpected
from skillc.library import Skill, stored_skills
from skillc.text import one_line
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
        " there is no project.\n"
        "The time of a rebuild is in proportion to what changed."
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
    if (name is None) != arguments.given("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    here = workspace()
    publisher = Publisher(
        here.settings(),
        here.cwd,
        targets(arguments.text("target"), arguments.text("deploy"), here.cwd),
        to_global=arguments.given("global"),
        copy=arguments.given("copy"),
        force=arguments.given("force"),
    )
    as_json = arguments.text("format") == "json"
    if arguments.given("watch"):
        return watch(
            lambda: list(stored_skills(here.cwd)) if name is None else [here.locate(name, index=False)],
            lambda skill: _build(here, skill, publisher, as_json),
        )
    if name is None:
        return _build_all(here, publisher, as_json)
    return _build(here, here.locate(name, index=False), publisher, as_json)


def _build(here: Workspace, skill: Skill, publisher: Publisher, as_json: bool) -> int:
    published = here.build(skill, publisher)
    if as_json:
        print_json(published.as_json())
    else:
        print(published.report())
    return 1 if published.failed else 0


def _build_all(here: Workspace, publisher: Publisher, as_json: bool) -> int:
    """Build every skill of the stores; one that fails is reported and the others are built."""
    skills = list(stored_skills(here.cwd))
    results: list[Published] = []
    errors: list[dict[str, str]] = []
    names: set[str] = set()  # of two skills with one name, agents get the one that the name means
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                published = publisher.run(skill, to_agents=skill.name not in names)
            except Exception as error:
                coded = unexpected(error)
                errors.append({"skill": skill.name, "code": coded.code, "message": coded.message})
                progress.say(one_line(f"{coded.line()} ({skill.source})"))
                continue
            names.add(skill.name)
            results.append(published)
            progress.clear()
            here.tell_published(published)
    failures = len(errors) + sum(bool(published.failed) for published in results)
    if as_json:
        print_json({"built": [published.as_json() for published in results], "failed": errors})
    else:
        unchanged = sum(published.built.status == "unchanged" for published in results)
        print(f"{len(results)} of {len(skills)} skills built ({unchanged} unchanged), {failures} failed")
    return 1 if failures else 0
