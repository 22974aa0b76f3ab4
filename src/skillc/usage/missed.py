"""Prompts that no skill fitted, in `~/.skillc/missed.jsonl`: only where config.toml switches that on.

What people ask is private, so the file is for its owner alone, and stays small: beyond MAX_FILE bytes its
older half goes. `skc stats --group-by missed` counts its lines, and `--prune` removes old ones.
"""

from __future__ import annotations

import os
from time import gmtime, strftime, time

from skillc import atomic, paths
from skillc.startup import parse_json
from skillc.text import cut, fold_line, utf8_text
from skillc.usage.log import encode_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Missed = tuple[str, str, str]  # time, directory, prompt

MAX_FILE = 1 << 20
MAX_PROMPT = 300  # characters


def record_missed(prompt: str, cwd: str, agent: str) -> None:
    """Keep a prompt; raise errors of the system."""
    path = _file()
    now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    text = cut(fold_line(prompt), MAX_PROMPT)
    line = encode_arguments({"time": now, "cwd": os.path.realpath(cwd), "agent": agent, "prompt": text})
    with atomic.Lock(f"{path}.lock"):
        if os.path.exists(path) and os.stat(path).st_size > MAX_FILE:
            lines = paths.read_regular(path, 1 << 26)[-MAX_FILE // 2 :].partition(b"\n")[2]
            atomic.write(path, lines, private=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)


def read_missed() -> Iterator[Missed]:
    """Yield the prompts that were kept, the oldest first; lines that are damaged are left out."""
    try:
        lines = paths.read_regular(_file(), 1 << 26).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            entry = parse_json(line)
            yield str(entry["time"]), str(entry["cwd"]), utf8_text(str(entry["prompt"]), "replace")
        except (ValueError, KeyError, TypeError):
            continue


def prune_missed(age: str) -> int:
    """Remove the prompts that are older than an age such as 90d, and return how many."""
    from skillc.usage.prune import parse_age  # which records need not load

    oldest = strftime("%Y-%m-%dT00:00:00Z", gmtime(max(0.0, time() - 86_400 * parse_age(age))))
    path = _file()
    if not os.path.exists(path):
        return 0
    with atomic.Lock(f"{path}.lock"):
        lines = paths.read_regular(path, 1 << 26).splitlines(keepends=True)
        rest = [line for line in lines if _time_of(line) >= oldest]
        if len(rest) < len(lines):
            atomic.write(path, b"".join(rest), private=True)
    return len(lines) - len(rest)


def _time_of(line: bytes) -> str:
    try:
        return str(parse_json(line.decode("utf-8", "replace"))["time"])
    except (ValueError, KeyError, TypeError):
        return ""


def _file() -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "missed.jsonl")
