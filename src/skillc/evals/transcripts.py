"""Read what agents print of a run: their streams of JSON lines, as one value.

Lines that are no JSON, and events that are not known, are passed over: agents add new ones with each version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT = 20_000  # characters of a call's result that are kept


@dataclass(slots=True)
class Call:
    """A tool that the agent called; `failed` is None while no result came."""

    tool: str
    arguments: Any
    failed: bool | None = None
    result: str = ""

    def text(self) -> str:
        """Return the arguments as JSON."""
        return json.dumps(self.arguments, ensure_ascii=False, sort_keys=True, default=str)


@dataclass(slots=True)
class Transcript:
    """The transcript of one run of an agent; None for what it does not tell."""

    answer: str = ""
    messages: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    listed: tuple[str, ...] | None = None  # names of the skills that it says it has
    denied: list[tuple[str, Any]] = field(default_factory=list)  # tools that it was not allowed to use
    tokens: int | None = None
    cost: float | None = None  # in dollars
    model: str = ""
    version: str = ""
    error: str = ""
    is_complete: bool = False  # it came to its end, by its own word

    def trace(self) -> str:
        """Return the whole run as text, as graders of a trace see it."""
        calls = (f"{call.tool} {call.text()}\n{call.result}" for call in self.calls)
        return "\n".join([*self.messages, *calls])


def read_transcript(stream: str, output: bytes) -> Transcript:
    """Return what an agent printed, by the name of its stream; of an unknown one, all is the answer."""
    transcript = Transcript()
    reader = _READERS.get(stream)
    if reader is None:
        text = output.decode("utf-8", "replace")
        return Transcript(answer=text, messages=[text], is_complete=True)
    calls: dict[str, Call] = {}
    for event in _events(output):
        try:
            reader(event, transcript, calls)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue  # an event of another shape than was seen
    if not transcript.answer and transcript.messages:
        transcript.answer = transcript.messages[-1]
    return transcript


def _events(output: bytes) -> Iterator[Mapping[str, Any]]:
    for line in output.splitlines():
        if line.lstrip()[:1] == b"{":
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, Mapping):
                yield event


def _read_claude(event: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call]) -> None:
    kind = event.get("type")
    if kind == "system" and event.get("subtype") == "init":
        transcript.model = str(event.get("model", ""))
        transcript.version = str(event.get("claude_code_version", ""))
        if isinstance(event.get("skills"), list):
            transcript.listed = tuple(map(str, event["skills"]))
    elif kind in ("assistant", "user"):
        content = event["message"]["content"]
        for block in content if isinstance(content, list) else ():
            _read_claude_block(block, transcript, calls)
    elif kind == "result":
        usage = event.get("usage") or {}
        transcript.tokens = _sum(usage, "input_tokens", "output_tokens", "cache_creation_input_tokens")
        transcript.cost = _number(event.get("total_cost_usd"))
        denials = event.get("permission_denials") or ()
        transcript.denied += [(str(each.get("tool_name")), each.get("tool_input")) for each in denials]
        transcript.answer = str(event.get("result") or transcript.answer)
        transcript.is_complete = not event.get("is_error")
        if event.get("is_error"):
            transcript.error = str(event.get("result") or event.get("subtype") or "it ended with an error")


def _read_claude_block(block: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call]) -> None:
    if block["type"] == "text":
        transcript.messages.append(str(block["text"]))
    elif block["type"] == "tool_use":
        _add_call(transcript, calls, block["id"], block["name"], block["input"])
    elif block["type"] == "tool_result":
        _end_call(calls, block["tool_use_id"], bool(block.get("is_error")), block.get("content"))


def _read_codex(event: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call]) -> None:
    kind = event.get("type")
    if kind in ("item.started", "item.completed"):
        _read_codex_item(event["item"], transcript, calls, is_done=kind == "item.completed")
    elif kind == "turn.completed":
        transcript.tokens = (transcript.tokens or 0) + _sum(event["usage"], "input_tokens", "output_tokens")
        transcript.is_complete = True
    elif kind == "turn.failed":
        transcript.error = str(event["error"]["message"])
    elif kind == "error" and not transcript.is_complete:
        transcript.error = str(event.get("message"))


def _read_codex_item(
    item: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call], *, is_done: bool
) -> None:
    kind = item["type"]
    if kind == "agent_message" and is_done:
        transcript.answer = str(item["text"])
        transcript.messages.append(transcript.answer)
    elif kind in ("command_execution", "mcp_tool_call", "file_change", "web_search"):
        names = {"mcp_tool_call": f"{item.get('server')}.{item.get('tool')}"}
        contents = {"command_execution": item.get("command"), "mcp_tool_call": item.get("arguments")}
        arguments = contents.get(kind, item.get("changes", item.get("query")))
        if item["id"] not in calls:
            _add_call(transcript, calls, item["id"], names.get(kind, kind), arguments)
        if is_done:
            failed = item.get("status") == "failed" or bool(item.get("exit_code"))
            _end_call(calls, item["id"], failed, item.get("aggregated_output", item.get("result")))


def _read_gemini(event: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call]) -> None:
    kind = event.get("type")
    if kind == "init":
        transcript.model = str(event.get("model", ""))
    elif kind == "message" and event.get("role") == "assistant":
        if event.get("delta") and transcript.messages:
            transcript.messages[-1] += str(event["content"])
        else:
            transcript.messages.append(str(event["content"]))
    elif kind == "tool_use":
        _add_call(transcript, calls, event["tool_id"], event["tool_name"], event.get("parameters"))
    elif kind == "tool_result":
        _end_call(calls, event["tool_id"], event.get("status") != "success", event.get("output"))
    elif kind == "result":
        stats = event.get("stats") or {}
        transcript.tokens = stats.get("total_tokens")
        transcript.is_complete = event.get("status") == "success"
        if not transcript.is_complete:
            transcript.error = str((event.get("error") or {}).get("message") or "it ended with an error")
    elif kind == "error" and event.get("severity") != "warning":
        transcript.error = str(event.get("message"))


def _read_opencode(event: Mapping[str, Any], transcript: Transcript, calls: dict[str, Call]) -> None:
    kind, part = event.get("type"), event.get("part") or {}
    if kind == "text":
        transcript.messages.append(str(part["text"]))
    elif kind == "tool_use":
        state = part["state"]
        if part["callID"] not in calls:
            _add_call(transcript, calls, part["callID"], part["tool"], state.get("input"))
        if state.get("status") in ("completed", "error"):
            failed = state["status"] == "error"
            _end_call(calls, part["callID"], failed, state.get("output", state.get("error")))
    elif kind == "step_finish":
        tokens = part.get("tokens") or {}
        transcript.tokens = (transcript.tokens or 0) + _sum(tokens, "input", "output", "reasoning")
        cost = _number(part.get("cost"))
        transcript.cost = cost if transcript.cost is None else transcript.cost + (cost or 0)
        transcript.is_complete = True
    elif kind == "error":
        error = event.get("error") or {}
        transcript.error = str((error.get("data") or {}).get("message") or error.get("name") or error)


_Reader = Callable[[Mapping[str, Any], Transcript, dict[str, Call]], None]
_READERS: dict[str, _Reader] = {
    "claude": _read_claude,
    "codex": _read_codex,
    "gemini": _read_gemini,
    "opencode": _read_opencode,
}


def _add_call(transcript: Transcript, calls: dict[str, Call], key: str, tool: str, arguments: Any) -> None:
    calls[key] = Call(tool, arguments)
    transcript.calls.append(calls[key])


def _end_call(calls: dict[str, Call], key: str, failed: bool, result: Any) -> None:
    if key in calls:
        text = result if isinstance(result, str) else _text_of(result)
        calls[key].failed, calls[key].result = failed, text[:MAX_TEXT]


def _text_of(result: Any) -> str:
    """Return the text of a result, which may be a list of blocks."""
    if isinstance(result, Sequence) and not isinstance(result, str):
        return "\n".join(str(each.get("text", "")) for each in result if isinstance(each, Mapping))
    return "" if result is None else json.dumps(result, ensure_ascii=False, default=str)


def _sum(values: Mapping[str, Any], *keys: str) -> int:
    return sum(value for key in keys if type(value := values.get(key)) is int)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
