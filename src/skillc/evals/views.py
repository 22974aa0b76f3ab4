"""Show an evaluation: as text, as Markdown, and as JUnit's XML for CI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from skillc.evals.report import AgentReport, ArmResult, CaseResult, Evaluation, describe
from skillc.evals.results import WITH
from skillc.evals.run import Outcome
from skillc.text import count_of, cut, one_line

MAX_CASES = 40  # that are listed in text
MAX_REASONS = 5  # for which expectations were not judged
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def text_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield what a person reads first."""
    for skill in evaluation.skills:
        for report in skill.agents:
            yield one_line(f"{skill.skill}, {agent_title(report)}: {report.summary}")
            if report.problem is None:
                yield from (f"  {line}" for line in _details(report))
        yield f"  results  {skill.folder}"


def agent_title(report: AgentReport) -> str:
    """Return the agent with its version and model."""
    version = f" {report.version}" if report.version else ""
    return f"{report.agent}{version}{f' ({report.model})' if report.model else ''}"


def _details(report: AgentReport) -> Iterator[str]:
    for name, arm in report.arms.items():
        lost = f"; {arm.unanswered} without an answer that can be judged" if arm.unanswered else ""
        yield f"{name:<8} {count_of(arm.runs, 'run')}: {_list_outcomes(arm.outcomes)}{lost}"
        if arm.tasks is not None:
            yield f"         {describe(arm.rate)} of the tasks done{_chances(arm)}"
        tokens = "tokens unknown" if arm.tokens is None else f"{arm.tokens:,.0f} tokens"
        cost = "cost unknown" if arm.cost is None else f"${arm.cost:.4f}"
        yield f"         {arm.seconds or 0:.1f} s, {tokens}, {cost}, on average"
    if report.triggers is not None and report.triggers.positives:
        yield f"fired    in {describe(report.triggers.rates[2])} of all runs where it should"
    wrong = [case for case in report.cases if is_wrong(case)]
    for case in wrong[:MAX_CASES]:
        yield f"case     {cut(one_line(case.case), 60)}: {explain_case(case)}"
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


def _list_outcomes(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())


def _chances(arm: ArmResult) -> str:
    """Say how often one of the runs of a case passes, and how often each; empty where it has but one."""
    if arm.runs_each < 2 or arm.pass_at is None or arm.pass_all is None:
        return ""
    return f"; once in {arm.runs_each} runs {100 * arm.pass_at:.0f}%, each time {100 * arm.pass_all:.0f}%"


def is_wrong(case: CaseResult) -> bool:
    """Return whether a case has something to look at."""
    if case.problems:
        return True
    fired = case.arms.get(WITH, {}).get(Outcome.FIRED.value, 0)
    missed = case.arms.get(WITH, {}).get(Outcome.NOT_CHOSEN.value, 0)
    if case.should_fire is not None and (fired > missed) != case.should_fire:
        return True
    passed, total = case.passed.get(WITH, (0, 0))
    return 2 * passed <= total and total > 0


def explain_case(case: CaseResult) -> str:
    """Say what became of a case in each arm."""
    parts = []
    for arm, outcomes in case.arms.items():
        passed = f", {case.passed[arm][0]} of {case.passed[arm][1]} passed" if arm in case.passed else ""
        parts.append(f"{arm} {_list_outcomes(outcomes)}{passed}")
    if case.should_fire is not None:
        parts.append("should fire" if case.should_fire else "should not fire")
    return one_line("; ".join([*parts, *case.problems[:2]]))


def markdown(evaluation: Evaluation) -> str:
    """Return the report for a comment on a change."""
    lines = ["# Evaluation", ""]
    for skill in evaluation.skills:
        for report in skill.agents:
            lines += [f"## {_plain(skill.skill)}, {_plain(agent_title(report))}", ""]
            lines += [f"**{_plain(report.summary)}**", "", *_table(report)]
            wrong = [case for case in report.cases if is_wrong(case)]
            lines += ["", *(f"- {_plain(case.case)}: {_plain(explain_case(case))}" for case in wrong), ""]
    return "\n".join(lines)


def _table(report: AgentReport) -> Iterator[str]:
    if report.arms:
        yield "| arm | runs | tasks done | outcomes | tokens | seconds |"
        yield "| --- | --- | --- | --- | --- | --- |"
    for name, arm in report.arms.items():
        outcomes = _list_outcomes(arm.outcomes)
        tokens = "unknown" if arm.tokens is None else f"{arm.tokens:,.0f}"
        tasks = describe(arm.rate) if arm.tasks is not None else ""
        yield f"| {' | '.join(map(str, (name, arm.runs, tasks, outcomes, tokens, arm.seconds)))} |"


def _plain(text: str) -> str:
    """Return text without what Markdown acts on."""
    return "".join(f"\\{c}" if c in "`*_[]<>|\\" else c for c in one_line(text))


def junit(evaluation: Evaluation) -> str:
    """Return a test suite for each agent and skill, and a test for each case."""
    suites = (_suite(skill.skill, report) for skill in evaluation.skills for report in skill.agents)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>{"".join(suites)}</testsuites>\n'


def _suite(skill: str, report: AgentReport) -> str:
    name = quoteattr(_xml(f"{skill} {report.agent}"))
    if report.problem is not None:
        test = f'<testcase name="canary"><error message={quoteattr(_xml(report.summary))}/></testcase>'
        return f'<testsuite name={name} tests="1" errors="1">{test}</testsuite>'
    tests = "".join(_test(skill, case) for case in report.cases)
    wrong = sum(is_wrong(case) for case in report.cases)
    return f'<testsuite name={name} tests="{len(report.cases)}" failures="{wrong}">{tests}</testsuite>'


def _test(skill: str, case: CaseResult) -> str:
    message = quoteattr(_xml(explain_case(case)))
    body = f"<failure message={message}>{escape(_xml(case.prompt))}</failure>" if is_wrong(case) else ""
    return f"<testcase classname={quoteattr(_xml(skill))} name={quoteattr(_xml(case.case))}>{body}</testcase>"


def _xml(text: str) -> str:
    """Return text without the characters that XML can't hold."""
    return _NOT_XML.sub("", text)
