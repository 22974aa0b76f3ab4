"""Running a tool of a skill: one straight line from its name to the envelope.

Definition, mode, values, arguments, environment, sandbox, trust, approval, and at the last moment the
files once more: what runs is what was approved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.errors import ApprovalRequired, Diagnostic, SandboxUnavailable
from skillc.skills import main_file
from skillc.text import visible
from skillc.tools import sandbox
from skillc.tools.approval import Answer, ApprovalRequest
from skillc.tools.arguments import check_values, command_line
from skillc.tools.decisions import decide
from skillc.tools.environment import environment, find_program, working_directory
from skillc.tools.fingerprint import Fingerprint, fingerprint
from skillc.tools.launch import Launch
from skillc.tools.origin import FoundSkill
from skillc.tools.process import run
from skillc.tools.schemas import tool_words
from skillc.tools.skill import Tool, load_executable
from skillc.tools.trust import ALLOW, DENY, TrustLevel, TrustStore, may_run

if TYPE_CHECKING:
    import threading

    from skillc.tools.envelope import Envelope

Approve = Callable[[ApprovalRequest], Answer]


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is decided upon in every detail, and has not begun."""

    found: FoundSkill
    tool: Tool
    launch: Launch
    files: Fingerprint
    diagnostics: tuple[Diagnostic, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `--dry-run` prints."""
        launch = self.launch
        return {
            "argv": list(launch.argv),
            "cwd": launch.cwd,
            "env": dict(launch.env),
            "sandbox": launch.sandbox,
        }


def prepare(
    found: FoundSkill,
    tool_name: str,
    values: Mapping[str, Any] | Callable[[Tool], Mapping[str, Any]],
    *,
    mode: str = "Global",
    cwd: str,
    env: Mapping[str, str] | None = None,
) -> Run:
    """Decide everything about a run; nothing is started and nobody asked.

    `values` may be a function, for values that can only be read when the tool's parameters are known.
    """
    files = fingerprint(found.directory)
    skill = load_executable(found.directory, found.skill_id)
    tool = skill.tool(tool_name, mode)
    if files.files.get(main_file(found.directory)) != tool.skill.digest:
        raise _changed(found)
    given = values(tool) if callable(values) else values
    words_of_it = command_line(tool.template, check_values(tool.parameters, given))
    variables = environment(found.name, found.directory, mode, os.environ if env is None else env)
    program = find_program(tool.template.program, found.directory, variables["PATH"])
    launch = Launch(
        argv=(program, *words_of_it[1:]),
        cwd=working_directory(cwd),
        env=variables,
        skill_dir=found.directory,
        timeout=tool.skill.timeout,
        network=tool.skill.network,
        read_only=tool.skill.read_only,
        sandbox=sandbox.choose(),
    )
    return Run(found, tool, launch, files, skill.diagnostics)


def run_tool(
    prepared: Run,
    approve: Approve | None = None,
    *,
    store: TrustStore | None = None,
    cancel: threading.Event | None = None,
) -> Envelope:
    """Run what was prepared, if it may run; `approve` is asked where that is not settled.

    Raises ApprovalRequired (E063) where the answer is no, or nobody can be asked, and
    SandboxUnavailable (E066) for an untrusted skill where nothing would hold it.
    """
    found, launch = prepared.found, prepared.launch
    if found.level is TrustLevel.UNTRUSTED and launch.sandbox == sandbox.NONE:
        missing = "; ".join(sandbox.explain())
        raise SandboxUnavailable(f"'{found.called}' is untrusted and does not run without one ({missing})")
    settle(prepared, approve, store or TrustStore())

    def unchanged() -> None:
        if fingerprint(found.directory).digest != prepared.files.digest:
            raise _changed(found)

    return run(launch, cancel, unchanged)


def settle(prepared: Run, approve: Approve | None, store: TrustStore) -> None:
    """Find out whether a run is approved, by asking if need be; raises ApprovalRequired if it is not."""
    found, skill = prepared.found, prepared.tool.skill
    verdict = store.verdict(found.path, prepared.files)
    allowed = may_run(found.level, skill.read_only, skill.always_ask, verdict)
    if allowed is False:
        raise _denied(found)
    if allowed:
        return
    if approve is None:
        raise ApprovalRequired(found.called, nobody_to_ask(found.called))
    answer = approve(request(prepared, store))
    if answer in (Answer.ALWAYS, Answer.NEVER):
        decision = ALLOW if answer is Answer.ALWAYS else DENY
        store.record(decide(found, decision, prepared.files))
    if answer in (Answer.NO, Answer.NEVER):
        raise ApprovalRequired(found.called, "It was not approved.")
    # Somebody may have denied it while the question stood open; deny wins.
    if store.verdict(found.path, prepared.files) == DENY:
        raise _denied(found)


def request(prepared: Run, store: TrustStore) -> ApprovalRequest:
    """What a person has to know to decide about a run."""
    found, tool, launch = prepared.found, prepared.tool, prepared.launch
    before = store.find(found.path)
    changed = None
    if before is not None and before.digest != prepared.files.digest:
        changed = prepared.files.changes_since(before.files)
    return ApprovalRequest(
        skill=found.skill_id,
        version=tool.skill.version,
        description=tool.skill.description,
        author=tool.skill.author,
        origin=found.origin,
        level=found.level,
        tool=tool.qualified,
        tool_description=tool_words(tool),
        argv=launch.argv,
        cwd=launch.cwd,
        permissions=sandbox.permissions(launch),
        digest=prepared.files.digest,
        read_only=tool.skill.read_only,
        always_ask=tool.skill.always_ask,
        changed=changed,
    )


def nobody_to_ask(skill: str) -> str:
    """What to do where there is no terminal to ask on."""
    skill = visible(skill)
    return (
        f"'skc trust show {skill}' prints what it is and its digest. Without a terminal, allow it with"
        f" 'skc trust allow {skill} --digest <digest>', or this one run with 'skc run --yes'."
    )


def _denied(found: FoundSkill) -> ApprovalRequired:
    return ApprovalRequired(
        found.called, f"It was denied; 'skc trust show {visible(found.called)}' says more."
    )


def _changed(found: FoundSkill) -> ApprovalRequired:
    return ApprovalRequired(found.called, "Its files changed while this was prepared; nothing was started.")
