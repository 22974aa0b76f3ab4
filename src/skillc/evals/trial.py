"""Try one skill with one agent: every case, in every arm, as often as asked, and graded."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from skillc.audit import JudgeFailed
from skillc.errors import CannotRun, SkillcError, unexpected
from skillc.evals import results
from skillc.evals.agents import Runner
from skillc.evals.credentials import blot, credentials_of, find_secrets, is_secret
from skillc.evals.graders import Grade, Work, grade
from skillc.evals.judge import command_judge, judge, write_prompt
from skillc.evals.places import open_place
from skillc.evals.report import AgentReport
from skillc.evals.results import OLD, WITH, WITHOUT, Record
from skillc.evals.run import Cancelled, Outcome, RunResult, find_state, run_agent
from skillc.evals.stage import Stage, Stages, copy_skill, find_library, is_home_hidden
from skillc.evals.summary import summarise
from skillc.evals.transcripts import Transcript
from skillc.install import fetch_old
from skillc.library import Skill
from skillc.paths import SKILL_FILE
from skillc.skills import digest_skill
from skillc.skills.cases import SENTENCE, Case
from skillc.surface import Here

CANARY_SECONDS = 180.0
_CANARY = (
    "Load the skill named '{name}' with the tool or command by which you load skills, read its"
    " instructions, and then answer with the single word: ready."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How skills are evaluated, as `skc eval` takes it."""

    agent: str = ""  # names, with commas
    agent_command: str = ""
    fired: str = ""
    arms: tuple[str, ...] = ()
    old: str = ""
    runs: int = 3
    jobs: int = 2
    timeout: float = 300.0
    max_cost: float | None = None
    case: tuple[str, ...] = ()
    only: str = ""
    model: str = ""
    judge_command: str = ""
    library: bool = True
    raw: bool = False
    resume: bool = False
    again: bool = False
    workspace: str = ""
    credentials: tuple[str, ...] = ()


