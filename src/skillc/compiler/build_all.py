"""Build every skill of the stores; one that fails is reported, and the others are built."""

from __future__ import annotations

from dataclasses import dataclass

from skillc.compiler.pipeline import Publication, PublishOptions, publish_skill, record_publications, renewal
from skillc.errors import unexpected
from skillc.library import stored_skills
from skillc.library.records import check_deployments, deployments_by_source
from skillc.surface import Here
from skillc.text import one_line, utf8_text


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """A skill that could not be built, and its error."""

    id: str
    skill: str  # as `id`; goes with the next release
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Builds:
    """The skills that were built, and those that were not."""

    built: tuple[Publication, ...]
    failed: tuple[BuildFailure, ...]

    @property
    def total(self) -> int:
        return len(self.built) + len(self.failed)

    @property
    def failures(self) -> int:
        """How many skills could not be built, or not be deployed everywhere."""
        return len(self.failed) + sum(bool(result.failures) for result in self.built)

    @property
    def unchanged(self) -> int:
        return sum(result.build.status == "unchanged" for result in self.built)


def build_skills(here: Here, options: PublishOptions) -> Builds:
    """Build and deploy every skill of the stores; one that fails does not stop the others.

    Of two with one name, agents get the one that the name means, the first.
    """
    skills, settings = list(stored_skills(here.cwd)), here.settings()
    failed: list[BuildFailure] = []
    records = deployments_by_source() if options.renew else {}
    names: set[str] = set()
    with record_publications(here.tell) as built, here.progress.steps(len(skills), "skills") as steps:
        for skill in skills:
            steps.step(skill.name)
            try:
                deploy = skill.name not in names
                own = [r for r in records.get(utf8_text(skill.source), ()) if r.is_here]
                new = renewal(skill, own, options)
                result = publish_skill(skill, new, settings, here.cwd, deploy=deploy, record=False)
            except Exception as error:
                failure = unexpected(error)
                failed.append(BuildFailure(skill.name, skill.name, failure.code, failure.message))
                steps.clear()
                here.report(one_line(f"{failure.line()} ({skill.source})"))
                continue
            names.add(skill.name)
            built.append(result)
            steps.clear()
            here.tell(result.diagnostics, result.failures)
    here.tell(check_deployments())
    here.renew_listings()
    return Builds(tuple(built), tuple(failed))
