"""An evaluation as one page for a browser: self-contained, without scripts and requests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from skillc import __version__, offline_page
from skillc.evals.report import CELLS, AgentReport, Evaluation, describe
from skillc.evals.statistics import Estimate, Lift

MAX_TEXT = 4000  # characters of a prompt


def html(evaluation: Evaluation) -> str:
    """Return the page: for each agent the verdict, rates with their intervals, and the cases to open."""
    names = ", ".join(dict.fromkeys(skill.skill for skill in evaluation.skills))
    return offline_page.render_page(
        os.path.join(os.path.dirname(__file__), "page.html"),
        title=f"Evaluation of {names}",
        skills=evaluation.skills,
        columns=CELLS,
        list_bars=_list_bars,
        max_text=MAX_TEXT,
        maker=f"skillc {__version__}",
    )


def _list_bars(report: AgentReport) -> Iterator[dict[str, Any]]:
    """Yield what is drawn: each rate, and each comparison that has a verdict."""
    rates: list[tuple[str, Estimate]] = []
    if report.triggers is not None:
        recall, precision, _ = report.triggers.rates
        rates = [("fires where it should", recall), ("is right where it fires", precision)]
    rates += [(f"tasks done, {name}", arm.rate) for name, arm in report.arms.items()]
    yield from (_bar(name, rate, signed=False) for name, rate in rates if rate.cases)
    for other, unit, each in report.comparisons():
        if each.cases and not each.withheld:
            yield _bar(f"{unit}, with against {other}", each, signed=True)


def _bar(name: str, estimate: Estimate | Lift, *, signed: bool) -> dict[str, Any]:
    """Return a line of the chart; places are percent of its width, of which zero is the middle if signed."""
    assert estimate.value is not None
    values = (estimate.value, *(estimate.interval or (estimate.value, estimate.value)))
    place, low, high = (round(50 + 50 * value if signed else 100 * value, 2) for value in values)
    text = describe(estimate, signed=signed)
    return {
        "name": name,
        "text": text,
        "value": place,
        "low": low,
        "width": round(high - low, 2),
        "signed": signed,
    }
