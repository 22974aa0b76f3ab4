"""Answer a client's first requests while the SDK is being loaded, with what the SDK answered last time.

Loading the SDK takes 0.6 s, and an agent sends its first prompt without the tools of a server that has not
answered all its first requests by then. They are the same in every session, so the SDK's answers are kept.
Nothing here knows the protocol: an answer belongs to a request, the request that opened its session, the
options of the server, and the versions of skc and the SDK. The SDK gets every line all the same. What it
says to a request that was answered is compared instead of sent, and kept for the next session if it differs.
"""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from typing import Any, BinaryIO

from skillc import __version__, paths
from skillc.errors import SkillcError
from skillc.records import read_notes, write_notes
from skillc.startup import sha256_hex

KIND = "openings"  # of notes, in the home's cache
HANDSHAKE, RESOURCES = "initialize", "resources/list"
# What agents ask before they offer tools to a model. Resources differ with a project's skills: a client is
# told when they changed, if it shook hands. All other answers depend on the request alone.
METHODS = (HANDSHAKE, "server/discover", "tools/list", "prompts/list", "resources/templates/list", RESOURCES)
SEND, DROP, NOTIFY = "send", "drop", "notify"  # what to do with an answer of the SDK
MAX_FILES = 256  # the older half goes; 2,000 skills have 40 pages of resources
PIECE = 1 << 16
PAUSE = 0.02  # seconds from one look at whether the SDK is there to the next
CLIENT = "io.modelcontextprotocol/clientInfo"


class Opening:
    """The first requests of one client, and their answers; none are kept without a folder for its project.

    `options` gives the options of the server as they are at this moment.
    """

    def __init__(self, options: Callable[[], Collection[str]], project: str = "") -> None:
        self.read = bytearray()  # for the SDK, which has seen nothing of it
        self._options = options
        self._project = project
        self._versions = _versions() if project else ""
        self._first: tuple[object, str] | None = None
        self._asked: dict[int | str, tuple[str, str, Any]] = {}  # method, key and the answer that is kept
        self._answered: set[int | str] = set()  # those of them that were sent their answer

    @contextmanager
    def serve(self, source: int, target: BinaryIO) -> Iterator[None]:
        """Answer lines from a descriptor as long as the block takes."""
        is_over = threading.Event()
        thread = threading.Thread(target=self._serve, args=(source, target, is_over), daemon=True)
        if self._versions:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            if self._versions:
                thread.join()

    def _serve(self, source: int, target: BinaryIO, is_over: threading.Event) -> None:
        start = 0
        with suppress(OSError, ValueError):  # on Windows, where stdin is closed, and when the client left
            while start < len(self.read) or not is_over.is_set():  # a line is read to its end
                if not select.select([source], [], [], PAUSE)[0]:
                    continue
                end = len(self.read)
                self.read += os.read(source, PIECE)
                if len(self.read) == end:
                    return
                while (end := self.read.find(b"\n", end)) >= 0:
                    end += 1
                    self._answer(_parse(self.read[start:end]), target)
                    start = end

    def _answer(self, request: dict[str, Any], target: BinaryIO) -> None:
        answer = self.ask(request)
        if answer is not None:
            self._answered.add(request["id"])
            message = {"jsonrpc": "2.0", "id": request["id"], "result": answer}
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            target.write(text.encode("utf-8", "replace") + b"\n")
            target.flush()

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Note a request; return what the SDK answered to the same one."""
        number, method = request.get("id"), request.get("method")
        if not self._versions or isinstance(number, bool) or not isinstance(number, int | str):
            return None
        text = _comparable(request)
        self._first = self._first or (method, text)
        is_known = method in METHODS and (method != RESOURCES or self._first[0] == HANDSHAKE)
        if not is_known or not isinstance(method, str) or number in self._asked:
            return None
        # In a project without an answer, that of the home will do: the client is told of what differs.
        places = (self._project, paths.home() or "") if method == RESOURCES else ("",)
        keys = [self._key(place, text) for place in places]
        answer = next(filter(None, map(_read_answer, keys)), None)
        self._asked[number] = method, keys[0], answer
        return answer

    def _key(self, place: str, text: str) -> str:
        assert self._first is not None
        parts = (self._versions, place, *self._options(), self._first[1], text)
        return sha256_hex("\n".join(parts).encode("utf-8", "surrogateescape"))

    def settle(self, number: int | str | None, answer: dict[str, Any] | None) -> str:
        """Keep what the SDK answers, None for an error as when the client left; say what to do with it."""
        if number is None or number not in self._asked:
            return SEND
        method, key, old = self._asked.pop(number)
        has_changed = answer is not None and answer != old
        if has_changed:
            write_notes(KIND, f"/{key}", {"answer": answer})
            _prune()
        if number not in self._answered:
            return SEND
        self._answered.discard(number)
        return NOTIFY if has_changed and method == RESOURCES else DROP


def _read_answer(key: str) -> dict[str, Any] | None:
    answer = read_notes(KIND, f"/{key}").get("answer")
    return answer if isinstance(answer, dict) else None


def _prune() -> None:
    """Remove old answers, where there are many."""
    with suppress(OSError, SkillcError):
        files = list(os.scandir(os.path.join(paths.cache_directory(), KIND)))
        if len(files) > MAX_FILES:
            for file in sorted(files, key=lambda file: file.stat().st_mtime)[: MAX_FILES // 2]:
                os.unlink(file)


def _parse(line: bytes | bytearray) -> dict[str, Any]:
    """Return a message; an empty one for what is none, which the SDK refuses."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _comparable(request: dict[str, Any]) -> str:
    """Return a request without what differs from one session to the next and has no part in the answer."""
    params = request.get("params")
    if isinstance(params, dict):
        params = _without(params, "clientInfo", "version", (str,))
        params = _without(params, "_meta", "progressToken", (int, str))
        if isinstance(params.get("_meta"), dict):
            params = params | {"_meta": _without(params["_meta"], CLIENT, "version", (str,))}
    return json.dumps(request | {"id": 0, "params": params}, sort_keys=True)


def _without(value: dict[str, Any], name: str, key: str, types: Collection[type]) -> dict[str, Any]:
    inner = value.get(name)
    return (
        value | {name: inner | {key: None}}
        if isinstance(inner, dict) and type(inner.get(key)) in types
        else value
    )


def _versions() -> str:
    """Return what changes when skc or the SDK is installed anew; empty where the SDK is not to be found."""
    spec = PathFinder.find_spec("mcp")
    if spec is None or not spec.origin:
        return ""
    packages = os.path.dirname(os.path.dirname(spec.origin))
    try:
        sdk = sorted(name for name in os.listdir(packages) if name.startswith("mcp"))
    except OSError:  # an archive
        return ""
    return f"{__version__} {os.stat(__file__).st_mtime_ns} {' '.join(sdk)}"
