"""Say without any agent how well prompts lead to a skill: `skc eval --free`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import sarif
from skillc.contract import Result, extend, hidden
from skillc.evals.report import describe
from skillc.evals.statistics import Estimate, wilson
from skillc.library import Rank, Ranking, Skill
from skillc.skills.cases import Case

NOTE = "It says which skill a prompt is nearest to, not what an agent does: one may stay quiet all the same."


@dataclass(frozen=True, slots=True)
class RankedCase(Rank):
    """Where the skill stands for one prompt, and whether that is as it should be."""

    case: str
    prompt: str
    file: str
    should_fire: bool

    @property
    def is_right(self) -> bool:
        """Whether a prompt for the skill has it first, or another one has it not offered."""
        return self.rank == 1 if self.should_fire else not (self.offered and self.rank == 1)

    def describe(self) -> str:
        """Say where the skill stands."""
        if self.rank is None:
            names = ", ".join(rival.id for rival in self.rivals) or "no skill"
            return f"not among the first; instead: {names}"
        before = f", behind {', '.join(rival.id for rival in self.rivals)}" if self.rivals else ""
        offer = "offered" if self.offered else "not offered"
        return f"number {self.rank}{before}; confidence {self.confidence:.2f}, {offer}"


@dataclass(frozen=True, slots=True)
class Collision:
    """Two skills that want the same prompts."""

    skill: str
    rival: str
    cases: int


@dataclass(frozen=True, slots=True)
class RankedSkill:
    """How the prompts of one skill's cases lead to it; rates are of cases."""

    skill: str
    first: Estimate
    among_three: Estimate
    offered: Estimate
    quiet: Estimate  # of the prompts that are not for it, those for which it is not offered
    cases: tuple[RankedCase, ...]
    source: str = hidden("")


@dataclass(frozen=True, slots=True)
class FreeReport(Result):
    skills: tuple[RankedSkill, ...]
    collisions: tuple[Collision, ...]
    note: str = NOTE

    def passes(self, threshold: float | None) -> bool:
        """Return whether enough prompts of each skill have it first; the threshold is in percent."""
        scores = (each.first.value for each in self.skills if each.first.value is not None)
        return threshold is None or all(100 * score >= threshold for score in scores)

    def lines(self) -> Iterator[str]:
        for each in self.skills:
            yield f"{each.skill}: first for {describe(each.first)} of the prompts that are for it"
            yield f"  among the first three  {describe(each.among_three)}"
            yield f"  offered by the hook    {describe(each.offered)}"
            yield f"  not offered otherwise  {describe(each.quiet)}"
            for case in each.cases:
                if not case.is_right:
                    yield f"  {case.case}: {case.describe()}"
        for collision in self.collisions:
            yield f"{collision.skill} and {collision.rival} want the same prompts: {collision.cases}"
        yield self.note

    def as_sarif(self, cwd: str) -> dict[str, Any]:
        """Return the prompts that do not lead where they should, as code scanners read them."""
        text = "Prompts lead to the skill that they are for"
        rule = sarif.describe_rule("EVAL1", "trigger-rank", text, "warning")
        results = []
        for each in self.skills:
            for case in each.cases:
                if not case.is_right:
                    uri = sarif.file_uri(f"{each.source}/{case.file}", cwd)
                    message = f"{case.case}: {case.describe()}"
                    results.append(sarif.describe_result("EVAL1", 0, "warning", message, uri, 1))
        return sarif.render_log("skc eval --free", [rule], results)


def rank_skills(skills: Sequence[tuple[Skill, Sequence[Case]]], cwd: str) -> FreeReport:
    """Return where skills stand for the prompts of cases that all say whether it should fire."""
    ranked = [_rank_skill(skill, cases, cwd) for skill, cases in skills]
    pairs = Counter(
        tuple(sorted((each.skill, rival.id)))
        for each in ranked
        for case in each.cases
        for rival in (case.rivals[:1] if case.should_fire else ())
    )
    collisions = tuple(Collision(first, second, count) for (first, second), count in pairs.most_common())
    return FreeReport(tuple(ranked), collisions)


def _rank_skill(skill: Skill, cases: Sequence[Case], cwd: str) -> RankedSkill:
    ranking = Ranking(skill, cwd)
    ranked: list[RankedCase] = []
    for case in cases:
        own = {"case": case.name, "prompt": case.prompt, "file": case.file, "should_fire": case.should_fire}
        ranked.append(extend(RankedCase, ranking.rank(case.prompt, case.acceptable), **own))
    wanted = [case for case in ranked if case.should_fire]
    others = [case for case in ranked if not case.should_fire]
    return RankedSkill(
        skill.name,
        wilson(sum(case.rank == 1 for case in wanted), len(wanted)),
        wilson(sum(case.rank is not None and case.rank <= 3 for case in wanted), len(wanted)),
        wilson(sum(case.offered for case in wanted), len(wanted)),
        wilson(sum(not case.offered for case in others), len(others)),
        tuple(ranked),
        skill.source,
    )
