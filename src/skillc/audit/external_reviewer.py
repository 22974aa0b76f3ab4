"""Ask a judge: a command of the user's that gets one JSON value and gives one back.

    in   {"version": 1, "skill": {"id"}, "asks": {…}, "findings": […], "files": [{"name", "text", "cut"}]}
    out  {"findings": [{"level": "note|review|block", "message": "…", "file": "…", "line": 1}]}

It is run without a shell, and only where it is named. It adds findings and takes none away: what it says is
marked as its own. A skill can try to talk to it, as to any model, so its silence means nothing. What it does
not manage in its time is a warning.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from skillc.audit.files import read_files
from skillc.audit.findings import Audit, Finding, make_fingerprint
from skillc.audit.rules import BY_ID, LEVELS, REVIEW
from skillc.errors import InvalidOption, warning
from skillc.text import utf8_text

SECONDS = 120
TICK = 0.1  # seconds between looks at the clock
MAX_ANSWER = 1 << 20  # bytes
MAX_FINDINGS = 100
MAX_FILE_TEXT = 100_000  # characters of a file that a judge gets
MAX_TEXT = 1_000_000  # characters of all files
MAX_MESSAGE = 500


class JudgeFailed(Exception):
    """A judge gave no answer that can be used."""


def parse_judge(command: str, option: str = "--judge") -> list[str]:
    """Return the words of a judge's command; raises InvalidOption."""
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InvalidOption(f"{option}: {error}") from None
    if not argv:
        raise InvalidOption(f"{option} needs a command")
    return argv


def ask_judge(audit: Audit, argv: list[str], seconds: float = SECONDS) -> Audit:
    """Return the audit with what the judge found as well; with a warning (W099) where it fails."""
    try:
        answer = ask_command(argv, json.dumps(_question(audit)).encode(), seconds)
        additions = list(_read_answer(answer, audit, argv[0]))
    except JudgeFailed as error:
        return replace(audit, diagnostics=(*audit.diagnostics, warning("W099", argv[0], error)))
    order = {level: number for number, level in enumerate(reversed(LEVELS))}
    findings = sorted((*audit.findings, *additions), key=lambda finding: order[finding.level])
    return replace(audit, findings=tuple(findings))


def _question(audit: Audit) -> dict[str, Any]:
    files: list[dict[str, Any]] = []
    room = MAX_TEXT
    for file in read_files(audit.folder, {}):
        text = file.text[: min(MAX_FILE_TEXT, room)]
        room -= len(text)
        files.append(
            {"name": utf8_text(file.name), "text": utf8_text(text), "cut": len(text) < len(file.text)}
        )
    return {
        "version": 1,
        "skill": {"id": utf8_text(audit.name)},
        "asks": asdict(audit.asks),
        "findings": [finding.as_json() for finding in audit.findings],
        "files": files,
    }


def ask_command(
    argv: list[str], question: bytes, seconds: float, cancel: threading.Event | None = None
) -> bytes:
    """Return what a command prints for a question; it has a time, and a bounded number of bytes.

    Raises JudgeFailed, also where the question is `cancel`led.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 -- the user's own command, without a shell
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise JudgeFailed(error.strerror or str(error)) from None
    late, done = threading.Event(), threading.Event()

    def watch() -> None:
        deadline = time.monotonic() + seconds
        while not done.wait(TICK):
            if time.monotonic() >= deadline or (cancel is not None and cancel.is_set()):
                late.set()
                _end(process)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    writer = threading.Thread(target=_write, args=(process, question), daemon=True)
    watcher.start()
    writer.start()
    try:
        assert process.stdout is not None
        answer = process.stdout.read(MAX_ANSWER + 1)
        if len(answer) > MAX_ANSWER:
            raise JudgeFailed(f"its answer is over {MAX_ANSWER >> 10} KiB")
        status = process.wait()
    finally:
        done.set()
        watcher.join()
        _end(process)
        process.wait()
        writer.join()
        assert process.stdout is not None
        process.stdout.close()
    if late.is_set():
        raise JudgeFailed(f"it took more than {seconds:g} s")
    if status:
        raise JudgeFailed(f"it ended with status {status}")
    return answer


def _write(process: subprocess.Popen[bytes], question: bytes) -> None:
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            pipe.write(question)
    except OSError:
        pass  # it answers without reading all


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the judge and what it started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:
        pass


def _read_answer(answer: bytes, audit: Audit, by: str) -> Iterator[Finding]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        raise JudgeFailed("its answer is no JSON") from None
    entries = value.get("findings") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise JudgeFailed("its answer has no list of 'findings'")
    for entry in entries[:MAX_FINDINGS]:
        message, file, line = entry.get("message"), entry.get("file"), entry.get("line")
        if not isinstance(message, str) or not message.strip():
            raise JudgeFailed("a finding has no 'message'")
        level = entry.get("level", REVIEW)
        if level not in LEVELS:
            raise JudgeFailed(f"a finding's level is none of {', '.join(LEVELS)}")
        name = utf8_text(file) if isinstance(file, str) and file else "SKILL.md"
        number = line if type(line) is int and 0 < line < 1 << 31 else 1
        text = utf8_text(message.strip()[:MAX_MESSAGE])
        mark = make_fingerprint("A90", name, "", text)
        yield Finding(BY_ID["A90"], level, text, name, number, mark, by=by)
