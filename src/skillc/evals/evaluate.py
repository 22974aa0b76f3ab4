"""Evaluate skills: does one fire, does it help, and is that more than chance."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace

from skillc.audit import parse_judge
from skillc.contract import encode
from skillc.errors import CasesUnreadable, InvalidOption
from skillc.evals.agents import find_runners, read_runners
from skillc.evals.free import FreeReport, rank_skills
from skillc.evals.places import find_workspace
from skillc.evals.report import Evaluation, SkillReport
from skillc.evals.results import ARMS, OLD, WITH, new_iteration, write_json, write_text
from skillc.evals.trial import Budget, EvalOptions, Trial
from skillc.evals.views import html
from skillc.library import Skill, locate_skill
from skillc.paths import CASES_FOLDER, EVALUATIONS
from skillc.records import write_notes
from skillc.skills.cases import Case, read_cases
from skillc.surface import Here
from skillc.text import first_of

TRIGGERS, TASKS = "triggers", "tasks"


def evaluate_skills(here: Here, names: Sequence[str], options: EvalOptions) -> Evaluation:
    """Evaluate skills with each agent; raises InvalidOption, CannotRun, and KeyboardInterrupt at Ctrl+C."""
    _check(options)
    cases = [(skill, choose_cases(here, skill, options)) for skill in [_locate(here, name) for name in names]]
    is_here = (name for name, runner in read_runners().items() if shutil.which(runner.program))
    default = "" if options.agent_command else next(is_here, "claude")
    runners = find_runners(options.agent or default, options.agent_command, options.fired)
    for runner in runners:
        if options.max_cost is not None and not runner.tells_cost:
            raise InvalidOption(f"--max-cost can't be kept: {runner.agent} does not tell what a run costs")
    workspace = find_workspace(options.workspace, here.cwd)
    write_notes(EVALUATIONS, workspace, {"workspace": workspace})  # for `skc clean`
    budget = Budget(options.max_cost)
    skills: list[SkillReport] = []
    for skill, chosen in cases:
        iteration = new_iteration(workspace, skill.name, resume=options.resume)
        reports = []
        for runner in runners:
            # Agents have folders of their own where there are several.
            folder = os.path.join(iteration, runner.agent) if len(runners) > 1 else iteration
            trial = Trial(here, skill, runner, options, budget, workspace, folder)
            reports.append(trial.evaluate(chosen))
        found = tuple(case for report in reports for case in report.cases)
        skills.append(SkillReport(skill.name, trial.digests[WITH], tuple(reports), found, iteration))
        write_json(iteration, "report.json", encode(skills[-1]))
        write_text(iteration, "report.html", html(Evaluation((skills[-1],))))
    return Evaluation(tuple(skills))


def _locate(here: Here, name: str) -> Skill:
    skill = locate_skill(name, here.cwd)
    here.tell(skill.diagnostics)
    return skill


def rank_named(here: Here, names: Sequence[str], options: EvalOptions) -> FreeReport:
    """Say where skills stand for the prompts of their cases, without any agent."""
    options = replace(options, only=TRIGGERS)
    chosen: list[tuple[Skill, list[Case]]] = []
    failures: list[CasesUnreadable] = []
    for skill in [_locate(here, name) for name in names]:
        try:
            chosen.append((skill, choose_cases(here, skill, options)))
        except CasesUnreadable as error:
            failures.append(error)
    if not chosen:
        raise failures[0]
    here.tell((), failures)
    return rank_skills(chosen, here.cwd)


def _check(options: EvalOptions) -> None:
    if unknown := [arm for arm in options.arms if arm not in ARMS]:
        raise InvalidOption(
            f"unknown arm '{unknown[0]}'; --arms takes {', '.join(ARMS)}, with commas between them"
        )
    if options.arms and WITH not in options.arms:
        raise InvalidOption("--arms needs 'with': the others are compared to it")
    if options.old and options.arms and OLD not in options.arms:
        raise InvalidOption("--old goes with the arm 'old'")
    if options.judge_command:
        parse_judge(options.judge_command, "--judge-command")
    for file in options.credentials:
        path = os.path.expanduser(file)
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            raise InvalidOption(f"--credentials '{file}' is no file that can be read")


def choose_cases(here: Here, skill: Skill, options: EvalOptions) -> list[Case]:
    """Return the cases of a skill that are to be run; raises InvalidOption where there are none."""
    cases, diagnostics = read_cases(skill.source, skill.name)
    here.tell(diagnostics)
    if not cases:
        place = os.path.join(skill.source, CASES_FOLDER)
        nothing = f"'{place}' has none; 'skc eval init' writes some"
        raise CasesUnreadable(skill.name, "see the warnings above" if diagnostics else nothing)
    wanted, names = set(options.case), [case.name for case in cases]
    if unknown := wanted - {*names}:
        raise InvalidOption(f"'{skill.name}' has no case '{min(unknown)}'; there are {first_of(names, 8)}")
    chosen = [case for case in cases if not wanted or case.name in wanted]
    if options.only == TRIGGERS:
        chosen = [replace(case, graders=()) for case in chosen if case.should_fire is not None]
    elif options.only == TASKS:
        chosen = [replace(case, should_fire=None) for case in chosen if case.graders]
    chosen = [case for case in chosen if case.graders or case.should_fire is not None]
    if not chosen:
        what = {TRIGGERS: "whether the skill should fire", TASKS: "what a good answer has"}
        expected = what.get(options.only, "what is expected")
        raise CasesUnreadable(skill.name, f"none says {expected}; docs/evals.md shows how")
    return chosen
