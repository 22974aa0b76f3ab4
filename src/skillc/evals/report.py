"""The report of an evaluation: one value, which text, JSON, JUnit, Markdown and the page are views of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillc.contract import hidden
from skillc.errors import AgentUnusable
from skillc.evals.results import OLD, WITH, WITHOUT, Record
from skillc.evals.run import Outcome
from skillc.evals.statistics import NOTHING, RELEVANT, Counts, Effect, Estimate, Interval, Lift, is_majority
from skillc.text import count_of, one_line

AGAINST = {WITHOUT: "without it", OLD: "with the old one"}
CELLS = ("arm", "runs", "tasks done", "outcomes", "tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class Triggers:
    """How the skill fires, by cases; `interval` is that of the recall, `fired` the share of all runs."""

    recall: float | None
    precision: float | None
    interval: Interval
    precision_interval: Interval
    accuracy: float | None
    fired: float | None
    fired_interval: Interval
    cases: int
    rates: tuple[Estimate, Estimate, Estimate] = hidden((NOTHING, NOTHING, NOTHING))

    def describe(self) -> str:
        recall, precision, _ = self.rates
        text = f"fires in {describe(recall)} of the cases where it should"
        if precision.value is not None and self.cases > recall.cases:
            text += f", and is right in {describe(precision)} of those where it fires"
        return text


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The result of one arm; None for what the agent does not tell.

    Tasks count by the majority of their runs. `pass_at` and `pass_all` are the chances that one, or each, of
    `runs_each` runs passes.
    """

    runs: int
    outcomes: Mapping[str, int]
    unanswered: int  # whose answer can't be judged, whatever fired
    tasks: float | None
    tasks_interval: Interval
    pass_at: float | None
    pass_all: float | None
    runs_each: int
    seconds: float | None
    tokens: float | None
    cost: float | None
    rate: Estimate = hidden(NOTHING)

    def cells(self) -> tuple[str, ...]:
        """Return what tables show of it, in the order of CELLS, but for its name."""
        return (
            str(self.runs),
            describe(self.rate) if self.tasks is not None else "",
            list_outcomes(self.outcomes),
            "unknown" if self.tokens is None else f"{self.tokens:,.0f}",
            f"{self.seconds or 0:.1f}",
            "unknown" if self.cost is None else f"${self.cost:.4f}",
        )


