"""An evaluation as one page for a browser: self-contained, without scripts and requests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from skillc import __version__, offline_page
from skillc.evals.report import AgentReport, CaseResult, Evaluation, SkillReport, describe
from skillc.evals.results import Record
from skillc.evals.statistics import Estimate
from skillc.evals.views import agent_title, explain_case, is_wrong

MAX_TEXT = 4000  # characters of a prompt


def html(evaluation: Evaluation) -> str:
    """Return the page: for each agent the verdict, rates with their intervals, and the cases to open."""
    names = ", ".join(dict.fromkeys(skill.skill for skill in evaluation.skills))
    return offline_page.render_page(
        os.path.join(os.path.dirname(__file__), "page.html"),
        title=f"Evaluation of {names}",
        views=[_view(skill, report) for skill in evaluation.skills for report in skill.agents],
        max_text=MAX_TEXT,
        maker=f"skillc {__version__}",
    )


def _view(skill: SkillReport, report: AgentReport) -> dict[str, Any]:
    return {
        "skill": skill,
        "report": report,
        "agent": agent_title(report),
        "bars": [_bar(name, estimate, signed) for name, estimate, signed in _rates(report) if estimate.cases],
        "cases": [_case(report, case) for case in report.cases],
    }


def _rates(report: AgentReport) -> Iterator[tuple[str, Estimate, bool]]:
    """Yield all that is drawn: a name, the estimate, and whether it can be negative."""
    if report.triggers is not None:
        yield "fires where it should", report.triggers.rates[0], False
        yield "is right where it fires", report.triggers.rates[1], False
    yield from ((f"tasks done, {name}", arm.rate, False) for name, arm in report.arms.items())
    comparisons = {
        "with against without": report.lift,
        "with against old": report.lift_over_old,
        "right, with against old": report.trigger_lift_over_old,
    }
    for name, each in comparisons.items():
        if each is not None and each.withheld is None:
            yield name, each.lift.lift, True


def _bar(name: str, estimate: Estimate, signed: bool) -> dict[str, Any]:
    """Return a line of the chart; places are percent of its width, of which zero is the middle if signed."""

    def place(value: float) -> float:
        return round(50 + 50 * value if signed else 100 * value, 2)

    assert estimate.value is not None
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    return {
        "name": name,
        "text": describe(estimate, signed=signed),
        "value": place(estimate.value),
        "low": place(low),
        "width": round(place(high) - place(low), 2),
        "signed": signed,
    }


def _case(report: AgentReport, case: CaseResult) -> dict[str, Any]:
    runs: dict[str, Sequence[Record]] = {
        arm: [record for record in report.records if record.case == case.case and record.arm == arm]
        for arm in case.arms
    }
    return {"case": case, "wrong": is_wrong(case), "text": explain_case(case), "runs": runs}
