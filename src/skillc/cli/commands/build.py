"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.compiler import Built, Deployment, Target
    from skillc.errors import SkillcError
    from skillc.library import Skill
    from skillc.usage.log import Value

COMMAND = Command(
    "build",
    "Compile a skill into a stub with an index, and deploy it to agents.",
    arguments=(
        Argument(
            "skill", "A skill's name, or a folder to import and build.", required=False, completes="skills"
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


class Job:
    """What the options ask for, for any skill."""

    def __init__(self, arguments: Arguments, cwd: str) -> None:
        from skillc.cli.printing import warn
        from skillc.compiler import targets
        from skillc.config import load

        config = load(cwd)
        warn(config.diagnostics)
        self.cwd = cwd
        self.imported: set[str] = set()
        self.tokenizer = config.tokenizer
        self.formats = config.formats
        self.to_global = arguments.given("global")
        self.copy = arguments.given("copy")
        self.force = arguments.given("force")
        self.targets: list[Target] = targets(arguments.text("target"), arguments.text("deploy"), cwd)

    def run(self, skill: Skill, *, to_agents: bool = True) -> Outcome:
        """Import, build and deploy one skill; a target that fails does not keep it from the others."""
        from skillc.compiler import build, deploy, import_skill
        from skillc.errors import SkillcError, unexpected

        if not skill.stored:
            again = skill.source in self.imported  # --watch: the folder changed, and its copy follows
            folder = skill.source
            skill = import_skill(skill, self.cwd, force=self.force or again)
            self.imported.add(folder)
        built = build(
            skill,
            tokenizer=self.tokenizer,
            formats=self.formats,
            to_global=self.to_global,
            force=self.force,
        )
        deployed: list[Deployment] = []
        failed: list[SkillcError] = []
        for target in self.targets if to_agents else ():
            try:
                deployed.append(deploy(skill, built.runtime, target, copy=self.copy, force=self.force))
            except (SkillcError, OSError) as error:
                failed.append(unexpected(error))
        return Outcome(built, deployed, failed)


class Outcome:
    """A skill that was built, and how each of its deployments went."""

    __slots__ = ("built", "deployed", "failed")

    def __init__(self, built: Built, deployed: list[Deployment], failed: list[SkillcError]) -> None:
        self.built = built
        self.deployed = deployed
        self.failed = failed

    def as_json(self) -> dict[str, Any]:
        return {
            "skill": self.built.skill.name,
            "status": self.built.status,
            "source_path": self.built.skill.source,
            "runtime_path": self.built.runtime,
            "source_hash": self.built.source_hash,
            "files": self.built.files,
            "changed": self.built.changed,
            "deployments": [{"target": d.target, "path": d.path, "method": d.method} for d in self.deployed],
            "warnings": [d.line() for d in self.built.diagnostics],
        }

    def report(self) -> str:
        from skillc.errors import one_line

        built = self.built
        files = f"{built.files} file{'' if built.files == 1 else 's'}"
        detail = files if built.status == "unchanged" else f"{files}, {built.changed} changed"
        lines = [f"{built.status.capitalize()} '{built.skill.name}' ({detail}) in {built.runtime}"]
        lines += [f"  {d.target}: {d.path} ({d.method})" for d in self.deployed]
        return "\n".join(map(one_line, lines))

    def complain(self) -> None:
        """Say on stderr what was repaired and what failed."""
        from skillc.cli.printing import warn

        warn(self.built.diagnostics)
        for deployment in self.deployed:
            warn(deployment.diagnostics)
        for error in self.failed:
            print(error.text(), file=sys.stderr)


def run(arguments: Arguments) -> int:
    from skillc.cli.syntax import see
    from skillc.errors import InvalidOption
    from skillc.library import locate, stored_skills
    from skillc.places import current_directory

    name = arguments.optional("skill")
    if (name is None) != arguments.given("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise InvalidOption(f"{problem}; {see(COMMAND)}")
    job = Job(arguments, current_directory())
    as_json = arguments.text("format") == "json"
    if arguments.given("watch"):
        from skillc.cli.watch import watch

        return watch(
            lambda: list(stored_skills(job.cwd)) if name is None else [locate(name, job.cwd)],
            lambda skill: _one(skill, job, as_json),
        )
    if name is None:
        return _all(job, as_json)
    return _one(locate(name, job.cwd), job, as_json)


def _one(skill: Skill, job: Job, as_json: bool) -> int:
    from skillc.cli.printing import print_json, warn
    from skillc.usage import logged

    noted: dict[str, Value] = {"global": job.to_global, "force": job.force}
    outcome, noticed = logged(skill, "build", noted, job.cwd, lambda: job.run(skill))
    warn((*skill.noticed, *noticed))
    outcome.complain()
    if as_json:
        print_json(outcome.as_json())
    else:
        print(outcome.report())
    return 1 if outcome.failed else 0


def _all(job: Job, as_json: bool) -> int:
    """Every skill of the stores; one that fails is reported and the others are built."""
    from skillc.cli.printing import print_json
    from skillc.cli.progress import Progress
    from skillc.errors import one_line, unexpected
    from skillc.library import stored_skills

    skills = list(stored_skills(job.cwd))
    outcomes: list[Outcome] = []
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
            outcome.complain()
    failed = len(errors) + sum(bool(outcome.failed) for outcome in outcomes)
    if as_json:
        print_json({"built": [outcome.as_json() for outcome in outcomes], "failed": errors})
    else:
        unchanged = sum(outcome.built.status == "unchanged" for outcome in outcomes)
        print(f"{len(outcomes)} of {len(skills)} skills built ({unchanged} unchanged), {failed} failed")
    return 1 if failed else 0
