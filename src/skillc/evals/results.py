"""Write the results of runs: a folder that viewers of skill-creator and agentskills.io read.

    <workspace>/<skill>/iteration-<n>/
        benchmark.json                      all runs and their summary
        report.json, report.html            our own report, with intervals
        eval-<case>/eval_metadata.json
        eval-<case>/with_skill/run-1/       transcript.jsonl, outputs/, grading.json, timing.json, run.json

Transcripts are readable for their owner alone, and secrets of the environment are blotted out in them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from skillc import atomic, paths, records
from skillc.contract import encode
from skillc.evals.credentials import BLOT, blot
from skillc.evals.graders import Grade, Work
from skillc.evals.run import Outcome
from skillc.skills import to_segment
from skillc.skills.cases import Case

FORMAT = 3  # of runs in the cache
MAX_OUTPUTS = 20 << 20  # bytes of files that are kept of a run
ARMS = WITH, WITHOUT, OLD = "with", "without", "old"
CONFIGURATIONS = {WITH: "with_skill", WITHOUT: "without_skill", OLD: "old_skill"}
_ITERATION = re.compile(r"iteration-(\d+)")


@dataclass(frozen=True, slots=True)
class Record:
    """One run that was made; None for what the agent does not tell."""

    case: str
    arm: str
    run: int
    outcome: Outcome
    reason: str
    seconds: float
    tokens: int | None
    cost: float | None
    model: str
    version: str
    calls: int
    grades: tuple[Grade, ...] = ()
    answered: bool = True
    listed: str | None = None  # how the agent listed the skill, by `skc listing`

    @property
    def is_measured(self) -> bool:
        """Whether it measures how the skill fires."""
        return self.outcome in (Outcome.FIRED, Outcome.NOT_CHOSEN)

    @property
    def fired(self) -> bool | None:
        """Whether the skill fired; None where that was not measured."""
        return self.outcome is Outcome.FIRED if self.is_measured else None

    @property
    def judged(self) -> list[Grade]:
        """The grades of what could be judged."""
        return [grade for grade in self.grades if grade.passed is not None]

    @property
    def passed(self) -> bool | None:
        """Whether it has all that is expected; None where that could not be judged."""
        return all(grade.passed for grade in self.judged) if self.judged and self.answered else None

    @property
    def pass_rate(self) -> float | None:
        """The share of what is fulfilled; None where nothing could be judged."""
        return round(fmean(grade.passed is True for grade in self.judged), 4) if self.judged else None

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it need not be run again: an error, of a judge too, may have been one of the hour."""
        is_judged = not any(grade.undecided for grade in self.grades)
        return self.outcome not in (Outcome.ERROR, Outcome.TIMEOUT) and self.answered and is_judged


def read_record(folder: str) -> Record | None:
    """Return the record of a run in a folder; None where there is none that can be read."""
    try:
        value = json.loads(paths.read_regular(os.path.join(folder, "run.json"), MAX_OUTPUTS))
        grades = tuple(Grade(**each) for each in value.pop("grades"))
        return Record(**{**value, "outcome": Outcome(value["outcome"])}, grades=grades)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_run(folder: str, record: Record, output: bytes, work: Work, secrets: Sequence[str]) -> None:
    """Keep a run, or nothing: its record, what the agent printed and left, grades in both dialects."""
    new = atomic.temporary_path(folder)
    try:
        write_text(new, "transcript.jsonl", blot(output.decode("utf-8", "replace"), secrets))
        outputs = os.path.join(new, "outputs")
        _write_outputs(outputs, work, secrets)
        name = "answer.md" if not os.path.exists(os.path.join(outputs, "answer.md")) else "final-answer.md"
        write_text(outputs, name, blot(work.transcript.answer, secrets))
        if record.judged:
            write_json(new, "grading.json", grading(record))
        timing = {"total_tokens": record.tokens, "duration_ms": round(record.seconds * 1000)}
        write_json(new, "timing.json", timing | {"total_duration_seconds": record.seconds})
        write_json(new, "run.json", encode(record))
        atomic.replace(new, folder)
    finally:
        atomic.discard(new)


def _write_outputs(folder: str, work: Work, secrets: Sequence[str]) -> None:
    """Copy the files that a run left, as far as they can be read and there is room."""
    room = MAX_OUTPUTS
    for name in work.files():
        with suppress(OSError):
            data = paths.read_regular(os.path.join(work.folder, name), room)
            room -= len(data)
            for secret in secrets:
                data = data.replace(secret.encode(), BLOT.encode())
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            atomic.write(target, data, private=True)


def grading(record: Record) -> dict[str, Any]:
    """Return the grades of a run, with the words of skill-creator and of agentskills.io.

    Their programs take a run without a rate for one that failed: there are none of what was not judged.
    """
    judged = encode(record.judged)
    total, passed = len(judged), sum(grade.passed is True for grade in record.judged)
    counts = {"passed": passed, "failed": total - passed, "total": total}
    skipped = [each for each in record.grades if each.passed is None]
    errors = int(not record.answered)
    return {
        "expectations": judged,
        "assertion_results": judged,
        "summary": {**counts, "pass_rate": record.pass_rate},
        "skipped": [{"text": each.text, "reason": each.evidence} for each in skipped],
        "execution_metrics": {"total_tool_calls": record.calls, "errors_encountered": errors},
        "timing": {"executor_duration_seconds": record.seconds},
    }


