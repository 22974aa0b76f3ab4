"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from skillc.compiler import Publication, PublishOptions
    from skillc.library import Skill
    from skillc.usage import LogValue

COMMAND = Command(
    "build",
    "Compile a skill into a stub with an index, and deploy it to agents.",
    arguments=(
        Argument(
            "skill",
            "A skill's name, its ID in a repository, or a folder to import.",
            required=False,
            completes="skills",
        ),
    ),
    options=(
        Option("--all", "Build every skill of the project's stores and the global one."),
        Option(
            "--target", "Agents or paths to deploy to.", value="<a,b>", default="claude", completes="agents"
        ),
        Option(
            "--deploy",
            "Use the agents' user or project directories.",
            choices=("user", "project"),
            default="user",
        ),
        Option("--global", "Keep the compiled skill in ~/.skillc/runtime."),
        Option("--copy", "Deploy a copy instead of a link."),
        Option("--force", "Start from nothing; replace what stands where the skill is imported or deployed."),
        Option("--watch", "Build again whenever a file changes, until interrupted."),
        FORMAT,
    ),
    description=(
        "A folder that is in no store is copied into the project's store, or into ~/.skillc/skills.\n"
        "Building again costs in proportion to what changed."
    ),
    examples=(
        "skc build pdf",
        "skc build ./my-skill --target claude,cursor",
        "skc build --all",
        "skc build pdf --target ./agent/skills --copy",
    ),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.output import warn
    from skillc.cli.syntax import see
    from skillc.compiler import PublishOptions, find_targets, publish_skill
    from skillc.errors import InvalidOption
    from skillc.library import locate_skill, stored_skills
    from skillc.paths import current_directory
    from skillc.settings import load

    name = arguments.optional("skill")
    if (name is None) != arguments.given("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    cwd = current_directory()
    config = load(cwd)
    warn(config.diagnostics)
    options = PublishOptions(
        find_targets(arguments.text("target"), arguments.text("deploy"), cwd),
        to_global=arguments.given("global"),
        copy=arguments.given("copy"),
        force=arguments.given("force"),
    )
    as_json = arguments.text("format") == "json"
    imports: set[str] = set()  # with --watch, the copy of an imported folder follows its changes

    def publish(skill: Skill, deploy: bool = True) -> Publication:
        return publish_skill(skill, options, config, cwd, deploy=deploy, imports=imports)

    def publish_one(skill: Skill) -> int:
        return _publish_one(skill, options, cwd, publish, as_json)

    if arguments.given("watch"):
        from skillc.cli.watch import watch

        return watch(
            lambda: list(stored_skills(cwd)) if name is None else [locate_skill(name, cwd)], publish_one
        )
    if name is None:
        return _publish_all(list(stored_skills(cwd)), publish, as_json)
    return publish_one(locate_skill(name, cwd))


def _complain(publication: Publication) -> None:
    """Print warnings and failures to stderr."""
    from skillc.cli.output import warn

    warn(publication.diagnostics)
    for error in publication.failures:
        print(error.text(), file=sys.stderr)


def _publish_one(
    skill: Skill,
    options: PublishOptions,
    cwd: str,
    publish: Callable[[Skill], Publication],
    as_json: bool,
) -> int:
    from skillc.cli.output import print_json, warn
    from skillc.usage import run_logged

    arguments: dict[str, LogValue] = {"global": options.to_global, "force": options.force}
    publication, diagnostics = run_logged(skill, "build", arguments, cwd, lambda: publish(skill))
    warn((*skill.diagnostics, *diagnostics))
    _complain(publication)
    if as_json:
        print_json(publication.as_json())
    else:
        print(publication.report())
    return 1 if publication.failures else 0


def _publish_all(skills: list[Skill], publish: Callable[[Skill, bool], Publication], as_json: bool) -> int:
    """Publish every skill of the stores; one that fails is reported and does not stop the others."""
    from skillc.cli.output import print_json
    from skillc.cli.progress import Progress
    from skillc.errors import unexpected
    from skillc.text import one_line

    publications: list[Publication] = []
    errors: list[dict[str, str]] = []
    names: set[str] = set()  # of two skills with one name, agents get the one that the name means
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                publication = publish(skill, skill.name not in names)
                names.add(skill.name)
            except Exception as error:
                coded = unexpected(error)
                errors.append({"skill": skill.name, "code": coded.code, "message": coded.message})
                progress.say(one_line(f"{coded.line()} ({skill.source})"))
                continue
            publications.append(publication)
            progress.clear()
            _complain(publication)
    failures = len(errors) + sum(bool(publication.failures) for publication in publications)
    if as_json:
        print_json({"built": [publication.as_json() for publication in publications], "failed": errors})
    else:
        unchanged = sum(publication.build.status == "unchanged" for publication in publications)
        print(f"{len(publications)} of {len(skills)} skills built ({unchanged} unchanged), {failures} failed")
    return 1 if failures else 0
