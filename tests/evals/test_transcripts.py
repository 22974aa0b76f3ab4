"""What agents print of a run: the streams of four agents, and lines that nothing knows."""

from __future__ import annotations

import json
from typing import Any

from skillc.evals.agents import read_runners
from skillc.evals.run import Outcome, judge_outcome
from skillc.evals.transcripts import Transcript, read_transcript
from tests.support.cases import each

NAME = "pdf-forms"


def lines(*events: dict[str, Any]) -> bytes:
    return b"\n".join([b"not JSON", b"{", *(json.dumps(event).encode() for event in events), b"[1]"])


def command(text: str, **more: Any) -> dict[str, Any]:
    item = {
        "id": text,
        "type": "command_execution",
        "command": f"/bin/bash -lc '{text}'",
        "exit_code": 0,
        **more,
    }
    return {"type": "item.completed", "item": item}


SAID = {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "Done."}}
TURN = {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}}
TOOL = {"server": "skillc", "tool": "skc_show", "arguments": {"skill": NAME}, "status": "completed"}
CALL = {"type": "item.completed", "item": {"id": "t", "type": "mcp_tool_call", **TOOL}}


def outcome(agent: str, output: bytes, state: str | None = None) -> tuple[Outcome, str]:
    runner = read_runners()[agent]
    transcript = read_transcript(runner.stream, output)
    problem = transcript.error or ("" if transcript.is_complete else "it ended without a result")
    return judge_outcome(runner, transcript, NAME, state, problem, was_read=False)


@each(
    "events, expected",
    [
        ((command(f"cat ~/.codex/skills/{NAME}/SKILL.md"), SAID, TURN), Outcome.FIRED),
        ((command("ls"), command(f"sed -n 1,80p x/{NAME}/SKILL.md"), SAID, TURN), Outcome.FIRED),
        ((command(f"skc show {NAME} --section Fill"), SAID, TURN), Outcome.FIRED),
        ((CALL, TURN), Outcome.FIRED),
        ((command(f"cat x/{NAME}-extra/SKILL.md"), SAID, TURN), Outcome.NOT_CHOSEN),
        ((command(f"cat x/{NAME}/SKILL.md.bak"), SAID, TURN), Outcome.NOT_CHOSEN),
        ((SAID, TURN), Outcome.NOT_CHOSEN),
        ((command(f"cat x/{NAME}/SKILL.md", exit_code=1, aggregated_output="denied"), TURN), Outcome.ERROR),
        (({"type": "turn.failed", "error": {"message": "no quota"}},), Outcome.ERROR),
        (({"type": "error", "message": "stream lost"},), Outcome.ERROR),
        ((SAID,), Outcome.ERROR),
    ],
)
def test_codex(events: tuple[dict[str, Any], ...], expected: Outcome) -> None:
    """[SURFACES: Evals] Codex has no tool for skills: opening SKILL.md, or reading by skc, is what fires."""
    assert outcome("codex", lines(*events))[0] is expected


def test_what_codex_tells() -> None:
    """[SURFACES: Evals] tokens and the answer; a cost it does not tell is unknown, and no zero."""
    transcript = read_transcript("codex", lines(command("ls", aggregated_output="a.txt"), SAID, TURN))
    assert (transcript.answer, transcript.tokens, transcript.cost) == ("Done.", 10, None)
    assert transcript.calls[0].result == "a.txt"
    assert "a.txt" in transcript.trace()


def test_not_listed() -> None:
    """[SURFACES: Evals] [D75] what the agent does not list was not offered."""
    assert outcome("codex", lines(SAID, TURN), "on-demand") == (Outcome.NOT_OFFERED, "on-demand")
    assert outcome("codex", lines(SAID, TURN), "cut")[0] is Outcome.NOT_CHOSEN


def test_gemini() -> None:
    """[SURFACES: Evals] by its documentation: `activate_skill`, and messages in pieces."""
    use = {"type": "tool_use", "tool_id": "1", "tool_name": "activate_skill", "parameters": {"name": NAME}}
    done = {"type": "tool_result", "tool_id": "1", "status": "success", "output": "text"}
    parts = [
        {"type": "message", "role": "assistant", "content": text, "delta": True} for text in ("Do", "ne.")
    ]
    end = {"type": "result", "status": "success", "stats": {"total_tokens": 12}}
    output = lines({"type": "init", "model": "gemini-3"}, use, done, *parts, end)
    assert outcome("gemini", output)[0] is Outcome.FIRED
    transcript = read_transcript("gemini", output)
    assert (transcript.answer, transcript.tokens, transcript.model) == ("Done.", 12, "gemini-3")
    failed = lines({"type": "result", "status": "error", "error": {"message": "no key"}})
    assert outcome("gemini", failed) == (Outcome.ERROR, "no key")


def test_opencode() -> None:
    """[SURFACES: Evals] by its documentation: the tool `skill`, and what each step cost."""
    state = {"status": "completed", "input": {"name": NAME}, "output": "text"}
    use = {"type": "tool_use", "part": {"callID": "1", "tool": "skill", "state": state}}
    said = {"type": "text", "part": {"text": "Done."}}
    step = {"type": "step_finish", "part": {"tokens": {"input": 5, "output": 2}, "cost": 0.25}}
    output = lines(use, said, step, step)
    assert outcome("opencode", output)[0] is Outcome.FIRED
    transcript = read_transcript("opencode", output)
    assert (transcript.answer, transcript.tokens, transcript.cost) == ("Done.", 14, 0.5)
    assert outcome("opencode", lines({"type": "error", "error": {"name": "X"}})) == (Outcome.ERROR, "X")


def test_claude_names() -> None:
    """[SURFACES: Evals] a skill with arguments or of a plugin is the same; a longer name is not."""
    for name, expected in ((f"/{NAME} a.pdf", True), (f"forms:{NAME}", True), (f"{NAME}-extra", False)):
        use = {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": name}}
        result = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "ok"}]}
        output = lines(
            {"type": "assistant", "message": {"content": [use]}},
            {"type": "user", "message": {"content": [result]}},
            {"type": "user", "message": {"content": "text"}},
            {"type": "result", "subtype": "success", "is_error": False, "result": "Done."},
        )
        assert (outcome("claude", output)[0] is Outcome.FIRED) == expected, name


@each("stream", ["claude", "codex", "gemini", "opencode"])
def test_odd_events(stream: str) -> None:
    """[SURFACES: Evals] events of another shape are passed over, whatever they hold."""
    types = ["assistant", "user", "result", "system", "tool_use", "text", "error"]
    types += ["item.completed", "turn.completed"]
    values: tuple[Any, ...] = (None, [], "x", {"content": [1]})
    odd: list[dict[str, Any]] = [{"type": name, name: value} for name in types for value in values]
    odd += [{"type": name, "message": {"content": [{}]}, "part": 1, "item": {"type": "x"}} for name in types]
    assert isinstance(read_transcript(stream, lines(*odd)), Transcript)
