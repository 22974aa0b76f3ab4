"""Try one skill with one agent: every case, in every arm, as often as asked, and graded."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from skillc import atomic
from skillc.audit import JudgeFailed, parse_judge
from skillc.errors import CannotRun, SkillcError
from skillc.evals.agents import Runner
from skillc.evals.credentials import blot, credentials_of, find_secrets, is_secret
from skillc.evals.graders import Grade, Work, grade
from skillc.evals.judge import Ask, agent_judge, command_judge, judge
from skillc.evals.report import AgentReport, summarise
from skillc.evals.results import (
    FORMAT,
    OLD,
    WITH,
    WITHOUT,
    Record,
    benchmark,
    link_run,
    read_record,
    run_folder,
    write_case,
    write_json,
    write_run,
)
from skillc.evals.run import Cancelled, Outcome, RunResult, find_state, run_agent
from skillc.evals.stage import Stage, Stages, copy_skill, is_home_hidden, open_place
from skillc.evals.transcripts import Transcript
from skillc.install import fetch_old
from skillc.library import Skill
from skillc.listing import read_rules
from skillc.paths import SKILL_FILE, list_names
from skillc.skills import digest_skill
from skillc.skills.cases import EXACT, SENTENCE, Case
from skillc.surface import Here

CANARY_SECONDS = 180.0
_CANARY = (
    "Load the skill named '{name}' with the tool or command by which you load skills, read its"
    " instructions, and then answer with the single word: ready."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How skills are evaluated, as `skc eval` takes it."""

    agents: str = ""
    agent_command: str = ""
    fired: str = ""
    arms: tuple[str, ...] = ()
    old: str = ""
    runs: int = 3
    jobs: int = 2
    timeout: float = 300.0
    max_cost: float | None = None
    cases: tuple[str, ...] = ()
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
        self._spent = 0.0
        self._lock = threading.Lock()

    def is_spent(self) -> bool:
        with self._lock:
            return self._limit is not None and self._spent >= self._limit

    def spend(self, cost: float | None) -> None:
        with self._lock:
            # A run that tells no cost may have cost anything.
            self._spent += cost if cost is not None else float("inf") if self._limit is not None else 0.0


@dataclass(frozen=True, slots=True)
class Job:
    case: Case
    arm: str
    number: int


