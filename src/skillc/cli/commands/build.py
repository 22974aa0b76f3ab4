"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler import Published, Publisher
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


def _publisher(arguments: Arguments, cwd: str) -> Publisher:
    """What the options ask for, for any skill."""
    from skillc.cli.output import warn
    from skillc.compiler import Publisher, targets
    from skillc.settings import load

    config = load(cwd)
    warn(config.diagnostics)
    return Publisher(
        config,
        cwd,
        targets(arguments.text("target"), arguments.text("deploy"), cwd),
        to_global=arguments.given("global"),
        copy=arguments.given("copy"),
        force=arguments.given("force"),
    )


def _complain(outcome: Published) -> None:
    """Say on stderr what was repaired and what failed."""
    from skillc.cli.output import warn

    warn(outcome.built.diagnostics)
    for deployment in outcome.deployed:
        warn(deployment.diagnostics)
    for error in outcome.failed:
        print(error.text(), file=sys.stderr)


def run(arguments: Arguments) -> int:
    from skillc.cli.syntax import see
    from skillc.errors import InvalidOption
    from skillc.library import locate_skill, stored_skills
    from skillc.paths import current_directory

    name = arguments.optional("skill")
    if (name is None) != arguments.given("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    job = _publisher(arguments, current_directory())
    as_json = arguments.text("format") == "json"
    if arguments.given("watch"):
        from skillc.cli.watch import watch

        return watch(
            lambda: list(stored_skills(job.cwd)) if name is None else [locate_skill(name, job.cwd)],
            lambda skill: _one(skill, job, as_json),
        )
    if name is None:
        return _all(job, as_json)
    return _one(locate_skill(name, job.cwd), job, as_json)


def _one(skill: Skill, job: Publisher, as_json: bool) -> int:
    from skillc.cli.output import print_json, warn
    from skillc.usage import run_logged

    noted: dict[str, LogValue] = {"global": job.to_global, "force": job.force}
    outcome, noticed = run_logged(skill, "build", noted, job.cwd, lambda: job.run(skill))
    warn((*skill.diagnostics, *noticed))
    _complain(outcome)
    if as_json:
        print_json(outcome.as_json())
    else:
        print(outcome.report())
    return 1 if outcome.failed else 0


def _all(job: Publisher, as_json: bool) -> int:
    """Every skill of the stores; one that fails is reported and the others are built."""
    from skillc.cli.output import print_json
    from skillc.cli.progress import Progress
    from skillc.errors import unexpected
    from skillc.library import stored_skills
    from skillc.text import one_line

    skills = list(stored_skills(job.cwd))
    outcomes: list[Published] = []
    errors: list[dict[str, str]] = []
    deployed: set[str] = set()  # of two with one name, agents get the one that the name means
    with Progress(len(skills), "skills") as progress:
        for skill in skills:
            progress.step(skill.name)
            try:
                outcome = job.run(skill, to_agents=skill.name not in deployed)
                deployed.add(skill.name)
            except Exception as error:
                coded = unexpected(error)
                errors.append({"skill": skill.name, "code": coded.code, "message": coded.message})
                progress.say(one_line(f"{coded.line()} ({skill.source})"))
                continue
            outcomes.append(outcome)
            progress.clear()
            _complain(outcome)
    failed = len(errors) + sum(bool(outcome.failed) for outcome in outcomes)
    if as_json:
        print_json({"built": [outcome.as_json() for outcome in outcomes], "failed": errors})
    else:
        unchanged = sum(outcome.built.status == "unchanged" for outcome in outcomes)
        print(f"{len(outcomes)} of {len(skills)} skills built ({unchanged} unchanged), {failed} failed")
    return 1 if failed else 0
