"""A server on loopback that speaks the providers' protocols, for frameworks and agents that only speak HTTP.

`POST /v1/responses` is OpenAI's Responses API, `POST /v1/messages` Anthropic's Messages API, both whole
and streamed; `POST /v1/chat/completions` is OpenAI's older API, streamed.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.adapters.model import Mind, Reply, Result, Seen, librarian

Json = dict[str, Any]
_numbers = itertools.count(1)


class Provider(ThreadingHTTPServer):
    """Answers with what `mind` makes of each request, and keeps them all."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mind: Mind = librarian
        self.requests: list[Json] = []
        self.seen: list[Seen] = []
        self.threads: dict[str, Json] = {}  # Anthropic's: what was sent and said, by the reply's ID
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, request: Json, read: Callable[[Json], Seen]) -> Reply:
        return self.think(request, read(request))

    def think(self, request: Json, seen: Seen) -> Reply:
        with self.lock:
            self.requests.append(request)
            self.seen.append(seen)
        return self.mind(seen)


@contextmanager
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def do_GET(self) -> None:
        self._send(200, "application/json", b'{"data":[],"models":[]}')

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path == "/v1/responses":
            whole = _response(self.server.reply(request, _from_responses))
            events = _response_events(whole)
        elif path == "/v1/messages":
            request = _whole_thread(request, self.server.threads)
            whole = _message(self.server.reply(request, _from_messages))
            said = {"role": "assistant", "content": whole["content"]}
            self.server.threads[whole["id"]] = {**request, "messages": [*request["messages"], said]}
            events = list(_message_events(whole))
        elif path == "/v1/messages/count_tokens":
            return self._send(200, "application/json", b'{"input_tokens":1}')
        elif path == "/v1/chat/completions":
            chunks = _completion_chunks(self.server.reply(request, _from_completions))
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
            return self._send(200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())
        else:
            return self._send(404, "application/json", b'{"error": {"message": "no such path"}}')
        if not request.get("stream"):
            return self._send(200, "application/json", json.dumps(whole).encode())
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # clients keep connections beyond the loop they were made in
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _text(content: Any) -> str:
    """Text, or the texts of blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or ())


# OpenAI's Responses API


def _from_responses(request: Json) -> Seen:
    seen = Seen(request.get("instructions") or "")
    seen.tools = {tool["name"]: tool["parameters"] for tool in request.get("tools", ())}
    given = request["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("type") == "function_call_output":
            text = _text(item["output"])  # no mark for errors here: the SDKs put it into the text
            seen.results.append(Result(text.removesuffix('"}'), text.startswith(("Error: ", '{"error":"'))))
        elif item.get("role") == "user":
            seen.user(_text(item["content"]))
        elif item.get("role") in ("system", "developer"):
            seen.system += _text(item["content"])
    return seen


def _response(reply: Reply) -> Json:
    number = next(_numbers)
    output: list[Json] = []
    if isinstance(reply, str):
        part = {"type": "output_text", "text": reply, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    else:
        for place, call in enumerate(reply):
            arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            ids = {"id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}", "status": "completed"}
            output.append({"type": "function_call", "name": call.name, "arguments": arguments, **ids})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "scripted",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "output_tokens": 1,
            "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _response_events(response: Json) -> list[Json]:
    started = {**response, "status": "in_progress", "output": []}
    events: list[Json] = [{"type": "response.created", "response": started}]
    for place, item in enumerate(response["output"]):
        events += _item_events(place, item)
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    events.append({"type": "response.completed", "response": response})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _item_events(place: int, item: Json) -> list[Json]:
    """An item as it comes: empty, then what it holds."""
    where = {"output_index": place, "item_id": item["id"]}
    added = {"type": "response.output_item.added", "output_index": place}
    if item["type"] == "function_call":
        return [
            {**added, "item": {**item, "arguments": ""}},
            {"type": "response.function_call_arguments.delta", **where, "delta": item["arguments"]},
            {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]},
        ]
    (part,) = item["content"]
    where["content_index"] = 0
    return [
        {**added, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **where, "delta": part["text"], "logprobs": []},
        {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **where, "part": part},
    ]


# OpenAI's completions, for agents


def _from_completions(request: Json) -> Seen:
    return Seen(users=[_text(message["content"]) for message in request["messages"]])


def _completion_chunks(reply: Reply) -> Iterator[Json]:
    number = next(_numbers)
    delta: Json = {"role": "assistant", "content": reply if isinstance(reply, str) else None}
    if not isinstance(reply, str):
        delta["tool_calls"] = [
            {
                "index": place,
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for place, call in enumerate(reply)
        ]
    chunk = {"id": f"c_{number}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    yield chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "stop" if isinstance(reply, str) else "tool_calls"
    yield chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


# Anthropic's Messages API


def _whole_thread(request: Json, threads: dict[str, Json]) -> Json:
    """A request that continues a thread has only what is new; the rest is as the thread has it."""
    thread = request.get("thread") or {}
    if thread.get("type") != "continue":
        return request
    before = threads[thread["previous_message_id"]]
    return {**before, **request, "messages": [*before["messages"], *request["messages"]]}


def _from_messages(request: Json) -> Seen:
    seen = Seen(_text(request.get("system")))
    seen.tools = {tool["name"]: tool["input_schema"] for tool in request.get("tools", ())}
    for message in request["messages"]:
        if message["role"] != "user":
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if texts:
            seen.user("".join(texts))
        for block in blocks:
            if block["type"] == "tool_result":
                seen.results.append(Result(_text(block["content"]), bool(block.get("is_error"))))
    return seen


def _message(reply: Reply) -> Json:
    number = next(_numbers)
    content: list[Json] = []
    if isinstance(reply, str):
        content.append({"type": "text", "text": reply})
    else:
        content += [
            {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.name, "input": call.arguments}
            for place, call in enumerate(reply)
        ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": "end_turn" if isinstance(reply, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _message_events(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for place, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": place, "content_block": empty}
        yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}