class Budget:
    """The dollars that may be spent, and those that were."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._costs: list[float] = []  # to which several threads add

    def is_spent(self) -> bool:
        return self._limit is not None and sum(self._costs) >= self._limit

    def spend(self, cost: float | None) -> None:
        self._costs.append(inf if cost is None else cost)  # a run that tells no cost may have cost anything


@dataclass(frozen=True, slots=True)
class Job:
    case: Case
    arm: str
    number: int


@dataclass(slots=True)
class Trial:
    """One skill and one agent: what all of their runs share; `folder` is for their results."""

    here: Here
    skill: Skill
    runner: Runner
    options: EvalOptions
    budget: Budget
    workspace: str
    folder: str
    cancel: threading.Event = field(default_factory=threading.Event)
    digests: dict[str, str] = field(default_factory=lambda: {WITHOUT: ""})  # of the skill, without its cases
    sources: dict[str, str] = field(default_factory=lambda: {WITHOUT: ""})  # copies of it, in each arm
    listed: str | None = None  # how, by `skc listing`; the canary finds it
    secrets: tuple[str, ...] = ()
    stages: Stages = field(init=False)
    canary: Job = field(init=False)

    def __post_init__(self) -> None:
        skill, runner, options = self.skill, self.runner, self.options
        credentials = [os.path.abspath(os.path.expanduser(file)) for file in options.credentials]
        passed_on = credentials_of(runner, os.environ)
        self.secrets = find_secrets(passed_on, credentials)
        library = find_library(runner) if options.library else ()
        self.stages = Stages("", runner, skill, library, credentials, passed_on, options.raw)
        self.canary = Job(Case("canary", _CANARY.format(name=skill.name), ""), WITH, 0)

    def evaluate(self, cases: Sequence[Case]) -> AgentReport:
        """Run all cases; the report says so where the harness does not work here."""
        with open_place(self.workspace) as place:
            self.stages = replace(self.stages, place=place)
            arms, problem = self._prepare(cases), self._try_harness()
            jobs = [
                Job(case, arm, number)
                for number in range(1, self.options.runs + 1)
                for case in cases
                for arm in (arms if problem is None else ())
                if number <= (case.runs or self.options.runs) and (case.graders or arm != WITHOUT)
            ]
            records = self._run_all(jobs) if jobs else []
        facts = {
            "agent": self.runner.agent,
            "version": next((record.version for record in records if record.version), None),
            "model": next((record.model for record in records if record.model), self.options.model or None),
            "listed": self.listed,
            "home_hidden": is_home_hidden(),
            "not_run": len(jobs) - len(records),
            "seen": self.runner.seen,
        }
        for job in (job for job in jobs if job.number == 1):
            results.write_case(self._folder_of(job), cases.index(job.case) + 1, job.case)
        results.write_json(self.folder, "benchmark.json", results.benchmark(self.skill.name, records, cases))
        return summarise(cases, records, facts, problem)

    def _prepare(self, cases: Sequence[Case]) -> list[str]:
        """Copy the skill for each arm, without its cases; return the arms."""
        has_tasks = any(case.graders for case in cases)
        arms = list(self.options.arms or ((WITH, WITHOUT) if has_tasks else (WITH,)))
        if self.options.old and OLD not in arms:
            arms.append(OLD)
        for arm in filter(WITHOUT.__ne__, arms):
            target = os.path.join(self.stages.place, "arms", arm, self.skill.name)
            now = nullcontext(self.skill.source)
            with fetch_old(self.skill, self.options.old, self.here.cwd) if arm == OLD else now as source:
                copy_skill(source, target)
            self.sources[arm], self.digests[arm] = target, digest_skill(target).digest
        return arms

    def _try_harness(self) -> str | None:
        """Ask for the skill outright; return why that did not load it, None where it did."""
        try:
            self.runner.find_program()
        except CannotRun as error:
            return error.message
        with self.here.progress.activity(f"asking {self.runner.agent} for '{self.skill.name}'"):
            record = self._do(self.canary)
        if record is None:
            return "--max-cost was reached before it was tried"
        self.listed = record.listed
        if record.outcome is Outcome.FIRED:
            return None
        reason = record.reason or record.outcome.value
        if not self.runner.stream and self.runner.fired is None:
            reason += "; without --fired, only reads by 'skc show' count"
        return f"asked for the skill outright, it did not load it ({reason})"

    def _run_all(self, jobs: Sequence[Job]) -> list[Record]:
        """Make all runs, several at once; Ctrl+C ends them, and keeps those that are done."""
        records: list[Record] = []
        with self.here.progress.steps(len(jobs), "runs") as steps:
            pool = ThreadPoolExecutor(self.options.jobs)
            try:
                for job, record in zip(jobs, pool.map(self._do, jobs), strict=True):
                    steps.step(f"{job.case.name} {job.arm} {job.number}")
                    records += [record] if record is not None else []
            finally:
                self.cancel.set()
                pool.shutdown(cancel_futures=True)
        return records

    def _do(self, job: Job) -> Record | None:
        """Make one run, or take it from the cache; None where it may not be paid any more."""
        kept = self._kept(job)
        record = None if self.options.again else results.use_run(kept)
        # Where the harness did not work, it may by now.
        if record is None or (job is self.canary and record.outcome is not Outcome.FIRED):
            if self.budget.is_spent():
                return None
            record = self._make(job, kept)
        # Viewers would take the request for the skill for a case: it is there where it has to be looked at.
        if job is not self.canary or record.outcome is not Outcome.FIRED:
            results.link_run(kept, self._folder_of(job))
        # It may have been made for another arm: the skill of a month ago is the old one of today.
        return replace(record, arm=job.arm)

    def _make(self, job: Job, kept: str) -> Record:
        """Make one run. What keeps it from being made is an error of this run, and the others go on."""
        with ExitStack() as stack:
            work = Work(Transcript(), os.devnull, self.skill.source)
            grades: tuple[Grade, ...] = ()
            try:
                stage = stack.enter_context(self.stages.open(self.sources[job.arm], job.case))
                if job is self.canary:
                    self.listed = find_state(stage, self.skill.name)
                result = self._run(stage, job.case, job.arm)
                work = Work(result.transcript, stage.work, self.skill.source, self.cancel)
                grades = self._grade(job, work) if result.answered else ()
            except (OSError, SkillcError) as error:
                result = RunResult(Outcome.ERROR, unexpected(error).message)
            if self.cancel.is_set():  # what was being graded was cut short
                raise Cancelled
            record = self._record(job, result, grades)
            results.write_run(kept, record, result.output, work, self.secrets)
        return record

    def _run(self, stage: Stage, case: Case, arm: str) -> RunResult:
        limit = CANARY_SECONDS if case is self.canary.case else self.options.timeout
        timeout = min(case.timeout or limit, limit)
        skill = "" if arm == WITHOUT else self.skill.name
        allowed = case.tools if is_home_hidden() else ()
        case = replace(case, model=case.model or self.options.model, tools=allowed)
        result = run_agent(stage, case, skill, self.listed, timeout, self.cancel)
        self.budget.spend(result.transcript.cost)
        return result

    def _grade(self, job: Job, work: Work) -> tuple[Grade, ...]:
        graders = [each for each in job.case.graders if not each.arms or job.arm in each.arms]
        sentences = [each for each in graders if each.kind == SENTENCE]
        command = self.options.judge_command
        ask = command_judge(command, self.cancel) if command else self._ask_agent
        verdicts = iter(judge(sentences, job.case, work, ask) if sentences else ())
        return tuple(next(verdicts) if each.kind == SENTENCE else grade(each, work) for each in graders)

    def _ask_agent(self, question: dict[str, Any]) -> str:
        """Return what the same agent, without tools and skills, says as the judge."""
        if self.budget.is_spent():
            raise JudgeFailed("--max-cost was reached")
        stages = replace(self.stages, runner=self.runner.as_judge(), library=())
        with stages.open("") as stage:
            result = self._run(stage, Case("judge", write_prompt(question), ""), WITHOUT)
        if result.reason:
            raise JudgeFailed(result.reason)
        return result.transcript.answer

    def _record(self, job: Job, result: RunResult, grades: tuple[Grade, ...]) -> Record:
        transcript, reason = result.transcript, result.reason
        if job is self.canary and transcript.answer and result.outcome is not Outcome.FIRED:
            reason = reason or f"it answered: {' '.join(transcript.answer.split())[:200]}"
        return Record(
            case=job.case.name,
            arm=job.arm,
            run=job.number,
            outcome=result.outcome,
            reason=blot(reason, self.secrets),
            seconds=round(result.seconds, 3),
            tokens=transcript.tokens,
            cost=transcript.cost,
            model=transcript.model,
            version=transcript.version,
            calls=len(transcript.calls),
            grades=tuple(replace(each, evidence=blot(each.evidence, self.secrets)) for each in grades),
            answered=result.answered,
            listed=self.listed,
        )

    def _folder_of(self, job: Job) -> str:
        if job is self.canary:
            return os.path.join(self.folder, "canary")
        return results.run_folder(self.folder, job.case, job.arm, job.number)

    def _kept(self, job: Job) -> str:
        """Return the folder of a run in the cache, by all that it depends on."""
        case, runner, options = job.case, self.runner, self.options
        program = os.stat(os.path.realpath(runner.find_program()))
        settings = (value for name, value in self.stages.passed_on.items() if not is_secret(name))
        depends_on = (
            *(self.digests[job.arm], self.skill.name, case, job.number),
            job.arm if any(grader.arms for grader in case.graders) else "",
            [_stamp(self.skill.source, name) for name in case.files],
            *(runner.agent, runner.command, runner.fired and runner.fired.pattern),
            *(program.st_size, program.st_mtime_ns),
            *(options.model, options.judge_command, options.raw, sorted(settings)),
            [_stamp(path, SKILL_FILE) for path in self.stages.library],
        )
        return results.cache_folder(self.workspace, repr(depends_on))


def _stamp(folder: str, name: str) -> list[Any]:
    """Return what changes with a file."""
    path = os.path.join(folder, name)
    status = os.stat(path) if os.path.exists(path) else None
    return [os.path.basename(folder), name, *((status.st_size, status.st_mtime_ns) if status else ())]