@dataclass(frozen=True, slots=True)
class Comparison(Lift):
    """One arm against another over the same cases; `withheld` says why there is no verdict."""

    withheld: str | None = None

    def describe(self, other: str, unit: str) -> str:
        if self.withheld:
            return f"no verdict: {self.withheld}"
        size = describe(self, signed=True)
        if self.effect is Effect.FEW:
            effect = "of this size" if abs(self.value or 0) >= RELEVANT else f"of {100 * RELEVANT:.0f} points"
            enough = f"{self.needed} would show an effect {effect}"
            return f"too few cases to compare {unit} {AGAINST[other]} ({size}); {enough}"
        words = {Effect.HELPS: "it helps", Effect.HURTS: "it hurts", Effect.NONE: "no clear effect"}
        return f"{words[self.effect]}, compared {AGAINST[other]}: {size} of the {unit}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case with one agent: outcomes by arm, and how many runs passed of those judged."""

    case: str
    agent: str
    prompt: str
    should_fire: bool | None
    arms: Mapping[str, Mapping[str, int]]
    passed: Mapping[str, Counts]
    problems: tuple[str, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether there is something to look at."""
        outcomes = self.arms.get(WITH, {})
        fired = outcomes.get(Outcome.FIRED.value, 0) > outcomes.get(Outcome.NOT_CHOSEN.value, 0)
        is_failed = WITH in self.passed and not is_majority(*self.passed[WITH])
        return bool(self.problems) or is_failed or self.should_fire not in (None, fired)

    def describe(self) -> str:
        """Say what became of the case in each arm."""
        parts = []
        for arm, outcomes in self.arms.items():
            passed = f", {self.passed[arm][0]} of {self.passed[arm][1]} passed" if arm in self.passed else ""
            parts.append(f"{arm} {list_outcomes(outcomes)}{passed}")
        if self.should_fire is not None:
            parts.append("should fire" if self.should_fire else "should not fire")
        return one_line("; ".join([*parts, *self.problems[:2]]))


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The report of one agent. `problem` says why nothing was measured, `listed` what it lists."""

    agent: str
    version: str | None
    model: str | None
    arms: Mapping[str, ArmResult]
    triggers: Triggers | None
    lift: Comparison | None
    lift_over_old: Comparison | None
    trigger_lift_over_old: Comparison | None
    verdict: str | None
    summary: str
    problem: str | None
    listed: str | None
    home_hidden: bool
    not_run: int
    seen: str = hidden("")
    cases: tuple[CaseResult, ...] = hidden(())
    records: tuple[Record, ...] = hidden(())

    @property
    def title(self) -> str:
        """The agent with its version and model."""
        version = f" {self.version}" if self.version else ""
        return f"{self.agent}{version}{f' ({self.model})' if self.model else ''}"

    @property
    def is_measured(self) -> bool:
        measured = (record.is_measured or record.passed is not None for record in self.records)
        return self.problem is None and any(measured)

    @property
    def tasks(self) -> Estimate:
        """How many tasks are done with the skill."""
        return self.arms[WITH].rate if WITH in self.arms else NOTHING

    def comparisons(self) -> Iterator[tuple[str, str, Comparison]]:
        """Yield the comparisons that were made, each with the other arm and what it counts."""
        tasks = ((WITHOUT, "tasks", self.lift), (OLD, "tasks", self.lift_over_old))
        for other, unit, comparison in ((OLD, "prompts", self.trigger_lift_over_old), *tasks):
            if comparison is not None:
                yield other, unit, comparison

    def skipped(self) -> list[tuple[str, int]]:
        """Return why expectations were not judged, the most frequent reason first, with how often."""
        grades = (grade for record in self.records for grade in record.grades)
        return Counter(grade.evidence for grade in grades if grade.passed is None).most_common()

    def scores(self) -> Iterator[float]:
        """Yield what a threshold is compared with: accuracy of triggers, and tasks with the skill."""
        rates = (self.triggers.accuracy if self.triggers else None, self.tasks.value)
        yield from (rate for rate in rates if rate is not None)


@dataclass(frozen=True, slots=True)
class SkillReport:
    """The report on one skill, with its cases; transcripts are in `folder`."""

    skill: str
    digest: str
    agents: tuple[AgentReport, ...]
    cases: tuple[CaseResult, ...]
    folder: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    skills: tuple[SkillReport, ...]

    def reports(self) -> list[AgentReport]:
        return [report for skill in self.skills for report in skill.agents]

    @property
    def is_measured(self) -> bool:
        """Whether each agent measured something of each skill."""
        return bool(self.skills) and all(report.is_measured for report in self.reports())

    @property
    def failures(self) -> tuple[AgentUnusable, ...]:
        """Why agents measured nothing."""
        return tuple(AgentUnusable(each.agent, each.problem) for each in self.reports() if each.problem)

    def passes(self, threshold: float | None) -> bool:
        """Return whether no score is below a threshold in percent."""
        scores = (score for report in self.reports() for score in report.scores())
        return threshold is None or all(100 * score >= threshold for score in scores)


def list_outcomes(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())


def describe(estimate: Estimate | Lift, *, signed: bool = False) -> str:
    """Return a rate with its interval in percent, or with a sign a difference in points.

    >>> from skillc.evals.statistics import wilson
    >>> describe(wilson(7, 10))
    '70% (40 to 89%, 10 cases)'
    """
    if estimate.value is None:
        return "unknown"
    sign, percent, points = ("+", "", " points") if signed else ("", "%", "%")
    value, cases = f"{100 * estimate.value:{sign}.0f}{points}", count_of(estimate.cases, "case")
    if estimate.interval is None:
        return f"{value} ({cases})"
    low, high = estimate.interval
    return f"{value} ({100 * low:{sign}.0f} to {100 * high:{sign}.0f}{percent}, {cases})"
