"""Read what agents print of a run: their streams of JSON lines, as one value.

Lines that are no JSON, and events that are not known, are passed over: agents add new ones with each version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
    _calls: dict[str, Call] = field(default_factory=dict)  # by the agent's own IDs

    def trace(self) -> str:
        """Return the whole run as text, as graders of a trace see it."""
        calls = (f"{call.tool} {call.text()}\n{call.result}" for call in self.calls)
        return "\n".join([*self.messages, *calls])

    def say(self, text: Any) -> None:
        self.messages.append(str(text))

    def begin(self, key: str, tool: str, arguments: Any) -> None:
        if key not in self._calls:
            self._calls[key] = Call(tool, arguments)
            self.calls.append(self._calls[key])

    def end(self, key: str, failed: bool, result: Any) -> None:
        if key in self._calls:
            text = result if isinstance(result, str) else _text_of(result)
            self._calls[key].failed, self._calls[key].result = failed, text[:MAX_TEXT]

    def count(self, usage: Mapping[str, Any], *keys: str) -> None:
        """Add the tokens of these kinds."""
        found = sum(value for key in keys if type(value := usage.get(key)) is int)
        self.tokens = (self.tokens or 0) + found


def read_transcript(stream: str, output: bytes) -> Transcript:
    """Return what an agent printed, by the name of its stream; of an unknown one, all is the answer."""
    if stream not in _READERS:
        text = output.decode("utf-8", "replace")
        return Transcript(answer=text, messages=[text], is_complete=True)
    transcript = Transcript()
    for line in output.splitlines():
        try:
            event = json.loads(line) if line.lstrip()[:1] == b"{" else {}
            _READERS[stream](transcript, event)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            continue  # no JSON, or an event of another shape than was seen
    if not transcript.answer and transcript.messages:
        transcript.answer = transcript.messages[-1]
    return transcript


_Event = Mapping[str, Any]


def _read_claude(transcript: Transcript, event: _Event) -> None:
    kind = event.get("type")
    if kind == "system" and event.get("subtype") == "init":
        transcript.model = str(event.get("model", ""))
        transcript.version = str(event.get("claude_code_version", ""))
        if isinstance(event.get("skills"), list):
            transcript.listed = tuple(map(str, event["skills"]))
    elif kind in ("assistant", "user"):
        content = event["message"]["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] == "text":
                transcript.say(block["text"])
            elif block["type"] == "tool_use":
                transcript.begin(block["id"], block["name"], block["input"])
            elif block["type"] == "tool_result":
                transcript.end(block["tool_use_id"], bool(block.get("is_error")), block.get("content"))
    elif kind == "result":
        usage, result = event.get("usage") or {}, event.get("result")
        transcript.count(usage, "input_tokens", "output_tokens", "cache_creation_input_tokens")
        transcript.cost = _number(event.get("total_cost_usd"))
        denials = event.get("permission_denials") or ()
        transcript.denied += [(str(each.get("tool_name")), each.get("tool_input")) for each in denials]
        transcript.answer = str(result or transcript.answer)
        transcript.is_complete = not event.get("is_error")
        if not transcript.is_complete:
            transcript.error = str(result or event.get("subtype") or "it ended with an error")


def _read_codex(transcript: Transcript, event: _Event) -> None:
    kind = event.get("type")
    if kind in ("item.started", "item.completed"):
        _read_codex_item(transcript, event["item"], is_done=kind == "item.completed")
    elif kind == "turn.completed":
        transcript.count(event["usage"], "input_tokens", "output_tokens")
        transcript.is_complete = True
    elif kind == "turn.failed":
        transcript.error = str(event["error"]["message"])
    elif kind == "error" and not transcript.is_complete:
        transcript.error = str(event.get("message"))


def _read_codex_item(transcript: Transcript, item: _Event, *, is_done: bool) -> None:
    kind = item["type"]
    if kind == "agent_message" and is_done:
        transcript.answer = str(item["text"])
        transcript.say(item["text"])
    elif kind in ("command_execution", "mcp_tool_call", "file_change", "web_search"):
        tool = f"{item.get('server')}.{item.get('tool')}" if kind == "mcp_tool_call" else kind
        given = {"command_execution": item.get("command"), "mcp_tool_call": item.get("arguments")}
        transcript.begin(item["id"], tool, given.get(kind, item.get("changes", item.get("query"))))
        if is_done:
            failed = item.get("status") == "failed" or bool(item.get("exit_code"))
            transcript.end(item["id"], failed, item.get("aggregated_output", item.get("result")))


def _read_gemini(transcript: Transcript, event: _Event) -> None:
    kind = event.get("type")
    if kind == "init":
        transcript.model = str(event.get("model", ""))
    elif kind == "message" and event.get("role") == "assistant":
        if event.get("delta") and transcript.messages:
            transcript.messages[-1] += str(event["content"])
        else:
            transcript.say(event["content"])
    elif kind == "tool_use":
        transcript.begin(event["tool_id"], event["tool_name"], event.get("parameters"))
    elif kind == "tool_result":
        transcript.end(event["tool_id"], event.get("status") != "success", event.get("output"))
    elif kind == "result":
        transcript.count(event.get("stats") or {}, "total_tokens")
        transcript.is_complete = event.get("status") == "success"
        if not transcript.is_complete:
            transcript.error = str((event.get("error") or {}).get("message") or "it ended with an error")
    elif kind == "error" and event.get("severity") != "warning":
        transcript.error = str(event.get("message"))


def _read_opencode(transcript: Transcript, event: _Event) -> None:
    kind, part = event.get("type"), event.get("part") or {}
    if kind == "text":
        transcript.say(part["text"])
    elif kind == "tool_use":
        state = part["state"]
        transcript.begin(part["callID"], part["tool"], state.get("input"))
        if state.get("status") in ("completed", "error"):
            failed = state["status"] == "error"
            transcript.end(part["callID"], failed, state.get("output", state.get("error")))
    elif kind == "step_finish":
        transcript.count(part.get("tokens") or {}, "input", "output", "reasoning")
        cost = _number(part.get("cost"))
        transcript.cost = cost if transcript.cost is None else transcript.cost + (cost or 0)
        transcript.is_complete = True
    elif kind == "error":
        error = event.get("error") or {}
        transcript.error = str((error.get("data") or {}).get("message") or error.get("name") or error)


_READERS = {"claude": _read_claude, "codex": _read_codex, "gemini": _read_gemini, "opencode": _read_opencode}


def _text_of(result: Any) -> str:
    """Return the text of a result, which may be a list of blocks."""
    if isinstance(result, Sequence):
        return "\n".join(str(each.get("text", "")) for each in result if isinstance(each, Mapping))
    return "" if result is None else json.dumps(result, ensure_ascii=False, default=str)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
