"""A scripted model on loopback: keeps the requests of real agents, and answers from a plan.

It speaks Anthropic's Messages, OpenAI's Responses and chat completions, as server-sent events. An answer is
a text, or a tool call as `(name, arguments)`.

>>> with ScriptedModel(["Done."]) as model:
...     model.url.startswith("http://127.0.0.1:")
True
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = str | tuple[str, dict[str, Any]]
Event = tuple[str, dict[str, Any]]

_NUMBERS = itertools.count(1)
USAGE: dict[str, Any] = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class ScriptedModel:
    """A server for conversations; `requests` are the bodies in which an agent offered tools, in order.

    `answers` are given one after the other, or by a function of the request's body.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[dict[str, Any]], Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = iter(()) if callable(answers) else iter(answers)
        self._plan = answers if callable(answers) else None
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(b'{"data":[],"models":[]}', "application/json")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                events = model.answer(self.path, body)
                if events is None:
                    self._send(b'{"input_tokens":1}', "application/json")
                elif not body.get("stream"):
                    self._send(json.dumps(events[0][1]).encode(), "application/json")
                else:
                    lines = [
                        f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n"
                        for name, data in events
                    ]
                    end = "data: [DONE]\n\n" * self.path.endswith("completions")
                    self._send(("".join(lines) + end).encode(), "text/event-stream")

            def _send(self, content: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> list[Event] | None:
        """Return the events of the next answer; None for a request that asks the model nothing."""
        if "count_tokens" in path:
            return None
        answer: Answer = "ok"
        if body.get("tools"):  # titles and summaries are asked for without
            with self._lock:
                self.requests.append(body)
                answer = self._plan(body) if self._plan else next(self._answers, "ok")
        kind = path.split("?")[0].rsplit("/", 1)[-1]
        speak = {"messages": _speak_messages, "responses": _speak_responses}.get(kind, _speak_completions)
        return list(speak(answer, body))


def _speak_messages(answer: Answer, body: dict[str, Any]) -> Iterator[Event]:
    block: dict[str, Any]
    number = next(_NUMBERS)  # what has the same ID is taken for parts of one message
    if isinstance(answer, str):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer}
    else:
        block = {"type": "tool_use", "id": f"call_{number}", "name": answer[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer[1])}
    reason = "end_turn" if isinstance(answer, str) else "tool_use"
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"]}
    message["usage"] = USAGE
    if not body.get("stream"):
        whole = {"type": "text", "text": answer} if isinstance(answer, str) else block | {"input": answer[1]}
        yield "message", message | {"content": [whole], "stop_reason": reason, "stop_sequence": None}
        return
    yield (
        "message_start",
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
    )
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": USAGE}
    yield "message_stop", {"type": "message_stop"}


def _speak_responses(answer: Answer, body: dict[str, Any]) -> Iterator[Event]:
    item: dict[str, Any]
    if isinstance(answer, str):
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    else:
        arguments = json.dumps(answer[1])
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": answer[0],
            "arguments": arguments,
        }
    response: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": response}
    yield (
        "response.output_item.added",
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    )
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    response = response | {"status": "completed", "output": [item], "usage": USAGE}
    yield "response.completed", {"type": "response.completed", "response": response}


def _speak_completions(answer: Answer, body: dict[str, Any]) -> Iterator[Event]:
    delta: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if not isinstance(answer, str):
        call = {"name": answer[0], "arguments": json.dumps(answer[1])}
        delta["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
    reason = "stop" if isinstance(answer, str) else "tool_calls"
    chunk = {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "m")}
    yield "", chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
