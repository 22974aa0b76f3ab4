"""Run an agent once, and say what came of it.

Outcomes are closed. Only the first two measure whether a skill fires; an error is never a zero. The sandbox
is loaded when something is run: it needs a POSIX system, and what needs no agent works elsewhere, too.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from enum import StrEnum

from skillc import paths, tools as sandbox
from skillc.errors import SkillcError
from skillc.evals.agents import Runner
from skillc.evals.stage import Stage, ask_skc, is_home_hidden
from skillc.evals.transcripts import Call, Transcript, read_transcript
from skillc.skills.cases import Case

MAX_OUTPUT = 64 << 20  # bytes of a transcript
GRACE = 0.5  # seconds that an agent gets to end


class Outcome(StrEnum):
    FIRED = "fired"
    NOT_CHOSEN = "offered but not chosen"
    NOT_OFFERED = "not offered"
    DENIED = "denied"
    ERROR = "error"
    TIMEOUT = "time-out"


class Cancelled(Exception):
    """The person stopped the evaluation."""


@dataclass(slots=True)
class RunResult:
    """The result of one run of an agent; `output` is all that it printed."""

    outcome: Outcome
    reason: str = ""
    seconds: float = 0.0
    transcript: Transcript = field(default_factory=Transcript)
    output: bytes = b""

    @property
    def answered(self) -> bool:
        """Whether it came to its end, so that its answer can be judged."""
        if self.outcome is Outcome.FIRED:
            return not self.reason
        return self.outcome in (Outcome.NOT_CHOSEN, Outcome.NOT_OFFERED)


def run_agent(
    stage: Stage, case: Case, skill: str, state: str | None, timeout: float, cancel: threading.Event
) -> RunResult:
    """Run the agent of a stage with a case; raises CannotRun, and Cancelled where the person stopped it.

    `skill` is the name that should be seen to fire, empty where it is not there; `state` what `skc listing`
    says of it.
    """
    runner = stage.runner
    program = runner.find_program()
    arguments = runner.arguments(case, stage.skills, in_sandbox=is_home_hidden())
    launch = stage.launch((program, *arguments), timeout, reads=(_package_of(program),))
    try:
        end = sandbox.run_program(launch, cancel, keep=MAX_OUTPUT, grace=GRACE)
    finally:
        stage.remove_credentials()
    if end.reason == sandbox.CANCELLED:
        raise Cancelled
    output = end.output.stdout or b""
    transcript = read_transcript(runner.stream, output)
    if end.output.stdout is None:
        outcome, reason = Outcome.ERROR, f"it printed more than {MAX_OUTPUT >> 20} MiB"
    elif not stage.is_intact():
        outcome, reason = Outcome.ERROR, "it put a link in place of one of its own folders"
    elif end.reason == sandbox.TIMED_OUT:
        outcome, reason = Outcome.TIMEOUT, f"it took more than {timeout:g} s"
    else:
        problem = _find_problem(transcript, end.reason, end.code, end.output.text())
        outcome, reason = judge_outcome(runner, transcript, skill, state, problem, _was_read(stage, skill))
    return RunResult(outcome, reason, end.seconds, transcript, output)


def _package_of(program: str) -> str:
    """Return the folder that a program needs besides itself: all of npm's packages, or its own.

    A program at the top of the home, or above it, gets its file alone.
    """
    real, home = os.path.realpath(program), os.path.realpath(paths.user_home() or os.devnull)
    packages = [each for each in paths.with_parents(real) if os.path.basename(each) == "node_modules"]
    folder = packages[-1] if packages else os.path.dirname(real)
    return real if paths.is_inside(home, folder) else folder


def _find_problem(transcript: Transcript, reason: str, code: int | None, text: str) -> str:
    """Return why a run can't count; empty for one that came to its end."""
    if reason or transcript.error:
        return reason or transcript.error
    if code:
        lines = text.strip().splitlines() or ["it printed nothing"]
        # Programs of Node print the error first, and then where it was.
        line = next((line for line in lines if "Error: " in line), lines[-1])
        return f"it ended with status {code}: {line.strip()}"
    return "" if transcript.is_complete else "it ended without a result"


def judge_outcome(
    runner: Runner, transcript: Transcript, skill: str, state: str | None, problem: str, was_read: bool
) -> tuple[Outcome, str]:
    """Return the outcome for a skill, and the reason of one that does not count.

    Without a skill none can fire, whatever the agent tries to load.
    What fired before a later fault has fired; the reason then says that the answer can't be judged.
    """
    if not skill:
        return (Outcome.ERROR, problem) if problem else (Outcome.NOT_OFFERED, "")
    if runner.fired is not None:
        load, fired = None, runner.fired.search(transcript.answer) is not None
    else:
        load = runner.find_load(transcript, skill)
        fired = was_read or (load is not None and not load.failed)
    if fired:
        return Outcome.FIRED, problem
    if load is not None:
        if any(skill in runner.loads(Call(*denied)) for denied in transcript.denied):
            return Outcome.DENIED, f"the agent may not use its tool '{load.tool}'"
        problem = problem or f"the skill could not be loaded: {load.result.strip()[:200] or 'no answer'}"
    if problem:
        return Outcome.ERROR, problem
    if transcript.listed is not None and skill not in {name.rpartition(":")[2] for name in transcript.listed}:
        return Outcome.NOT_OFFERED, state or ""
    if state in ("on-demand", "absent"):
        return Outcome.NOT_OFFERED, state
    return Outcome.NOT_CHOSEN, ""


def _was_read(stage: Stage, skill: str) -> bool:
    """Return whether our own log has a read of the skill in this run."""
    logs = os.path.join(stage.root, ".skillc", "runtime", skill, ".skillc-meta", "logs.db")
    if not skill or not os.path.exists(logs):
        return False
    try:
        return bool(ask_skc(stage, "stats", skill)["data"]["total_accesses"])
    except (SkillcError, KeyError, TypeError):
        return False


def find_state(stage: Stage, skill: str) -> str | None:
    """Return what the agent of a stage lists of a skill, by `skc listing`; None where that is not known."""
    if not stage.runner.target:
        return None
    try:
        agents = ask_skc(stage, "listing", "--agent", stage.runner.target)["agents"]
    except SkillcError:
        return None
    skills = (each for agent in agents for each in agent["skills"])
    return next((each["state"] for each in skills if each["id"].rpartition("/")[2] == skill), "absent")
