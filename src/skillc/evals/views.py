"""Show an evaluation: as text, as Markdown, as JUnit's XML for CI, and as one page for a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from skillc import __version__, offline_page
from skillc.evals.report import CELLS, AgentReport, ArmResult, CaseResult, Evaluation, describe
from skillc.evals.statistics import Estimate, Lift
from skillc.text import count_of, cut, one_line

MAX_CASES = 40  # that are listed in text
MAX_TEXT = 4000  # characters of a prompt, on the page
MAX_REASONS = 5  # for which expectations were not judged
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def text_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield what a person reads first."""
    for skill in evaluation.skills:
        for report in skill.agents:
            yield one_line(f"{skill.skill}, {report.title}: {report.summary}")
            if report.problem is None:
                yield from (f"  {line}" for line in _details(report))
        yield f"  results  {skill.folder}"


def _details(report: AgentReport) -> Iterator[str]:
    for name, arm in report.arms.items():
        yield from _describe_arm(name, arm)
    if report.triggers is not None and report.triggers.rates[2].cases:
        yield f"fired    in {describe(report.triggers.rates[2])} of all runs where it should"
    wrong = [case for case in report.cases if case.is_wrong]
    for case in wrong[:MAX_CASES]:
        yield f"case     {cut(one_line(case.case), 60)}: {case.describe()}"
    if len(wrong) > MAX_CASES:
        yield f"case     and {len(wrong) - MAX_CASES} more, in report.json"
    for reason, count in report.skipped()[:MAX_REASONS]:
        yield one_line(f"skipped  {count_of(count, 'expectation')}: {reason}")
    if report.not_run:
        why = "--max-cost was reached, or a run told no cost"
        yield f"not run  {count_of(report.not_run, 'run')}: {why}; --resume goes on"
    if report.seen == "by its documentation":
        yield f"note     {report.agent} is run as its documentation says; it was not tried by us"
    if not report.home_hidden:
        yield "note     your home was not hidden from the agent: bubblewrap does not work here"


def _describe_arm(name: str, arm: ArmResult) -> Iterator[str]:
    _, tasks, outcomes, tokens, seconds, cost = arm.cells()
    lost = f"; {arm.unanswered} without an answer that can be judged" if arm.unanswered else ""
    yield f"{name:<8} {count_of(arm.runs, 'run')}: {outcomes}{lost}"
    if tasks:
        chances = ""
        if arm.runs_each > 1 and arm.pass_at is not None and arm.pass_all is not None:
            once, always = 100 * arm.pass_at, 100 * arm.pass_all
            chances = f"; once in {arm.runs_each} runs {once:.0f}%, each time {always:.0f}%"
        yield f"         {tasks} of the tasks done{chances}"
    yield f"         on average {seconds} s, tokens {tokens}, cost {cost}"


def markdown(evaluation: Evaluation) -> str:
    """Return the report for a comment on a change."""
    lines = ["# Evaluation", ""]
    for skill in evaluation.skills:
        for report in skill.agents:
            title = _plain(f"{skill.skill}, {report.title}")
            lines += [f"## {title}", "", f"**{_plain(report.summary)}**", ""]
            rows = [CELLS, ["---"] * len(CELLS), *((name, *arm.cells()) for name, arm in report.arms.items())]
            lines += [f"| {' | '.join(row)} |" for row in rows if report.arms]
            wrong = [case for case in report.cases if case.is_wrong]
            lines += ["", *(f"- {_plain(f'{case.case}: {case.describe()}')}" for case in wrong), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text without what Markdown acts on."""
    return "".join(f"\\{c}" if c in "`*_[]<>|\\" else c for c in one_line(text))


def junit(evaluation: Evaluation) -> str:
    """Return a test suite for each agent and skill, and a test for each case."""
    suites = (_suite(skill.skill, report) for skill in evaluation.skills for report in skill.agents)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>{"".join(suites)}</testsuites>\n'


def _suite(skill: str, report: AgentReport) -> str:
    name = _quote(f"{skill} {report.agent}")
    if report.problem is not None:
        test = f'<testcase name="canary"><error message={_quote(report.summary)}/></testcase>'
        return f'<testsuite name={name} tests="1" errors="1">{test}</testsuite>'
    tests = "".join(_test(skill, case) for case in report.cases)
    wrong = sum(case.is_wrong for case in report.cases)
    return f'<testsuite name={name} tests="{len(report.cases)}" failures="{wrong}">{tests}</testsuite>'


def _test(skill: str, case: CaseResult) -> str:
    prompt = escape(_NOT_XML.sub("", case.prompt))
    body = f"<failure message={_quote(case.describe())}>{prompt}</failure>" if case.is_wrong else ""
    return f"<testcase classname={_quote(skill)} name={_quote(case.case)}>{body}</testcase>"


def _quote(text: str) -> str:
    """Return an attribute's value, without the characters that XML can't hold."""
    return quoteattr(_NOT_XML.sub("", text))


def html(evaluation: Evaluation) -> str:
    """Return the page, without scripts and requests: verdicts, rates with their intervals, cases to open."""
    names = ", ".join(dict.fromkeys(skill.skill for skill in evaluation.skills))
    return offline_page.render_page(
        os.path.join(os.path.dirname(__file__), "page.html"),
        title=f"Evaluation of {names}",
        skills=evaluation.skills,
        columns=CELLS,
        list_rates=_list_rates,
        describe=describe,
        max_text=MAX_TEXT,
        maker=f"skillc {__version__}",
    )


def _list_rates(report: AgentReport) -> Iterator[tuple[str, Estimate | Lift, bool]]:
    """Yield what is drawn: rates, and comparisons that have a verdict, which can be negative."""
    if report.triggers is not None:
        recall, precision, _ = report.triggers.rates
        yield "fires where it should", recall, False
        yield "is right where it fires", precision, False
    yield from ((f"tasks done, {name}", arm.rate, False) for name, arm in report.arms.items())
    for other, unit, comparison in report.comparisons():
        if not comparison.withheld:
            yield f"{unit}, with against {other}", comparison, True
