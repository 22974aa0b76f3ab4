"""Run a tool of a skill: one straight line from its name to the envelope.

Definition, mode, values, arguments, environment, sandbox, trust, approval, and at the last moment the
files once more: what runs is what was approved.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc.errors import ApprovalRequired, Diagnostic, SandboxUnavailable
from skillc.library import import_origin
from skillc.skills import SkillDigest, digest_skill, resolve_inside
from skillc.skills.document import main_file
from skillc.text import visible
from skillc.tools import process, sandbox
from skillc.tools.approval import Answer, ApprovalRequest, approval_advice
from skillc.tools.arguments import build_command_line, check_values
from skillc.tools.decisions import record_decision
from skillc.tools.environment import build_environment, find_program, find_working_directory
from skillc.tools.process import Envelope
from skillc.tools.schemas import describe_tool
from skillc.tools.skill import SkillLocation, Tool, load_executable
from skillc.tools.trust import DENY, TrustLevel, TrustStore, may_run

Approve = Callable[[ApprovalRequest], Answer]
Values = Mapping[str, Any] | Callable[[Tool], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool of a skill to be run with these values."""

    skill: SkillLocation
    tool: str
    values: Values  # a function of the tool where parsing them needs its parameters' types
    cwd: str
    mode: str = "Global"


@dataclass(frozen=True, slots=True)
class DryRun:
    """The process that a run would start."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    sandbox: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is decided in every detail, and has not begun."""

    skill: SkillLocation
    tool: Tool
    launch: sandbox.Launch
    files: SkillDigest
    diagnostics: tuple[Diagnostic, ...] = ()

    def describe(self) -> DryRun:
        """Return what `--dry-run` prints."""
        launch = self.launch
        return DryRun(launch.argv, launch.cwd, launch.env, launch.sandbox)


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run and its envelope, which is None after a dry run."""

    run: Run
    envelope: Envelope | None

    @property
    def success(self) -> bool | None:
        return None if self.envelope is None else self.envelope.success


def run_tool(
    call: ToolCall,
    approve: Approve | None = None,
    *,
    dry_run: bool = False,
    cancel: threading.Event | None = None,
    warn: Callable[[tuple[Diagnostic, ...]], None] | None = None,
) -> RunResult:
    """Prepare, approve and run a tool; with `dry_run` only prepare it. Every surface runs tools by this.

    `warn` gets the diagnostics of the skill before anything is asked or started.
    """
    run = prepare(call)
    store = None if dry_run else TrustStore()
    if warn is not None:
        damage = store.damage() if store else None
        warn((*run.diagnostics, damage) if damage else run.diagnostics)
    return RunResult(run, start_run(run, approve, store, cancel=cancel) if store else None)


def prepare(call: ToolCall, env: Mapping[str, str] | None = None) -> Run:
    """Decide everything about a run; nothing is started and no approval asked for."""
    location = call.skill
    files = digest_skill(location.directory)
    skill = load_executable(location.directory, location.skill_id)
    tool = skill.tool(call.tool, call.mode)
    main = resolve_inside(location.directory, main_file(location.directory))  # it may be a link
    name = os.path.relpath(main, os.path.realpath(location.directory)).replace(os.sep, "/")
    if not files.has_content(name, tool.skill.digest):
        raise _change_error(location)
    values = call.values(tool) if callable(call.values) else call.values
    words = build_command_line(tool.template, check_values(tool.parameters, values))
    parent = os.environ if env is None else env
    variables = build_environment(location.name, location.directory, call.mode, parent)
    program = find_program(tool.template.program, location.directory, variables["PATH"])
    launch = sandbox.Launch(
        argv=(program, *words[1:]),
        cwd=find_working_directory(call.cwd, tool.template.program),
        env=variables,
        skill_dir=location.directory,
        timeout=tool.skill.timeout,
        network=tool.skill.network,
        read_only=tool.skill.read_only,
        sandbox=sandbox.choose(),
    )
    return Run(location, tool, launch, files, skill.diagnostics)


def start_run(
    run: Run,
    approve: Approve | None = None,
    store: TrustStore | None = None,
    *,
    cancel: threading.Event | None = None,
) -> Envelope:
    """Run what was prepared, if it may run; `approve` is asked where no decision covers it.

    Raises ApprovalRequired (E063) where the answer is no, or there is no `approve`, and
    SandboxUnavailable (E066) for an untrusted skill where no sandbox works.
    """
    location, launch = run.skill, run.launch
    if location.level is TrustLevel.UNTRUSTED and launch.sandbox == sandbox.NONE:
        obstacles = "; ".join(sandbox.explain())
        name = location.argument
        text = f"'{name}' is untrusted and does not run without one ({obstacles})"
        is_import = import_origin(location.directory) is not None
        advice = f"hint: if you wrote it, 'skc trust adopt {visible(name)}' makes it one of your own"
        raise SandboxUnavailable(text, advice if is_import else "")
    approve_run(run, approve, store or TrustStore())

    def check_files() -> None:
        if digest_skill(location.directory, before=run.files).digest != run.files.digest:
            raise _change_error(location)

    return process.run(launch, cancel, check_files)


def approve_run(run: Run, approve: Approve | None, store: TrustStore) -> None:
    """Return if a run is approved, asking where needed; raises ApprovalRequired if it is not."""
    location, skill = run.skill, run.tool.skill
    has_damage = store.damage() is not None
    permission = may_run(
        location.level,
        store.verdict(location.path, run.files),
        read_only=skill.read_only,
        always_ask=skill.always_ask,
        sandbox=run.launch.sandbox != sandbox.NONE,
    )
    if permission is False:
        raise _denial(location)
    if permission and not has_damage:
        return
    if approve is None:
        raise ApprovalRequired(location.argument, approval_advice(location.argument))
    request = _build_request(run, store, has_damage)
    answer = approve(request)
    if verdict := request.verdict_of(answer):
        record_decision(location, verdict, run.files, store)
    if answer in (Answer.NO, Answer.NEVER):
        raise ApprovalRequired(location.argument, "It was not approved.")
    # It may have been denied elsewhere while the question was open; deny wins.
    if store.verdict(location.path, run.files) == DENY:
        raise _denial(location)


def _build_request(run: Run, store: TrustStore, has_damage: bool) -> ApprovalRequest:
    location, tool, launch = run.skill, run.tool, run.launch
    before = store.find(location.path)
    is_old = before is not None and not before.digest
    is_other = before is not None and before.digest not in ("", run.files.digest)
    changes = run.files.changes_since(before.files) if before and is_other else None
    return ApprovalRequest(
        skill=location.skill_id,
        version=tool.skill.version,
        description=tool.skill.description,
        author=tool.skill.author,
        origin=location.origin,
        level=location.level,
        tool=tool.qualified,
        tool_description=describe_tool(tool),
        argv=launch.argv,
        cwd=launch.cwd,
        permissions=sandbox.permissions(launch),
        digest=run.files.digest,
        read_only=tool.skill.read_only,
        always_ask=tool.skill.always_ask,
        changed=None if changes is None else [f"{kind}: {name}" for kind, name in changes],
        is_old=is_old,
        sandbox=launch.sandbox,
        damaged=has_damage,
    )


def _denial(location: SkillLocation) -> ApprovalRequired:
    name = location.argument
    return ApprovalRequired(name, f"It was denied; 'skc trust show {visible(name)}' says more.")


def _change_error(location: SkillLocation) -> ApprovalRequired:
    text = "Its files changed while this was prepared; nothing was started."
    return ApprovalRequired(location.argument, text)
