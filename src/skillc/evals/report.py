"""Report an evaluation: rates with their intervals, and a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from skillc.contract import encode, hidden
from skillc.errors import AgentUnusable
from skillc.evals.results import OLD, WITH, WITHOUT, Record
from skillc.evals.run import MEASURED, Outcome
from skillc.evals.statistics import (
    NOTHING,
    Effect,
    Estimate,
    Lift,
    is_majority,
    paired_lift,
    pass_all,
    pass_at,
    rate_of_runs,
    trigger_rates,
    wilson,
)
from skillc.skills.cases import Case
from skillc.text import count_of

Counts = tuple[int, int]
Interval = tuple[float, float] | None


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
    positives: int = hidden(0)
    rates: tuple[Estimate, Estimate, Estimate] = hidden((NOTHING, NOTHING, NOTHING))


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """One arm against another over the same tasks; `withheld` says why there is no verdict."""

    value: float | None
    interval: Interval
    p: float | None
    cases: int
    needed: int | None
    withheld: str | None
    lift: Lift = hidden(None)


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
    def is_measured(self) -> bool:
        measured = (record.is_measured or record.passed is not None for record in self.records)
        return self.problem is None and any(measured)

    def skipped(self) -> list[tuple[str, int]]:
        """Return why expectations were not judged, the most frequent reason first, with how often."""
        grades = (grade for record in self.records for grade in record.grades)
        return Counter(grade.evidence for grade in grades if grade.passed is None).most_common()

    def scores(self) -> Iterator[float]:
        """Yield what a threshold is compared with: accuracy of triggers, and tasks with the skill."""
        rates = (self.triggers.accuracy if self.triggers else None, _tasks_of(self.arms.get(WITH)))
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

    @property
    def is_measured(self) -> bool:
        """Whether each agent measured something of each skill."""
        reports = [report for skill in self.skills for report in skill.agents]
        return bool(reports) and all(report.is_measured for report in reports)

    @property
    def failures(self) -> tuple[AgentUnusable, ...]:
        """Why agents measured nothing."""
        reports = (report for skill in self.skills for report in skill.agents)
        return tuple(AgentUnusable(each.agent, each.problem) for each in reports if each.problem is not None)

    def passes(self, threshold: float | None) -> bool:
        """Return whether no score is below a threshold."""
        scores = (score for skill in self.skills for report in skill.agents for score in report.scores())
        return threshold is None or all(score >= threshold for score in scores)

    def as_json(self) -> list[Any]:
        """Return what `--format json` prints."""
        return [encode(skill) for skill in self.skills]


def summarise(
    cases: Sequence[Case], records: Sequence[Record], facts: Mapping[str, Any], problem: str | None
) -> AgentReport:
    """Return the report of one agent; `facts` are those fields that do not come from the runs."""
    by_case = {case.name: [record for record in records if record.case == case.name] for case in cases}
    names = [arm for arm in (WITH, WITHOUT, OLD) if any(record.arm == arm for record in records)]
    tasks = [case for case in cases if case.graders]
    comparisons = {other: _compare_tasks(other, tasks, by_case) for other in (WITHOUT, OLD)}
    of_triggers = _compare_triggers(cases, by_case)
    compared = comparisons[WITHOUT] or comparisons[OLD] or of_triggers
    effect = compared.lift.effect if compared and compared.withheld is None else None
    report = AgentReport(
        arms={arm: _arm(arm, tasks, by_case, records) for arm in names},
        triggers=_triggers(cases, by_case),
        lift=comparisons[WITHOUT],
        lift_over_old=comparisons[OLD],
        trigger_lift_over_old=of_triggers,
        verdict=effect.value if effect else None,
        summary="",
        problem=problem,
        cases=tuple(_case(facts["agent"], case, by_case[case.name]) for case in cases if records),
        records=tuple(records),
        **facts,
    )
    return replace(report, summary=write_summary(report))


def _triggers(cases: Sequence[Case], by_case: Mapping[str, Sequence[Record]]) -> Triggers | None:
    pairs: list[tuple[bool, bool]] = []
    shares: list[Counts] = []
    for case in cases:
        measured = [r for r in by_case[case.name] if r.arm == WITH and r.is_measured]
        if case.should_fire is None or not measured:
            continue
        fired = sum(record.outcome is Outcome.FIRED for record in measured)
        pairs.append((case.should_fire, is_majority(fired, len(measured))))
        if case.should_fire:
            shares.append((fired, len(measured)))
    if not pairs:
        return None
    rates, runs = trigger_rates(pairs), rate_of_runs(shares)
    return Triggers(
        rates.recall.value,
        rates.precision.value,
        rates.recall.interval,
        rates.precision.interval,
        rates.accuracy.value,
        runs.value,
        runs.interval,
        len(pairs),
        len(shares),
        (rates.recall, rates.precision, runs),
    )


def _passes(records: Iterable[Record], arm: str) -> Counts:
    """Return how many runs of an arm pass, of those that could be judged."""
    verdicts = [record.passed for record in records if record.arm == arm and record.passed is not None]
    return sum(verdicts), len(verdicts)


def _arm(
    arm: str, tasks: Sequence[Case], by_case: Mapping[str, Sequence[Record]], records: Sequence[Record]
) -> ArmResult:
    own = [record for record in records if record.arm == arm]
    counts = [count for case in tasks if (count := _passes(by_case[case.name], arm))[1]]
    each = min((total for _, total in counts), default=0)
    rate = wilson(sum(is_majority(*count) for count in counts), len(counts))
    return ArmResult(
        len(own),
        dict(sorted(Counter(record.outcome.value for record in own).items())),
        sum(not record.answered for record in own),
        rate.value,
        rate.interval,
        pass_at(each, counts) if each else None,
        pass_all(each, counts) if each else None,
        each,
        _mean(record.seconds for record in own),
        _mean(record.tokens for record in own),
        _mean((record.cost for record in own), 4),
        rate,
    )


def _tasks_of(arm: ArmResult | None) -> float | None:
    return arm.tasks if arm is not None else None


def _compare(
    other: str, pairs: Sequence[tuple[Counts, Counts]], lost: Mapping[str, int], what: str
) -> Comparison:
    """Compare the skill with another arm, by the counts of each case; `lost` runs measured nothing."""
    withheld = None
    if lost[WITH] != lost[other]:
        withheld = (
            f"{count_of(lost[WITH], 'run')} with the skill and {lost[other]} {_arm_words(other)} {what},"
            " so the arms can't be compared"
        )
    lift = paired_lift(pairs)
    return Comparison(
        lift.lift.value, lift.lift.interval, lift.p, lift.lift.cases, lift.needed, withheld, lift
    )


def _compare_tasks(
    other: str, tasks: Sequence[Case], by_case: Mapping[str, Sequence[Record]]
) -> Comparison | None:
    runs = [record for case in tasks for record in by_case[case.name]]
    if not any(record.arm == other for record in runs):
        return None
    pairs = [(_passes(by_case[case.name], WITH), _passes(by_case[case.name], other)) for case in tasks]
    lost = Counter(record.arm for record in runs if not record.answered)
    return _compare(other, pairs, lost, "have no answer that can be judged")


def _compare_triggers(cases: Sequence[Case], by_case: Mapping[str, Sequence[Record]]) -> Comparison | None:
    """Compare how often the skill and the old one do right: fire where they should, and only there."""
    triggers = [case for case in cases if case.should_fire is not None]
    runs = [record for case in triggers for record in by_case[case.name]]
    if not any(record.arm == OLD for record in runs):
        return None
    own = [(case, by_case[case.name]) for case in triggers]
    pairs = [(_rights(case, records, WITH), _rights(case, records, OLD)) for case, records in own]
    lost = Counter(record.arm for record in runs if not record.is_measured)
    return _compare(OLD, pairs, lost, "do not say whether it fires")


def _rights(case: Case, records: Iterable[Record], arm: str) -> Counts:
    measured = [record for record in records if record.arm == arm and record.is_measured]
    return sum((record.outcome is Outcome.FIRED) == case.should_fire for record in measured), len(measured)


def _arm_words(arm: str) -> str:
    return {WITHOUT: "without it", OLD: "with the old one"}[arm]


def _mean(values: Iterable[float | None], digits: int = 1) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), digits) if known else None


def _case(agent: str, case: Case, records: Sequence[Record]) -> CaseResult:
    arms = dict.fromkeys(record.arm for record in records)
    problems = dict.fromkeys(record.reason for record in records if record.reason)
    return CaseResult(
        case.name,
        agent,
        case.prompt,
        case.should_fire,
        {arm: Counter(r.outcome.value for r in records if r.arm == arm) for arm in arms},
        {arm: count for arm in arms if (count := _passes(records, arm))[1]},
        tuple(problems),
    )


def write_summary(report: AgentReport) -> str:
    """Say in a sentence or two what the counts allow to say."""
    if report.problem is not None:
        return f"not measured: {report.problem}"
    parts = [_describe_triggers(report.triggers)] if report.triggers is not None else []
    comparisons = (
        (OLD, report.trigger_lift_over_old, "prompts"),
        (WITHOUT, report.lift, "tasks"),
        (OLD, report.lift_over_old, "tasks"),
    )
    parts += [
        _describe_comparison(other, each, unit) for other, each, unit in comparisons if each is not None
    ]
    if report.lift is None and report.lift_over_old is None and _tasks_of(report.arms.get(WITH)) is not None:
        parts.append(f"does {describe(report.arms[WITH].rate)} of the tasks")
    if not parts:
        lost = Counter(r.reason or r.outcome.value for r in report.records if r.outcome not in MEASURED)
        [(reason, _), *_] = [*lost.most_common(1), *report.skipped(), ("no run was made", 0)]
        return f"not measured: {reason}"
    return "; ".join(parts)


def _describe_triggers(triggers: Triggers) -> str:
    recall, precision, _ = triggers.rates
    text = f"fires in {describe(recall)} of the cases where it should"
    if precision.value is not None and triggers.cases > triggers.positives:
        text += f", and is right in {describe(precision)} of those where it fires"
    return text


def _describe_comparison(other: str, comparison: Comparison, unit: str) -> str:
    if comparison.withheld:
        return f"no verdict: {comparison.withheld}"
    lift, against = comparison.lift, _arm_words(other)
    size = describe(lift.lift, signed=True)
    if lift.effect is Effect.FEW:
        enough = f"{lift.needed} would show an effect of this size"
        return f"too few cases to compare {unit} {against} ({size}); {enough}"
    words = {Effect.HELPS: "it helps", Effect.HURTS: "it hurts", Effect.NONE: "no clear effect"}[lift.effect]
    return f"{words}, compared {against}: {size} of the {unit}"


def describe(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a rate with its interval, in percent.

    >>> describe(wilson(7, 10))
    '70% (40 to 89%, 10 cases)'
    """
    if estimate.value is None:
        return "unknown"
    sign = "+" if signed else ""
    points = " points" if signed else ""
    value = f"{100 * estimate.value:{sign}.0f}{points or '%'}"
    cases = count_of(estimate.cases, "case")
    if estimate.interval is None:
        return f"{value} ({cases})"
    low, high = estimate.interval
    return f"{value} ({100 * low:{sign}.0f} to {100 * high:{sign}.0f}{'' if signed else '%'}, {cases})"
