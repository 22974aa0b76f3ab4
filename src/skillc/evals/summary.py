"""Sum up the runs of one agent: what each arm came to, how the arms compare, and a verdict in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from skillc.contract import extend
from skillc.evals import statistics
from skillc.evals.report import AGAINST, AgentReport, ArmResult, CaseResult, Comparison, Triggers, describe
from skillc.evals.results import ARMS, OLD, WITH, WITHOUT, Record
from skillc.evals.statistics import Counts, is_majority, paired_lift
from skillc.skills.cases import Case
from skillc.text import count_of

Runs = Mapping[tuple[str, str], list[Record]]  # by case and arm
_Answer = Callable[[Case, Record], bool | None]


def summarise(
    cases: Sequence[Case], records: Sequence[Record], facts: Mapping[str, Any], problem: str | None
) -> AgentReport:
    """Return the report of one agent; `facts` are those fields that do not come from the runs."""
    runs: Runs = defaultdict(list)
    for record in records:
        runs[record.case, record.arm].append(record)
    tasks = [case for case in cases if case.graders]
    prompts = [case for case in cases if case.should_fire is not None]
    over = {arm: _compare(arm, tasks, runs, lambda _, run: run.passed, "answered") for arm in (WITHOUT, OLD)}
    of_prompts = _compare(OLD, prompts, runs, _is_right, "is_measured")
    compared = over[WITHOUT] or over[OLD] or of_prompts
    report = AgentReport(
        arms={arm: _arm(arm, tasks, runs) for arm in ARMS if any(each.arm == arm for each in records)},
        triggers=_triggers(prompts, runs),
        lift=over[WITHOUT],
        lift_over_old=over[OLD],
        trigger_lift_over_old=of_prompts,
        verdict=compared.effect.value if compared and not compared.withheld else None,
        summary="",
        problem=problem,
        cases=tuple(_case(facts["agent"], case, runs) for case in cases if records),
        records=tuple(records),
        **facts,
    )
    return replace(report, summary=_write_summary(report))


def _count(answers: Iterable[bool | None]) -> Counts:
    """Return how many say yes, of those that say yes or no."""
    known = [answer for answer in answers if answer is not None]
    return sum(known), len(known)


def _is_right(case: Case, run: Record) -> bool | None:
    """Return whether a run fired where it should, or did not where it should not."""
    return run.fired == case.should_fire if run.is_measured else None


def _triggers(prompts: Sequence[Case], runs: Runs) -> Triggers | None:
    fired_in = ((case, _count(run.fired for run in runs[case.name, WITH])) for case in prompts)
    counts = [(bool(case.should_fire), count) for case, count in fired_in if count[1]]
    if not counts:
        return None
    outcomes = [(should, is_majority(*count)) for should, count in counts]
    recall, precision, accuracy = statistics.trigger_rates(outcomes)
    fired = statistics.rate_of_runs([count for should, count in counts if should])
    rates = (recall.value, precision.value, recall.interval, precision.interval, accuracy.value)
    return Triggers(*rates, fired.value, fired.interval, len(counts), (recall, precision, fired))


def _arm(arm: str, tasks: Sequence[Case], runs: Runs) -> ArmResult:
    own = [record for (_, name), records in runs.items() if name == arm for record in records]
    counts = [count for case in tasks if (count := _count(run.passed for run in runs[case.name, arm]))[1]]
    each = min((total for _, total in counts), default=0)
    rate = statistics.wilson(sum(is_majority(*count) for count in counts), len(counts))
    outcomes = dict(sorted(Counter(record.outcome.value for record in own).items()))
    unanswered = sum(not record.answered for record in own)
    seconds, tokens = _mean(record.seconds for record in own), _mean(record.tokens for record in own)
    chances = (statistics.pass_at(each, counts), statistics.pass_all(each, counts))
    cost = _mean((record.cost for record in own), 4)
    of_tasks = (rate.value, rate.interval, *chances, each)
    return ArmResult(len(own), outcomes, unanswered, *of_tasks, seconds, tokens, cost, rate)


def _mean(values: Iterable[float | None], digits: int = 1) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), digits) if known else None


_LOST = {"answered": "have no answer that can be judged", "is_measured": "do not say whether it fires"}


def _compare(
    other: str, cases: Sequence[Case], runs: Runs, answer: _Answer, needed: str
) -> Comparison | None:
    """Compare the skill with another arm; None where that was not run.

    Where the arms differ in runs that are not what is `needed`, a property of records, they can't be
    compared: what was lost may be what went wrong.
    """
    if not any(runs[case.name, other] for case in cases):
        return None
    counts, lost = [], []
    for arm in (WITH, other):
        own = [(case, runs[case.name, arm]) for case in cases]
        counts.append([_count(answer(case, run) for run in made) for case, made in own])
        lost.append(sum(not getattr(run, needed) for _, made in own for run in made))
    reason = f"{count_of(lost[0], 'run')} with the skill and {lost[1]} {AGAINST[other]} {_LOST[needed]}"
    withheld = None if lost[0] == lost[1] else f"{reason}, so the arms can't be compared"
    return extend(Comparison, paired_lift([*zip(*counts, strict=True)]), withheld=withheld)


def _case(agent: str, case: Case, runs: Runs) -> CaseResult:
    arms = {arm: runs[case.name, arm] for arm in ARMS if runs[case.name, arm]}
    outcomes = {arm: Counter(record.outcome.value for record in records) for arm, records in arms.items()}
    passed = {arm: count for arm in arms if (count := _count(run.passed for run in arms[arm]))[1]}
    reasons = dict.fromkeys(record.reason for records in arms.values() for record in records)
    problems = tuple(filter(None, reasons))
    return CaseResult(case.name, agent, case.prompt, case.should_fire, outcomes, passed, problems)


def _write_summary(report: AgentReport) -> str:
    """Say in a sentence or two what the counts allow to say."""
    if report.problem is not None:
        return f"not measured: {report.problem}"
    parts = [report.triggers.describe()] if report.triggers is not None else []
    parts += [each.describe(other, unit) for other, unit, each in report.comparisons()]
    if report.lift is None and report.lift_over_old is None and report.tasks.cases:
        parts.append(f"does {describe(report.tasks)} of the tasks")
    if not parts:
        lost = Counter(r.reason or r.outcome.value for r in report.records if not r.is_measured)
        [(reason, _), *_] = [*lost.most_common(1), *report.skipped(), ("no run was made", 0)]
        return f"not measured: {reason}"
    return "; ".join(parts)
