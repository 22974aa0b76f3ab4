"""Answer the hook that an agent calls with each prompt; `offer` says what.

It never fails, delays or blocks a prompt: a fault is a line in `~/.skillc/hook.log`, which has no prompts,
and no answer. What takes long is done in the background, in a process of its own.
"""

from __future__ import annotations

import os
import sys
from time import gmtime, strftime, time

from skillc import paths
from skillc.startup import json_quote, parse_json
from skillc.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MAX_INPUT = 32 << 20  # bytes from an agent
MAX_PROMPT = 4000  # characters of a prompt that are looked at: its beginning, and its end
END = 1000
MAX_LOG = 1 << 16  # bytes of hook.log; beyond that its older half goes
MAX_LINE = 300
MAX_SECONDS = 2.0  # after which an answer is given up
PAUSE_SECONDS = 2.0  # between two starts in the background
# What an agent calls the event, where its prompt does not say so.
EVENTS = {"gemini": "BeforeAgent", "copilot": "userPromptSubmitted"}
QUIET = ("/", "!", "<task-notification>", "<local-command", "<command-")  # prompts that are no tasks


def answer_prompt(agent: str) -> None:
    """Read an agent's JSON on stdin, and write the answer, if there is one, on stdout. Never fails."""
    timer = _limit_time(agent)
    try:
        request = read_request()
        prompt, cwd = _task(request), directory_of(request)
        if prompt and has_home():
            from skillc.listing.offer import Offer

            offer = Offer(agent, cwd)
            answer = offer.make(prompt)
            if answer:
                event = request.get("hook_event_name") or EVENTS.get(agent, "UserPromptSubmit")
                sys.stdout.write(render_answer(str(event), answer, agent))
                sys.stdout.flush()
            for error in offer.log():
                log_fault(agent, error)
            if offer.is_out_of_date:
                start_update(cwd, agent, offer.unknown)
    except Exception as error:
        log_fault(agent, error)
    finally:
        timer()


def render_answer(event: str, text: str, agent: str) -> str:
    """Return the JSON that an agent takes for a text to add to the prompt."""
    if agent == "copilot":
        return f'{{"additionalContext": {json_quote(text)}}}'
    return (
        f'{{"hookSpecificOutput": {{"hookEventName": {json_quote(event)},'
        f' "additionalContext": {json_quote(text)}}}}}'
    )


def _limit_time(agent: str) -> Callable[[], object]:
    """End the process, with nothing said, if it takes too long; return what ends the limit."""
    try:
        import _signal  # type: ignore[import-not-found, unused-ignore]  # Python's own imports enum

        timer, alarm = _signal.ITIMER_REAL, _signal.SIGALRM
    except (ImportError, AttributeError):
        return lambda: None  # Windows, where the agent's own limit holds

    def give_up(number: int, frame: object) -> None:
        log_fault(agent, TimeoutError(f"no answer within {MAX_SECONDS:g} s"))
        os._exit(0)

    try:
        _signal.signal(alarm, give_up)
        _signal.setitimer(timer, MAX_SECONDS)
    except (ValueError, OSError):
        return lambda: None  # in a thread
    return lambda: _signal.setitimer(timer, 0)


def read_request() -> dict[str, Any]:
    """Return the JSON object that an agent gives on stdin; raise ValueError for anything else."""
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise ValueError(f"more than {MAX_INPUT >> 20} MiB")
    request = parse_json(data.decode("utf-8", "replace"))
    if not isinstance(request, dict):
        raise ValueError("not an object")
    return request


def _task(request: dict[str, Any]) -> str:
    """Return the part of a prompt that is ranked; empty where there is no task in it."""
    prompt = request.get("prompt")
    if not isinstance(prompt, str):
        raise ValueError("no prompt")
    prompt = prompt.lstrip()
    if prompt.startswith(QUIET) or not any(map(str.isalnum, prompt[:MAX_PROMPT])):
        return ""
    if len(prompt) > MAX_PROMPT:
        prompt = f"{prompt[: MAX_PROMPT - END]}\n{prompt[-END:]}"
    return prompt.encode("utf-8", "replace").decode()


def directory_of(request: dict[str, Any]) -> str:
    """Return the directory that an agent works in."""
    cwd = request.get("cwd")
    if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd and os.path.isdir(cwd):
        return cwd
    return os.getcwd()


def start_update(cwd: str, agent: str, first: Sequence[str] = ()) -> bool:
    """Renew in the background what is known, in a session of its own without a pipe of the agent's.

    Return whether that was started: not while another one runs, or one was started just now.
    """
    path = update_lock()
    if _is_busy(path):
        return False
    import subprocess  # slow to import, and only needed where something is out of date

    words = ["hook", "update", "--agent", agent, "--cwd", cwd, *(f"--first={each}" for each in first)]
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    process = subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, "-P", "-m", "skillc", *words],  # -P: nothing is imported from the project
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=flags,
        close_fds=True,
    )
    process.returncode = 0  # it goes on alone: nothing waits for it
    return True


def update_lock() -> str:
    """Return the file that is locked while one renews what is known."""
    return os.path.join(paths.cache_directory(), "offers.lock")


def _is_busy(path: str) -> bool:
    """Return whether an update runs, or one was started just now; else note that one starts."""
    from skillc.atomic import Lock

    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with Lock(path, wait=False):
            status = os.stat(path)
            if status.st_size and 0 <= time() - status.st_mtime < PAUSE_SECONDS:
                return True
            with open(path, "w", encoding="utf-8") as file:
                file.write("started\n")
    except BlockingIOError:
        return True
    return False


def has_home() -> bool:
    """Return whether there is a home directory; none is made."""
    home = paths.home()
    return home is not None and os.path.isdir(home)


def log_fault(agent: str, error: BaseException) -> None:
    """Add a line to hook.log, which stays small; never fails."""
    try:
        if not has_home():
            return
        path = os.path.join(paths.require_home(), paths.DIRECTORY, "hook.log")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        line = f"{now} {agent or 'agent'}: {type(error).__name__}: {error}"
        data = f"{one_line(cut(line, MAX_LINE))}\n".encode("utf-8", "backslashreplace")
        _shorten(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except Exception:  # noqa: S110 -- a hook has nobody to tell
        pass


def _shorten(path: str) -> None:
    try:
        size = os.stat(path).st_size
    except OSError:
        return
    if size > MAX_LOG:
        from skillc import atomic

        lines = paths.read_regular(path, 1 << 26)[-MAX_LOG // 2 :].partition(b"\n")[2]
        atomic.write(path, lines, private=True)