def new_iteration(workspace: str, skill: str, *, resume: bool) -> str:
    """Return the folder of an evaluation: a new one, or the last one again."""
    parent = os.path.join(workspace, to_segment(skill))
    os.makedirs(parent, mode=0o700, exist_ok=True)
    numbers = [int(match[1]) for name in os.listdir(parent) if (match := _ITERATION.fullmatch(name))]
    last = max(numbers, default=0)
    if resume and last:
        return os.path.join(parent, f"iteration-{last}")
    while True:  # another evaluation may begin at the same time
        last += 1
        folder = os.path.join(parent, f"iteration-{last}")
        with suppress(FileExistsError):
            os.mkdir(folder, mode=0o700)
            return folder


def run_folder(results: str, case: Case, arm: str, number: int) -> str:
    """Return the folder of one run."""
    return os.path.join(results, f"eval-{to_segment(case.name)}", CONFIGURATIONS[arm], f"run-{number}")


def cache_folder(workspace: str, depends_on: str) -> str:
    """Return the folder of a run, by a text of all that it depends on."""
    return os.path.join(workspace, "cache", records.digest([FORMAT, depends_on])[:40])


def use_run(folder: str) -> Record | None:
    """Return a run that need not be made again; None for an error, or where there is none."""
    record = read_record(folder)
    if record is None or not record.is_worth_keeping:
        return None
    with suppress(OSError):
        os.utime(folder)  # it is used now
    return record


def link_run(kept: str, folder: str) -> None:
    """Show a run of the cache in a folder of results; one that is there stays, with what was added to it."""
    if read_record(folder) == read_record(kept):
        return
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    atomic.discard(folder)
    with suppress(FileNotFoundError, shutil.Error):  # another evaluation replaces it with its own just now
        shutil.copytree(kept, folder, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def write_case(run: str, number: int, case: Case) -> None:
    """Say what a case asks, in the folder of its arm and in its own: viewers look in one or the other."""
    value = {
        "eval_id": number,
        "eval_name": case.name,
        "prompt": case.prompt,
        "assertions": [grader.text for grader in case.graders],
        "should_trigger": case.should_fire,
    }
    arm = os.path.dirname(run)
    for folder in (arm, os.path.dirname(arm)):
        write_json(folder, "eval_metadata.json", value)


def benchmark(skill: str, records: Sequence[Record], cases: Sequence[Case]) -> dict[str, Any]:
    """Return all runs and their summary, as skill-creator has it, with numbers in `delta`."""
    ids = {case.name: number for number, case in enumerate(cases, 1)}
    runs = []
    for record in records:
        if record.judged:
            grades = grading(record)
            measured = {"time_seconds": record.seconds, "tokens": record.tokens, "tool_calls": record.calls}
            run = {
                "eval_id": ids.get(record.case, 0),
                "eval_name": record.case,
                "configuration": CONFIGURATIONS[record.arm],
                "run_number": record.run,
                "result": {**grades["summary"], **measured, "errors": int(not record.answered)},
                "expectations": grades["expectations"],
            }
            runs.append(run)
    summary = {}
    for arm, configuration in CONFIGURATIONS.items():
        if own := [record for record in records if record.arm == arm]:
            spreads = {name: _spread([getattr(each, key) for each in own]) for name, key in _MEASURES.items()}
            summary[configuration] = spreads
    metadata = {
        "skill_name": skill,
        "executor_model": next((record.model for record in records if record.model), None),
        "evals_run": sorted(set(ids.values())),
        "runs_per_configuration": max((record.run for record in records), default=0),
    }
    run_summary = {**summary, "delta": _delta(summary)} if len(summary) > 1 else summary
    return {"metadata": metadata, "runs": runs, "run_summary": run_summary}


_MEASURES = {"pass_rate": "pass_rate", "time_seconds": "seconds", "tokens": "tokens"}  # of records


def _spread(measured: Sequence[float | None]) -> dict[str, float] | None:
    values = [value for value in measured if value is not None]
    if not values:
        return None
    deviation = stdev(values) if len(values) > 1 else 0.0
    numbers = {"mean": fmean(values), "stddev": deviation, "min": min(values), "max": max(values)}
    return {name: round(value, 4) for name, value in numbers.items()}


def _delta(summary: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
    first, second = list(summary.values())[:2]
    return {
        name: round(first[name]["mean"] - second[name]["mean"], 4) if first[name] and second[name] else None
        for name in first
    }


def write_json(folder: str, name: str, value: Any) -> None:
    """Write a file of results, for its owner alone."""
    write_text(folder, name, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(folder: str, name: str, text: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    atomic.write(os.path.join(folder, name), text.encode("utf-8", "backslashreplace"), private=True)
