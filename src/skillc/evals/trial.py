"""Try one skill with one agent: every case, in every arm, as often as asked, and graded."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from skillc import atomic
from skillc.audit import JudgeFailed, parse_judge
from skillc.errors import CannotRun, PathEscapes, SkillcError
from skillc.evals.agents import Runner
from skillc.evals.graders import Grade, Work, blot, grade
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
from skillc.evals.run import Outcome, RunResult, find_state, is_home_hidden, run_agent
from skillc.evals.stage import Stage, copy_skill, credentials_of, is_secret, make_stage, remove_credentials
from skillc.install import fetch_old
from skillc.library import Skill
from skillc.listing import read_rules
from skillc.paths import SKILL_FILE
from skillc.skills import digest_skill
from skillc.skills.cases import EXACT, SENTENCE, Case
from skillc.surface import Here

MIN_SECRET = 8  # characters; shorter values would blot out ordinary words
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
        self._credentials = [os.path.abspath(os.path.expanduser(file)) for file in options.credentials]
        self._passed_on = credentials_of(runner, os.environ)
        self._secrets = _find_secrets(self._passed_on, self._credentials)
        self._library = _find_library(runner) if options.library else []
        self._sources: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._state: str | None = None

    def evaluate(self, cases: Sequence[Case]) -> AgentReport:
        """Run all cases; the report says so where the harness does not work here."""
        place = os.path.join(self._workspace, "runs", os.urandom(6).hex())
        os.makedirs(place, mode=0o700)
        try:
            arms = self._prepare(place, cases)
            jobs = [
                Job(case, arm, number)
                for number in range(1, self._options.runs + 1)
                for case in cases
                for arm in arms
                if number <= (case.runs or self._options.runs) and (case.graders or arm != WITHOUT)
            ]
            problem = self._try_harness(place)
            records = [] if problem is not None else self._run_all(place, jobs)
        finally:
            atomic.discard(place)
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

    def _prepare(self, place: str, cases: Sequence[Case]) -> list[str]:
        """Copy the skill for each arm, without its cases; return the arms."""
        has_tasks = any(case.graders for case in cases)
        default = (WITH, WITHOUT) if has_tasks else (WITH,)
        arms = list(self._options.arms or default)
        if self._options.old and OLD not in arms:
            arms.append(OLD)
        for arm in arms:
            target = os.path.join(place, "arms", arm, self._skill.name)
            if arm == WITH:
                copy_skill(self._skill.source, target)
            elif arm == OLD:
                with fetch_old(self._skill, self._options.old, self._here.cwd) as old:
                    copy_skill(old, target)
            self._sources[arm] = "" if arm == WITHOUT else target
            self._digests[arm] = "" if arm == WITHOUT else digest_skill(target).digest
        return arms

    @contextmanager
    def _stage(self, place: str, arm: str, case: Case | None) -> Iterator[Stage]:
        root = os.path.join(place, os.urandom(6).hex())
        try:
            yield make_stage(
                root,
                self._runner,
                skill=self._sources[arm],
                name=self._skill.name,
                case=case,
                case_source=self._skill.source,
                library=self._library,
                credentials=self._credentials,
                raw=self._options.raw,
                passed_on=self._passed_on,
            )
        finally:
            atomic.discard(root)

    def _try_harness(self, place: str) -> str | None:
        """Ask for the skill outright; return why that did not load it, None where it did.

        Where it did before, with the same agent and skill, it is not asked again.
        """
        try:
            self._runner.find_program()
        except CannotRun as error:
            return error.message
        kept = os.path.join(self._workspace, "cache", self._key(None, WITH, 0))
        last = read_record(kept)
        if last is not None and last.outcome is Outcome.FIRED and not self._options.again:
            self._state = last.reason or None
            return None
        activity = self._here.progress.activity(f"asking {self._runner.agent} for '{self._skill.name}'")
        try:
            with activity, self._stage(place, WITH, None) as stage:
                self._state = find_state(stage, self._skill.name)
                result = self._run(stage, _CANARY.format(name=self._skill.name), None, CANARY_SECONDS)
                self._budget.spend(result.transcript.cost)
                record = self._record(_CANARY_CASE, WITH, 0, result, ())
                has_fired = result.outcome is Outcome.FIRED
                if has_fired:
                    record = replace(record, reason=self._state or "", answered=True)
                folder = kept if has_fired else os.path.join(self._results, "canary")
                write_run(folder, record, result.output, self._work(stage, result), self._secrets)
        except (OSError, SkillcError) as error:
            return _reason(error)
        return None if has_fired else f"asked for the skill outright, it did not load it ({_explain(result)})"

    def _run_all(self, place: str, jobs: Sequence[Job]) -> list[Record]:
        """Make all runs, several at once; Ctrl+C ends them, and keeps those that are done."""
        records: list[Record] = []
        with self._here.progress.steps(len(jobs), "runs") as steps:
            pool = ThreadPoolExecutor(self._options.jobs)
            try:
                for job, record in zip(jobs, pool.map(lambda job: self._do(place, job), jobs), strict=True):
                    steps.step(f"{job.case.name} {job.arm} {job.number}")
                    records += [record] if record is not None else []
            finally:
                self._cancel.set()
                pool.shutdown(cancel_futures=True)
        return records

    def _do(self, place: str, job: Job) -> Record | None:
        """Make one run, or take it from the cache; None where it may not be paid any more."""
        kept = os.path.join(self._workspace, "cache", self._key(job.case, job.arm, job.number))
        record = None if self._options.again else read_record(kept)
        if record is None or not record.is_worth_keeping:
            if self._budget.is_spent():
                return None
            record = self._make(place, job, kept)
        link_run(kept, self._folder(job))
        return record

    def _make(self, place: str, job: Job, kept: str) -> Record:
        try:
            with self._stage(place, job.arm, job.case) as stage:
                timeout = min(job.case.timeout or self._options.timeout, self._options.timeout)
                result = self._run(stage, job.case.prompt, job.case, timeout, arm=job.arm)
                self._budget.spend(result.transcript.cost)
                work = self._work(stage, result)
                grades = self._grade(job, work, place) if result.answered else ()
                record = self._record(job.case, job.arm, job.number, result, grades)
                write_run(kept, record, result.output, work, self._secrets)
        except (OSError, PathEscapes) as error:
            result = RunResult(Outcome.ERROR, _reason(error))
            record = self._record(job.case, job.arm, job.number, result, ())
            nothing = Work(result.transcript, os.devnull, self._skill.source)
            write_run(kept, record, b"", nothing, self._secrets)
        return record

    def _run(
        self, stage: Stage, prompt: str, case: Case | None, timeout: float, *, arm: str = WITH
    ) -> RunResult:
        try:
            return run_agent(
                stage,
                prompt,
                skill=self._skill.name,
                model=(case.model if case else "") or self._options.model,
                tools=case.tools if case and is_home_hidden() else (),
                turns=case.max_turns if case else None,
                timeout=timeout,
                state=None if arm == WITHOUT else self._state,
                cancel=self._cancel,
            )
        finally:
            remove_credentials(stage, self._credentials)

    def _work(self, stage: Stage, result: RunResult) -> Work:
        return Work(result.transcript, stage.work, self._skill.source)

    def _grade(self, job: Job, work: Work, place: str) -> tuple[Grade, ...]:
        graders = [each for each in job.case.graders if not each.arms or job.arm in each.arms]
        sentences = [each for each in graders if each.kind == SENTENCE]
        verdicts = iter(judge(sentences, job.case, work, self._judge(place)) if sentences else ())
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

    def _judge(self, place: str) -> Ask:
        if self._options.judge_command:
            return command_judge(parse_judge(self._options.judge_command))

        def run(prompt: str) -> Any:
            with self._stage(place, WITHOUT, None) as stage:
                words = tuple(self._runner.quiet_arguments("{prompt}", self._options.model))
                quiet = replace(
                    self._runner, command=words, model=(), allow="", turns="", inside=(), outside=()
                )
                quiet_stage = replace(stage, runner=quiet)
                result = self._run(quiet_stage, prompt, None, self._options.timeout, arm=WITHOUT)
            self._budget.spend(result.transcript.cost)
            if result.outcome in (Outcome.ERROR, Outcome.TIMEOUT):
                raise JudgeFailed(result.reason)
            return result.transcript

        self._sources.setdefault(WITHOUT, "")
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

    def _key(self, case: Case | None, arm: str, number: int) -> str:
        """Return the name of a run in the cache: all that it depends on."""
        program = os.stat(os.path.realpath(self._runner.find_program()))
        value = {
            "format": FORMAT,
            "skill": self._digests[arm],
            "name": self._skill.name,
            "case": asdict(case) if case else None,
            "files": [_stamp(self._skill.source, name) for name in (case.files if case else ())],
            "agent": [self._runner.agent, *self._runner.command, program.st_size, program.st_mtime_ns],
            "fired": self._runner.fired.pattern if self._runner.fired else "",
            "endpoint": sorted(value for name, value in self._passed_on.items() if not is_secret(name)),
            "model": self._options.model,
            "judge": self._options.judge_command,
            "library": [_stamp(path, SKILL_FILE) for path in self._library],
            "raw": self._options.raw,
            "run": number,
        }
        return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:40]


_CANARY_CASE = Case("canary", _CANARY, "")


def _explain(result: RunResult) -> str:
    answer = " ".join(result.transcript.answer.split())[:200]
    return result.reason or (f"it answered: {answer}" if answer else result.outcome.value)


def _reason(error: Exception) -> str:
    """Return why a run could not be prepared."""
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return str(error)


def _find_secrets(variables: Mapping[str, str], files: Sequence[str]) -> tuple[str, ...]:
    """Return what must not be kept: the longest first, so that none is left in part."""
    secrets = {value for name, value in variables.items() if is_secret(name)}
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as text:
            secrets.update(word.strip("\"',;") for word in text.read().split())
    return tuple(sorted((each for each in secrets if len(each) >= MIN_SECRET), key=len, reverse=True))


def _find_library(runner: Runner) -> list[str]:
    """Return the folders of the other skills that the user's agent has; the first of a name counts."""
    rule = read_rules().get(runner.target)
    found: dict[str, str] = {}
    for top in rule.user_folders() if rule else ():
        for name in sorted(os.listdir(top)) if os.path.isdir(top) else ():
            if os.path.isfile(os.path.join(top, name, SKILL_FILE)):
                found.setdefault(name, os.path.join(top, name))
    return list(found.values())


def _stamp(folder: str, name: str) -> list[Any]:
    """Return what changes with a file."""
    path = os.path.join(folder, name)
    status = os.stat(path) if os.path.exists(path) else None
    return [os.path.basename(folder), name, *((status.st_size, status.st_mtime_ns) if status else ())]