class Trial:
    """One skill and one agent: what all of their runs share."""

    def __init__(
        self,
        here: Here,
        skill: Skill,
        runner: Runner,
        workspace: str,
        results: str,
        options: EvalOptions,
        budget: Budget,
    ) -> None:
        self._here, self._skill, self._runner, self._options = here, skill, runner, options
        self._workspace, self._results, self._budget = workspace, results, budget
        self._cancel = threading.Event()
        credentials = [os.path.abspath(os.path.expanduser(file)) for file in options.credentials]
        passed_on = credentials_of(runner, os.environ)
        self._secrets = find_secrets(passed_on, credentials)
        self._stages = Stages(
            place="",
            runner=runner,
            name=skill.name,
            source=skill.source,
            library=_find_library(runner) if options.library else (),
            credentials=credentials,
            passed_on=passed_on,
            raw=options.raw,
        )
        self._sources: dict[str, str] = {WITHOUT: ""}
        self._digests: dict[str, str] = {WITHOUT: ""}
        self._state: str | None = None

    def evaluate(self, cases: Sequence[Case]) -> AgentReport:
        """Run all cases; the report says so where the harness does not work here."""
        atomic.sweep(os.path.join(self._workspace, "cache"))
        with open_place(self._workspace) as place:
            self._stages = replace(self._stages, place=place)
            arms = self._prepare(cases)
            jobs = [
                Job(case, arm, number)
                for number in range(1, self._options.runs + 1)
                for case in cases
                for arm in arms
                if number <= (case.runs or self._options.runs) and (case.graders or arm != WITHOUT)
            ]
            problem = self._try_harness()
            records = [] if problem is not None else self._run_all(jobs)
        facts = {
            "agent": self._runner.agent,
            "version": next((record.version for record in records if record.version), None),
            "model": next((record.model for record in records if record.model), self._options.model or None),
            "listed": self._state,
            "home_hidden": is_home_hidden(),
            "not_run": len(jobs) - len(records) if problem is None else 0,
            "seen": self._runner.seen,
        }
        for job in jobs if problem is None else ():
            write_case(self._folder(job), cases.index(job.case) + 1, job.case)
        write_json(self._results, "benchmark.json", benchmark(self._skill.name, records, cases))
        return summarise(cases, records, facts, problem)

    @property
    def digest(self) -> str:
        """The digest of the skill without its cases."""
        return self._digests[WITH]

    def _prepare(self, cases: Sequence[Case]) -> list[str]:
        """Copy the skill for each arm, without its cases; return the arms."""
        has_tasks = any(case.graders for case in cases)
        arms = list(self._options.arms or ((WITH, WITHOUT) if has_tasks else (WITH,)))
        if self._options.old and OLD not in arms:
            arms.append(OLD)
        for arm in filter(WITHOUT.__ne__, arms):
            target = os.path.join(self._stages.place, "arms", arm, self._skill.name)
            if arm == WITH:
                copy_skill(self._skill.source, target)
            else:
                with fetch_old(self._skill, self._options.old, self._here.cwd) as old:
                    copy_skill(old, target)
            self._sources[arm], self._digests[arm] = target, digest_skill(target).digest
        return arms

    def _try_harness(self) -> str | None:
        """Ask for the skill outright; return why that did not load it, None where it did.

        Where it did before, with the same agent and skill, it is not asked again.
        """
        try:
            self._runner.find_program()
        except CannotRun as error:
            return error.message
        kept = self._kept(None, WITH, 0)
        last = read_record(kept)
        if last is not None and last.outcome is Outcome.FIRED and not self._options.again:
            self._state = last.reason or None
            return None
        activity = self._here.progress.activity(f"asking {self._runner.agent} for '{self._skill.name}'")
        try:
            with activity, self._stages.open(self._sources[WITH]) as stage:
                self._state = find_state(stage, self._skill.name)
                result = self._run(stage, _CANARY.format(name=self._skill.name), None, CANARY_SECONDS)
                record = self._record(_CANARY_CASE, WITH, 0, result, ())
                has_fired = result.outcome is Outcome.FIRED
                if has_fired:
                    record = replace(record, reason=self._state or "", answered=True)
                folder = kept if has_fired else os.path.join(self._results, "canary")
                write_run(folder, record, result.output, self._work(stage, result), self._secrets)
        except (OSError, SkillcError) as error:
            return _reason(error)
        return None if has_fired else f"asked for the skill outright, it did not load it ({_explain(result)})"

    def _run_all(self, jobs: Sequence[Job]) -> list[Record]:
        """Make all runs, several at once; Ctrl+C ends them, and keeps those that are done."""
        records: list[Record] = []
        with self._here.progress.steps(len(jobs), "runs") as steps:
            pool = ThreadPoolExecutor(self._options.jobs)
            try:
                for job, record in zip(jobs, pool.map(self._do, jobs), strict=True):
                    steps.step(f"{job.case.name} {job.arm} {job.number}")
                    records += [record] if record is not None else []
            finally:
                self._cancel.set()
                pool.shutdown(cancel_futures=True)
        return records

    def _do(self, job: Job) -> Record | None:
        """Make one run, or take it from the cache; None where it may not be paid any more."""
        kept = self._kept(job.case, job.arm, job.number)
        record = None if self._options.again else read_record(kept)
        if record is None or not record.is_worth_keeping:
            if self._budget.is_spent():
                return None
            record = self._make(job, kept)
        link_run(kept, self._folder(job))
        # It may have been made for another arm: the skill of a month ago is the old one of today.
        return replace(record, arm=job.arm)

    def _make(self, job: Job, kept: str) -> Record:
        """Make one run. What keeps it from being made is an error of this run, and the others go on."""
        case = job.case
        with ExitStack() as stack:
            work = Work(Transcript(), os.devnull, self._skill.source)
            grades: tuple[Grade, ...] = ()
            try:
                stage = stack.enter_context(self._stages.open(self._sources[job.arm], case))
                timeout = min(case.timeout or self._options.timeout, self._options.timeout)
                result = self._run(stage, case.prompt, case, timeout, arm=job.arm)
                work = self._work(stage, result)
                grades = self._grade(job, work) if result.answered else ()
            except (OSError, SkillcError) as error:
                result = RunResult(Outcome.ERROR, _reason(error))
            if self._cancel.is_set():  # what was being graded was cut short
                raise Cancelled
            record = self._record(case, job.arm, job.number, result, grades)
            write_run(kept, record, result.output, work, self._secrets)
        return record

    def _run(
        self, stage: Stage, prompt: str, case: Case | None, timeout: float, *, arm: str = WITH
    ) -> RunResult:
        try:
            result = run_agent(
                stage,
                prompt,
                skill="" if arm == WITHOUT else self._skill.name,
                model=(case.model if case else "") or self._options.model,
                tools=case.tools if case and is_home_hidden() else (),
                turns=case.max_turns if case else None,
                timeout=timeout,
                state=self._state,
                cancel=self._cancel,
            )
        finally:
            self._stages.remove_credentials(stage)
        self._budget.spend(result.transcript.cost)
        return result

    def _work(self, stage: Stage, result: RunResult) -> Work:
        return Work(result.transcript, stage.work, self._skill.source, self._cancel)

    def _grade(self, job: Job, work: Work) -> tuple[Grade, ...]:
        graders = [each for each in job.case.graders if not each.arms or job.arm in each.arms]
        sentences = [each for each in graders if each.kind == SENTENCE]
        verdicts = iter(judge(sentences, job.case, work, self._judge()) if sentences else ())
        grades: list[Grade] = []
        for each in graders:
            if each.kind == SENTENCE:
                grades.append(next(verdicts))
            elif each.kind in EXACT:
                grades.append(grade(each, work))
            else:
                reason = f"graders of type '{each.kind}' are not judged"
                grades.append(Grade(each.text or each.kind, None, reason))
        return tuple(grades)

    def _judge(self) -> Ask:
        if self._options.judge_command:
            return command_judge(parse_judge(self._options.judge_command, "--judge-command"), self._cancel)

        def run(prompt: str) -> Transcript:
            if self._budget.is_spent():
                raise JudgeFailed("--max-cost was reached")
            stages = replace(self._stages, runner=self._runner.as_judge(), library=())
            with stages.open("") as stage:
                result = self._run(stage, prompt, None, self._options.timeout, arm=WITHOUT)
            if result.outcome in (Outcome.ERROR, Outcome.TIMEOUT):
                raise JudgeFailed(result.reason)
            return result.transcript

        return agent_judge(run)

    def _record(
        self, case: Case, arm: str, number: int, result: RunResult, grades: tuple[Grade, ...]
    ) -> Record:
        transcript = result.transcript
        return Record(
            case=case.name,
            agent=self._runner.agent,
            arm=arm,
            run=number,
            outcome=result.outcome,
            reason=blot(result.reason, self._secrets),
            seconds=round(result.seconds, 3),
            tokens=transcript.tokens,
            cost=transcript.cost,
            model=transcript.model,
            version=transcript.version,
            calls=len(transcript.calls),
            grades=tuple(replace(each, evidence=blot(each.evidence, self._secrets)) for each in grades),
            answered=result.answered,
        )

    def _folder(self, job: Job) -> str:
        return run_folder(self._results, job.case, job.arm, job.number)

    def _kept(self, case: Case | None, arm: str, number: int) -> str:
        """Return the folder of a run in the cache, by all that it depends on."""
        program = os.stat(os.path.realpath(self._runner.find_program()))
        stages = self._stages
        value = {
            "format": FORMAT,
            "skill": self._digests[arm],
            "name": self._skill.name,
            "case": asdict(case) if case else None,
            "arm": arm if case and any(grader.arms for grader in case.graders) else "",
            "files": [_stamp(self._skill.source, name) for name in (case.files if case else ())],
            "agent": [self._runner.agent, *self._runner.command, program.st_size, program.st_mtime_ns],
            "fired": self._runner.fired.pattern if self._runner.fired else "",
            "endpoint": sorted(value for name, value in stages.passed_on.items() if not is_secret(name)),
            "model": self._options.model,
            "judge": self._options.judge_command,
            "library": [_stamp(path, SKILL_FILE) for path in stages.library],
            "raw": self._options.raw,
            "run": number,
        }
        key = hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:40]
        return os.path.join(self._workspace, "cache", key)


_CANARY_CASE = Case("canary", _CANARY, "")


def _explain(result: RunResult) -> str:
    answer = " ".join(result.transcript.answer.split())[:200]
    return result.reason or (f"it answered: {answer}" if answer else result.outcome.value)


def _reason(error: Exception) -> str:
    """Return why a run could not be prepared."""
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return str(error)


def _find_library(runner: Runner) -> list[str]:
    """Return the folders of the other skills that the user's agent has; the first of a name counts."""
    rule = read_rules().get(runner.target)
    found: dict[str, str] = {}
    for top in rule.user_folders() if rule else ():
        for name in list_names(top):
            if os.path.isfile(os.path.join(top, name, SKILL_FILE)):
                found.setdefault(name, os.path.join(top, name))
    return list(found.values())


def _stamp(folder: str, name: str) -> list[Any]:
    """Return what changes with a file."""
    path = os.path.join(folder, name)
    status = os.stat(path) if os.path.exists(path) else None
    return [os.path.basename(folder), name, *((status.st_size, status.st_mtime_ns) if status else ())]
