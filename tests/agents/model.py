"""A scripted model on loopback: keeps the requests of real agents, and answers from a plan.

An answer is a text, or a tool call as `(name, arguments)`.

>>> with ScriptedModel(["Done."]) as model:
...     model.url.startswith("http://127.0.0.1:")
True
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from tests.adapters.model import Call, Reply, Seen
from tests.adapters.providers import Provider

Answer = str | tuple[str, dict[str, Any]]


class ScriptedModel(Provider):
    """A server for conversations; `requests` are the bodies in which an agent offered tools, in order.

    `answers` are given one after the other, or by a function of the request's body.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[dict[str, Any]], Answer]) -> None:
        super().__init__()
        rest = iter(() if callable(answers) else answers)
        self._plan = answers if callable(answers) else lambda body: next(rest, "ok")

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()

    def reply(self, request: dict[str, Any], read: Callable[[dict[str, Any]], Seen]) -> Reply:
        if not request.get("tools"):  # titles and summaries are asked for without
            return "ok"
        with self.lock:
            self.requests.append(request)
            answer = self._plan(request)
        return answer if isinstance(answer, str) else [Call(*answer)]
